"""Tables with a row for each text, whose cells hold lists of spans or of tags."""

import json

import pytest

import beyondchance as bc
from beyondchance.cli.main import main
from beyondchance.io.unfolding import _list_in
from each import each
from every_format import as_csv
from refusals import assert_notes, refused

SENTENCES = ["Ada sat in Rome", "Bob ran"]


def saved(folder, rows, name="wide.csv"):
    (folder / name).write_bytes(as_csv(rows))
    return folder / name


class TestTags:
    rows = (
        ["sentence", "anna", "ben"],
        [SENTENCES[0], "B-PER O O B-LOC", "B-PER O O O"],
        [SENTENCES[1], "B-PER O", "O O"],
    )

    def test_a_column_for_each_annotator(self, tmp_path):
        corpus = bc.read(saved(tmp_path, self.rows))
        assert corpus.annotators == ("anna", "ben")
        assert (corpus.unit, corpus.positions) == ("sentence", "tokens")
        assert corpus.spans("1", "anna") == [(0, 1, "PER"), (3, 4, "LOC")]
        assert corpus.spans("1", "ben") == [(0, 1, "PER")]
        assert corpus.spans("2", "ben") == []
        assert [item.format for item in corpus.inputs] == ["hf"]

    def test_lists_as_python_writes_them(self, tmp_path):
        """A file for each annotator; what is not read is told."""
        for name, last in (("anna", "B-LOC"), ("ben", "O")):
            rows = [
                ["Sentence #", "Sentence", "POS", "Tag"],
                ["Sentence: 1", SENTENCES[0], "['NNP', 'VB', 'IN', 'NNP']", ["O", "O", "O", last]],
                ["Sentence: 2", SENTENCES[1], "['NNP', 'VB']", ["B-PER", "O"]],
            ]
            saved(tmp_path, rows, f"{name}.csv")
        corpus = bc.read(tmp_path / "anna.csv", tmp_path / "ben.csv")
        assert corpus.documents == ("Sentence: 1", "Sentence: 2")
        assert corpus.spans("Sentence: 1", "anna") == [(3, 4, "LOC")]
        assert corpus.spans("Sentence: 1", "ben") == []
        assert any("'POS'" in str(note) for note in corpus.notes)

    def test_tokens_in_a_list(self, tmp_path):
        rows = [["tokens", "a", "b"], [["New York", "!"], "B-LOC O", "O O"]]
        corpus = bc.read(saved(tmp_path, rows))
        assert corpus.texts == ("New York !",)
        assert corpus.spans("1", "a") == [(0, 1, "LOC")]

    def test_an_annotator_in_each_row(self, tmp_path):
        rows = [["id", "text", "annotator", "tags"]]
        rows += [["x", SENTENCES[1], "anna", "B-PER O"], ["x", SENTENCES[1], "ben", "O O"]]
        corpus = bc.read(saved(tmp_path, rows))
        assert corpus.annotators == ("anna", "ben")
        assert corpus.spans("x", "anna") == [(0, 1, "PER")]

    def test_a_gap_is_not_annotated(self, tmp_path):
        rows = [*self.rows[:2], [SENTENCES[1], "B-PER O", ""]]
        corpus = bc.read(saved(tmp_path, rows))
        assert corpus.annotators_of("2") == ("anna",)
        assert corpus.skipped == {"examples not annotated": 1}

    def test_too_few_tags(self, tmp_path):
        """The line is that of the table, where a cell goes over two."""
        rows = [*self.rows[:2], ["Bob\nran", "B-PER O", "O O"], ["Eve hid", "O O", "O"]]
        with refused(bc.FormatError, "wide.csv:5: … 2 … 1"):
            bc.read(saved(tmp_path, rows))

    def test_tags_of_an_empty_list_of_tokens(self, tmp_path):
        rows = [["tokens", "a", "b"], [["New", "York"], "B-LOC I-LOC", "O O"], ["", "B-LOC O", ""]]
        with refused(bc.FormatError, "wide.csv:3: … 0 … 2 … 'a'"):
            bc.read(saved(tmp_path, rows))

    def test_a_gold_standard(self, tmp_path):
        corpus = bc.read(saved(tmp_path, self.rows), gold="anna")
        assert corpus.gold == "anna"

    def test_one_name_for_two(self, tmp_path):
        with refused(bc.DataError, "wide.csv: … 2 … 'anna', 'ben'"):
            bc.agreement({"mia": saved(tmp_path, self.rows), "tom": saved(tmp_path, [], "b.csv")})


