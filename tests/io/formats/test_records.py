"""Records: names of keys, stored words, annotators, and what is refused."""

import io
import json

import datasets
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import spacy
from hypothesis import given, strategies as st

import beyondchance as bc
from beyondchance.io.assembling import assembled
from beyondchance.io.formats import doccano, prodigy, records
from beyondchance.io.options import Reading
from beyondchance.io.registry import FORMATS, Upload
from beyondchance.io.sources import Source
from beyondchance.options import ReadOptions
from each import each
from examples import examples
from mutation import places, replaced
from refusals import assert_tells, refused

pytestmark = pytest.mark.usefixtures("by_characters")

TEXT = "Ada met Bo in Oslo."
ADA = {"start": 0, "end": 3, "label": "PER"}
BO = {"start": 8, "end": 10, "label": "PER", "text": "Bo"}
OSLO = {"start": 14, "end": 18, "label": "LOC", "text": "Oslo"}
SPAN = {"start": 0, "end": 3, "label": "PER"}
THREE = [(0, 3, "PER"), (8, 10, "PER"), (14, 18, "LOC")]
COLUMNS = {"start": [0, 8, 14], "end": [3, 10, 18], "label": ["PER", "PER", "LOC"]}
TOKENS = [
    {"text": TEXT[start:end], "start": start, "end": end}
    for start, end in [(0, 3), (4, 7), (8, 10), (11, 13), (14, 19)]
]
PAIRS = [[TEXT, {"entities": [list(span) for span in THREE]}], ["Bo left", {"entities": []}]]
WORDS = {"tokenized_text": [*"abcd"], "ner": [[0, 0, "X"], [1, 3, "Y"]]}


def record(*spans, **more):
    return {"text": TEXT, "entities": list(spans)} | more


def lines(*rows, **options):
    return "".join(json.dumps(row, **options) + "\n" for row in rows).encode()


def array(*rows):
    return json.dumps(rows, indent=1).encode()


@pytest.fixture
def read(tmp_path):
    def reader(*rows, **options):
        path = tmp_path / "news.jsonl"
        path.write_bytes(rows[0] if isinstance(rows[0], bytes) else lines(*rows))
        return bc.read(path, format="records", **options)

    return reader


@pytest.fixture
def refuses(read):
    def refuser(*rows, message, error=bc.FormatError, **options):
        with refused(error, message):
            read(*rows, **options)

    return refuser


def upload_of(content=b"", data=None):
    return Upload("news.jsonl", "news", [Source("news.jsonl", member=content)], data=data)


def is_format(*rows):
    return records.is_format(upload_of(lines(*rows)))


# --- Shapes -------------------------------------------------------------------


