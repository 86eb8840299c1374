"""What reports say: sentences, habits and notes that a reader can check by hand."""

from dataclasses import replace
from math import nan
from pathlib import Path
from types import SimpleNamespace

import pytest

from beyondchance import (
    Corpus,
    Score,
    agreement,
    compare_systems,
    coverage,
    difficulty,
    example,
    rank,
    start_probabilities,
)
from beyondchance.messages import COMMAND_LINE, spoken
from beyondchance.numbers import in_digits
from beyondchance.reporting import sentences as words
from beyondchance.reporting.blocks import Prose, Table
from beyondchance.reporting.breakdown import breakdown_of
from beyondchance.reporting.commands.agree import agree_report
from beyondchance.reporting.commands.place import place_report
from beyondchance.reporting.commands.rank import rank_changes, rank_report, system_rows
from refusals import assert_tells

JUDGEMENTS = ("good", "bad", "poor", "fair", "moderate", "substantial", "perfect", "excellent")


def score(matched, expected, size):
    return Score(matched=matched, expected=expected, size_a=size, size_b=size)


class TestSentences:
    def test_headline(self):
        # How far a score is from chance (0) to full agreement (1), by every measure.
        half = score(2, 0, 4)
        cases = [
            (score(3, 1, 4), "67 % of the way from chance to full agreement by x … 50 % by exact"),
            (score(3.9999, 1, 4), "more than 99 % of the way … by x … 50 % by exact"),
            (score(4, 1, 4), "complete by x … 50 % of the way from chance to full … by exact"),
            (score(0, 0, 0), "undefined by x … 50 % of the way from chance to full … by exact"),
            (score(1, 2, 4), "below chance by x … 50 % of the way from chance to full … by exact"),
        ]
        for found, told in cases:
            said = words.headline("It", [("x", found), ("exact", half)])
            assert_tells(said, told)
            assert said.count("full agreement") == 1
            assert "possible" not in said
            assert not any(word in said.split() for word in JUDGEMENTS), said

    def test_the_largest_part_of_the_rest(self):
        loss = {"more overall": 0.05, "more in some texts": 0.2, "elsewhere in the text": 0.1}
        # Of what the numbers are shares is said.
        told = "missing 35 % by token … 20 of 35 … one marks more in some texts"
        assert_tells(words.largest_loss(loss, "token"), told)
        small = words.largest_loss({"other lengths": 0.004, "more overall": 0.003}, "exact")
        assert_tells(small, "missing less than 1 % by exact … spans have other lengths")
        assert "of 1" not in small
        assert words.largest_loss({}, "token") == ""
        assert words.largest_loss({"more overall": 0.0}, "token") == ""
        corpus = example()
        report = agree_report(agreement(corpus).measures, corpus, loss=loss)
        measures = "72 % … by token (tokens that both marked) … 53 % by exact (spans with the same"
        assert_tells(report.blocks()[0].text, f"{measures} … more in some texts")

    def test_meaning(self):
        cases = [
            (score(3, 1, 4), "token … 0.2500 … matters … Report corrected … depends on the task"),
            (score(0, 0, 0), "undefined … nothing was marked"),
            (score(1, 2, 4), "0.5000 … more than the 0.2500 … Correction"),
        ]
        for found, told in cases:
            assert_tells(words.meaning(found, "token"), told)

    def test_effect(self):
        cases = [
            (score(99, 1, 100), "negligible … same to two digits … Either may be reported"),
            (score(998, 500, 1000), "little … 0.0020 … Report corrected with observed"),
            (score(4, 1, 4), "nothing … agreement is complete"),
            (score(3, 0, 4), "negligible … same to two digits … Either may be reported"),
            # .60 and .5959…, which is .60 as well; .605 and .6010… are .60 or .61, and .60.
            (score(60, 1, 100), "negligible … same to two digits"),
            (score(60.51, 1, 100), "changes little … 0.0040 … Report corrected with observed"),
            (score(90, 5, 100), "somewhat … lowers … 0.0053 … Report corrected with observed"),
            (score(50, 10, 100), "matters here … lowers … 0.0556 … Report corrected"),
            (score(50, 40, 100), "matters here … lowers … 0.3333 … Report corrected"),
        ]
        for found, told in cases:
            assert_tells(words.effect(found), told)

    def test_little_is_below_5_thousandths(self):
        # observed - corrected = chance (1 - observed) / (1 - chance) = .02 / 4 = .005 for
        # chance 1/5 and observed .98.
        assert "lowers" in words.effect(score(980, 200, 1000))
        assert "little" in words.effect(score(980.01, 200, 1000))


