"""What to do next: each step has the numbers that a count of its own gives, or is not there."""

import re
from dataclasses import replace
from html import unescape
from math import isnan

import numpy as np
import pytest

from beyondchance import Corpus, CustomMeasure, agreement, diagnose, example, rank, report
from beyondchance.page.actions import Action, actions, by_influence
from beyondchance.page.gather import overview
from refusals import assert_tells

pytestmark = pytest.mark.slow

FEW = {"resamples": 99}


def steps(corpus, result=None, *, is_decided=True):
    """The steps of a result, by name."""
    found = overview(result or agreement(corpus), corpus, others=(), **FEW)
    return {step.name: step for step in actions(found, is_decided=is_decided)}


def n_places(corpus):
    """Places where somebody differs, counted text by text and span by span."""
    columns = (corpus.span_text, corpus.span_start, corpus.span_end, corpus.span_label)
    rows = sorted(
        zip(*(column.tolist() for column in (*columns, corpus.span_annotator)), strict=False)
    )
    places = []
    for text, start, end, label, who in rows:
        if not places or (text, start) >= places[-1]["end"]:
            places.append({"end": (text, end), "marked": []})
        place = places[-1]
        place["end"] = max(place["end"], (text, end))
        place["marked"].append((who, start, end, label))
    n = len(corpus.annotators)
    versions = (
        {tuple(span[1:] for span in place["marked"] if span[0] == who) for who in range(n)}
        for place in places
    )
    return sum(len(version) > 1 for version in versions)


def team(**changes):
    """Four who mark the same in twelve documents, but for what is changed."""
    usual = [[(1, 3, "P"), (5, 6, "Q"), (9, 11, "P")] for _ in range(12)]
    marked = dict.fromkeys(("ada", "ben", "cleo", "dan"), usual)
    return Corpus.from_spans({**marked, **changes}, lengths=[20] * 12)


EARLIER = [[(0, 3, "P"), (5, 6, "Q"), (8, 11, "P")] for _ in range(12)]


class TestPattern:
    def test_a_habit_of_one(self):
        corpus = team(dan=EARLIER)
        step = steps(corpus)["pattern"]
        assert (step.text, step.link) == ("Talk to dan about P", "#fix")
        assert step.why == "dan's P starts earlier than the others'."
        assert step.before == agreement(corpus).corrected
        # Without it all is the same.
        assert step.after == pytest.approx(agreement(team()).corrected, abs=1e-12)
        assert step.gain == f"{step.before:.3f}\u00a0→\u00a0{step.after:.3f}"

    def test_another_label(self):
        corpus = team(dan=[[(1, 3, "P"), (5, 6, "P"), (9, 11, "P")] for _ in range(12)])
        assert steps(corpus)["pattern"].text == "Talk to dan about P and Q"

    def test_of_two_either_may_be_right(self):
        corpus = team(dan=EARLIER).select(annotators=["ada", "dan"])
        assert steps(corpus)["pattern"].text in {
            "Talk to ada and dan about P",
            "Talk to dan and ada about P",
        }

    def test_what_several_do_names_nobody(self):
        # Each overlooks another span of every third document.
        names, spans = ("ada", "ben", "cleo"), [(3 * i, 3 * i + 1, "P") for i in range(3)]
        marked = {
            name: [[x for i, x in enumerate(spans) if i != who or d % 3 != who] for d in range(9)]
            for who, name in enumerate(names)
        }
        corpus = Corpus.from_spans(marked, lengths=[10] * 9)
        assert steps(corpus)["pattern"].text == "Talk to everyone about P"

    def test_too_few_to_tell_names_nobody(self):
        corpus = team(dan=[EARLIER[0], *team_of(11)])
        assert steps(corpus)["pattern"].text == "Talk to everyone about P"

    def test_without_labels(self):
        corpus = team(dan=EARLIER)
        step = steps(corpus, agreement(corpus, scope="unlabelled"))["pattern"]
        assert step.text == "Talk to dan about spans"

    def test_it_is_by_token_where_the_measure_is_ones_own(self):
        measure = CustomMeasure(name="starts", phi=_starts, size=np.ones_like)
        corpus = team(dan=EARLIER)
        step = steps(corpus, agreement(corpus, measure=measure))["pattern"]
        assert step.when == "if done as others do, by token"
        assert step.before == agreement(corpus).corrected

    def test_a_gold_standard_is_right(self):
        corpus = team(dan=EARLIER).with_gold("ada")
        for result in (rank(corpus.select(annotators=["ada", "dan"])), None):
            given = corpus.select(annotators=["ada", "dan"])
            step = steps(given, result or agreement(given, gold="ada"))["pattern"]
            assert (step.text, step.when) == ("Look at how dan marks P", "without these errors")
            assert step.before == agreement(given, gold="ada").corrected

    def test_it_is_the_first_of_the_diagnosis(self):
        step, first = steps(example())["pattern"], diagnose(example()).patterns[0]
        assert (step.before, step.after) == (first.before, first.after)