class TestShapes:
    def test_lines(self, read):
        corpus = read(record(ADA, BO, OSLO), record(text="Nothing here"))
        assert corpus.documents == ("1", "2")
        assert corpus.annotators == ("news",)
        assert corpus.spans("1", "news") == THREE
        assert corpus.spans("2", "news") == []
        assert corpus.texts == (TEXT, "Nothing here")
        assert (corpus.unit, corpus.positions) == ("document", "characters")
        assert (corpus.skipped, corpus.notes, corpus.gold) == ({}, (), None)

    @each(
        "content",
        [
            array(record(ADA, BO, OSLO)),
            json.dumps({"data": [record(ADA, BO, OSLO)]}).encode(),
            json.dumps({"version": 1, "examples": [record(ADA, BO, OSLO)]}, indent=2).encode(),
            json.dumps(record(ADA, BO, OSLO)).encode(),
            json.dumps(record(ADA, BO, OSLO), indent=4).encode(),
            b"\xef\xbb\xbf\r\n" + lines(record(ADA, BO, OSLO)),
            array(None, record(ADA, BO, OSLO)).replace(b"null,", b""),
            json.dumps(record(ADA, BO, OSLO)).encode("utf-16"),
            lines(record(entities=COLUMNS)),
        ],
    )
    def test_other_shapes_of_files(self, read, content):
        corpus = read(content)
        assert corpus.spans("1", "news") == THREE
        assert records.is_format(upload_of(content))

    @each(
        "key",
        [
            *("text", "full_text", "sentence", "content", "input", "raw_text", "raw", "body"),
            *("passage", "context", "sourceText", "Text"),
        ],
    )
    def test_keys_of_texts(self, read, key):
        row = {key: TEXT, "spans": [ADA], "meta": {"source": "x"}}
        assert read(row).spans("1", "news") == THREE[:1]
        assert is_format(row)

    @each(
        "key",
        [
            *("entities", "spans", "ents", "labels", "label", "annotations", "annotation", "ner"),
            *("named_entities", "mentions", "Entities"),
        ],
    )
    def test_keys_of_spans(self, read, key):
        row = {"text": TEXT, key: [ADA, BO, OSLO]}
        assert read(row).spans("1", "news") == THREE
        assert is_format(row)

    def test_any_key_of_spans_by_name(self, read):
        row = record(ADA, gold=[OSLO])
        corpus = read(row, layer="gold")
        assert corpus.spans("1", "news") == THREE[2:]
        assert corpus.options["layer"] == "gold"

    def test_spans_as_lists(self, read):
        assert read(record(*map(list, THREE))).spans("1", "news") == THREE

    def test_pipelines_of_transformers(self, read):
        word = {"entity_group": "LOC", "score": 0.9, "word": "oslo", "start": 14, "end": 18}
        corpus = read(record(word))
        assert corpus.spans("1", "news") == THREE[2:]
        assert corpus.skipped == {}

    def test_several_labels(self, read):
        row = record({"start": 0, "end": 3, "labels": ["PER", "POET"]})
        assert read(row).spans("1", "news") == [(0, 3, "PER"), (0, 3, "POET")]

    def test_ids(self, read):
        for key in ("id", "doc_id", "document_id", "docid", "uid", "guid", "_id"):
            assert read(record(ADA, **{key: "a"})).documents == ("a",)
        assert read(record(ADA, id=7)).documents == ("7",)
        assert read(record(ADA, _id={"$oid": "5f"})).documents == ("5f",)
        assert read(record(ADA, id=None)).documents == ("1",)

    def test_not_annotated_is_not_empty(self, read):
        rows = (record(ADA), record(), {"text": TEXT}, record(entities=None))
        corpus = read(*rows, repeated="documents")
        assert corpus.documents == ("1", "2")
        assert corpus.skipped == {"records not annotated left out": 2}
        corpus = read(*rows, empty="missing")
        assert corpus.documents == ("1",)
        assert corpus.skipped == {
            "records not annotated left out": 2,
            "records without spans left out as not annotated": 1,
        }

    def test_nothing_marked_at_all(self, read):
        assert read(record(), record(text="Bo left")).documents == ("1", "2")

    def test_what_is_not_a_span_is_counted(self, read):
        row = record(ADA, relations=[{}, {}], cats={"good": 1}, events=[], links=[1])
        assert read(row).skipped == {
            "relations ignored": 2,
            "categories of whole texts ignored": 1,
            "links ignored": 1,
        }

    def test_answers_of_prodigy(self, read):
        rows = [record(ADA), record(BO, answer="reject"), record(OSLO, answer="ignore")]
        corpus = read(array(*rows))
        assert corpus.documents == ("1",)
        assert corpus.skipped == {"rejected records left out": 1, "ignored records left out": 1}

    def test_a_folder_is_of_one_annotator(self, tmp_path):
        folder = tmp_path / "ada"
        folder.mkdir()
        (folder / "one.json").write_text(json.dumps(record(ADA)))
        (folder / "two.json").write_text(json.dumps(record(OSLO) | {"text": f"{TEXT} Then Bo."}))
        corpus = bc.read(folder, format="records")
        assert (corpus.documents, corpus.annotators) == (("one", "two"), ("ada",))
        (folder / "two.json").write_bytes(lines(record(BO), record(OSLO)))
        assert bc.read(folder).documents == ("one:1", "two:1", "two:2")


class TestParquet:
    @staticmethod
    def packed(*rows):
        sink = pa.BufferOutputStream()
        pq.write_table(pa.Table.from_pylist(list(rows)), sink)
        return sink.getvalue().to_pybytes()

    def test_rows(self, read):
        content = self.packed(record(BO, OSLO, id="a"), record(id="b"), record(entities=None))
        assert records.is_format(upload_of(content))
        corpus = read(content)
        assert corpus.documents == ("a", "b")
        assert corpus.spans("a", "news") == THREE[1:]
        assert corpus.skipped == {"records not annotated left out": 1}
        same = read(record(BO, OSLO, id="a"), record(id="b"), record(entities=None))
        assert (corpus.texts, corpus.skipped) == (same.texts, same.skipped)

    @each(
        "row",
        [
            {"document": "1", "text": "Ada", "start": 0, "end": 3, "label": "PER"},
            {"tokens": ["Ada"], "ner_tags": [1]},
            {"text": "Ada", "tokens": ["Ada"], "labels": [1]},
            {"text": "Ada", "spans": [{"text": "Ada", "label": "PER"}]},
        ],
    )
    def test_other_tables(self, row):
        assert not records.is_format(upload_of(self.packed(row)))

    def test_damaged(self, read):
        content = self.packed(record(ADA))
        assert not records.is_format(upload_of(content[:-20]))
        with refused(bc.FormatError, "readable"):
            read(content[:-20])


