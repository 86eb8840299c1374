"""People: a card for each annotator, to be read, printed and sent one by one.

A card says how one annotator differs from the others and names none of them, so that it can be
sent to whom it is about. Cards come in the order of the annotators; nobody is ranked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import isnan
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np

from beyondchance.annotations.corpus import Corpus, Span
from beyondchance.annotations.pairs import annotation_numbers
from beyondchance.core.resampling import benjamini_hochberg
from beyondchance.diagnosis.diagnose import exchange_p
from beyondchance.diagnosis.diagnosis import HABIT, Diagnosis, Example, Pattern
from beyondchance.diagnosis.periods import Periods
from beyondchance.inference.careless import AnnotatorWork, CarelessWork
from beyondchance.numbers import in_digits, p_is
from beyondchance.page.charts.annotators import periods_chart
from beyondchance.page.charts.shared import change
from beyondchance.page.documents import place_of
from beyondchance.page.gather import LARGE_TEAM, Overview, diagnosed
from beyondchance.page.svg import Chart
from beyondchance.reporting import sentences
from beyondchance.reporting.blocks import Range, counted
from beyondchance.reporting.breakdown import Row
from beyondchance.reporting.commands import diagnose as diagnose_report

MOST_CARDS = 20
"""Annotators with a card: those with most documents."""
MOST_HABITS = 3
MOST_PERIODS = 10
"""Periods on a card: the last ones."""
_WITHIN = 80
"""Characters that are shown of a span."""


class Fact(NamedTuple):
    """A number of a card, what it is of, and how it was counted."""

    name: str
    value: float
    about: str
    interval: Range | None = None


class Habit(NamedTuple):
    """A habit in words, with an example: where it is, its text, and what was marked."""

    sentence: str
    about: str
    document: str
    link: str | None
    pieces: Sequence[tuple[str, str]]
    told: str


class Look(NamedTuple):
    """Documents to look at, and where the first of them is."""

    text: str
    link: str | None


class Card(NamedTuple):
    """What there is to say about one annotator; numbers are None where they are not known."""

    name: str
    about: str
    facts: Sequence[Fact]
    sentences: Sequence[str]
    habits: Sequence[Habit]
    n_habits: int | None
    over_time: Chart | None
    look: Sequence[Look]
    work: AnnotatorWork | None


class Cards(NamedTuple):
    """The cards, in the order of the annotators; and what to look at in the work of the rest."""

    listed: Sequence[Card]
    rest: Sequence[str] = ()
    noun: str = "document"
    others: str = ""
    has_gold: bool = False


def with_cards(found: Overview) -> list[Row]:
    """Return the rows of annotators who have a card; the first is at ``#person-1``."""
    people = [row for row in found.breakdown.of("annotator") if row.name != found.gold]
    chosen = sorted(people, key=lambda row: -row.score.n_documents)[:MOST_CARDS]
    return [row for row in people if row in chosen and found.disagreements]


def address(found: Overview, who: str) -> str:
    """Return the address of the card of an annotator, or of all where there is none."""
    names = [row.joined for row in with_cards(found)]
    return f"#person-{names.index(who) + 1}" if who in names else "#people"


def cards(found: Overview, links: Mapping[str, str]) -> Cards:
    """Make the cards; none where annotations are not known."""
    rows = with_cards(found)
    if not rows or found.disagreements is None:
        return Cards([])
    corpus, others = found.disagreements.corpus, others_of(found)
    diagnosis, careless = _diagnosis(found, corpus), found.careless
    below = dict(works_below(found))
    names = [row.joined for row in rows]
    compared = _compared(corpus, found.gold)
    amounts = _amounts(corpus, names, found.gold, others)
    scored = {row.joined: row for row in (found.leaderboard if found.rankings else rows)}
    periods = None if found.diagnosis is None else found.diagnosis.periods
    made = []
    for number, (name, row) in enumerate(zip(names, rows, strict=True), 1):
        habits = _habits(name, diagnosis)
        made.append(
            Card(
                name=name,
                about=f"{compared[name]} · {counted(row.score.n_spans, 'span')}",
                facts=list(_facts(found, scored[name], others)),
                sentences=[amounts[name], *filter(None, [below.get(name)]), *_changes(name, found)],
                habits=[_habit(habit, corpus, others, links) for habit in habits[:MOST_HABITS]],
                n_habits=None if diagnosis is None else len(habits),
                over_time=_over_time(number, name, periods, others),
                look=_stretches(name, careless, links),
                work=None if careless is None else careless.by_annotator[name],
            )
        )
    rest = [
        f"{name}: {said}"
        for name in corpus.annotators
        if name not in {*names, found.gold}
        for said in (
            *filter(None, [below.get(name)]),
            *(f"look at {look.text}" for look in _stretches(name, careless, links)),
        )
    ]
    return Cards(made, rest, corpus.extent.noun, others, found.gold is not None)


