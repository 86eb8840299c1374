"""Tables with the words of spans, and with rows that are no spans."""

import pytest

import beyondchance as bc
from each import each
from every_format import as_csv
from refusals import refused

pytestmark = pytest.mark.usefixtures("by_characters")

HEADER = ["document", "annotator", "start", "end", "label"]
TEXT = "Ada sat in Rome"
CROWD = [
    ["a", "x", 0, 3, "PER"],
    ["a", "x", 11, 15, ""],
    ["a", "y", 0, 30, "PER"],
    ["a", "y", 4, 4, "PER"],
    ["a", "y", 7, 3, "PER"],
    ["a", "z", "", 3, "LOC"],
    ["a", "z", 0, 3, "PER"],
]
"""Two rows lack something, two lie outside, one is empty, and two are spans."""


def saved(folder, rows, name="spans.csv"):
    (folder / name).write_bytes(as_csv(rows))
    return folder / name


def crowd(folder, rows, way):
    """Rows with the text or the length of the document."""
    name, value = {"text": ("text", TEXT), "length": ("length", len(TEXT))}[way]
    return saved(folder, [[*HEADER, name], *([*row, value] for row in rows)])


class TestBadRows:
    @each("way", ["text", "length"])
    def test_all_kinds_in_one_refusal(self, tmp_path, way):
        told = (
            "spans.csv:3: label … 2 such rows … spans.csv:4: … [0, 30) 'PER' … 15 … 2 such rows … "
            "spans.csv:5: … [4, 4) 'PER'"
        )
        with refused(bc.FormatError, told, use="bad_rows"):
            bc.read(crowd(tmp_path, CROWD, way))

    @each("way", ["text", "length"])
    def test_left_out(self, tmp_path, way):
        corpus = bc.read(crowd(tmp_path, CROWD, way), bad_rows="skip")
        assert corpus.skipped == {
            "rows without a start, an end or a label left out": 2,
            "spans outside of their document left out": 2,
            "empty spans left out": 1,
        }
        assert corpus.options["bad_rows"] == "skip"
        found = {name: corpus.spans("a", name) for name in corpus.annotators}
        assert found == {"x": [(0, 3, "PER")], "y": [], "z": [(0, 3, "PER")]}

    @each("way", ["text", "length"])
    def test_good_rows_stay(self, tmp_path, way):
        corpus = bc.read(crowd(tmp_path, [CROWD[0], CROWD[-1]], way), bad_rows="skip")
        assert not corpus.skipped
        assert len(corpus.span_start) == 2

    def test_one_kind(self, tmp_path):
        rows = [CROWD[0], CROWD[2], CROWD[4]]
        with refused(bc.SpanError, "spans.csv:3: … [0, 30) … 2 such rows", use="bad_rows"):
            bc.read(crowd(tmp_path, rows, "length"))
        with refused(bc.FormatError, "spans.csv:2: start …", use="bad_rows"):
            bc.read(crowd(tmp_path, [CROWD[5]], "length"))

    @each("way", ["text", "length"])
    def test_empty_spans_alone(self, tmp_path, way):
        path = crowd(tmp_path, [CROWD[0], CROWD[3]], way)
        with refused(bc.SpanError, "spans.csv:3: … [4, 4)", use="zero_length"):
            bc.read(path)
        for option in ("zero_length", "bad_rows"):
            corpus = bc.read(path, **{option: "skip"})
            assert corpus.skipped == {"empty spans left out": 1}
            assert option in corpus.options

    def test_empty_spans_left_out_and_others_refused(self, tmp_path):
        path = crowd(tmp_path, CROWD, "length")
        with refused(bc.FormatError, "spans.csv:3: … spans.csv:4:", use="bad_rows") as caught:
            bc.read(path, zero_length="skip")
        assert "[4, 4)" not in str(caught.value)

    def test_another_unit_is_named_first(self, tmp_path):
        rows = [[*HEADER, "text"], ["a", "x", 3, 6, "PER", "😀 Ada"], ["a", "y", 3, 6, "PER", ""]]
        with refused(bc.SpanError, "spans.csv:2: … 5", use="offsets bad_rows"):
            bc.read(saved(tmp_path, rows))
        corpus = bc.read(saved(tmp_path, rows), offsets="utf16")
        assert corpus.spans("a", "x") == [(2, 5, "PER")]

    def test_who_found_nothing_is_still_told_by_rows_without_a_span(self, tmp_path):
        """A row that is left out is not one that says that there is nothing."""
        rows = [["a", "x", 0, 3, "PER"], ["b", "y", 0, 3, ""], ["b", "x", 0, 3, "PER"]]
        corpus = bc.read(crowd(tmp_path, rows, "length"), bad_rows="skip")
        assert corpus.annotators_of("a") == ("x", "y")

    def test_other_formats_have_no_rows(self, tmp_path):
        (tmp_path / "a.conll").write_text("Ada B-PER\n")
        with refused(bc.OptionError, "bad_rows"):
            bc.read(tmp_path / "a.conll", bad_rows="skip")