class TestTokens:
    def test_from_the_file(self, read):
        # By rule, "Oslo." would be two tokens.
        corpus = read(record(ADA, OSLO, tokens=TOKENS), positions="tokens")
        assert corpus.spans("1", "news") == [(0, 1, "PER"), (4, 5, "LOC")]
        assert corpus.text_length.tolist() == [5]
        assert corpus.options["tokens"] == "file"

    def test_words_without_places_are_not_used(self, read):
        corpus = read(record(ADA, OSLO, tokens=TEXT.split()), positions="tokens")
        assert corpus.options["tokens"] == "rule"
        assert corpus.skipped == {}

    def test_spans_that_count_tokens_are_refused(self, read, refuses):
        words = TEXT.split()
        counted = [{"start": 0, "end": 1, "label": "PER"}, {"start": 4, "end": 5, "label": "LOC"}]
        refuses(
            record(*counted, tokens=words),
            message="news.jsonl: … tokens … 'tokens' … 'tokens'",
        )
        assert read(record(ADA, tokens=words)).spans("1", "news") == THREE[:1]
        assert len(read(record(*counted, OSLO, tokens=words)).spans("1", "news")) == 3

    @each("tokens", [TOKENS[::-1], [{"start": 0, "end": 99}], [{"start": 0}]])
    def test_those_that_do_not_fit_are_counted(self, read, tokens):
        corpus = read(record(ADA, OSLO, tokens=tokens), positions="tokens")
        assert corpus.options["tokens"] == "rule"
        assert corpus.skipped == {"lists of tokens that do not fit their text ignored": 1}


# --- Annotators and documents -------------------------------------------------


class TestAnnotators:
    def test_one_file_each(self, tmp_path):
        for name, span in (("ada", ADA), ("bo", BO)):
            (tmp_path / f"{name}.jsonl").write_bytes(lines(record(span)))
        corpus = bc.read(tmp_path / "ada.jsonl", tmp_path / "bo.jsonl")
        assert corpus.annotators_of("1") == ("ada", "bo")
        assert corpus.spans("1", "bo") == THREE[1:2]

    @each("key", ["annotator", "annotator_id", "annotator_name", "annotated_by", "coder", "rater"])
    def test_of_records(self, read, key):
        corpus = read(record(ADA, id=5, **{key: "ada"}), record(BO, id=5, **{key: 2}))
        assert corpus.annotators_of("5") == ("ada", "2")

    def test_without_ids_texts_match(self, read):
        corpus = read(
            record(text="Other", annotator="ada"),
            record(ADA, annotator="ada"),
            record(BO, annotator="bo"),
            record(OSLO, annotator="bo"),
            record(annotator="ada"),
        )
        assert corpus.documents == ("1", "2", "4")
        assert corpus.annotators_of("2") == ("ada", "bo")
        # A text that both have twice is matched in order.
        assert corpus.spans("4", "ada") == []
        assert corpus.spans("4", "bo") == THREE[2:]

    def test_users_are_annotators_where_they_share_a_text(self, read):
        corpus = read(record(ADA, user="ada"), record(BO, user="bo"))
        assert corpus.annotators_of("1") == ("ada", "bo")
        # Otherwise they may have written it.
        corpus = read(record(ADA, user="ada"), record(text="Other", user="bo"))
        assert corpus.annotators == ("news",)
        rows = record(ADA, user={"id": 3}), record(BO, user={"id": 4})
        corpus = read(*rows, repeated="documents")
        assert corpus.annotators == ("news",)

    def test_of_spans(self, read):
        rows = (
            record(ADA | {"annotator": "ada"}, BO | {"annotator": "bo"}),
            record(OSLO | {"annotator": "bo"}),
            record(),
        )
        corpus = read(*rows)
        assert corpus.annotators == ("ada", "bo")
        assert corpus.spans("1", "ada") == THREE[:1]
        assert corpus.spans("1", "bo") == THREE[1:2]
        assert corpus.annotators_of("2") == corpus.annotators_of("3") == ("ada", "bo")
        (note,) = map(str, corpus.notes)
        assert_tells(note, "news.jsonl: … annotators … empty='missing'")
        corpus = read(*rows, empty="missing")
        assert corpus.documents == ("1", "2")
        assert corpus.annotators_of("2") == ("bo",)
        assert corpus.notes == ()

    def test_several_texts_under_one_id_are_numbered(self, read):
        corpus = read(
            record(ADA, doc_id="a"),
            record(text="Other", doc_id="a"),
            record(OSLO, doc_id="b"),
        )
        assert corpus.documents == ("a/1", "a/2", "b")
        assert corpus.skipped == {"records numbered because others have the same id": 2}
        assert corpus.options == {"match": "id"}

    @each("options", [{"strict": True}, {"match": "exact"}])
    def test_unless_ids_are_taken_to_the_letter(self, refuses, read, options):
        rows = record(ADA, doc_id="a"), record(text="Other", doc_id="a"), record(OSLO, doc_id="b")
        refuses(
            *rows,
            **options,
            message=(
                "news.jsonl:2: … document 'a' … another … news.jsonl:1 … match='id' … match='text'"
            ),
        )
        assert read(*rows[:2], strict=True, match="text").documents == ("a/1", "a/2")
        assert read(*rows, strict=True, match="id").documents == ("a/1", "a/2", "b")

    def test_texts_of_different_annotators_that_differ_are_refused(self, refuses):
        refuses(
            record(ADA, id=1, annotator="ada"),
            record(ADA, id=1, annotator="bo", text=TEXT + "!"),
            error=bc.MismatchError,
            message=(
                "news.jsonl:2: … '1' … news.jsonl:1 … character … 19 … 'o in Oslo.!' … 'o in Oslo.'"
            ),
        )

    def test_one_text_twice_under_one_id_is_repeated(self, read):
        corpus = read(record(ADA, id=1), record(BO, id=1), repeated="last")
        assert corpus.spans("1", "news") == THREE[1:2]