class TestManyPeople:
    def test_of_several_who_do_it_those_who_do_it_most_come_first(self):
        """Of five, four overlook what others mark, and nobody is said to do as the fifth does."""
        spans, names = [(4 * i, 4 * i + 2, "P") for i in range(5)], ("a", "b", "c", "d", "e")
        overlooks = {"b": 2, "c": 3, "d": 4, "e": 6}
        first, marked = 0, {name: [list(spans) for _ in range(15)] for name in names}
        for name, n in overlooks.items():
            for document in range(first, first + n):
                marked[name][document] = spans[1:]
            first += n
        step = steps(Corpus.from_spans(marked, lengths=[24] * 15))["pattern"]
        assert step.text == "Talk to everyone about P"
        assert step.why == "e (6 times), d (4) and 2 more mark nothing where others mark P."
        assert step.when == "if done as others do"

    def test_of_two_who_both_do_it(self):
        spans = [(4 * i, 4 * i + 2, "P") for i in range(5)]
        marked = {n: [spans[d % 2 == i :] for d in range(12)] for i, n in enumerate("ab")}
        step = steps(Corpus.from_spans(marked, lengths=[24] * 12))["pattern"]
        assert step.text == "Talk to a and b about P"
        assert step.when == "without these differences"
        assert step.after == 1


class TestPerson:
    def test_who_marks_nothing(self):
        corpus = team(dan=[[]] * 12, cleo=EARLIER)
        found = steps(corpus)
        assert [*found] == ["person", "pattern", "decide"]
        step, result = found["person"], agreement(corpus)
        assert (step.text, step.link) == ("Look at dan's work", "#person-4")
        assert step.why == "dan marked nothing in 12 documents where others marked something."
        rest = agreement(corpus.select(annotators=["ada", "ben", "cleo"]))
        assert (step.before, step.after) == (result.corrected, pytest.approx(rest.corrected))
        assert step.when == "among the others"

    def test_of_two_it_comes_first_too(self):
        corpus = team(dan=[[]] * 12).select(annotators=["ada", "dan"])
        found = steps(corpus)
        assert next(iter(found)) == "person"
        assert (found["person"].text, found["person"].gain) == ("Look at dan's work", "")
        assert "where the other marked something" in found["person"].why

    def test_few_documents_do_not_show_that_one_marks_nothing(self):
        marked = {"ada": [EARLIER[0]] * 9, "ben": [EARLIER[0]] * 9, "dan": [None] * 5 + [[]] * 4}
        corpus = Corpus.from_spans(marked, lengths=[20] * 9)
        assert "person" not in steps(corpus)

    def test_a_step_without_gain_has_no_numbers(self):
        step = Action("person", "Look", "", "", before=0.61, after=0.606)
        assert step.gain == ""

    def test_who_agrees_less_than_half_as_much(self):
        elsewhere = [[(13, 15, "P"), (17, 18, "Q"), (9, 10, "P")] for _ in range(12)]
        found = steps(team(dan=elsewhere))["person"]
        assert found.text == "Look at dan's work"
        assert_tells(found.why, "Shown to agree with the others less than half as much … 1.000")

    def test_who_changed(self):
        usual, other = [(1, 3, "P"), (5, 6, "Q"), (9, 11, "P")], [(1, 2, "P"), (7, 8, "Q")]
        marked = {name: [usual] * 40 for name in ("ada", "ben", "cleo")}
        marked["cleo"] = [usual if d < 20 or d % 3 == 0 else other for d in range(40)]
        rounds = tuple(f"round {d // 10 + 1}" for d in range(40))
        corpus = replace(Corpus.from_spans(marked, lengths=[20] * 40), fields={"round": rounds})
        found = overview(agreement(corpus), corpus, others=(), by="round", **FEW)
        step = actions(found, is_decided=True)[0]
        assert (step.name, step.text) == ("person", "Look at cleo's work since round 3")
        (one,) = found.diagnosis.periods.changes
        told = f"the others: 1.000\u00a0→\u00a0{one.after:.3f}; they among themselves: 1.000"
        assert step.why == f"cleo agrees less with {told}\u00a0→\u00a01.000."
        assert step.after == agreement(corpus.select(annotators=["ada", "ben"])).corrected
        # With a gold standard it is agreement with that, and of two either may have changed.
        for given, told in (
            (corpus.with_gold("ada"), "less with ada: … 1.000 … the others: 1.000"),
            (corpus.select(annotators=["ada", "cleo"]), "of two it is not known who changed."),
        ):
            result = agreement(given) if given.gold is None else rank(given)
            found = overview(result, given, others=(), by="round", **FEW)
            first = actions(found, is_decided=True)[0]
            assert first.name == "person"
            assert_tells(first.why, told)
            assert first.gain == ""
        # The other way round, nobody got worse.
        later = replace(corpus, fields={"round": rounds[::-1]})
        found = overview(agreement(later), later, others=(), by="round", **FEW)
        assert [x.who for x in found.diagnosis.periods.changes] == ["cleo"]
        assert all(step.name != "person" for step in actions(found, is_decided=True))

    def test_against_gold(self):
        corpus = team(dan=[[]] * 12, cleo=EARLIER).with_gold("ada")
        found = steps(corpus, rank(corpus), is_decided=False)
        assert [*found] == ["person", "check"]  # ben is all right
        assert found["person"].text == "Look at dan's work"
        assert (
            found["person"].why == "dan marked nothing in 12 documents where ada marked something."
        )
        assert found["person"].gain == ""

    def test_nobody_is_named_where_all_do_alike_or_nothing_is_marked(self):
        for corpus in (example(), team(), team(cleo=EARLIER, dan=EARLIER)):
            assert "person" not in steps(corpus)
        nothing = Corpus.from_spans({"ada": [[]] * 3, "ben": [[]] * 3}, lengths=[9] * 3)
        assert steps(nothing) == {}


