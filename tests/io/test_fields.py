"""Records whose keys are asked for, known, or guessed."""

from __future__ import annotations

import gzip
import json
from contextlib import suppress

import pytest
from hypothesis import given, strategies as st

import beyondchance as bc
from beyondchance.cli.main import main
from beyondchance.io.fields import KNOWN, guessed, shape_of
from each import each
from every_format import EXAMPLES, Annotations
from examples import examples
from refusals import refused

pytestmark = pytest.mark.usefixtures("by_characters")

TEXT = "Ada met Bo in Oslo."
THREE = [(0, 3, "PER"), (8, 10, "PER"), (14, 18, "LOC")]
FIELDS = "text=body,spans=marks,start=at.0.from,end=at.0.to,label=kind"
PASTED = FIELDS.replace(".0.", ".*.")
ADA = {"at": [{"from": 0, "to": 3}], "kind": "PER"}
BO = {"at": [{"from": 8, "to": 10}], "kind": ["PER"]}
OSLO = {"at": [{"from": 14, "to": 18}], "kind": "LOC"}


def record(*marks, **more):
    return {"body": TEXT, "marks": list(marks)} | more


@pytest.fixture
def saved(tmp_path):
    def save(*rows, name="news.jsonl"):
        path = tmp_path / name
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
        return path

    return save


# --- As asked for -----------------------------------------------------------------