# --- Stored words -------------------------------------------------------------


class TestStoredWords:
    def test_a_few_that_differ_are_counted(self, read):
        corpus = read(record(ADA | {"text": "Bob"}, BO, OSLO))
        assert corpus.spans("1", "news") == THREE
        assert corpus.skipped == {"spans whose stored words differ from the text": 1}
        assert corpus.options == {"stored_words": "ignore"}

    @each("options", [{"strict": True}, {"strict": "stored_words"}])
    def test_strict_reading_refuses_them(self, refuses, options):
        refuses(
            record(ADA | {"text": "Bob"}, BO, OSLO),
            **options,
            error=bc.SpanError,
            message=(
                "news.jsonl:1: span #1: … [0, 3) … 'PER' … "
                "covers … 'Ada' … 'Bob' … strict='-stored_words'"
            ),
        )

    @each("words", ["oslo", "Ös lo", " Oslo\n"])
    def test_case_accents_and_white_space_may_differ(self, read, words):
        assert read(record(OSLO | {"text": words})).skipped == {}

    def test_words_that_are_no_words_of_the_text_are_counted_only(self, read):
        names = [ADA | {"value": "Q1"}, {"start": 8, "end": 10, "label": "PER", "value": "Q2"}]
        corpus = read(record(*names))
        assert corpus.spans("1", "news") == THREE[:2]
        assert corpus.skipped == {"spans whose stored words differ from the text": 2}

    def test_inclusive_ends_are_mended_if_all_words_say_so(self, read):
        spans = [ADA | {"text": "Ada", "end": 2}, BO | {"end": 9}, OSLO | {"end": 17}]
        corpus = read(record(*spans, {"start": 4, "end": 6, "label": "V"}), record(text="Bo left"))
        assert corpus.spans("1", "news") == [THREE[0], (4, 7, "V"), *THREE[1:]]
        assert corpus.skipped == {"spans whose end was inclusive, made one longer": 4}
        assert corpus.options["ends"] == "inclusive"
        (note,) = map(str, corpus.notes)
        assert_tells(note, "news.jsonl: … character … stored")

    def test_inclusive_ends_are_signed(self, read):
        corpus = read(record(OSLO | {"end": 17}, annotator="a"), record(OSLO, annotator="b"))
        assert "ends" not in corpus.options
        spans = [OSLO | {"end": 17}]
        corpus = read(record(*spans, annotator="a"), record(*spans, annotator="b"))
        assert "|ends:inclusive|" in str(bc.agreement(corpus).settings)

    def test_inclusive_ends_on_request(self, read):
        corpus = read(record(ADA | {"end": 2}, OSLO | {"end": 17}), offsets="inclusive")
        assert corpus.spans("1", "news") == [THREE[0], THREE[2]]
        assert corpus.options["ends"] == "inclusive"
        assert corpus.skipped == {}

    def test_offsets_that_count_another_unit(self, read, refuses):
        row = {"text": "😀 Ada met Bo", "entities": [{"start": 3, "end": 6, "type": "PER"}]}
        row["entities"][0]["word"] = "Ada"
        assert read(row, offsets="utf16").spans("1", "news") == [(2, 5, "PER")]
        refuses(
            row,
            error=bc.SpanError,
            message=(
                "news.jsonl:1: span #1: … [3, 6) … 'PER' … 'da ' … "
                "'Ada' … 1 … 1 … differ … UTF-16 … offsets='utf16'"
            ),
        )

    def test_offsets_that_count_bytes(self, read):
        row = {"text": "éé Ada", "entities": [{"start": 5, "end": 8, "type": "PER"}]}
        row["entities"][0]["word"] = "Ada"
        corpus = read(row, offsets="bytes")
        assert corpus.spans("1", "news") == [(3, 6, "PER")]
        assert corpus.skipped == {}
        with refused(bc.SpanError, "bytes … UTF-8 … offsets='bytes'"):
            read(row)
        row["entities"][0]["end"] = 7
        corpus = read(row, offsets="bytes")
        assert corpus.spans("1", "news") == [(3, 6, "PER")]
        assert corpus.options["ends"] == "inclusive"

    @each(("unit", "sign"), [("bytes", "é"), ("utf16", "😀"), (None, "é")])
    def test_tokens_count_what_spans_count(self, read, unit, sign):
        width = 1 + (unit is not None)
        words = [(0, width), (width + 1, width + 4)]
        row = {"text": f"{sign} Ada", "entities": [[*words[1], "PER"]]}
        row["tokens"] = [{"start": start, "end": end} for start, end in words]
        corpus = read(row, offsets=unit, positions="tokens")
        assert corpus.spans("1", "news") == [(1, 2, "PER")]
        assert corpus.options["tokens"] == "file"
        row["tokens"][0]["end"] = 9
        corpus = read(row, offsets=unit, positions="tokens")
        assert corpus.options["tokens"] == "rule"
        assert corpus.skipped == {"lists of tokens that do not fit their text ignored": 1}

    def test_most_ends_inclusive(self, read, refuses):
        rows = (record(BO | {"end": 9}, OSLO | {"end": 17}), record(OSLO))
        refuses(
            *rows,
            error=bc.SpanError,
            message=(
                "news.jsonl:1: span #1: … [8, 9) … 'PER' … 'B' … "
                "'Bo' … 2 … 3 … differ … offsets='inclusive'"
            ),
        )
        refuses(
            *rows,
            offsets="exclusive",
            error=bc.SpanError,
            message=(
                "news.jsonl:1: span #1: … [8, 9) … 'PER' … 'B' … "
                "'Bo' … 2 … 3 … differ … offsets='inclusive'"
            ),
        )
        corpus = read(*rows, offsets="inclusive", repeated="documents")
        assert corpus.skipped == {"spans whose stored words differ from the text": 1}

    def test_offsets_of_another_text(self, refuses):
        refuses(
            record(BO | {"start": 3, "end": 5}),
            error=bc.SpanError,
            message="news.jsonl:1: span #1: … [3, 5) … 'PER' … ' m' … 'Bo' … 1 … 1 … differ",
        )