def _starts(a, m, b, n):
    return (a == b) * 1.0 + 0 * (m + n)


def team_of(n):
    return [[(1, 3, "P"), (5, 6, "Q"), (9, 11, "P")] for _ in range(n)]


class TestPlaces:
    def test_places_are_counted_once_however_many_differ(self):
        for corpus in (example(), team(dan=EARLIER), team(cleo=EARLIER, dan=EARLIER)):
            step = steps(corpus)["decide"]
            assert step.number == n_places(corpus)
            assert (step.text, step.link) == (f"Decide {step.number} places", "#decide")
            assert isnan(step.after)
        assert step.number == 24
        assert "in 12 documents" in step.why

    def test_one_place(self):
        corpus = team(dan=[[*EARLIER[0][:2], (9, 11, "P")], *team_of(11)])
        step = steps(corpus)["decide"]
        assert step.text == "Decide 1 place"
        assert "in 1 document." in step.why

    def test_against_a_gold_standard_places_are_checked(self):
        corpus = example().with_gold("ada")
        found = steps(corpus, rank(corpus), is_decided=False)
        assert found["check"].text == f"Check {n_places(example())} places"
        assert found["check"].link == "#reader"
        assert "Where ada and the others differ" in found["check"].why
        assert "decide" not in found


class TestDocuments:
    def test_the_score_is_that_of_the_others(self):
        corpus = example()
        step = steps(corpus)["documents"]
        alone = {
            left: agreement(corpus.select(documents=[n for n in corpus.documents if n != left]))
            for left in corpus.documents
        }
        worst = max(alone, key=lambda name: alone[name].corrected)
        assert step.text == "Look at 1 document"  # of twelve
        assert step.why == f"{worst} lowers agreement most: see why."
        assert step.before == agreement(corpus).corrected
        assert step.after == pytest.approx(alone[worst].corrected, abs=1e-12)
        assert step.after > step.before
        found = overview(agreement(corpus), corpus, others=(), **FEW)
        order = by_influence(found)
        assert [row.name for row, _ in order] == sorted(
            alone, key=lambda name: -alone[name].corrected
        )
        for row, score in order:
            assert score == pytest.approx(alone[row.name].corrected, abs=1e-12)

    def test_several(self):
        usual = team_of(60)
        odd = [*usual[:20], *([[(14, 16, "P")]] * 3), *usual[23:]]
        corpus = Corpus.from_spans({"ada": usual, "ben": usual, "dan": odd}, lengths=[20] * 60)
        step = steps(corpus)["documents"]
        assert (step.number, step.text) == (3, "Look at 3 documents")
        assert step.after == 1.0
        many = Corpus.from_spans(
            {"ada": usual, "dan": [[(14, 16, "P")]] * 30 + usual[30:]}, lengths=[20] * 60
        )
        step = steps(many)["documents"]
        assert step.number == 5
        left = [name for name in many.documents if name not in set(worst_of(many))]
        assert step.after == pytest.approx(agreement(many.select(documents=left)).corrected)

    def test_where_all_agree_alike_none_is_named(self):
        assert [*steps(team(dan=EARLIER))] == ["pattern", "decide"]

    def test_one_document_is_not_compared(self):
        assert "documents" not in steps(example().select(documents=["issue-01"]))

    def test_chance_of_the_whole_corpus_is_not_divided(self):
        corpus = replace(example().select(documents=["issue-01", "issue-02"]), unit="corpus")
        assert [*steps(corpus)] == ["decide"]


