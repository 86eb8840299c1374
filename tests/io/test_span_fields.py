"""What files say of spans besides their labels: read, kept, and compared in the place of labels."""

import json
from dataclasses import replace

import pytest
from hypothesis import given, strategies as st

import beyondchance as bc
from annotated_texts import corpus_of, texts
from beyondchance.adjudication.added import with_spans
from each import each
from examples import examples
from refusals import refused

TEXT = "No fever, perhaps a cough."
FEVER, COUGH = (3, 8), (20, 25)


def brat(tmp_path):
    (tmp_path / "1.txt").write_text(TEXT)
    lines = [
        "A1\tNegation T1",
        "T1\tSYMPTOM 3 8\tfever",
        "T2\tSYMPTOM 20 25\tcough",
        "M1\tCertainty T2 low indeed",
        "A2\tTense E1",
    ]
    (tmp_path / "1.ann").write_text("\n".join(lines) + "\n")
    return tmp_path / "1.ann"


def label_studio(tmp_path):
    def result(name, place, kind, *values, by):
        value = {"start": place[0], "end": place[1], kind: [*values]}
        return {"id": name, "from_name": by, "to_name": "text", "type": kind, "value": value}

    whole = {"id": "w", "from_name": "all", "type": "choices", "value": {"choices": ["good"]}}
    results = [
        result("x", FEVER, "choices", "true", by="Negation"),
        result("x", FEVER, "labels", "SYMPTOM", by="label"),
        result("y", COUGH, "labels", "SYMPTOM", by="label"),
        result("y", COUGH, "choices", "low", "indeed", by="Certainty"),
        whole,
    ]
    task = {"data": {"text": TEXT}, "annotations": [{"completed_by": 1, "result": results}]}
    (tmp_path / "1.json").write_text(json.dumps([task]))
    return tmp_path / "1.json"


def bioc(tmp_path):
    annotations = [
        {
            "id": str(start),
            "infons": {"type": "SYMPTOM", **infons},
            "text": TEXT[start:end],
            "locations": [{"offset": start, "length": end - start}],
        }
        for (start, end), infons in (
            (FEVER, {"Negation": "true"}),
            (COUGH, {"Certainty": "low indeed"}),
        )
    ]
    passage = {"offset": 0, "infons": {}, "text": TEXT, "annotations": annotations}
    document = {"id": "1", "infons": {}, "passages": [passage]}
    (tmp_path / "1.json").write_text(json.dumps({"source": "x", "documents": [document]}))
    return tmp_path / "1.json"


def uima(tmp_path):
    cas = {
        "%TYPES": {
            "my.Symptom": {
                "%NAME": "my.Symptom",
                "%SUPER_TYPE": "uima.tcas.Annotation",
                "value": {"%NAME": "value", "%RANGE": "uima.cas.String"},
                "Negation": {"%NAME": "Negation", "%RANGE": "uima.cas.Boolean"},
                "Certainty": {"%NAME": "Certainty", "%RANGE": "uima.cas.String"},
            }
        },
        "%FEATURE_STRUCTURES": [
            {"%ID": 1, "%TYPE": "uima.cas.Sofa", "sofaID": "_InitialView", "sofaString": TEXT},
            *(
                {"%ID": i, "%TYPE": "my.Symptom", "@sofa": 1, "begin": place[0], "end": place[1]}
                | {"value": "SYMPTOM"}
                | more
                for i, (place, more) in enumerate(
                    [(FEVER, {"Negation": True}), (COUGH, {"Certainty": "low indeed"})], start=2
                )
            ),
        ],
        "%VIEWS": {"_InitialView": {"%SOFA": 1, "%MEMBERS": [2, 3]}},
    }
    (tmp_path / "1.json").write_text(json.dumps(cas))
    return tmp_path / "1.json"


def records(tmp_path):
    spans = [
        {"start": 3, "end": 8, "label": "SYMPTOM", "Negation": True, "score": 0.5},
        {"start": 20, "end": 25, "label": "SYMPTOM", "Certainty": "low indeed"},
    ]
    (tmp_path / "1.jsonl").write_text(json.dumps({"text": TEXT, "spans": spans}) + "\n")
    return tmp_path / "1.jsonl"


FORMATS = (brat, label_studio, bioc, uima, records)