# --- spaCy and GLiNER ---------------------------------------------------------


class TestTraining:
    def test_pairs_of_spacy(self, read):
        corpus = read(array(*PAIRS))
        assert corpus.documents == ("1", "2")
        assert corpus.spans("1", "news") == THREE
        assert records.is_format(upload_of(array(*PAIRS)))
        assert records.is_format(upload_of(array(*PAIRS[::-1])))

    def test_pairs_under_annotations(self, read):
        content = json.dumps({"classes": ["PER"], "annotations": [None, *PAIRS]}).encode()
        corpus = read(content)
        assert corpus.documents == ("2", "3")
        assert corpus.spans("2", "news") == THREE
        assert records.is_format(upload_of(content))

    def test_span_groups(self, read, refuses):
        row = [TEXT, {"spans": {"sc": [list(THREE[0])], "x": []}, "entities": [list(THREE[2])]}]
        corpus = read(array(row))
        assert corpus.spans("1", "news") == THREE[2:]
        assert corpus.skipped == {"span groups ignored": 2}
        assert read(array(row), layer="sc").spans("1", "news") == THREE[:1]
        refuses(
            array(row),
            layer="y",
            message="news.jsonl: … list … 'y' … 'sc' … 'x' … 'entities'",
        )
        refuses(
            array([TEXT, {"spans": {"sc": []}}]),
            message="news.jsonl: … groups … 'sc' … 'entities' … 'spans' … 'ents' … layer=NAME",
        )

    def test_records_without_span_groups_are_not_annotated(self, read):
        rows = [{"text": TEXT, "spans": {"x": [SPAN]}}, {"text": TEXT, "spans": []}]
        corpus = read(json.dumps(rows).encode(), layer="x")
        assert corpus.spans("1", "news") == [(0, 3, "PER")]
        assert corpus.skipped == {"records not annotated left out": 1}

    def test_a_span_has_one_annotator(self, refuses):
        for people, found in ((["ada", "ben"], "a list"), ([], "a list")):
            rows = [{"text": TEXT, "spans": [{**SPAN, "annotator": people}]}]
            message = f"news.jsonl:1: … 'annotator' is {found}; expected a name"
            refuses(json.dumps(rows[0]).encode(), message=message)

    @pytest.mark.slow
    def test_documents_of_spacy_as_json(self, read):
        nlp = spacy.blank("en")
        doc = nlp(TEXT)
        doc.ents = [doc.char_span(*span) for span in THREE]
        assert is_format(doc.to_json())
        corpus = read(doc.to_json(), positions="tokens")
        assert corpus.spans("1", "news") == [(0, 1, "PER"), (2, 3, "PER"), (4, 5, "LOC")]
        assert corpus.options["tokens"] == "file"

    def test_paragraphs_of_spacy_2(self, read):
        token = {"id": 0, "orth": "Ada", "ner": "U-PER"}
        row = {"id": 0, "paragraphs": [{"raw": "Ada", "sentences": [{"tokens": [token]}]}]}
        assert is_format(row)
        assert read(row).spans("0", "news") == [(0, 3, "PER")]
        row["paragraphs"].append({"raw": "", "sentences": []})
        assert read(row).skipped == {"paragraphs not annotated": 1}

    @pytest.mark.usefixtures("by_characters")
    def test_words_of_gliner(self, read):
        corpus = read(array(WORDS), positions="tokens")
        assert corpus.spans("1", "news") == [(0, 1, "X"), (1, 4, "Y")]
        assert corpus.texts == ("a b c d",)
        assert corpus.notes == ()
        assert is_format(WORDS)
        corpus = read(array(WORDS))
        assert corpus.spans("1", "news") == [(0, 1, "X"), (2, 7, "Y")]

    def test_evaluation_data_of_gliner_have_offsets(self):
        """The words occur twice, and it is the second that was marked."""
        ada = {"name": "Ada", "type": "person", "pos": [13, 16]}
        row = {"sentence": "Ada Holt met Ada .", "entities": [ada]}
        assert is_format(row)
        corpus = bc.read(io.BytesIO(array(row)))
        assert corpus.spans("1", "stream 1") == [(13, 16, "person")]
        assert corpus.skipped == {}
        assert corpus.elsewhere is None

    @each("pos", [[3, 4], [3, 3]])
    def test_offsets_that_count_words_are_not_replaced_by_a_search(self, refuses, pos):
        ada = {"name": "Ada", "type": "person", "pos": pos}
        refuses(
            {"sentence": "Ada Holt met Ada .", "entities": [ada]},
            error=bc.SpanError,
            message="news.jsonl:1: span #1: … 'Ada' … 1 of 1",
        )

    def test_words_with_ends_that_are_not_included(self, read):
        row = WORDS | {"ner": [[0, 1, "X"], [1, 4, "Y"]]}
        corpus = read(array(row), positions="tokens", offsets="exclusive")
        assert corpus.spans("1", "news") == [(0, 1, "X"), (1, 4, "Y")]

    def test_words_refused(self, refuses):
        refuses(
            WORDS | {"ner": [[1, 4, "Y"]]},
            error=bc.SpanError,
            message="news.jsonl:1: span #1: … [1, 5) … 4 … tokens … offsets='exclusive'",
        )
        refuses(
            WORDS | {"tokenized_text": ["a", 3]},
            message="news.jsonl:1: word #2: … 3 … string",
        )


