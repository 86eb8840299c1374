"""What to do next: a few steps, each with what is known of its worth and where it leads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import fsum, inf, isnan, nan
from typing import NamedTuple

from beyondchance.diagnosis.diagnosis import Diagnosis, Pattern
from beyondchance.diagnosis.periods import Change
from beyondchance.inference.careless import FEWEST_DOCUMENTS
from beyondchance.page import people
from beyondchance.page.charts.shared import change, shown_name, shown_number
from beyondchance.page.gather import Overview
from beyondchance.reporting.blocks import counted, in_list
from beyondchance.reporting.breakdown import Row, most_contested
from beyondchance.reporting.commands import diagnose as diagnose_report

MOST_STEPS = 3
MOST_DOCUMENTS, SHARE = 5, 0.1
"""How many documents to look at: this many, and no larger share, but one at least."""
LEAST_GAIN = 0.0005
"""What agreement would rise by without them, at least."""


class Action(NamedTuple):
    """A step, why to take it, and where it leads.

    The corrected scores before and after, and when it would be so, where something computes them.
    """

    name: str
    text: str
    why: str
    link: str
    number: int = 0
    before: float = nan
    after: float = nan
    when: str = ""

    @property
    def worth(self) -> float:
        """What the corrected score rises by; no limit where it is not known."""
        return inf if isnan(self.after - self.before) else self.after - self.before

    @property
    def gain(self) -> str:
        """The corrected score before and after, as text; empty where it is not known to rise."""
        is_known = not isnan(self.after - self.before) and self.worth >= LEAST_GAIN
        return change(self.before, self.after) if is_known else ""


def actions(found: Overview, *, is_decided: bool) -> list[Action]:
    """List the steps that a result asks for.

    First the pattern whose end would bring most, and the annotator whose work as a whole is shown
    to differ, what would bring more before the other; then the places where annotators differ, then
    the documents that lower agreement most, or against a gold standard the label that loses most.
    What has no content is left out, and so is what comes after the third.

    Parameters
    ----------
    found : Overview
    is_decided : bool
        Whether the page lets people decide them.
    """
    talks = [*_pattern(found), *_person(found)]
    return [
        *sorted(talks, key=lambda step: -step.worth),
        *_places(found, is_decided=is_decided),
        *(_documents(found) if found.gold is None else _label(found.diagnosis)),
    ][:MOST_STEPS]


def _pattern(found: Overview) -> Iterator[Action]:
    """Yield what to talk about, or to look at in a system: the pattern that costs most."""
    diagnosis = found.diagnosis
    if diagnosis is None or not diagnosis.patterns or not diagnosis.patterns[0].gain > 0:
        return
    pattern, measure = diagnosis.patterns[0], diagnosis.settings.measure
    everyone = [*pattern.times, *pattern.others]
    is_pair = len(everyone) == 2
    # Of two it is not known who is right, and what several do is a matter for all.
    whom, when = in_list(everyone) if is_pair else "everyone", "if done as others do"
    text = f"Talk to {whom} about {_topic(pattern)}"
    if pattern.is_error:
        text, when = f"Look at how {pattern.who} marks {_topic(pattern)}", "without these errors"
    elif is_pair:
        does_one = len(pattern.times) == 1
        when = f"if {everyone[0]} did as {everyone[1]}" if does_one else "without these differences"
    elif pattern.is_habit and len(pattern.times) == 1:
        text = f"Talk to {pattern.who} about {_topic(pattern)}"
    why = shown_name(f"{diagnose_report.what(pattern)}.", length=200)
    if measure != found.breakdown.rows[0].measure:
        when += f", by {measure}"
    yield Action("pattern", text, why, "#fix", pattern.count, pattern.before, pattern.after, when)


def _person(found: Overview) -> Iterator[Action]:
    """Yield whose work as a whole to look at: of those who differ, who lowers agreement most."""
    # Against a gold standard, the number that stands first is that of the best one.
    rows = found.breakdown.of("annotator") if found.gold is None else ()
    others = {row.joined: row.without for row in rows}
    steps = [
        Action(
            "person",
            f"Look at {work}",
            shown_name(why, length=200),
            people.address(found, who),
            before=found.result.corrected,
            after=rest.score.corrected if (rest := others.get(who)) is not None else nan,
            when="among the others",
        )
        for who, work, why in _differing(found)
    ]
    yield from sorted(steps, key=lambda step: -step.worth)[:1]


def _differing(found: Overview) -> Iterator[tuple[str, str, str]]:
    """Yield annotators whose work as a whole is shown to differ, with how to call it, and why."""
    for row in found.breakdown.of("annotator"):
        n_documents = row.score.n_documents
        if row.name != found.gold and n_documents >= FEWEST_DOCUMENTS and not row.score.n_spans:
            where = counted(n_documents, found.breakdown.noun)
            is_pair = len(found.result.counts.annotators) == 2
            did = found.gold or ("the other" if is_pair else "others")
            why = f"{row.joined} marked nothing in {where} where {did} marked something."
            yield row.joined, f"{shown_name(row.joined)}'s work", why
    for who, why in people.works_below(found) if found.gold is None else ():
        yield who, f"{shown_name(who)}'s work", why
    periods = None if found.diagnosis is None else found.diagnosis.periods
    for one in () if periods is None else periods.changes:
        if one.after < one.before:
            is_pair = found.gold is None and isnan(one.others_before)
            whose = "the" if is_pair else f"{shown_name(one.who)}'s"
            yield one.who, f"{whose} work since {shown_name(one.since)}", _less(one, found.gold)


def _less(found: Change, gold: str | None) -> str:
    """Say how much less an annotator agrees, and how the others do."""
    whom, how, end = gold or "the others", change(found.before, found.after), ""
    if not isnan(found.others_before):
        others = "they among themselves" if gold is None else "the others"
        end = f"; {others}: {change(found.others_before, found.others_after)}"
    elif gold is None:
        whom, end = "the other", "; of two it is not known who changed"
    return f"{found.who} agrees less with {whom}: {how}{end}."


def _topic(pattern: Pattern) -> str:
    """Name the label that a pattern is about, and the other one if there is one."""
    labels = [pattern.label if pattern.is_labelled else "spans"]
    if pattern.about.about in {"label", "overlap"} and pattern.about.name != pattern.label:
        labels.append(pattern.about.name)
    return in_list([shown_name(label) for label in labels])


def _places(found: Overview, *, is_decided: bool) -> Iterator[Action]:
    """Yield the places to decide; against a gold standard, which decides, to check."""
    places = found.places.values()
    n, n_documents = sum(places), sum(map(bool, places))
    if not n:
        return
    where = f"in {counted(n_documents, found.breakdown.noun)}"
    if is_decided:
        why = f"Where annotators differ, {where}. Your decisions make the gold standard."
        yield Action("decide", f"Decide {counted(n, 'place')}", why, "#decide", n)
    else:
        others = [name for name in found.result.counts.annotators if name != found.gold]
        whose = others[0] if len(others) == 1 else "the others"
        why = f"Where {found.gold} and {whose} differ, {where}."
        yield Action("check", f"Check {counted(n, 'place')}", why, "#reader", n)


def _documents(found: Overview) -> Iterator[Action]:
    """Yield the documents without which agreement would be highest."""
    before, ranked = found.result.corrected, by_influence(found)
    most = min(MOST_DOCUMENTS, max(1, int(SHARE * len(ranked))))
    chosen = [row for row, score in ranked[:most] if score > before]
    after = without(found, chosen)
    # Where all agree alike, or among very many, no digit that is shown changes.
    if not after - before >= LEAST_GAIN:
        return
    text = f"Look at {counted(len(chosen), found.breakdown.noun)}"
    why, when = "They lower agreement most: see why.", "without them"
    if len(chosen) == 1:
        why, when = f"{shown_name(chosen[0].shown)} lowers agreement most: see why.", "without it"
    yield Action("documents", text, why, "#by-document", len(chosen), before, after, when)


def by_influence(found: Overview) -> list[tuple[Row, float]]:
    """Sort documents by the corrected score without each, the highest first.

    Where scores of documents do not add up to that of all, that score is nan, and the lowest
    documents come first.
    """
    rows = [row for row in found.breakdown.of("document") if row.score.n_spans]
    rows = most_contested(rows)
    whole = found.result.score
    sizes = fsum(row.score.size_a + row.score.size_b for row in rows)
    is_sum = abs(sizes - whole.size_a - whole.size_b) <= 1e-9 * sizes
    # Where chance is of the whole corpus, it changes when a document is left out.
    is_sum &= not any(row.score.is_part for row in rows)
    each = [(row, without(found, [row]) if is_sum else nan) for row in rows]
    return sorted(each, key=lambda item: (isnan(item[1]), -item[1]))


def without(found: Overview, rows: Sequence[Row]) -> float:
    """Compute the corrected score without some documents."""
    whole, parts = found.result.score, [row.score for row in rows]
    matched = whole.matched - fsum(part.matched for part in parts)
    expected = whole.expected - fsum(part.expected for part in parts)
    sizes = whole.size_a + whole.size_b - fsum(part.size_a + part.size_b for part in parts)
    room = sizes / 2 - expected
    return (matched - expected) / room if room > 1e-12 else nan


def _label(diagnosis: Diagnosis | None) -> Iterator[Action]:
    """Yield the label that loses most against a gold standard, if there are several."""
    if diagnosis is None or len(diagnosis.corpus.labels) < 2:
        return
    gold, (label, *_) = diagnosis.gold, diagnose_report.labels_by_loss(diagnosis)
    score = diagnosis.agreement.by_label[label]
    left = score.size_a + score.size_b - 2 * score.matched
    if left > 0:
        now = shown_number(score.corrected)
        who = in_list([name for name in diagnosis.agreement.counts.annotators if name != gold])
        only = f"only one of {who} and {gold}"
        why = f"More of it than of others is marked by {only}; corrected: {now}."
        yield Action("label", f"Look at the label {shown_name(label)}", why, "#labels")