class TestWords:
    rows = (
        [*HEADER, "text"],
        ["a", "x", 0, 3, "PER", "Ada"],
        ["a", "x", 11, 15, "LOC", "Rome"],
        ["a", "y", 0, 3, "PER", "Ada"],
        ["b", "x", 4, 7, "ACT", "ran"],
    )
    texts = (["document", "text"], ["a", TEXT], ["b", "Bob ran"])

    def with_ends(self, more):
        first, *rows = self.rows
        made = [[*row[:3], row[3] + more, *row[4:]] for row in rows]
        return [first, *made]

    def test_compared_with_the_texts(self, tmp_path):
        documents = saved(tmp_path, self.texts, "texts.csv")
        corpus = bc.read(saved(tmp_path, self.rows), documents=documents)
        assert corpus.texts == (TEXT, "Bob ran")
        assert corpus.spans("a", "x") == [(0, 3, "PER"), (11, 15, "LOC")]
        assert not corpus.skipped

    def test_other_words_are_counted(self, tmp_path):
        documents = saved(tmp_path, self.texts, "texts.csv")
        rows = [*self.rows, ["b", "y", 4, 7, "ACT", "fly"]]
        corpus = bc.read(saved(tmp_path, rows), documents=documents)
        assert list(corpus.skipped.values()) == [1]
        assert corpus.options["stored_words"] == "ignore"
        with refused(bc.SpanError, "spans.csv:6: … 'ran' … 'fly'"):
            bc.read(saved(tmp_path, rows), documents=documents, strict="stored_words")

    def test_words_elsewhere_are_refused(self, tmp_path):
        documents = saved(
            tmp_path, [["document", "text"], ["a", f"x{TEXT}"], ["b", "xBob ran"]], "t.csv"
        )
        with refused(bc.SpanError, "'Ada' … 4 of 4"):
            bc.read(saved(tmp_path, self.rows), documents=documents)

    def test_inclusive_ends_show(self, tmp_path):
        documents = saved(tmp_path, self.texts, "texts.csv")
        path = saved(tmp_path, self.with_ends(-1))
        corpus = bc.read(path, documents=documents)
        assert corpus.spans("a", "x") == [(0, 3, "PER"), (11, 15, "LOC")]
        assert corpus.options["ends"] == "inclusive"
        with refused(bc.SpanError, "spans.csv: …", use="offsets"):
            bc.read(path, documents=documents, strict=True)
        asked = bc.read(path, documents=documents, strict=True, offsets="inclusive", match="id")
        assert asked.spans("b", "x") == [(4, 7, "ACT")]

    def test_without_texts(self, tmp_path):
        corpus = bc.read(saved(tmp_path, self.rows), length=20)
        assert corpus.texts is None
        assert corpus.spans("b", "x") == [(4, 7, "ACT")]
        path = saved(tmp_path, self.with_ends(-1))
        with refused(bc.SpanError, "spans.csv: …", use="offsets"):
            bc.read(path, length=20)
        assert bc.read(path, length=20, offsets="inclusive").spans("b", "x") == [(4, 7, "ACT")]

    def test_texts_of_documents_stay_texts(self, tmp_path):
        """Spans that are all of their documents fit both ways."""
        rows = [[*HEADER, "text"], ["a", "x", 0, 3, "P", "Ada"], ["b", "x", 0, 3, "P", "Bob"]]
        assert bc.read(saved(tmp_path, rows)).texts == ("Ada", "Bob")

    def test_no_lengths(self, tmp_path):
        with refused(bc.FormatError, "spans.csv: … 'a'", use="documents length"):
            bc.read(saved(tmp_path, self.rows))

    def test_next_to_a_table_without_words(self, tmp_path):
        other = saved(tmp_path, [HEADER, ["b", "z", 4, 7, "ACT"]], "other.csv")
        documents = saved(tmp_path, self.texts, "texts.csv")
        for paths in ((saved(tmp_path, self.rows), other), (other, saved(tmp_path, self.rows))):
            corpus = bc.read(*paths, documents=documents)
            assert corpus.spans("b", "z") == corpus.spans("b", "x") == [(4, 7, "ACT")]


class TestTokens:
    """A long table: the sentence in the first row only, and a tag column for each annotator."""

    rows = (
        ["Sentence #", "Word", "POS", "gold", "predicted"],
        ["Sentence: 1", "Ada", "NNP", "B-PER", "B-PER"],
        ["", "paid", "VB", "O", "O"],
        ["", "5,000", "CD", "B-NUM", "O"],
        ["Sentence: 2", "Bob", "NNP", "O", "B-PER"],
    )

    def test_read(self, tmp_path):
        corpus = bc.read(saved(tmp_path, self.rows), positions=None)
        assert corpus.annotators == ("gold", "predicted")
        assert corpus.texts == ("Ada paid 5,000", "Bob")
        assert corpus.spans("1", "gold") == [(0, 1, "PER"), (2, 3, "NUM")]
        assert corpus.spans("2", "predicted") == [(0, 1, "PER")]

    def test_no_word(self, tmp_path):
        with refused(bc.FormatError, "spans.csv:6: …"):
            bc.read(saved(tmp_path, [*self.rows, ["", "", "CD", "O", "O"]]))