@pytest.mark.parametrize("made", FORMATS, ids=lambda made: made.__name__)
def test_formats_that_have_fields(made, tmp_path):
    corpus = bc.read(made(tmp_path))
    assert corpus.labels == ("SYMPTOM",)
    fever, cough = (
        {name: value.replace(",", "") for name, value in (known or {}).items()}
        for known in corpus.span_fields
    )
    wanted = {"Negation", "Certainty"}
    assert {x: y for x, y in fever.items() if x in wanted} == {"Negation": "true"}
    assert {x: y for x, y in cough.items() if x in wanted} == {"Certainty": "low indeed"}


def test_a_file_without_fields_has_none():
    assert bc.example().span_fields is None
    plain = [{"text": TEXT, "spans": [{"start": 0, "end": 2, "label": "X", "text": "No"}]}]
    assert bc.corpus(plain, plain).span_fields is None


def two(a=({}, {}), b=({}, {}), **options):
    """Both mark two symptoms, with these fields."""

    def one(fields):
        spans = [
            {"start": start, "end": end, "label": label, **more}
            for (start, end), label, more in zip((FEVER, COUGH), "XY", fields, strict=True)
        ]
        return [{"text": TEXT, "spans": spans}]

    return bc.corpus(one(a), one(b), **options)


def test_fields_stay_with_their_spans():
    corpus = two(a=({"n": "1"}, {"n": "2"}), b=({"n": "3"}, {}))
    assert corpus.span_fields == ({"n": "1"}, {"n": "2"}, {"n": "3"}, None)
    assert corpus.select(labels=["Y"]).span_fields == ({"n": "2"}, None)
    assert corpus.select(annotators=["b"], labels=["Y"]).span_fields is None
    renamed = corpus.rename_annotators({"a": "z"}).rename_labels({"X": "Z"})
    assert renamed.span_fields == corpus.span_fields
    team = bc.consensus(corpus).corpus
    assert team.span_fields[:4] == corpus.span_fields
    assert len(team.span_fields) == len(team.span_start)
    kept = with_spans(corpus, corpus.span_start > 3)
    assert kept.span_fields == ({"n": "2"}, None)


def test_both_of_a_span_in_fragments(tmp_path):
    (tmp_path / "1.txt").write_text(TEXT)
    (tmp_path / "1.ann").write_text("T1\tX 3 8;20 25\tfever cough\nA1\tSure T1\n")
    assert bc.read(tmp_path / "1.ann", discontinuous="split").span_fields == ({"Sure": "true"},) * 2


def test_labelling_by_a_field():
    corpus = two(a=({"negated": True}, {}), b=({"negated": True}, {"negated": True}))
    split = bc.labelling(corpus, field="negated", measure="exact")
    assert (split.labelling.observed, split.finding.observed) == (0.5, 1)
    assert list(split.labelling.by_label) == ["(none)", "true"]
    # One has both values once, the other one value twice: no arrangement scores anything else.
    assert split.labelling.chance == 0.5
    assert split.labelling.reason
    assert split.settings.field == split.labelling.settings.field == "negated"
    assert split.finding.settings.field is None
    assert "|field:negated|" in str(split.settings)
    assert "negated at places both found" in str(split)
    assert "same negated" in split.labelling.methods()


@each("field", ["Negated", ""])
def test_fields_that_nobody_has(field):
    with refused(bc.OptionError, "field … 'certain' … 'negated'"):
        bc.labelling(two(a=({"negated": "1"}, {"certain": "2"})), field=field)
    with refused(bc.OptionError, "field"):
        bc.labelling(bc.example(), field="negated")


@examples(60)
@given(texts(labels="PL"), st.sampled_from(["token", "exact"]))
def test_a_field_that_is_the_label(found, measure):
    corpus = corpus_of(found)
    fields = tuple({"same": corpus.labels[i]} for i in corpus.span_label.tolist())
    try:
        plain = bc.labelling(corpus, measure=measure)
    except bc.NothingSharedError:
        return
    same = (
        bc.labelling(replace(corpus, span_fields=fields), field="same", measure=measure)
        if fields
        else plain
    )
    assert same.labelling.score == plain.labelling.score
    assert same.finding.score == plain.finding.score


def test_a_span_with_two_labels_is_one():
    def span(start, end, label, value):
        return {"start": start, "end": end, "label": label, "neg": value}

    text = "Fever, no cough now"
    one = [
        {
            "text": text,
            "spans": [span(0, 5, "A", "t"), span(0, 5, "B", "t"), span(10, 15, "A", "f")],
        }
    ]
    two = [{"text": text, "spans": [span(0, 5, "A", "t"), span(10, 15, "A", "f")]}]
    assert bc.labelling(one, two, field="neg", measure="exact").labelling.observed == 1
