"""What reports say: sentences, habits and notes that a reader can check by hand."""

from dataclasses import replace
from math import nan
from pathlib import Path

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
from beyondchance.core.measures import MEASURES
from beyondchance.messages import COMMAND_LINE, spoken
from beyondchance.numbers import in_digits
from beyondchance.reporting import sentences as words
from beyondchance.reporting.blocks import Prose, Table
from beyondchance.reporting.breakdown import breakdown_of
from beyondchance.reporting.commands.agree import agree_report
from beyondchance.reporting.commands.place import place_report
from beyondchance.reporting.commands.rank import rank_changes, rank_report, system_rows

JUDGEMENTS = ("good", "bad", "poor", "fair", "moderate", "substantial", "perfect", "excellent")


def score(matched, expected, size):
    return Score(matched=matched, expected=expected, size_a=size, size_b=size)


class TestSentences:
    CHANCE = "Chance agreement is 0.2500. The annotators"
    BEYOND = "of the agreement possible beyond chance."
    LITTLE = "Correction changes little here"

    @pytest.mark.parametrize(
        ("found", "sentence"),
        [
            (score(3, 1, 4), f"{CHANCE} achieve 67 % {BEYOND}"),
            (score(3.9999, 1, 4), f"{CHANCE} achieve more than 99 % {BEYOND}"),
            (score(4, 1, 4), f"{CHANCE} agree completely."),
            (score(0, 0, 0), "The corrected score is undefined: nothing was marked by either."),
        ],
    )
    def test_meaning(self, found, sentence):
        assert words.meaning(found).startswith(sentence)
        assert not any(word in sentence.split() for word in JUDGEMENTS)

    def test_less_than_chance(self):
        assert words.meaning(score(1, 2, 4)).startswith(
            "Chance agreement is 0.5000, more than the 0.2500 observed: the annotators agree less "
            "than random annotators would. Correction "
        )

    @pytest.mark.parametrize(
        ("found", "sentence"),
        [
            (
                score(99, 1, 100),
                f"{LITTLE}, because chance agreement is small: it lowers the score by 0.0001.",
            ),
            (
                score(998, 500, 1000),
                f"{LITTLE}, because agreement is almost complete: it lowers the score by 0.0020.",
            ),
            (score(4, 1, 4), "Correction changes nothing here, because agreement is complete."),
            (score(3, 0, 4), "Correction changes nothing here, because chance agreement is 0."),
            (score(90, 5, 100), "Correction matters somewhat here: it lowers the score by 0.0053."),
            (score(50, 10, 100), "Correction matters here: it lowers the score by 0.0556."),
            (
                score(50, 40, 100),
                "Correction matters here: it lowers the score by 0.3333.",
            ),
            (score(0, 0, 0), "Whether correction matters cannot be said."),
        ],
    )
    def test_effect(self, found, sentence):
        assert words.effect(found) == sentence

    def test_little_is_below_5_thousandths(self):
        # observed - corrected = chance (1 - observed) / (1 - chance) = .02 / 4 = .005 for
        # chance 1/5 and observed .98.
        assert "lowers" in words.effect(score(980, 200, 1000))
        assert "little" in words.effect(score(980.01, 200, 1000))


class TestInterval:
    """Whether the interval of the corrected score contains the observed one."""

    @pytest.mark.parametrize(
        ("low", "high", "end"),
        [
            (0.5, 0.7, "[0.5000, 0.7000], does not contain the observed score."),
            (0.5, 0.9, "[0.5000, 0.9000], contains the observed score."),
        ],
    )
    def test_it_is_said(self, low, high, end):
        result = agreement(example())
        interval = replace(result.interval(), low=low, high=high)
        settings = result.settings.replaced(confidence=0.95)
        found = words.beside_interval(score(3, 1, 4), interval, settings)
        assert found == f"The 95 % interval of the corrected score, {end}"

    def test_without_one(self):
        result = agreement([["B-P", "O"]], [["B-P", "O"]])
        interval, settings = result.interval(), result.settings.replaced(confidence=0.95)
        said = "There is no interval to compare the change with."
        assert words.beside_interval(score(3, 1, 4), interval, settings) == said
        assert words.beside_interval(score(3, 1, 4), None, None) == ""
        assert words.beside_interval(score(0, 0, 0), interval, settings) == ""


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
        ada = rows["ada"].habits
        assert (rows["ada"].score.n_spans, ada.mean_length) == (2, 2)
        # Ada's four tokens count against Ben and against Cleo; they have two and none.
        assert ada.marking_ratio == 8 / 2
        assert ada.over_marking == 1 - 2 / 8
        assert ada.under_marking == 0
        assert rows["ada"].without.score.observed == 0
        assert rows["cleo"].without.score == result.by_pair["ada", "ben"]

    def test_two_annotators_have_no_team_without_one(self):
        result = agreement(self.CORPUS.select(annotators=["ada", "ben"]))
        rows = breakdown_of({"token": result}).of("annotator")
        assert [row.without for row in rows] == [None, None]


