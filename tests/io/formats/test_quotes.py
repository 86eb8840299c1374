"""Quotes without offsets: every shape of records, what is counted, and what is wrong."""

import io
import json
from contextlib import suppress

import pytest
from hypothesis import given, strategies as st

import beyondchance as bc
from beyondchance.io.assembling import assembled
from beyondchance.io.formats import quotes
from beyondchance.io.options import Reading
from beyondchance.io.registry import FORMATS, Upload
from beyondchance.io.sources import Source
from each import each
from examples import examples
from mutation import places, replaced
from refusals import assert_tells, refused

pytestmark = pytest.mark.usefixtures("by_characters")

#       0         1         2         3
#       0123456789012345678901234567890123
TEXT = "Mira Holt sailed to Lund. Mira won."
EXPECTED = [(0, 9, "PER"), (20, 24, "LOC")]
QUOTES = [{"text": "Mira Holt", "label": "PER"}, {"text": "Lund", "label": "LOC"}]
ELSEWHERE = "quotes that may be at other occurrences, placed in order"


def stream(content):
    text = content if isinstance(content, str) else json.dumps(content)
    return io.BytesIO(text.encode())


def spans(corpus, document="1"):
    return [tuple(span) for span in corpus.spans(document, corpus.annotators[0])]


@each(
    "record",
    [
        {"text": TEXT, "entities": QUOTES},
        {"sentence": TEXT, "spans": [{"span": q["text"], "type": q["label"]} for q in QUOTES]},
        {"input": TEXT, "quotes": [{"quote": q["text"], "category": q["label"]} for q in QUOTES]},
        {"text": TEXT, "mentions": [{"mention": q["text"], "class": q["label"]} for q in QUOTES]},
        {"text": TEXT, "entities": [{"name": q["text"], "type": q["label"]} for q in QUOTES]},
        {"text": TEXT, "entities": [{"entity": q["text"], "type": q["label"]} for q in QUOTES]},
        {"text": TEXT, "entities": [{"value": q["text"], "entity": q["label"]} for q in QUOTES]},
        {
            "text": TEXT,
            "extractions": [
                {"extraction_text": q["text"], "extraction_class": q["label"]} for q in QUOTES
            ],
        },
        {"sourceText": TEXT, "nerData": [{"token": q["text"], "tag": q["label"]} for q in QUOTES]},
        {"text": TEXT, "entities": {"PER": ["Mira Holt"], "LOC": ["Lund"], "ORG": [], "X": None}},
        {"text": TEXT, "entities": {"PER": [{"text": "Mira Holt"}], "LOC": ["Lund"]}},
        {"text": TEXT, "PER": ["Mira Holt"], "LOC": ["Lund"], "ORG": []},
    ],
)
def test_every_shape_of_records(record):
    for content in (record, [record], json.dumps(record) + "\n"):
        corpus = bc.read(stream(content))
        assert spans(corpus) == EXPECTED
        assert corpus.texts == (TEXT,)
        assert [note.text for note in corpus.notes] == [("read as ", "quotes")]
        assert corpus.skipped == {}
    assert spans(bc.read([record])) == EXPECTED


def test_several_records(tmp_path):
    path = tmp_path / "model.jsonl"
    rows = [{"id": "a", "text": TEXT, "entities": QUOTES}, {"text": "Ah.", "entities": []}]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    corpus = bc.read(path)
    assert corpus.documents == ("a", "2")
    assert corpus.annotators == ("model",)
    assert spans(corpus, "2") == []
    assert (corpus.unit, corpus.positions) == ("document", "characters")


def test_records_may_name_the_model():
    rows = [{"text": TEXT, "entities": QUOTES, "id": 1, "model": name} for name in ("x", "y")]
    assert bc.read(stream(rows)).annotators == ("x", "y")


def test_the_first_records_may_have_no_quotes():
    rows = [{"text": "Ah.", "entities": []}] * 3 + [{"text": TEXT, "entities": QUOTES}]
    corpus = bc.read(stream(rows))
    assert spans(corpus, "4") == EXPECTED


@each("is_array", [True, False])
def test_files_longer_than_their_head_are_recognised(is_array):
    rows = [{"text": f"{TEXT} {'x' * 1000}", "entities": QUOTES}] * 100
    content = rows if is_array else "\n".join(map(json.dumps, rows))
    corpus = bc.read(stream(content))
    assert len(corpus.documents) == 100
    assert len(corpus.span_start) == 200