def others_of(found: Overview) -> str:
    """Call those with whom each is compared by something else than their names."""
    if found.gold is not None:
        return "the gold standard"
    return "the others" if len(found.result.counts.annotators) > 2 else "the other annotator"


def _compared(corpus: Corpus, gold: str | None) -> dict[str, str]:
    """Count the documents in which each annotator is compared, also those without any span."""
    document, who = corpus.annotation_document, corpus.annotation_annotator
    is_of = np.ones(len(who), dtype=bool) if gold is None else who == corpus.annotators.index(gold)
    n_there = np.bincount(document[is_of], minlength=len(corpus.documents))
    is_compared = n_there[document] > (gold is None)
    n = np.bincount(who[is_compared], minlength=len(corpus.annotators)).tolist()
    noun = corpus.extent.noun
    return {name: counted(own, noun) for name, own in zip(corpus.annotators, n, strict=True)}


# --- Numbers ------------------------------------------------------------------


def _facts(found: Overview, row: Row, others: str) -> Iterator[Fact]:
    """Yield the scores of one annotator."""
    measure = sentences.by_measure(row.measure, found.result.settings.positions)
    ends = row.intervals.get("corrected")
    known = Range(ends.low, ends.high) if ends is not None and not isnan(ends.low) else None
    yield Fact(f"Agreement with {others}", row.score.corrected, f"corrected, {measure}", known)
    if row.measure != "exact":
        ranking = found.rankings.get("exact")
        scores: Any = ranking.systems if ranking else found.results["exact"].by_annotator
        yield Fact("Of whole spans", scores[row.joined].corrected, "corrected, exact")
    if row.without is not None and found.gold is None:
        without = row.without.score.corrected
        yield Fact("The others among themselves", without, f"corrected, {measure}")


def _amounts(corpus: Corpus, names: Sequence[str], gold: str | None, called: str) -> dict[str, str]:
    """Say how many spans each annotator marks, and that it is more or fewer if that is shown.

    The annotator and each of the others exchange names within the documents that both annotated.
    More, or fewer, than most others is shown by as many of these tests as are most of them, so
    that one who marks a lot does not make all others those who mark little. It is adjusted for
    all annotators. Where others are very many, there is no test.
    """
    number = annotation_numbers(corpus, corpus.span_text, corpus.span_annotator)
    n_spans = np.bincount(number, minlength=len(corpus.annotation_document))
    who = [corpus.annotators[i] for i in corpus.annotation_annotator.tolist()]
    counts: list[dict[str, int]] = [{} for _ in corpus.documents]
    for document, name, n in zip(corpus.annotation_document, who, n_spans.tolist(), strict=True):
        counts[document][name] = n
    noun = corpus.extent.noun
    said, p_values, more = {}, [], []
    for name in names:
        others = {*corpus.annotators} - {name} if gold is None else {gold}
        shared = [(x[name], x, both) for x in counts if name in x and (both := others & {*x})]
        own = fmean([n for n, *_ in shared] or [0])
        theirs = fmean([fmean([x[other] for other in both]) for _, x, both in shared] or [0])
        said[name] = f"{own:,.1f} spans a {noun}, {called} {theirs:,.1f} in the same {noun}s"
        met = sorted({other for *_, both in shared for other in both})
        pairs = [[(n, x[y]) for n, x, both in shared if y in both] for y in met]
        pairs = pairs if len(met) <= LARGE_TEAM else []
        # More, and fewer, which is more of the other: 1 - p would be 0 for the smallest.
        sides = [
            _p_of_most([exchange_p(both, sum(one[side] for one in both)) for both in pairs])
            for side in (0, 1)
        ]
        p_values.append(min(2 * min(sides), 1.0))
        more.append(sides[0] < sides[1])
    for name, p, is_more in zip(names, benjamini_hochberg(np.array(p_values)), more, strict=True):
        than = "Marks"
        if p <= HABIT:
            most = "most of " if gold is None and len(corpus.annotators) > 3 else ""
            than = f"Marks {'more' if is_more else 'fewer'} spans than {most}{called}:"
            said[name] += f" ({p_is(float(p))})"
        said[name] = f"{than} {said[name]}."
    return said


def _p_of_most(p_values: Sequence[float]) -> float:
    """Compute a p-value that most of some hypotheses are wrong (Benjamini and Heller 2008).

    >>> _p_of_most([0.01, 0.2]), _p_of_most([0.01, 0.02, 0.5]), _p_of_most([])
    (0.2, 0.04, 1.0)
    """
    least = len(p_values) // 2 + 1
    rest = len(p_values) - least + 1
    return min(rest * sorted(p_values)[least - 1], 1.0) if p_values else 1.0