class TestNotes:
    def test_a_label_of_one_annotator_only(self):
        corpus = Corpus.from_tags({"a": [["B-PER", "B-X"]], "b": [["B-PER", "O"]]})
        (note,) = words.unshared_labels(corpus, corpus.annotators)
        assert str(note).startswith("label 'X' is used by 'a' only, so nothing can match it")
        assert words.unshared_labels(corpus, ["a"]) == []

    def test_many_of_them_are_summed_up(self):
        tags = [[f"B-L{i}" for i in range(9)]]
        corpus = Corpus.from_tags({"a": tags, "b": [["O"] * 9]})
        (note,) = words.unshared_labels(corpus, corpus.annotators)
        assert str(note).startswith(
            "9 labels are used by one annotator only, so nothing can match them: 'L0', 'L1'"
        )

    def test_no_system_has_all_documents(self):
        corpus = Corpus.from_tags(
            {
                "gold": [["B-P"], ["B-P"], ["B-P"]],
                "x": [["B-P"], ["B-P"], None],
                "y": [None, None, ["O"]],
            }
        )
        report = rank_report({"token": rank(corpus, gold="gold")}, corpus)
        expected = "not all systems have all 3 documents: x (2) and y (1)"
        assert any(expected in str(note) for note in report.notes)

    def test_systems_on_different_documents(self):
        corpus = Corpus.from_tags(
            {"gold": [["B-P"], ["B-P"]], "x": [["B-P"], ["B-P"]], "y": [["O"], None]}
        )
        report = rank_report({"token": rank(corpus, gold="gold")}, corpus)
        assert (
            "not all systems have all 2 documents: y (1); ranks compare different documents"
            in map(str, report.notes)
        )


def test_pairs_whose_names_sound_alike():
    tags = [["B-P", "O"]]
    corpus = Corpus.from_tags({"a": tags, "b and c": tags, "a and b": tags, "c": tags})
    results = {measure: agreement(corpus, measure=measure) for measure in ("token", "exact")}
    report = agree_report(results, corpus)
    tables = [block for block in report.blocks() if isinstance(block, Table)]
    assert len(next(table for table in tables if table.headings[0] == "pair").rows) == 6
    assert sum(row["level"] == "pair" for row in report.rows) == 6


def test_the_highest_difficulty_first_where_some_are_undefined():
    # No annotator that is compared marked anything in the middle document.
    corpus = Corpus.from_tags(
        {
            "a": [["B-P", "O"], ["O", "O"], ["B-P", "O", "O", "O"]],
            "b": [["B-P", "O"], ["O", "O"], ["B-P", "O", "O", "O"]],
            "gold": [["O", "O"], ["B-P", "O"], ["O", "O", "O", "O"]],
        }
    )
    results = {measure: agreement(corpus, measure=measure) for measure in ("token", "exact")}
    report = agree_report(
        results, corpus, by=["document"], difficulty=difficulty(corpus, gold="gold")
    )
    hardest = [block for block in report.blocks() if isinstance(block, Table)][-1]
    assert hardest.title == words.LEAST_LIKELY
    assert [row[0] for row in hardest.rows][:1] == ["1"]


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
        assert pairs.remark == "The 5 lowest of 435."
        assert len(report.data["pairs"]) == 435


def test_the_first_line_names_unit_and_positions():
    corpus = example()
    results = {measure: agreement(corpus, measure=measure) for measure in ("token", "exact")}
    first = agree_report(results, corpus).blocks()[0]
    assert isinstance(first, Prose)
    assert first.text.endswith("; unit sentence, positions tokens.")