class TestAskedFor:
    def test_lines(self, saved):
        corpus = bc.read(saved(record(ADA, BO, OSLO), record(id="b")), fields=FIELDS)
        assert corpus.documents == ("1", "b")
        assert corpus.spans("1", "news") == THREE
        assert corpus.spans("b", "news") == []
        assert (corpus.skipped, corpus.notes) == ({}, ())

    def test_arrays_packed_files_and_data_in_memory(self, tmp_path):
        rows = [record(ADA, BO, OSLO)]
        (tmp_path / "a.json").write_text(json.dumps(rows))
        (tmp_path / "b.json.gz").write_bytes(gzip.compress(json.dumps(rows).encode()))
        corpus = bc.read(tmp_path / "a.json", tmp_path / "b.json.gz", fields=FIELDS)
        assert corpus.spans("1", corpus.annotators[1]) == THREE
        assert bc.corpus(rows, rows, fields=FIELDS).spans("1", "b") == THREE

    def test_a_mapping(self, saved):
        fields = dict(part.split("=") for part in FIELDS.split(","))
        assert bc.read(saved(record(OSLO)), fields=fields).spans("1", "news") == THREE[2:]

    def test_what_is_not_named_has_its_usual_key(self, saved):
        row = {"body": TEXT, "spans": [{"start": 0, "end": 3, "label": "PER"}]}
        assert bc.read(saved(row), fields="text=body").spans("1", "news") == THREE[:1]

    def test_a_list_of_labels_is_a_span_each(self, saved):
        row = record(ADA | {"kind": ["PER", "POET"]})
        corpus = bc.read(saved(row), fields=FIELDS)
        assert corpus.spans("1", "news") == [(0, 3, "PER"), (0, 3, "POET")]

    def test_every_part_of_a_list(self, saved):
        row = record({"at": [{"from": 0, "to": 3}, {"from": 8, "to": 10}], "kind": "PER"})
        fields = FIELDS.replace(".0.", ".*.")
        assert bc.read(saved(row), fields=fields).spans("1", "news") == THREE[:2]

    def test_numbers_are_labels(self, saved):
        corpus = bc.read(saved(record(ADA | {"kind": 2})), fields=FIELDS)
        assert corpus.labels == ("2",)

    def test_ends_and_units_of_offsets(self, saved):
        mark = {"at": [{"from": 3, "to": 5}], "kind": "PER"}
        path = saved({"body": "😀 Ada", "marks": [mark]})
        corpus = bc.read(path, fields=FIELDS, offsets="utf16,inclusive")
        assert corpus.spans("1", "news") == [(2, 5, "PER")]

    def test_stored_words_check_the_offsets(self, saved):
        path = saved(record(OSLO | {"w": "Rome"}, ADA | {"w": "Ada"}))
        corpus = bc.read(path, fields=f"{FIELDS},words=w")
        assert corpus.skipped == {"spans whose stored words differ from the text": 1}
        # Without an end, a span is as long as its words.
        corpus = bc.read(path, fields=f"{FIELDS.replace('at.0.to', '')},words=w")
        assert corpus.spans("1", "news") == THREE[::2]

    def test_annotators_of_records(self, saved):
        rows = record(ADA, by={"login": "ada"}), record(OSLO, by={"login": "bo"})
        corpus = bc.read(saved(*rows), fields=f"{FIELDS},annotator=by.login")
        assert corpus.annotators_of("1") == ("ada", "bo")
        assert corpus.spans("1", "bo") == THREE[2:]

    def test_annotators_of_spans(self, saved):
        rows = record(ADA | {"by": ["ada", "bo"]}, OSLO | {"by": "bo"}), record(body="Bo left")
        path = saved(*rows)
        corpus = bc.read(path, fields=f"{FIELDS},annotator=by")
        assert corpus.spans("1", "ada") == THREE[:1]
        assert corpus.spans("1", "bo") == [THREE[0], THREE[2]]
        assert corpus.annotators_of("2") == ("ada", "bo")
        corpus = bc.read(path, fields=f"{FIELDS},annotator=by", empty="missing")
        assert corpus.documents == ("1",)

    def test_several_annotators_of_a_record(self, saved):
        corpus = bc.read(saved(record(ADA, by=["ada", "bo"])), fields=f"{FIELDS},annotator=by")
        assert corpus.spans("1", "ada") == corpus.spans("1", "bo") == THREE[:1]

    def test_tokens(self, saved):
        row = {"w": [["Ada", "met"], ["Bo"]], "e": [[[0, 0, "PER"]], [[2, 2, "PER"]]], "n": "a"}
        fields = "tokens=w.*,spans=e.*,start=0,end=1,label=2,document=n"
        path = saved(row)
        corpus = bc.read(path, fields=fields, offsets="inclusive", positions="tokens")
        assert corpus.documents == ("a",)
        assert corpus.spans("a", "news") == [(0, 1, "PER"), (2, 3, "PER")]
        corpus = bc.read(path, fields=fields, offsets="inclusive", unit="sentence")
        assert corpus.text_length.tolist() == [7, 2]
        for words in (None, "Ada met", {}):
            with refused(bc.FormatError, "news.jsonl:1: … words"):
                bc.read(saved({"w": words, "e": []}), fields="tokens=w,spans=e")
        with refused(bc.SpanError, "news.jsonl:1: span #2: … [2, 4) … 3 tokens", use="offsets"):
            bc.read(
                saved(row | {"e": [[], [[0, 0, "X"], [2, 3, "X"]]]}),
                fields=fields,
                offsets="inclusive",
            )

    def test_records_within_an_object(self, saved):
        path = saved({"project": {"items": [record(ADA), record(OSLO)]}})
        fields = f"{FIELDS},records=project.items"
        corpus = bc.read(path, fields=fields, repeated="documents")
        assert corpus.documents == ("1", "2")
        told, pasted = "news.jsonl: … 'project.rows' … 'project'", "records=project.items,text=body"
        with refused(bc.FormatError, f"{told} … fields='{pasted}", use="fields"):
            bc.read(path, fields=f"{FIELDS},records=project.rows")

    def test_keys_that_no_record_has(self, saved):
        path = saved(record(), record(ADA))
        for wrong in ("body", "marks"):
            told = f"news.jsonl: … '{wrong}s' … 'body', 'marks' … fields='text=body,spans=marks"
            with refused(bc.FormatError, told, use="fields"):
                bc.read(path, fields=FIELDS.replace(wrong, f"{wrong}s"))

    def test_ends_that_may_be_inclusive(self, saved):
        row = {"w": ["Ada", "met", "Bo"], "e": [[0, 0, "PER"]]}
        with refused(bc.SpanError, "news.jsonl:1: span #1: … [0, 0)", use="offsets"):
            bc.read(saved(row), fields="tokens=w,spans=e,start=0,end=1,label=2")

    def test_an_empty_span_may_have_an_inclusive_end(self, saved):
        mark = {"at": [{"from": 0, "to": 0}], "kind": "PER"}
        told = "news.jsonl:1: span #1: … [0, 0) … zero_length='skip' … offsets"
        with refused(bc.SpanError, told, use="zero_length"):
            bc.read(saved(record(mark)), fields=FIELDS)

    def test_a_label_for_each_place(self, saved):
        mark = {"at": [{"from": 0, "to": 3, "is": "X"}, {"from": 8, "to": 10, "is": "Y"}]}
        fields = FIELDS.replace(".0.", ".*.").replace("kind", "at.*.is")
        corpus = bc.read(saved(record(mark)), fields=fields)
        assert corpus.spans("1", "news") == [(0, 3, "X"), (8, 10, "Y")]

    def test_a_key_with_a_dot(self, saved):
        row = {"doc.text": TEXT, "marks": [ADA]}
        fields = FIELDS.replace("body", "doc.text")
        assert bc.read(saved(row), fields=fields).spans("1", "news") == THREE[:1]

    def test_texts_in_files(self, saved, tmp_path):
        (tmp_path / "texts").mkdir()
        (tmp_path / "texts" / "a.txt").write_text(TEXT)
        path = saved({"file": "in/a.txt", "marks": [OSLO]})
        fields = f"{FIELDS.replace('body', '')},document=file"
        corpus = bc.read(path, fields=fields, documents=tmp_path / "texts")
        assert corpus.spans("in/a.txt", "news") == THREE[2:]
        with refused(bc.FormatError, "news.jsonl:1: … text", use="documents"):
            bc.read(path, fields=fields)
        with refused(bc.FormatError, "news.jsonl: … texts … documents"):
            bc.read(saved(record(ADA)), fields=FIELDS, documents=tmp_path / "texts")
        with refused(bc.FormatError, "news.jsonl:1: … 'b.txt' … 'a.txt'"):
            bc.read(
                saved({"file": "b.txt", "marks": [OSLO]}),
                fields=fields,
                documents=tmp_path / "texts",
            )

    def test_in_parts(self, saved):
        paths = [saved(*[record(ADA, id=i) for i in range(9)], name=f"{x}.jsonl") for x in "ab"]
        whole = bc.agreement(bc.read(*paths, fields=FIELDS))
        assert bc.agreement(bc.scan(*paths, fields=FIELDS)).observed == whole.observed == 1

    def test_on_the_command_line(self, saved, capsys):
        paths = [str(saved(record(ADA), name=f"{name}.jsonl")) for name in "ab"]
        assert main(["agree", *paths, "--fields", FIELDS, "--output", "json"]) == 0
        assert json.loads(capsys.readouterr().out)["observed"] == 1