# --- In memory ----------------------------------------------------------------


class TestInMemory:
    def test_records(self):
        corpus = bc.read([record(ADA, BO)], (record(ADA),))
        assert corpus.annotators_of("1") == ("annotator 1", "annotator 2")
        assert bc.agreement(corpus).observed == pytest.approx(0.75)

    def test_pairs(self):
        corpus = bc.read([(TEXT, {"entities": THREE})])
        assert corpus.spans("1", "annotator 1") == THREE

    def test_data_sets_of_hugging_face(self):
        data = datasets.Dataset.from_list([record(ADA, ADA | {"start": 1}), record()])
        assert records.is_format(upload_of(data=data))
        corpus = bc.read(data, [record(ADA), record()])
        assert corpus.spans("1", "annotator 1") == [(0, 3, "PER"), (1, 3, "PER")]
        assert corpus.annotators_of("2") == ("annotator 1", "annotator 2")
        words = datasets.Dataset.from_list([{"tokens": ["Ada"], "ner_tags": ["B-PER"]}])
        assert not records.is_format(upload_of(data=words))
        assert not records.is_format(upload_of(data=datasets.DatasetDict({"train": data})))

    def test_messages_name_the_record(self):
        with refused(bc.FormatError, "data 1: record 2: … 'text' … null"):
            bc.read([record(ADA), {"entities": []}])

    @each(
        "data",
        [
            [],
            [[ADA]],
            [(0, 3, "PER")],
            [["B-PER", "O"]],
            {"anna": [record(ADA)]},
            [{"tokens": ["Ada"], "ner_tags": ["B-PER"]}],
            [{"text": TEXT, "spans": [{"text": "Ada", "label": "PER"}]}],
        ],
    )
    def test_other_data_is_something_else(self, data):
        assert not records.is_format(upload_of(data=data))