@each("is_array", [True, False])
def test_one_text_may_be_longer_than_the_head(is_array):
    row = {"text": f"{TEXT} {'x ' * 50000}", "entities": QUOTES}
    assert spans(bc.read(stream([row] if is_array else row))) == EXPECTED


def test_a_model_may_have_given_no_answer():
    rows = [{"text": TEXT, "entities": QUOTES}, {"text": "Ah.", "entities": None}, {"text": "Oh."}]
    corpus = bc.read(stream(rows))
    assert corpus.documents == ("1",)
    assert corpus.skipped == {"records not annotated left out": 2}


def test_lists_next_to_the_text_may_be_empty_or_invented():
    rows = [
        {"text": "Ah.", "PER": [], "LOC": []},
        {"text": "Oh.", "PER": ["Eve"]},
        {"text": TEXT, "PER": ["Mira Holt"], "LOC": ["Lund"]},
    ]
    corpus = bc.read(stream(rows))
    assert corpus.documents == ("1", "2", "3")
    assert spans(corpus, "3") == EXPECTED


def test_folders_with_a_file_for_each_document(tmp_path):
    for model in ("x", "y"):
        (tmp_path / model).mkdir()
        for name in ("one", "two"):
            record = {"text": f"{TEXT} {name}", "entities": QUOTES}
            (tmp_path / model / f"{name}.json").write_text(json.dumps(record))
    corpus = bc.read(tmp_path / "x", tmp_path / "y")
    assert corpus.annotators == ("x", "y")
    assert corpus.documents == ("one", "two")
    assert spans(corpus, "two") == EXPECTED


def test_quotes_move_with_a_text_that_differs_in_white_space():
    model = [{"id": 1, "text": "Ada  met Bo. Ada left.", "entities": {"PER": ["Ada"]}}]
    person = [{"id": 1, "text": "Ada met Bo. Ada left.", "entities": {"PER": ["Ada", "Ada"]}}]
    corpus = bc.read(stream(person), stream(model))
    assert corpus.texts == (person[0]["text"],)
    assert corpus.elsewhere[:, 1, -1].tolist() == [0, 12]


def test_examples_of_no_entity_are_counted():
    """As those of spacy-llm."""
    no = {"text": "sailed", "is_entity": False, "label": "==NONE==", "reason": "is a verb"}
    yes = {**QUOTES[0], "is_entity": True, "reason": "is a name"}
    corpus = bc.read(stream([{"text": TEXT, "spans": [yes, no]}]))
    assert spans(corpus) == EXPECTED[:1]
    assert corpus.skipped == {"quotes marked as no entity left out": 1}


ANSWER = [{"id": "a", "entities": QUOTES}]
"""Without its text."""
BRAT = {"a.txt": TEXT, "a.ann": "T1\tPER 0 9\tMira Holt\nT2\tLOC 20 24\tLund\n"}
TAGGED = "Mira B-PER\nHolt I-PER\nsailed O\nto O\nLund B-LOC\n. O\nMira O\nwon O\n. O\n"
GOLD = {
    "records": {"gold.jsonl": json.dumps({"id": "a", "text": TEXT, "spans": EXPECTED})},
    "brat": {f"gold/{name}": content for name, content in BRAT.items()},
    "doccano": {"gold.jsonl": json.dumps({"id": "a", "text": TEXT, "label": EXPECTED})},
    "bioc": {
        "gold.json": json.dumps(
            {
                "source": "x",
                "documents": [
                    {
                        "id": "a",
                        "passages": [
                            {
                                "offset": 0,
                                "text": TEXT,
                                "annotations": [
                                    {
                                        "id": str(s),
                                        "infons": {"type": x},
                                        "text": TEXT[s:e],
                                        "locations": [{"offset": s, "length": e - s}],
                                    }
                                    for s, e, x in EXPECTED
                                ],
                            }
                        ],
                    }
                ],
            }
        )
    },
    "conll": {"gold.conll": f"# newdoc id = a\n{TAGGED}"},
}


@each("name", GOLD)
def test_the_text_is_that_of_the_document_in_any_format(name, tmp_path):
    (tmp_path / "model.json").write_text(json.dumps(ANSWER))
    for path, content in GOLD[name].items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(content)
    gold = tmp_path / next(iter(GOLD[name])).partition("/")[0]
    for paths in ([gold, tmp_path / "model.json"], [tmp_path / "model.json", gold]):
        corpus = bc.read(*paths, positions=None)
        assert corpus.positions == "tokens"
        result = bc.agreement(corpus, measure="exact")
        assert (result.counts.matched.sum(), result.counts.size_a.sum()) == (2, 2)
        assert corpus.skipped == {}