@each(
    ("fields", "told"),
    [
        ("text=body,mark=marks", "fields … mark … spans"),
        ("body", "fields … 'body' … text"),
        ("text=body,tokens=words", "fields … text or tokens"),
        (7, "fields … 7 … KEY=PATH"),
    ],
)
def test_options_refused(saved, fields, told):
    with refused(bc.OptionError, told):
        bc.read(saved(record(ADA)), fields=fields)


@each(
    ("row", "more", "told"),
    [
        (record(ADA | {"at": []}), "", "news.jsonl:1: span #1: … 'at.0.from' … null … number"),
        (record(ADA | {"at": 3}), "", "news.jsonl:1: span #1: … 'at' … 3 … object"),
        (record(ADA | {"kind": None}), "", "news.jsonl:1: span #1: … 'kind' … null … name"),
        (record(7), "", "news.jsonl:1: span #1: … 7 … object"),
        (record(body=None), "", "news.jsonl:1: … 'body' … null … text"),
        (record(marks="x"), "", "news.jsonl:1: … 'marks' … 'x' … list"),
        (record(ADA), ",annotator=by", "news.jsonl:1: … 'by' … null … name"),
        (record(ADA), ",document=doc", "news.jsonl:1: … 'doc' … null … name"),
        (record(ADA, by={}), ",annotator=by", "news.jsonl:1: … 'by' … name"),
        (record(ADA, by=[{}, 1]), ",annotator=by", "news.jsonl:1: … object … name"),
    ],
)
def test_records_refused(saved, row, more, told):
    with refused(bc.FormatError, told):
        bc.read(saved(row), fields=FIELDS + more)


def test_starts_without_ends_are_refused(saved):
    mark = {"at": [{"from": 0, "to": 1}, {"from": 2}], "kind": "X"}
    with refused(bc.FormatError, "news.jsonl:1: span #1: … 'at.1.to' … null"):
        bc.read(saved(record(mark)), fields=FIELDS.replace(".0.", ".*."))