def test_groups_are_said_to_be_made_by_a_hash():
    found = agreement(example()).intervals()
    for groups, is_told in ((None, False), (4096, True)):
        settings = found.settings.replaced(groups=groups)
        said = words.how_made(found.overall["corrected"], settings)
        assert ("hash" in said) == is_told


def test_an_interval_is_not_compared_with_another_score():
    # Whether that of the corrected score contains the observed one tests nothing.
    corpus = example()
    results = agreement(corpus).measures
    intervals = {name: result.intervals() for name, result in results.items()}
    for block in agree_report(results, corpus, intervals=intervals).blocks():
        if isinstance(block, Prose):
            assert "contain" not in spoken(block.text)


class TestHabits:
    """Ada marks four tokens in two spans, Ben two in one, Cleo nothing.

    ```
    ada   XXX.X.....
    ben   XX........
    cleo  ..........
    ```
    """

    CORPUS = Corpus.from_spans(
        {"ada": [[(0, 3, "P"), (4, 5, "P")]], "ben": [[(0, 2, "P")]], "cleo": [[]]}, lengths=[10]
    )

    def test_by_hand(self):
        result = agreement(self.CORPUS)
        rows = {row.name: row for row in breakdown_of({"token": result}).of("annotator")}
        ada = rows["ada"]
        assert (ada.score.n_spans, ada.mean_length) == (2, 2)
        # Ada's four tokens count against Ben and against Cleo; they have two and none.
        assert ada.marking_ratio == 8 / 2
        assert ada.over_marking == 1 - 2 / 8
        assert ada.under_marking == 0
        assert ada.without.score.observed == 0
        assert rows["cleo"].without.score == result.by_pair["ada", "ben"]

    def test_two_annotators_have_no_team_without_one(self):
        result = agreement(self.CORPUS.select(annotators=["ada", "ben"]))
        rows = breakdown_of({"token": result}).of("annotator")
        assert [row.without for row in rows] == [None, None]


class TestNotes:
    def test_a_label_of_one_annotator_only(self):
        corpus = Corpus.from_tags({"a": [["B-PER", "B-X"]], "b": [["B-PER", "O"]]})
        result = agreement(corpus)
        (note,) = words.unshared_labels(result.settings, result.counts)
        assert_tells(note, "labels that one annotator alone uses … 'X' by 'a'; ")
        result = agreement(corpus, scope="unlabelled")
        assert words.unshared_labels(result.settings, result.counts) == []

    def test_many_of_them_are_summed_up(self):
        tags = [[f"B-L{i}" for i in range(9)]]
        corpus = Corpus.from_tags({"a": tags, "b": [["O"] * 9]})
        result = agreement(corpus)
        (note,) = words.unshared_labels(result.settings, result.counts)
        assert_tells(note, "'L0' by 'a'; 'L1' by 'a' … and 3 more")

    def test_no_system_has_all_documents(self):
        corpus = Corpus.from_tags(
            {
                "gold": [["B-P"], ["B-P"], ["B-P"]],
                "x": [["B-P"], ["B-P"], None],
                "y": [None, None, ["O"]],
            }
        )
        report = rank_report({"token": rank(corpus, gold="gold")}, corpus)
        expected = "not all have all 3 sentences: x (2) and y (1)"
        assert any(expected in str(note) for note in report.notes)

    def test_systems_on_different_documents(self):
        corpus = Corpus.from_tags(
            {"gold": [["B-P"], ["B-P"]], "x": [["B-P"], ["B-P"]], "y": [["O"], None]}
        )
        report = rank_report({"token": rank(corpus, gold="gold")}, corpus)
        assert any("all 2 sentences: y (1)" in str(note) for note in report.notes)


def test_pairs_whose_names_sound_alike():
    tags = [["B-P", "O"]]
    corpus = Corpus.from_tags({"a": tags, "b and c": tags, "a and b": tags, "c": tags})
    results = {measure: agreement(corpus, measure=measure) for measure in ("token", "exact")}
    report = agree_report(results, corpus)
    tables = [block for block in report.blocks() if isinstance(block, Table)]
    assert len(next(table for table in tables if table.headings[0] == "pair").rows) == 6
    assert sum(row["level"] == "pair" for row in report.rows) == 6


class TestLongTables:
    def test_the_lowest_are_shown_and_the_rest_is_counted(self):
        names = [f"w{i:02}" for i in range(30)]
        corpus = Corpus.from_tags({name: [["B-P", "O", "O"]] for name in names})
        results = {measure: agreement(corpus, measure=measure) for measure in ("token", "exact")}
        report = agree_report(
            results, corpus, by=["document"], difficulty=difficulty(corpus), top=5
        )
        tables = [block for block in report.blocks() if isinstance(block, Table)]
        pairs = next(table for table in tables if table.headings[0] == "pair")
        assert len(pairs.rows) == 5
        assert_tells(pairs.remark, "5 … 435")
        assert len(report.data["pairs"]) == 435


