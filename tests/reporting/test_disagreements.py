"""What the report of disagreements says, and what it makes of odd names and long texts."""

from dataclasses import replace
from itertools import product

from hypothesis import given, strategies as st

from beyondchance import Corpus, disagreements, example
from beyondchance.reporting.blocks import Prose, Table
from beyondchance.reporting.commands.disagreements import disagreements_report
from beyondchance.reporting.commands.places import in_text
from beyondchance.reporting.rendering import LIST_OUTPUTS, rendered
from refusals import assert_tells

HOSTILE = "a|b_c$d&e#f%g{h}~i^j\\k<l>[m](n)`o`*p*\x1b[31m\nq\u202er"


def report_of(corpus, **options):
    found = disagreements(corpus)
    return disagreements_report(found, found, **options)


def tables(report):
    return [block for block in report.blocks() if isinstance(block, Table)]


class TestInText:
    TEXT = "one two three four five"

    def test_brackets(self):
        cases = [
            ((0, 3), (0, 3), "[{one}] two three four five"),
            ((0, 7), (4, 13), "[one {two] three} four five"),
            ((4, 7), (0, 13), "{one [two] three} four five"),
            ((0, 7), (0, 3), "[{one} two] three four five"),
            ((0, 3), (0, 7), "{[one] two} three four five"),
            ((0, 7), (4, 7), "[one {two}] three four five"),
            ((4, 7), (0, 7), "{one [two]} three four five"),
            ((0, 3), (-1, -1), "[one] two three four five"),
            ((-1, -1), (19, 23), "one two three four {five}"),
        ]
        for a, b, shown in cases:
            assert in_text(self.TEXT, a, b) == shown

    def test_what_is_long_is_cut(self):
        text = f"{'x' * 99}{'a' * 99}{'y' * 99}"
        assert in_text(text, (99, 198), (-1, -1)) == (
            f"…{'x' * 25}[{'a' * 30}…{'a' * 30}]{'y' * 25}…"
        )
        whole = f"{'x' * 25}{'a' * 60}{'y' * 25}"
        assert in_text(whole, (25, 85), (-1, -1)) == f"{'x' * 25}[{'a' * 60}]{'y' * 25}"

    def test_it_is_cut_between_words(self):
        text = "and then the retired teacher Marta opened the small museum of Osterby on Monday"
        assert in_text(text, (29, 34), (-1, -1)) == (
            "… then the retired teacher [Marta] opened the small museum …"
        )

    def test_lines_become_one(self):
        assert in_text("a\n\tb\r\nc", (0, 1), (3, 4)) == "[a] {b} c"

    @given(st.text("ab \n", min_size=1, max_size=20), st.data())
    def test_brackets_are_all_that_is_added(self, text, data):
        start = data.draw(st.integers(0, len(text) - 1))
        end = data.draw(st.integers(start + 1, len(text)))
        shown = in_text(text, (start, end), (0, len(text)))
        bare = "".join(character for character in shown if character not in "[]{}")
        # A blank may stand on either side of a bracket.
        assert "".join(bare.split()) == "".join(text.split())
        assert sorted(character for character in shown if character in "[]{}") == list("[]{}")


class TestTables:
    def test_one_pair_has_its_names(self):
        report = report_of(example().select(annotators=["ada", "ben"]), top=3)
        pairs, labels, listed = tables(report)
        assert len(pairs.rows) == 1
        assert labels.headings == ("ada", "EVENT", "PERSON", "PLACE", "no span")
        assert listed.headings == ["document", "text", "kind", "ada", "ben", "in the text"]
        assert len(listed.rows) == 3
        assert_tells(listed.remark, "3 … 76 … [ ] marked by ada")

    def test_a_team_has_a_sum(self):
        pairs, labels, listed = tables(report_of(example(), top=0))
        assert pairs.rows[0][0] == "all pairs"
        sums = [sum(column) for column in zip(*(row[1:] for row in pairs.rows[1:]), strict=True)]
        assert list(pairs.rows[0][1:]) == sums
        assert sum(cell or 0 for row in labels.rows for cell in row[1:]) == len(listed.rows)

    def test_the_pairs_that_differ_most(self):
        names = [f"w{i}" for i in range(5)]
        sides = {name: [["B-P", "O"]] for name in names} | {"w4": [["B-Q", "O"]]}
        report = report_of(Corpus.from_tags(sides), top=4)
        pairs = tables(report)[0]
        assert_tells(pairs.remark, "4 … 10")
        assert all("w4" in row[0] for row in pairs.rows[1:])
        assert report.is_cut
        assert len(report.data["pairs"]) == 10
        assert len(tables(report_of(Corpus.from_tags(sides), top=1))[0].rows) == 2  # and all pairs

    def test_many_labels_are_listed_by_how_often_they_differ(self):
        tags = [f"B-L{i:02}" for i in range(12)]
        other = [*tags[:9], "B-L00", "B-L00", "O"]
        # Ada's last three are called L00 once each, or not marked.
        labels = tables(report_of(Corpus.from_tags({"ada": [tags], "ben": [other]})))[1]
        assert labels.rows == [("L09", "L00", 1), ("L10", "L00", 1), ("L11", "no span", 1)]

    def test_nothing_marked(self):
        report = report_of(Corpus.from_tags({"ada": [["O"]], "ben": [["O"]]}))
        assert Prose("Nothing to list.") in report.blocks()
        assert report.data["disagreements"] == []

    def test_documents_that_are_not_shared_are_counted(self):
        tags = {"ada": [["B-P"], ["B-P"], ["O"]], "ben": [["O"], None, None]}
        report = report_of(Corpus.from_tags(tags))
        assert report.data["skipped"] == {"documents that no two of those compared share": 2}
        assert report.data["n_documents"] == 1

    def test_no_text_no_column_for_it(self):
        listed = tables(report_of(replace(example(), texts=None)))[-1]
        assert "in the text" not in listed.headings
        assert_tells(listed.remark, "20 … 228")

    def test_a_gold_standard_that_was_left_out_is_told(self):
        notes = report_of(example().with_gold("ada")).notes
        assert any("gold standard 'ada'" in str(note) for note in notes)
        corpus = example().select(annotators=["ada", "ben"]).with_gold("ben")
        assert not any("gold" in str(note) for note in report_of(corpus).notes)


def test_hostile_names_and_texts():
    corpus = Corpus.from_spans(
        {HOSTILE: [[(0, 9, f"x{HOSTILE}")]], "ben": [[(2, 9, f"y{HOSTILE}")]]},
        lengths=[len(HOSTILE)],
        documents=[HOSTILE],
        positions="characters",
    )
    report = report_of(replace(corpus, texts=(HOSTILE,)))
    for output, width in product(LIST_OUTPUTS, (None, 60)):
        shown = rendered(report, output, width=width)
        assert shown, output
        if output not in {"json", "jsonl"}:  # which escape by themselves
            assert not any(character in shown for character in "\x1b\u202e\r\x07"), output