def test_other_formats_do_not_take_it(saved):
    with refused(bc.OptionError, "fields … conll"):
        bc.read(saved(record(ADA)), fields=FIELDS, format="conll")


# --- Known shapes -----------------------------------------------------------------


DYGIE = {
    "doc_key": "p1",
    "sentences": [["We", "parse", "text", "."], ["It", "works", "."]],
    "ner": [[[2, 2, "Material"]], [[4, 4, "Generic"]]],
    "relations": [[[2, 2, 4, 4, "USED-FOR"]], []],
    "clusters": [[[2, 2], [4, 4]]],
}
SPERT = {
    "tokens": ["Ada", "met", "Bo", "Li"],
    "entities": [{"type": "Peop", "start": 0, "end": 1}, {"type": "Peop", "start": 2, "end": 4}],
    "relations": [{"type": "Met", "head": 0, "tail": 1}],
    "orig_id": "s1",
}
DATATURKS = {
    "content": TEXT,
    "annotation": [
        {"label": ["PER"], "points": [{"start": 0, "end": 2, "text": "Ada"}]},
        {"label": ["LOC", "CITY"], "points": [{"start": 14, "end": 17, "text": "Oslo"}]},
    ],
    "extras": None,
    "metadata": {"first_done_at": 1},
}


def lighttag(*marks, seen=("ada", "bo"), **more):
    annotations = [
        {
            "start": start,
            "end": end,
            "tag": label,
            "value": TEXT[start:end],
            "annotated_by": [{"annotator_id": 8, "annotator": name} for name in names],
        }
        for start, end, label, names in marks
    ]
    seen_by = [{"annotator_id": 8, "annotator": name} for name in seen]
    row = {"example_id": "e1", "content": TEXT, "seen_by": seen_by, "annotations": annotations}
    return row | more