class TestSpans:
    rows = (
        ["id", "text", "anna", "ben"],
        ["a", SENTENCES[0], '[{"start": 0, "end": 3, "label": "PER"}]', "[(0, 3, 'PER')]"],
        ["b", f" {SENTENCES[1]}", '[{"start": 1, "end": 4, "label": "PER"}]', "[]"],
    )

    @pytest.mark.usefixtures("by_characters")
    def test_a_column_for_each_annotator(self, tmp_path):
        corpus = bc.read(saved(tmp_path, self.rows))
        assert (corpus.unit, corpus.positions) == ("document", "characters")
        assert corpus.annotators == ("anna", "ben")
        assert corpus.texts == (SENTENCES[0], f" {SENTENCES[1]}")
        assert corpus.spans("a", "ben") == [(0, 3, "PER")]
        assert corpus.spans("b", "anna") == [(1, 4, "PER")]
        assert corpus.spans("b", "ben") == []

    def test_an_annotator_without_spans(self, tmp_path):
        rows = [["text", "anna", "ben"], *([x[1], x[2], "[]"] for x in self.rows[1:])]
        corpus = bc.read(saved(tmp_path, rows))
        assert corpus.annotators == ("anna", "ben")
        assert len(corpus.span_start) == 2

    def test_documents_and_sentences_have_names(self, tmp_path):
        rows = [["doc_id", "sent_id", *self.rows[0][1:]]]
        rows += [["d", i, *row[1:]] for i, row in enumerate(self.rows[1:])]
        assert bc.read(saved(tmp_path, rows)).documents == ("d/0", "d/1")

    def test_an_annotator_in_each_row(self, tmp_path):
        rows = [["text", "annotator", "spans"]]
        rows += [[SENTENCES[1], who, "[[0, 3, 'PER']]"] for who in ("anna", "ben")]
        corpus = bc.read(saved(tmp_path, rows), positions="characters")
        assert corpus.spans("1", "ben") == [(0, 3, "PER")]

    def test_no_text(self, tmp_path):
        rows = [[x[0], *x[2:]] for x in self.rows]
        with refused(bc.FormatError, "wide.csv:1: … text … 'id' … 'text'"):
            bc.read(saved(tmp_path, rows))

    def test_a_broken_cell(self, tmp_path):
        """No annotator is left out because of it."""
        rows = [*self.rows, ["c", "Eve hid", "[[0, 3, 'PER']", "[]"]]
        with refused(bc.FormatError, "wide.csv:4: …"):
            bc.read(saved(tmp_path, rows))

    def test_outside(self, tmp_path):
        rows = [*self.rows[:2], ["b", SENTENCES[1], "[[0, 99, 'PER']]", "[]"]]
        with refused(bc.SpanError, "wide.csv:3: … [0, 99) 'PER'"):
            bc.read(saved(tmp_path, rows))


class TestLabelStudio:
    header = ("annotation_id", "annotator", "id", "label", "lead_time", "sentiment", "text")

    def rows(self, *cells):
        found = [[i, who, doc, label, 1.5, "good", text] for i, (who, doc, label, text) in cells]
        return [self.header, *found]

    @pytest.mark.usefixtures("by_characters")
    def test_rows_are_annotations(self, tmp_path):
        regions = [{"start": 0, "end": 3, "text": "Ada", "labels": ["PER", "X"]}]
        cells = [
            (1, ("ada@x.org", 7, json.dumps(regions), SENTENCES[0])),
            (2, ("ben@x.org", 7, "", SENTENCES[0])),
        ]
        corpus = bc.read(saved(tmp_path, self.rows(*cells)))
        assert corpus.inputs[0].format == "label-studio"
        assert corpus.documents == ("7",)
        assert corpus.spans("7", "ada") == [(0, 3, "PER"), (0, 3, "X")]
        assert corpus.spans("7", "ben") == []

    def test_a_text_that_begins_with_a_bracket(self, tmp_path):
        region = '[{"start": 1, "end": 4, "labels": ["PER"]}]'
        cells = [(1, ("a", 7, region, "[Ada] sat")), (2, ("b", 7, region, "[Ada] sat"))]
        assert bc.read(saved(tmp_path, self.rows(*cells))).texts == ("[Ada] sat",)

    def test_other_words(self, tmp_path):
        region = '[{"start": 0, "end": 3, "text": "Eve", "labels": ["PER"]}]'
        cells = [(1, ("a", 7, region, SENTENCES[0]))]
        with refused(bc.SpanError, "'Ada' … 'Eve'"):
            bc.read(saved(tmp_path, self.rows(*cells)))


@each(
    ("cell", "expected"),
    [
        ("[1, 2]", [1, 2]),
        ("['a']", ["a"]),
        (' [["x", null]]', [["x", None]]),
        ("O B-X", ["O", "B-X"]),
        ("I", None),
        ("[" * 10**5, None),
        ("[Ada] sat", None),
        ("[x for x in y]", None),
        ("", None),
    ],
)
def test_lists_in_cells(cell, expected):
    assert _list_in(cell) == expected


@each("rows", [[["a", "b"], ["[1]", "[2]"]], [["text", "x"], ["Ada", "[]"], ["Bob", "x"]]])
def test_other_tables_are_refused_as_before(tmp_path, rows):
    with pytest.raises(bc.FormatError):
        bc.read(saved(tmp_path, rows))


def test_names_of_annotators_are_hidden(tmp_path, capsys):
    path = saved(tmp_path, [["id", "text", "mia", "tom"], ["1", "Ada", "[1]", "x"]])
    assert main(["agree", str(path), "--pseudonyms"]) == 1
    assert "mia" not in capsys.readouterr().err


def test_columns_of_one_name(tmp_path):
    with refused(bc.FormatError, "wide.csv:1: … 'anna'"):
        bc.read(saved(tmp_path, [["text", "anna", "anna"], ["Bob ran", "O O", "O O"]]))


def test_nothing_is_told_of_what_is_read(tmp_path):
    corpus = bc.read(saved(tmp_path, TestSpans.rows))
    assert_notes(corpus.notes, "records")


def test_as_many_tags_as_words(tmp_path):
    path = tmp_path / "wide.csv"
    path.write_text("text,anna,ben\nAda left,B-PER O,B-PER O\nBo left,B-PER O,B-PER O O\n")
    with refused(bc.FormatError, "wide.csv:3: … 2 … 3 … 'ben'"):
        bc.read(path)


def test_a_word_that_looks_like_a_tag_makes_no_table(tmp_path):
    """Nor do words in quotes make one."""
    (tmp_path / "x.conll").write_text('token ada ben\n"Oslo" B-LOC O\nO O O\n[ O O\n')
    corpus = bc.read(tmp_path / "x.conll")
    assert corpus.annotators == ("ada", "ben")
    assert corpus.texts == ('"Oslo" O [',)