def test_places_that_look_alike_share_a_row():
    starts, marked = start_probabilities(100, [2]), coverage(100, [2])
    report = place_report(100, [2], starts, marked, model="disjoint")
    (table,) = [block for block in report.blocks() if isinstance(block, Table)]
    # Two tokens in a hundred: 99 starts alike, the first and the last token covered half as often.
    assert [row[0] for row in table.rows] == ["0", "1 to 98", "99"]
    assert len(report.rows) == 100


def test_the_page_on_reading_quotes_real_numbers():
    page = (Path(__file__).parents[2] / "docs" / "reading.md").read_text("utf-8")
    for measure in ("token", "exact"):
        result = agreement(example(), measure=measure)
        numbers = "   ".join((in_digits(result.observed), in_digits(result.chance)))
        assert f"{measure}       {numbers}      {in_digits(result.corrected)}" in page
    two = example().select(annotators=["ada", "ben"])
    assert f"{agreement(two).chance:.4f}".lstrip("0") in page


class TestVerdict:
    """What a ranking says of its tests."""

    @pytest.fixture
    def standings(self):
        return compare_systems(rank(example(), gold="ada"), resamples=99, seed=1)

    def test_every_change_of_rank_is_there(self, standings):
        changes = {(f"up{i}", f"down{i}"): i % 2 == 0 for i in range(9)}
        *_, apart, together = words.verdict(replace(standings, overtakings=changes), "token", 3)
        assert apart.endswith("up8 overtakes down8. These changes are significant.")
        assert together.count("overtakes") == 4
        assert together.endswith("These changes are not significant.")

    @pytest.mark.parametrize(
        ("changes", "sentence"),
        [
            ([True], "The test supports the change."),
            ([False], "The test does not support the change."),
            ([True, False], "The tests support 1 of 2 changes of the order."),
            ([False] * 3, "The tests support none of 3 changes of the order."),
        ],
    )
    def test_support_of_changes(self, changes, sentence, standings):
        overtakings = {(f"up{i}", f"down{i}"): is_so for i, is_so in enumerate(changes)}
        tested = replace(standings, overtakings=overtakings)
        assert words.support(tested, is_changed=True) == sentence

    def test_support_of_the_order(self, standings):
        said = "The test does not support the order of the two systems."
        assert words.support(standings, is_changed=False) == said
        apart = replace(standings, groups=(("cleo",), ("ben",)))
        said = "The test supports the order of the two systems."
        assert words.support(apart, is_changed=False) == said
        (pair,) = standings.pairs.values()
        behind = replace(apart, pairs={("cleo", "ben"): replace(pair, difference=-0.1)})
        assert "does not support" in words.support(behind, is_changed=False)
        three = {("a", "b"): pair, ("a", "c"): pair, ("b", "c"): pair}
        mixed = replace(standings, pairs=three, groups=(("a",), ("b", "c")))
        said = "The tests support the order of 2 of 3 pairs of systems."
        assert words.support(mixed, is_changed=False) == said

    def test_ranks_of_undefined_scores(self):
        tags = {"gold": [["B-P", "O", "O"]], "a": [["O", "B-P", "O"]], "b": [["B-P", "O", "O"]]}
        rows = system_rows(rank(Corpus.from_tags(tags), gold="gold"), "token")
        said = spoken(rank_changes(rows), COMMAND_LINE)
        assert said == (
            "By token, correction for chance changes no rank; it lowers the scores by 0.0000 to "
            "0.5000. Whether the order would be the same on other documents was not tested; "
            "--confidence 0.95 tests it."
        )
        some = [replace(rows[0], rank_corrected=None), *rows[1:]]
        said = "b cannot be ranked: the corrected score is undefined."
        assert spoken(rank_changes(some)).endswith(said)
        none = [replace(row, rank_corrected=None) for row in rows]
        assert "cannot be said" in spoken(rank_changes(none))

    def test_nothing_to_test(self, standings):
        nothing = replace(standings, adjusted=dict.fromkeys(standings.adjusted, nan))
        assert "By token, nothing could be tested." in words.verdict(nothing, "token", 3)[0]


def test_every_measure_says_what_it_counts():
    assert set(words.MATCHES) == set(MEASURES)