class TestKnown:
    def test_dygie(self, saved):
        corpus = bc.read(saved(DYGIE), positions="tokens")
        assert corpus.documents == ("p1",)
        assert corpus.spans("p1", "news") == [(2, 3, "Material"), (4, 5, "Generic")]
        assert corpus.skipped == {"relations ignored": 1, "clusters ignored": 1}
        assert bc.read(saved(DYGIE), unit="sentence").text_length.tolist() == [15, 10]

    def test_dygie_with_predictions(self, saved):
        row = DYGIE | {"predicted_ner": [[[0, 0, "Generic", 5.1, 0.9]], []]}
        corpus = bc.read(saved(row), positions="tokens")
        assert len(corpus.span_start) == 2
        fields = "tokens=sentences.*,spans=predicted_ner.*,start=0,end=1,label=2,document=doc_key"
        options = {"positions": "tokens", "offsets": "inclusive", "fields": fields}
        assert bc.read(saved(row), **options).spans("p1", "news") == [(0, 1, "Generic")]

    @pytest.mark.usefixtures("by_characters")
    def test_spert(self, saved):
        corpus = bc.read(saved(SPERT), positions="tokens")
        assert corpus.spans("s1", "news") == [(0, 1, "Peop"), (2, 4, "Peop")]
        assert corpus.skipped == {"relations ignored": 1}
        assert bc.read(saved(SPERT), positions=None).positions == "tokens"

    def test_dataturks(self, saved):
        corpus = bc.read(saved(DATATURKS, {"content": "Bo left", "annotation": None}))
        spans = [(0, 3, "PER"), (14, 18, "CITY"), (14, 18, "LOC")]
        assert sorted(corpus.spans("1", "news")) == spans
        assert corpus.skipped == {"records not annotated left out": 1}
        points = [{"start": 0, "end": 2, "text": "Ada"}, {"start": 8, "end": 9, "text": "Bo"}]
        row = DATATURKS | {"annotation": [{"label": ["PER"], "points": points}]}
        assert bc.read(saved(row)).spans("1", "news") == THREE[:2]

    def test_dataturks_without_a_label(self, saved):
        """Resumes that Dataturks published have a span or two of this kind."""
        bare = DATATURKS["annotation"][0] | {"label": []}
        corpus = bc.read(saved(DATATURKS | {"annotation": [*DATATURKS["annotation"], bare]}))
        assert len(corpus.spans("1", "news")) == 3
        assert corpus.skipped == {"spans without a label left out": 1}

    def test_lighttag(self, saved):
        rows = [
            lighttag((0, 3, "PER", ["ada", "bo"]), (14, 18, "LOC", ["bo"])),
            lighttag(seen=["ada"], example_id="e2", content="Bo left"),
        ]
        corpus = bc.read(saved({"id": "x", "examples": rows}))
        assert corpus.annotators == ("ada", "bo")
        assert corpus.spans("e1", "ada") == THREE[:1]
        assert corpus.spans("e1", "bo") == [THREE[0], THREE[2]]
        assert corpus.annotators_of("e2") == ("ada",)
        assert corpus.skipped == {}
        assert [str(note) for note in corpus.notes] == ["news.jsonl: read as records"]

    def test_lighttag_without_an_annotator_of_a_span(self, saved):
        """It is not known which of those who saw the text marked it."""
        with refused(bc.FormatError, "news.jsonl:1: … 'annotated_by.*.annotator' … null"):
            bc.read(saved(lighttag((0, 3, "PER", []))))

    def test_comprehend(self, saved, tmp_path):
        entity = {"BeginOffset": 0, "EndOffset": 3, "Score": 0.9, "Text": "Ada", "Type": "PERSON"}
        path = saved(
            {"File": "docs", "Line": 0, "Entities": []},
            {"File": "docs", "Line": 1, "Entities": [entity]},
            {"File": "docs", "Line": 2, "ErrorCode": "DOCUMENT_SIZE_EXCEEDED"},
        )
        (tmp_path / "docs").write_text(f"Nothing here\n{TEXT}\nlong\n")
        corpus = bc.read(path, documents=tmp_path / "docs")
        assert corpus.documents == ("docs:0", "docs:1")
        assert corpus.spans("docs:1", "news") == [(0, 3, "PERSON")]
        assert corpus.skipped == {"records not annotated left out": 1}
        with refused(bc.FormatError, "news.jsonl:1: … text", use="documents"):
            bc.read(path)
        for line, told in ((9, "'docs:9' … 'docs:0'"), (-1, "'docs:-1'"), ([], "'Line' … list")):
            path = saved({"File": "docs", "Line": line, "Entities": [entity]})
            with refused(bc.FormatError, f"news.jsonl:1: … {told}"):
                bc.read(path, documents=tmp_path / "docs")

    def test_comprehend_counts_what_others_count(self, tmp_path):
        spans = {("1", "ada"): [(0, 1, "PER"), (2, 3, "PER")], ("1", "bo"): [(0, 2, "PER")]}
        example = EXAMPLES["comprehend"](Annotations({"1": ["Ada met Bo"]}, spans))
        corpus = bc.read(*example.saved(tmp_path), documents=tmp_path / "texts.txt")
        assert corpus.spans("texts.txt:0", "ada") == [(0, 3, "PER"), (8, 10, "PER")]

    def test_spacy_2(self, saved):
        def token(word, tag):
            return {"orth": word, "ner": tag, "tag": "NN", "dep": "", "head": 0}

        first = [token("Ada", "B-PER"), token("Li", "L-PER"), token("left", "O")]
        second = [token("Bo", "U-PER"), token("?", "-")]
        sentences = [{"tokens": first, "brackets": []}, {"tokens": second}]
        row = {"id": 7, "paragraphs": [{"raw": "Ada Li left Bo?", "sentences": sentences}]}
        corpus = bc.read(saved(row), positions="tokens")
        assert corpus.spans("7", "news") == [(0, 2, "PER"), (3, 4, "PER")]
        assert corpus.text_length.tolist() == [4]
        untagged = {"sentences": [{"tokens": [{"orth": "Bo"}]}]}
        corpus = bc.read(saved(row | {"paragraphs": [*row["paragraphs"], untagged]}))
        assert corpus.documents == ("7/1",)
        assert corpus.skipped["paragraphs not annotated"] == 1
        for broken, told in (
            ({"orth": 3, "ner": "O"}, "word #1: … 3 … string"),
            ({"orth": "Bo", "ner": 3}, "'ner' … 3 … name"),
        ):
            paragraph = {"sentences": [{"tokens": [broken]}]}
            with refused(bc.FormatError, f"news.jsonl:1: paragraph #1: … {told}"):
                bc.read(saved({"paragraphs": [paragraph]}))

    @each(
        ("row", "told"),
        [
            (DYGIE | {"ner": [[[2, 9, "X"]], []]}, "span #1: … [2, 10) … 7 … offsets='exclusive'"),
            (SPERT | {"entities": [{"type": "X", "start": 3, "end": 5}]}, "span #1: … [3, 5) … 4"),
        ],
    )
    def test_outside_the_words(self, saved, row, told):
        with refused(bc.SpanError, f"news.jsonl:1: {told}"):
            bc.read(saved(row))

    def test_an_annotator_without_a_name(self, saved):
        row = lighttag((0, 3, "PER", ["ada"]))
        row["annotations"][0]["annotated_by"][0]["annotator"] = {}
        with refused(bc.FormatError, "news.jsonl:1: … object … name"):
            bc.read(saved(row))

    def test_shapes_do_not_take_each_others_records(self):
        fitting = [
            [index for index, shape in enumerate(KNOWN) if shape.fits(row)]
            for row in (DYGIE, SPERT, DATATURKS, lighttag((0, 3, "PER", ["ada"])))
        ]
        assert fitting == [[1], [2], [3], [4]]