def test_the_first_lines_name_measures_unit_and_positions():
    corpus = example()
    first, second = agree_report(agreement(corpus).measures, corpus).blocks()[:2]
    assert_tells(first.text, "token … exact")
    assert isinstance(second, Prose)
    assert second.text.endswith("; unit sentence, positions tokens.")


def test_places_that_look_alike_share_a_row():
    starts, marked = start_probabilities(100, [2]), coverage(100, [2])
    report = place_report(100, [2], starts, marked, model="disjoint")
    (table,) = [block for block in report.blocks() if isinstance(block, Table)]
    # Two tokens in a hundred: 99 starts alike, the first and the last token covered half as often.
    assert [row[0] for row in table.rows] == ["0", "1 to 98", "99"]
    assert len(report.rows) == 100


def test_the_page_on_reading_quotes_real_numbers():
    page = (Path(__file__).parents[2] / "docs" / "howto" / "reading.md").read_text("utf-8")
    for measure in ("token", "exact"):
        result = agreement(example(), measure=measure)
        numbers = "   ".join((in_digits(result.observed), in_digits(result.chance)))
        assert f"{measure}       {numbers}      {in_digits(result.corrected)}" in page
    two = example().select(annotators=["ada", "ben"])
    assert f"{agreement(two).chance:.4f}".lstrip("0") in page


@pytest.fixture(scope="module")
def standings():
    return compare_systems(rank(example(), gold="ada"), resamples=99, seed=1)


class TestVerdict:
    """What a ranking says of its tests."""

    def test_every_change_of_rank_is_there(self, standings):
        changes = {(f"up{i}", f"down{i}"): i % 2 == 0 for i in range(9)}
        tested = {**standings.adjusted, **dict.fromkeys(changes, 0.25)}
        found = replace(standings, overtakings=changes, adjusted=tested)
        *_, apart, together = words.verdict(found, "token", 3)
        assert_tells(apart, "up8 overtakes down8 (p = 0.250): significant")
        assert together.count("overtakes") == 4
        assert_tells(together, "not significant")

    def test_order(self, standings):
        def first(**changed):
            return words.verdict(replace(standings, **changed), "token", 3)[0]

        assert_tells(first(), "cleo and ben do not differ significantly")
        assert_tells(first(groups=(("cleo",), ("ben",))), "all differ significantly")
        mixed = first(groups=(("a",), ("b", "c")))
        assert_tells(mixed, "b and c do not differ significantly … a differs … from all others")
        (pair,) = standings.pairs.values()
        behind = {("cleo", "ben"): replace(pair, difference=-0.1)}
        said = words.verdict(replace(standings, pairs=behind), "token", 3)[1]
        assert_tells(said, "ben is ahead of cleo … less reliable than the test")

    def test_too_few_permutations_are_told(self, standings):
        (names,) = standings.pairs
        for floored, p, is_told in ((True, 0.2, True), (True, 0.01, False), (False, 0.2, False)):
            known = {"adjusted": {names: p}, "floored": {names} if floored else set()}
            said = words.verdict(replace(standings, **known), "token", 3)[0]
            assert ("too few to show every difference" in said) == is_told

    def test_ranks_of_undefined_scores(self):
        tags = {"gold": [["B-P", "O", "O"]], "a": [["O", "B-P", "O"]], "b": [["B-P", "O", "O"]]}
        rows = system_rows(rank(Corpus.from_tags(tags), gold="gold"), "token")
        said = spoken(rank_changes(rows), COMMAND_LINE)
        assert_tells(said, "token … no rank … 0.0000 to 0.5000 … --confidence 0.95")
        some = [replace(rows[0], rank_corrected=None), *rows[1:]]
        assert_tells(spoken(rank_changes(some)), "b cannot be ranked … undefined")
        none = [replace(row, rank_corrected=None) for row in rows]
        assert "cannot be said" in spoken(rank_changes(none))

    def test_nothing_to_test(self, standings):
        nothing = replace(standings, adjusted=dict.fromkeys(standings.adjusted, nan))
        assert_tells(words.verdict(nothing, "token", 3)[0], "token … nothing could be tested")


def test_names_with_one_reason_stay_together_where_reasons_are_many():
    shown = [(f"n{i}", SimpleNamespace(reason="r", why=f"reason {i % 7}")) for i in range(9)]
    said = [spoken(text) for text in words.missing(shown)]
    assert "No interval for n0 and n7: reason 0." in said
    assert said[-1] == "No interval for n6: other reasons."