# --- Habits -------------------------------------------------------------------


def _diagnosis(found: Overview, corpus: Corpus) -> Diagnosis | None:
    """Return what all annotators do otherwise; a ranking has it of the best system only."""
    if found.diagnosis is None or not found.rankings:
        return found.diagnosis
    return diagnosed(found.results, corpus, found.result.settings, found.gold)


def _habits(name: str, diagnosis: Diagnosis | None) -> list[Pattern]:
    """Return what only this annotator does regularly, the most costly first."""
    patterns = () if diagnosis is None else diagnosis.patterns
    return [pattern for pattern in patterns if pattern.is_habit and name in pattern.times]


def _habit(pattern: Pattern, corpus: Corpus, others: str, links: Mapping[str, str]) -> Habit:
    """Describe a habit with one example, without names of others."""
    if len(pattern.others) < 2:
        pattern = replace(pattern, others=(others,))
    advice = pattern.advice
    whole = "the agreement of all" if not pattern.is_error else "this score"
    gain = change(pattern.before, pattern.after)
    example = pattern.examples[0]
    return Habit(
        sentence=diagnose_report.what(pattern),
        about=f"{advice[0].upper()}{advice[1:]}. Without it, {whole} would change: {gain}.",
        document=example.document,
        link=place_of(example, links, corpus.annotators),
        pieces=diagnose_report.highlighted(example) if example.content else [],
        told=_told(pattern, example),
    )


def _told(pattern: Pattern, example: Example) -> str:
    """Say what was marked in an example; of several others, what some of them marked."""

    def marked(span: Span | None, characters: tuple[int, int] | None) -> str:
        if span is None:
            return "nothing"
        label = f" as {span.label}" if pattern.is_labelled else ""
        if example.content is None or characters is None:
            return f"{span.start} to {span.end}{label}"
        return f"“{_short(example.content[slice(*characters)])}”{label}"

    own = marked(example.own, example.own_characters)
    theirs = marked(example.theirs, example.their_characters)
    others = pattern.others[0] if len(pattern.others) < 2 else "others"
    if example.theirs is None and len(pattern.others) > 1:
        others = "most others" if len(pattern.others) > 2 else "the others"
    return f"{example.who} marked {own}; {others} {theirs}."


def _short(words: str) -> str:
    """Return words without their middle if they are long."""
    return words if len(words) <= _WITHIN else f"{words[: _WITHIN // 2]}…{words[-_WITHIN // 2 :]}"


# --- Documents to look at -----------------------------------------------------


def works_below(found: Overview) -> Iterator[tuple[str, str]]:
    """Yield annotators who agree less than half as much as the others do, and say so."""
    careless = found.careless
    if careless is None:
        return
    for name in careless.below:
        work = careless.by_annotator[name]
        said = (
            f"Shown to agree with the others less than half as much as they do among themselves, "
            f"in the same documents: {in_digits(work.agreement, 3)} and "
            f"{in_digits(work.others, 3)} ({p_is(work.adjusted)})."
        )
        yield name, said


def _stretches(name: str, careless: CarelessWork | None, links: Mapping[str, str]) -> list[Look]:
    """List stretches of documents to look at, of one annotator."""
    listed: list[Look] = []
    if careless is None:
        return listed
    noun = careless.corpus.extent.noun
    for stretch in careless.stretches:
        if stretch.annotator == name:
            first, last = stretch.documents[0], stretch.documents[-1]
            text = first if first == last else f"{first} to {last}"
            sizes = f"{counted(len(stretch.documents), noun)}, {counted(stretch.n_spans, 'span')}"
            listed.append(Look(f"{text} ({sizes})", links.get(first)))
    return listed


# --- Time ---------------------------------------------------------------------


def _over_time(number: int, name: str, periods: Periods | None, others: str) -> Chart | None:
    """Draw the last periods of one annotator."""
    if periods is None or name not in periods.annotators:
        return None
    called = {"name": f"time-{number}", "others": others}
    return periods_chart(periods, [name], most=MOST_PERIODS, **called)


def _changes(name: str, found: Overview) -> Iterator[str]:
    """Say since when an annotator agrees more or less."""
    periods = None if found.diagnosis is None else found.diagnosis.periods
    if periods is not None:
        pair = " or ".join(periods.annotators)
        for one in periods.changes:
            if one.who in {name, pair}:
                gold = found.gold and others_of(found)
                whose = replace(one, who="one") if one.who == pair else one
                yield diagnose_report.change_sentence(whose, gold)