# --- What is refused ----------------------------------------------------------

BEGIN = "news.jsonl:2: … "


@each(
    ("second", "message"),
    [
        (3, "record … 3"),
        ({"entities": []}, "'text' … null"),
        (record(text=[]), "'text' … list"),
        (record(id=1.5), "'id' … 1.5 … name"),
        (record(annotator=["ada"]), "'annotator' … list"),
        (record(entities="Ada"), "'entities' … 'Ada' … list"),
        (record(entities={"a": 1}), "'entities' … object"),
        (
            record(ADA, "Ada"),
            "span #2: … span … 'Ada'",
        ),
        (
            record(ADA | {"start": None}),
            "span #1: … 'start' … null",
        ),
        (record(ADA | {"end": "3"}), "span #1: … end … '3'"),
        (record(ADA | {"label": ""}), "span #1: … 'label' … '' … name"),
        (
            record(ADA | {"annotator": {}}),
            "span #1: … 'annotator' … object",
        ),
        (
            record({"entity": "B-PER", "index": 1, "start": 0, "end": 3, "word": "Ada"}),
            'span #1: … piece … aggregation_strategy="simple"',
        ),
    ],
)
def test_refused(refuses, second, message):
    refuses(record(ADA), second, message=BEGIN + message)


@each(
    ("content", "message"),
    [
        (b"", "annotated"),
        (b"[]", "annotated"),
        (
            lines({"text": TEXT, "label": "GOOD"}),
            "news.jsonl: … record … 'entities' … 'spans' … 'ents' … layer=NAME",
        ),
        (
            lines(record(ADA), record(spans=[BO])),
            "news.jsonl: … several … 'entities' … 'spans' … layer=NAME",
        ),
        (
            lines(record(ADA)) + b'{"text": \n',
            "news.jsonl:2: … 10 … Expecting",
        ),
    ],
)
def test_refused_files(refuses, content, message):
    refuses(content, message=message)


def test_spans_outside_of_the_text_are_refused(refuses):
    refuses(
        record(ADA | {"end": 99}),
        error=bc.SpanError,
        message="news.jsonl:1: span #1: … [0, 99) … 'PER' … lie … 19",
    )


# --- Detection ----------------------------------------------------------------