def worst_of(corpus):
    found = overview(agreement(corpus), corpus, others=(), **FEW)
    return [row.name for row, _ in by_influence(found)[:5]]


class TestLabel:
    def test_the_label_with_most_without_a_match(self):
        corpus = example().with_gold("ada")
        step = steps(corpus, rank(corpus), is_decided=False)["label"]
        best = rank(corpus).systems["cleo"]
        left = {
            label: score.size_a + score.size_b - 2 * score.matched
            for label, score in best.by_label.items()
        }
        worst = max(left, key=left.get)
        assert (step.text, step.link) == (f"Look at the label {worst}", "#labels")
        assert f"{best.by_label[worst].corrected:.3f}" in step.why

    def test_of_one_label_nothing_is_said(self):
        corpus = example().select(labels=["PERSON"]).with_gold("ada")
        assert "label" not in steps(corpus, rank(corpus), is_decided=False)


class TestOnThePage:
    @staticmethod
    def shown(page):
        """The steps as they stand on the page: attributes, address and words."""
        return re.findall(
            r'<li data-step="(\w+)"([^>]*)>\s*<a href="([^"]+)">(.*?)</a>', page.html, re.DOTALL
        )

    def test_a_team(self):
        page = report(example(), coefficients=[], **FEW)
        found = self.shown(page)
        wanted = [*steps(example()).values()]
        assert [(name, link, unescape(text)) for name, _, link, text in found] == [
            (step.name, step.link, step.text) for step in wanted
        ]
        for (_, data, _, _), step in zip(found, wanted, strict=True):
            assert f'data-number="{step.number}"' in data
            assert (f'data-after="{step.after}"' in data) != isnan(step.after)
        before_scripts = page.html.partition("<script")[0]
        assert before_scripts.count('href="#decide"') == 2  # also in the navigation
        # Agreement as the step has it is that of the data inside the page.
        (before,) = set(re.findall(r'data-before="([^"]+)"', page.html))
        assert f'"corrected": {before}' in page.html

    def test_systems(self):
        page = report(rank(example(), gold="ada"), example(), coefficients=[], **FEW)
        assert [name for name, *_ in self.shown(page)] == ["pattern", "check", "label"]
        assert "#decide" not in page.html.partition("<script")[0]

    def test_nothing_to_do(self):
        page = report(team(), coefficients=[], **FEW)
        assert self.shown(page) == []
        assert "Nothing to decide: annotators agree in every place." in page.html
        assert 'href="#decide"' not in page.html.partition("<script")[0]

    def test_nothing_marked(self):
        corpus = Corpus.from_spans({"a": [[]], "b": [[]]}, lengths=[5])
        page = report(corpus, coefficients=[], **FEW)
        assert self.shown(page) == []
        assert "Nothing to decide" not in page.html

    def test_without_a_corpus_nothing_is_claimed(self):
        found = self.shown(report(agreement(example()), **FEW))
        assert [name for name, *_ in found] == ["documents"]
        assert "Nothing to decide" not in report(rank(example(), gold="ada"), **FEW).html

    def test_names_and_labels_are_text(self):
        evil = "<img src=x onerror=alert(1)>"
        spans = {evil: [[(0, 2, evil)]] * 12, "b": [[(0, 3, evil)]] * 12}
        page = report(Corpus.from_spans(spans, lengths=[9] * 12), coefficients=[], **FEW)
        assert evil not in page.html
        (_, _, _, text), *_ = self.shown(page)
        assert_tells(unescape(text), f"Talk to … {evil} … about <img")

    def test_long_labels_are_cut(self):
        label = "x" * 10_000
        spans = {"a": [[(0, 2, label)]] * 12, "b": [[(0, 3, label)]] * 12}
        page = report(Corpus.from_spans(spans, lengths=[9] * 12), coefficients=[], **FEW)
        assert all(len(text) < 100 for *_, text in self.shown(page))
        why = re.search(r"data-step=.*?<p>(.*?)</p>", page.html, re.DOTALL)[1]
        assert len(why) < 400