# --- Guesses ----------------------------------------------------------------------


@each(
    ("row", "fields"),
    [
        (record(ADA), PASTED),
        (record(ADA | {"said": "Ada"}), f"{PASTED},words=said"),
        (
            {
                "id": "d1 2 3 4",
                "body": TEXT,
                "m": [{"coder": "x", "s": 0, "e": 2, "w": "Ada", "q": "P"}],
            },
            "text=body,spans=m,start=s,end=e,label=q,words=w,annotator=coder",
        ),
        (
            {"meta": {"id": 3}, "utterance": "Ada ran", "slots": [{"s": 0, "e": 3, "tag": "X"}]},
            "text=utterance,spans=slots,start=s,end=e,label=tag",
        ),
        (
            {"s": [["Ada", "ran", "."], ["No"]], "x": [[[0, 0, "PER"]], []]},
            "tokens=s.*,spans=x.*,start=0,end=1,label=2",
        ),
        (
            {"title": "x", "paras": [{"str": "Ada met Bo", "m": [{"s": 0, "e": 3, "t": "X"}]}]},
            "records=paras,text=str,spans=m,start=s,end=e,label=t",
        ),
        ({"body": "Ada ran"}, "text=body,spans=KEY,start=KEY,end=KEY,label=KEY"),
    ],
)
def test_guesses(row, fields):
    assert guessed(row) == fields


def test_what_is_printed_can_be_pasted(saved, capsys):
    path = saved(record(), record(ADA, OSLO))
    with refused(bc.FormatError, f"{path}: … 'body', 'marks' … fields='{PASTED}'", use="fields"):
        bc.read(path)
    assert bc.read(path, fields=PASTED, repeated="documents").spans("2", "news") == THREE[::2]
    path = saved({"s": [["Ada", "ran", "."]], "x": [[[0, 0, "PER"]]]})
    assert main(["agree", str(path)]) == 1
    assert "--fields 'tokens=s.*,spans=x.*,start=0,end=1,label=2'" in capsys.readouterr().err


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 30) | st.sampled_from(["", "PER", "Ada met"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["text", "marks", "at", "from", "to", "kind", "w"]), inner, max_size=4
        )
    ),
    max_leaves=12,
)


@examples(200)
@given(
    row=st.dictionaries(st.sampled_from(["body", "marks", "by", "w"]), JSON), tokens=st.booleans()
)
def test_anything_is_read_or_refused(row, tokens):
    fields = FIELDS.replace("text=body", "tokens=w") if tokens else FIELDS
    shape_of(guessed(row))
    with suppress(bc.BeyondChanceError):
        bc.corpus([row], fields=f"{fields},annotator=by")


def test_no_records(tmp_path):
    (tmp_path / "a.jsonl").write_text("")
    with refused(bc.FormatError, "no annotated document"):
        bc.read(tmp_path / "a.jsonl", fields="records=r,text=t,spans=s")


def test_keys_are_not_shown_where_no_text_may_be(tmp_path, capsys):
    (tmp_path / "a.json").write_text('[{"Zqx": "Ada", "b": [{"c": 0, "d": 3, "e": "P"}]}]')
    assert main(["agree", str(tmp_path / "a.json"), "--no-text"]) == 1
    said = capsys.readouterr().err
    assert "--fields …" in said
    assert "Zqx" not in said