class TestDetection:
    @pytest.mark.parametrize(
        "content",
        [
            lines(record(), record(text="x"), record(ADA)),
            lines(record(), record()),
            lines(record(spans=[], entities=None)),
            # Longer than the head: the first record, and an array of many.
            lines(record(ADA, text=TEXT * 5000)),
            lines({"entities": [ADA], "text": TEXT * 5000}),
            array(*[record(ADA, BO, OSLO)] * 400),
            *(
                pytest.param(content, marks=pytest.mark.slow)
                for content in (
                    array(*[[TEXT, {"entities": [[0, 3, "PER"]]}]] * 1200),
                    json.dumps({"data": [record(ADA)] * 1000}).encode(),
                    json.dumps(
                        {"annotations": [[TEXT, {"entities": [[0, 3, "PER"]]}]] * 1300}
                    ).encode(),
                    array(*[{"tokenized_text": ["a"] * 99, "ner": [[0, 3, "PER"]]}] * 500),
                )
            ),
        ],
    )
    def test_told(self, content):
        upload = upload_of(content)
        assert records.is_format(upload)
        claimed = [item.name for item in FORMATS.values() if item.detects(upload)]
        assert claimed in (["records"], ["doccano", "records"])

    def test_the_first_record_with_spans_tells_doccano_and_others_apart(self):
        upload = upload_of(lines(record(), record(ADA)))
        assert not doccano.is_format(upload)
        upload = upload_of(lines(record(), record([0, 3, "PER"])))
        assert doccano.is_format(upload)
        assert not prodigy.is_format(upload)

    @each(
        "content",
        [
            b"",
            b"\xff\xfe\x00",
            b"\x89PNG\0\0",
            b"Ada B-PER\nmet O\n",
            b"{",
            b"{" * 100_000,
            b"[" * 100_000,
            b"[1]\n",
            b"12\n13\n",
            b"document,annotator,start,end,label\n1,ada,0,3,PER\n",
            lines({"document": "1", "text": "Ada", "start": 0, "end": 3, "label": "PER"}),
            lines({"id": 7, "data": {"text": TEXT}, "annotations": []}),
            lines([{"id": 7, "data": {"text": TEXT}, "annotations": []}]),
            lines({"tokens": ["Ada"], "ner_tags": ["B-PER"]}),
            lines({"text": TEXT, "tokens": ["Ada"], "labels": [1]}),
            lines({"text": TEXT, "labels": ["good"]}),
            lines({"text": TEXT, "spans": [{"text": "Ada", "label": "PER"}]}),
            lines({"text": TEXT, "spans": [{"text": "Ada", "start": None, "end": None}]}),
            lines({"text": TEXT, "annotation_sets": {}}),
            lines({"text": TEXT, "extractions": [{"char_interval": {"start_pos": 0}}]}),
        ],
    )
    def test_not_told(self, content):
        assert not records.is_format(upload_of(content))


# --- Whatever comes -----------------------------------------------------------

VALID = [
    record(ADA, BO, OSLO | {"annotator": "bo"}, id=1, tokens=TOKENS),
    record({"offset": 0, "length": 3, "type": ["A", "B"]}, [8, 10, "PER"], user="x", annotator=3),
    record(text="😀 Ada", relations=[1], answer="accept"),
    [TEXT, {"entities": [[0, 3, "PER"]], "spans": {"sc": []}}],
    {"tokenized_text": ["a", "b"], "ner": [[0, 1, "X"]], "id": 4},
    record(entities={"start": [0], "end": [3], "label": ["PER"]}),
]
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 40)
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(["", "Ada", "PER", "reject", "\ud800", "😀😀"])
    | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["text", "start", "end", "label", "spans", "entities", "offsets"]),
            inner,
            max_size=3,
        )
    ),
    max_leaves=6,
)


def only_our_errors(content, data=None, **options):
    upload = upload_of(content, data)
    records.is_format(upload)
    doccano.is_format(upload)
    for positions in ("characters", "tokens"):
        reading = Reading(ReadOptions(**options))
        try:
            assembled(
                records.read([upload], reading), reading, unit="document", positions=positions
            )
        except bc.BeyondChanceError as error:
            assert str(error)  # noqa: PT017 - the message is what is checked


OPTIONS = st.fixed_dictionaries(
    {
        "offsets": st.sampled_from([None, "utf16", "bytes,exclusive", "utf16, inclusive"]),
        "layer": st.sampled_from([None, None, "sc", "entities"]),
    }
)


@pytest.mark.slow
@examples(120)
@given(data=st.data(), options=OPTIONS)
def test_replaced_values(data, options):
    content = VALID
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from([p for p in places(content) if p]))
        content = replaced(content, path, data.draw(JSON))
    only_our_errors(lines(*content) if data.draw(st.booleans()) else array(*content), **options)
    only_our_errors(b"", content, **options)


@pytest.mark.slow
@examples(120)
@given(data=st.data(), number=st.integers(0, len(VALID) - 1), options=OPTIONS)
def test_replaced_values_of_one_record(data, number, options):
    content = [VALID[number]]
    path = data.draw(st.sampled_from([p for p in places(content) if p]))
    only_our_errors(array(*replaced(content, path, data.draw(JSON))), **options)


@pytest.mark.slow
@examples(120)
@given(data=st.data())
def test_broken_bytes(data):
    content = bytearray(array(*VALID))
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(content)))
        length = data.draw(st.integers(0, 5))
        content[place : place + length] = data.draw(st.binary(max_size=4))
    only_our_errors(bytes(content))


@examples(150)
@given(content=st.binary() | st.lists(JSON, max_size=4).map(lambda items: lines(*items)))
def test_anything(content):
    only_our_errors(content)