def test_texts_may_be_given_as_documents(tmp_path):
    model, texts = tmp_path / "model.json", tmp_path / "texts"
    model.write_text(json.dumps([*ANSWER, {"id": "b", "entities": []}]))
    texts.mkdir()
    (texts / "a.txt").write_text(TEXT)
    (texts / "b.txt").write_text("Ah.")
    rows = [{"id": "a", "text": TEXT}, {"id": "b", "text": "Ah."}]
    (tmp_path / "texts.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (tmp_path / "texts.csv").write_text(f"document,text\na,{TEXT}\nb,Ah.\n")
    for given_path in ("texts", "texts.jsonl", "texts.csv"):
        corpus = bc.read(model, documents=tmp_path / given_path)
        assert spans(corpus, "a") == EXPECTED
        assert corpus.texts == (TEXT, "Ah.")
    people = stream([{"id": "a", "text": TEXT, "spans": []}])
    with refused(bc.FormatError, "model.json: item 2: … 'b' … 'text' … 'a'", use="documents"):
        bc.read(model, people)
    with refused(bc.FormatError, "model.json: item 2: document 'b'", use="documents"):
        bc.read(model, documents=texts / "a.txt")


def test_files_may_be_named_after_their_documents(tmp_path):
    (tmp_path / "model").mkdir()
    for name in ("a", "b"):
        (tmp_path / "model" / f"{name}.json").write_text(json.dumps({"entities": QUOTES}))
    people = [{"id": name, "text": TEXT, "spans": EXPECTED} for name in ("a", "b")]
    corpus = bc.read(tmp_path / "model", stream(people))
    assert corpus.documents == ("a", "b")
    assert spans(corpus, "b") == EXPECTED
    with refused(bc.FormatError, "no text and no id … folder"):
        bc.read(tmp_path / "model" / "a.json", stream(people))


def test_runs_of_a_model_are_annotators(tmp_path):
    rows = [{"id": 1, "text": TEXT, "entities": QUOTES, "run": run} for run in (1, 2)]
    (tmp_path / "gpt.json").write_text(json.dumps(rows))
    assert bc.read(tmp_path / "gpt.json").annotators == ("gpt/1", "gpt/2")
    rows = [{**row, "model": "x"} for row in rows]
    assert bc.read(stream(rows)).annotators == ("x/1", "x/2")


def test_what_is_not_found_is_counted_and_said():
    found = [*QUOTES, {"text": "Oslo", "label": "LOC"}, {"text": "LUND", "label": "ORG"}]
    corpus = bc.read(stream([{"text": TEXT, "entities": [*found, QUOTES[0]]}]))
    assert corpus.skipped == {
        "quotes not found in the text counted as wrong": 1,
        "quotes found up to case, white space and typography": 1,
        "quotes marked more often than they occur, surplus counted as wrong": 1,
    }
    assert_tells(corpus.notes[-1], "stream 1 … 2 of 5 … wrong")
    assert corpus.options["missing_quotes"] == "count"
    skipped = bc.read(stream([{"text": TEXT, "entities": found}]), missing_quotes="skip")
    assert skipped.skipped["quotes not found in the text left out"] == 1
    assert skipped.options["missing_quotes"] == "skip"
    assert len(skipped.missing_text) == 0
    assert_tells(skipped.notes[-1], "stream 1 … 1 of 4 … left out")


@each(
    ("words", "problem"),
    [
        (["LUND"], "'LUND' is in the text with another case, white space or typography only"),
        (["Lund", "Lund"], "'Lund' was quoted more often than it occurs"),
        (["Oslo"], "'Oslo' is not in the text"),
    ],
)
def test_what_is_mended_is_signed_and_refused_where_reading_is_strict(words, problem):
    record = {"text": TEXT, "entities": {"LOC": words}}
    assert bc.read(stream([record])).options["inexact_quotes"] == "mend"
    for options in ({"strict": True}, {"strict": "inexact_quotes"}):
        with refused(bc.SpanError, f"stream 1: item 1: … {problem} … strict='-inexact_quotes'"):
            bc.read(stream([record]), **options)
    good = {"text": TEXT, "entities": {"LOC": ["Lund"]}}
    assert "inexact_quotes" not in bc.read(stream([good]), strict=True).options


def test_quotes_that_may_be_elsewhere_are_counted():
    corpus = bc.read(stream([{"text": TEXT, "entities": {"PER": ["Mira"]}}]))
    assert corpus.skipped == {ELSEWHERE: 1}
    assert corpus.elsewhere[:, 1, 0].tolist() == [0, 26]


def test_offsets_are_ignored_on_request():
    wrong = [{**quote, "start": 3, "end": 5} for quote in QUOTES]
    record = {"text": TEXT, "entities": wrong}
    assert not quotes.is_format(Upload("", "", [], data=[record]))
    corpus = bc.read(stream([record]), format="quotes")
    assert spans(corpus) == EXPECTED
    assert corpus.skipped == {"offsets ignored, quotes found by their words": 2}


REPEATED = "Été 😀 Mira Holt met Mira ."
"""The second Mira is at character 20, unit 21 of UTF-16, byte 25, and word 5."""


@each(
    "numbers",
    [
        {"from": 20, "to": 24},
        {"from": 20, "to": 23},
        {"to": 25, "from": 21},
        {"loc": [25, 29]},
        {"loc": {"a": 5, "b": 6}},
        {"words": [5, 5]},
        {"id": 3, "place": [20, 24], "score": 1},
        {"at": 20, "size": 4},
    ],
)
def test_numbers_that_fit_the_words_say_where_a_quote_is(numbers):
    quote = {"text": "Mira", "label": "PER", **numbers}
    for record in (
        {"text": REPEATED, "entities": [quote]},
        {"text": REPEATED, "entities": {"PER": [quote]}},
    ):
        corpus = bc.read(stream([record]), format="quotes")
        assert spans(corpus) == [(20, 24, "PER")]
        assert corpus.skipped == {}
        assert corpus.elsewhere is None


def test_quotes_with_and_without_numbers_have_different_places():
    found = [{"text": "Mira", "label": "PER"}, {"text": "Mira", "label": "PER", "loc": [6, 10]}]
    corpus = bc.read(stream([{"text": REPEATED, "entities": found}]))
    assert spans(corpus) == [(6, 10, "PER"), (20, 24, "PER")]
    assert corpus.skipped == {}
    both = [{"text": "Holt", "label": "PER"}, {"text": "Holt", "label": "ORG", "loc": [11, 15]}]
    corpus = bc.read(stream([{"text": REPEATED, "entities": both}]))
    assert sorted(spans(corpus)) == [(11, 15, "ORG"), (11, 15, "PER")]


def test_numbers_may_point_into_a_word():
    quote = {"text": "Mira", "label": "PER", "loc": [9, 13]}
    corpus = bc.read(stream([{"text": "Mira and Miranda", "entities": [quote]}]))
    assert spans(corpus) == [(9, 13, "PER")]


def test_numbers_that_do_not_fit_the_words_are_not_offsets():
    quote = {"text": "Mira", "label": "PER", "confidence": [3, 5], "id": 4, "rank": 0}
    corpus = bc.read(stream([{"text": REPEATED, "entities": [quote]}]))
    assert spans(corpus) == [(6, 10, "PER")]
    assert corpus.skipped == {ELSEWHERE: 1}


def test_near_quotes_are_signed_and_counted():
    pytest.importorskip("rapidfuzz")
    record = {"text": TEXT, "entities": [{"text": "Myra Holt", "label": "PER"}]}
    corpus = bc.read(stream([record]), near_quotes=0.8)
    assert spans(corpus) == EXPECTED[:1]
    assert corpus.skipped == {"quotes found nearly, not word for word": 1}
    assert corpus.options["near_quotes"] == 0.8
    assert bc.read(stream([record])).skipped == {"quotes not found in the text counted as wrong": 1}


def test_texts_may_be_in_the_file_of_another():
    model = [{"id": "a", "entities": QUOTES}]
    person = [{"id": "a", "text": TEXT, "entities": QUOTES[:1]}]
    corpus = bc.read(stream(model), stream(person))
    assert spans(corpus, "a") == EXPECTED
    assert bc.agreement(corpus).observed == pytest.approx(2 * 9 / (9 + 13))


@each("unit", ["utf16", "codepoints"])
def test_offsets_of_other_files_do_not_move_quotes(unit):
    text = "😀 Lund"
    start = 2 + (unit == "utf16")
    person = {
        "id": 1,
        "text": text,
        "entities": [{"start": start, "end": start + 4, "label": "LOC"}],
    }
    model = {"id": 1, "text": text, "entities": QUOTES[1:]}
    corpus = bc.read(stream([model]), stream([person]), offsets=unit)
    assert {tuple(corpus.spans("1", name)[0]) for name in corpus.annotators} == {(2, 6, "LOC")}


def test_tokens_are_scored_like_characters():
    rows = [{"text": TEXT, "entities": {"PER": ["Mira", "Mira Holt"]}}]
    corpus = bc.read(stream(rows), positions="tokens")
    assert spans(corpus) == [(0, 2, "PER"), (6, 7, "PER")]
    assert corpus.elsewhere[:, 1:, 0].tolist() == [[0, 1], [6, 7]]


def test_places_that_cut_a_token_are_left_out_if_tokens_are_strict():
    rows = [{"text": "C and C, I see", "entities": {"X": ["C"]}}]
    corpus = bc.read(stream(rows), positions="whitespace", strict="cut_tokens")
    assert spans(corpus) == [(0, 1, "X")]
    assert corpus.elsewhere[:, 1, 0].tolist() == [0, 0]


@each(
    ("content", "message"),
    [
        ([{"entities": QUOTES}], "item 1: … text"),
        (
            [{"id": "a", "entities": QUOTES}],
            "item 1: document 'a' … text … 'text'",
        ),
        ([{"text": 3, "entities": []}], "'text' … 3 … quoted"),
        (["x"], "item 1: … record … 'x'"),
        ([{"text": TEXT}], "item 1: … quotes … 'text'"),
        (
            [{"text": TEXT, "entities": "Lund"}],
            "'entities' … 'Lund' … lists",
        ),
        ([{"text": TEXT, "entities": ["Lund"]}], "item 1: … quote … 1 … 'Lund'"),
        (
            [{"text": TEXT, "entities": [{"label": "LOC"}]}],
            "item 1: … 1 … words … 'label'",
        ),
        (
            [{"text": TEXT, "entities": [{"text": "Lund", "score": 1}]}],
            "item 1: … 1 … label … 'text' … 'score'",
        ),
        (
            [{"text": TEXT, "entities": [{"text": "Lund", "label": ["LOC"]}]}],
            "item 1: … 1 … 'label' … list",
        ),
        (
            [{"text": TEXT, "entities": {"Lund": "LOC"}}],
            "item 1: … 'Lund' … 'LOC' … because",
        ),
        (
            [{"text": TEXT, "entities": {"LOC": [3]}}],
            "item 1: … 'LOC' … quote … 1 … 3",
        ),
        ('{"text": "x", "entities": [', "valid"),
    ],
)
def test_malformed_files(content, message):
    with refused(bc.FormatError, message):
        bc.read(stream(content), format="quotes")


@each(
    "record",
    [
        {"text": TEXT, "entities": [{"start": 0, "end": 4, "label": "PER", "text": "Mira"}]},
        {"text": TEXT, "label": [[0, 4, "PER"]]},
        {"text": TEXT, "entities": [{"text": "Mira", "label": "PER", "offset": 0, "length": 4}]},
        {"text": TEXT, "entities": [{"text": "Mira", "label": "PER", "span": [0, 4]}]},
        {"text": TEXT, "entities": [{"text": "Mira", "label": "PER", "char_interval": None}]},
        {"text": TEXT, "tokens": ["Mira", "Holt"], "ner_tags": ["B-PER", "I-PER"]},
        {"text": TEXT, "label": "positive"},
        {"text": TEXT, "labels": ["positive"]},
        {"text": TEXT, "keywords": [1, 2]},
        {"text": TEXT, "entities": [["Mira", "PER"]]},
        {"question": "Who?", "answers": ["Mira"]},
    ],
)
def test_other_records_are_not_taken_for_quotes(record):
    assert not FORMATS["quotes"].detects(
        Upload("", "", [Source("a", member=json.dumps(record).encode())])
    )
    assert not quotes.is_format(Upload("", "", [], data=[record]))


CONTENT = [
    {"id": 1, "text": TEXT, "entities": [*QUOTES, {"text": "Mira", "type": "PER", "note": None}]},
    {"text": "Ah.", "PER": ["Ah"], "LOC": None},
    {"text": TEXT, "spans": {"PER": ["Mira", {"name": "Holt"}]}},
]
VALUES = st.none() | st.booleans() | st.integers() | st.text(max_size=3) | st.just([]) | st.just({})


@pytest.mark.slow
@examples(1000)
@given(st.data())
def test_mutated_files_raise_our_errors_only(data):
    path = data.draw(st.sampled_from(list(places(CONTENT))))
    content = replaced(CONTENT, path, data.draw(VALUES | st.just({"": [None]}) | st.just([[]])))
    upload = Upload("a", "a", [Source("a", member=json.dumps(content).encode())])
    with suppress(bc.BeyondChanceError):
        quotes.is_format(upload)
        reading = Reading({})
        assembled(quotes.read([upload], reading), reading, unit="document", positions="tokens")
