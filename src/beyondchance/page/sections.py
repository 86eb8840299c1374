"""The sections of the page: what each says, shows and draws."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan, nan
from typing import Any

import numpy as np

from beyondchance.page.charts.coefficients import CoefficientRow, coefficients_chart
from beyondchance.page.charts.difficulty import SPLIT, difficulty_chart
from beyondchance.page.charts.documents import DocumentPoint, documents_chart
from beyondchance.page.charts.habits import HabitRow, habits_chart
from beyondchance.page.charts.kinds import KindRow, kinds_chart
from beyondchance.page.charts.labels import LabelRow, labels_chart
from beyondchance.page.charts.pairs import pairs_chart
from beyondchance.page.charts.placement import Curve, placement_chart
from beyondchance.page.charts.systems import SystemRow, systems_chart
from beyondchance.page.documents import DocumentView, contested
from beyondchance.page.gather import Overview
from beyondchance.reporting import sentences as words
from beyondchance.reporting.blocks import (
    SCORES,
    Cell,
    Prose,
    Table,
    counted,
    score_cells,
    with_reasons,
)
from beyondchance.reporting.commands import coefficients as coefficients_report
from beyondchance.reporting.commands.agree import (
    IntervalsByName,
    KnownIntervals,
    habits_of,
    habits_table,
    known_intervals,
    most_contested,
    scores_table,
)
from beyondchance.reporting.commands.rank import (
    by_rank,
    differences_table,
    rank_changes,
    ranking_table,
    sure_table,
    told_apart,
)
from beyondchance.results.agreement import Agreement
from beyondchance.results.ranking import Ranking
from beyondchance.results.score import Score

OURS = "corrected-f1"
MOST_ROWS = 200
"""Rows of a table; where there are more, those of the lowest scores."""
MOST_CONTESTED = 100
"""Documents that are listed."""


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart of Altair."""

    name: str
    drawn: Any


@dataclass(frozen=True, slots=True)
class NamedTable:
    """A table with a name for its file, and where the names in its first column lead."""

    name: str
    table: Table
    links: Sequence[str | None] = ()


@dataclass(frozen=True, slots=True)
class Texts:
    """The document view."""

    view: DocumentView


@dataclass(frozen=True, slots=True)
class Notes:
    """What else to know, as a list."""

    texts: Sequence[str]


Part = Prose | Notes | NamedTable | Chart | Texts


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page that can be linked to."""

    name: str
    title: str
    parts: Sequence[Part]


def sections(found: Overview, view: DocumentView | None, *, digits: int) -> list[Section]:
    """All sections for which there is something to show, in the order of the page."""
    made = [
        *_systems(found, digits),
        *_labels(found),
        *_annotators(found),
        *_documents(found, view),
        *_difficulty(found),
        *_texts(found, view),
        *_coefficients(found),
        *_placement(found),
    ]
    return [section for section in made if section.parts]


def _first(found: Overview) -> tuple[str, Agreement] | None:
    return next(iter(found.results.items()), None)


def known(found: Overview) -> KnownIntervals:
    """The intervals of all that is shown."""
    return known_intervals(found.intervals, next(iter(found.results), ""))


def _systems(found: Overview, digits: int) -> Iterator[Section]:
    if not found.rankings:
        return
    measure, ranking = next(iter(found.rankings.items()))
    parts: list[Part] = [Prose(rank_changes(ranking, measure))]
    # How intervals were made stands above already.
    parts += [Prose(text) for text in told_apart(found.standings[measure], measure, digits)[1:]]
    parts.append(Chart("systems", _systems_chart(ranking)))
    for name, item in found.rankings.items():
        title = f"systems by {name}: {words.MATCHES.get(name, name)}"
        parts.append(NamedTable(f"systems-{name}", ranking_table(item, title)))
        title = f"how sure the ranks by {name} are"
        sure = replace(sure_table(item, found.standings[name]), title=title)
        parts.append(NamedTable(f"sureness-{name}", sure))
    if len(ranking.systems) > 1:
        ahead = differences_table(found.standings[measure], measure)
        parts.append(NamedTable("differences", ahead))
    yield Section("systems", "Systems", parts)


def _systems_chart(ranking: Ranking) -> Any:
    before, after = ranking.ranks("observed"), ranking.ranks("corrected")
    return systems_chart(
        [
            SystemRow(
                name=name,
                observed=system.observed,
                corrected=system.corrected,
                rank_observed=before[name],
                rank_corrected=after[name],
            )
            for name, system in ranking.systems.items()
        ]
    )


def _labels(found: Overview) -> Iterator[Section]:
    first = _first(found)
    parts: list[Part] = []
    if first is not None:
        measure, result = first
        intervals = known(found).kind("label")
        scores = list(result.by_label.items())
        who = " (all systems together)" if found.rankings else ""
        parts.append(Chart("labels", _labels_chart(dict(scores), intervals)))
        table = scores_table(
            "label", scores, intervals, title=f"labels by {measure}{who}", top=MOST_ROWS
        )
        parts.append(NamedTable("labels", table))
    if found.rankings:
        parts.append(NamedTable("labels-by-system", _labels_by_system(found)))
    yield Section("labels", "Labels", parts)


def _labels_chart(scores: Mapping[str, Score], intervals: IntervalsByName) -> Any:
    rows = []
    for name, score in scores.items():
        interval = intervals.at.get(name, {}).get("corrected")
        rows.append(
            LabelRow(
                name=name,
                observed=score.observed,
                chance=score.chance,
                corrected=score.corrected,
                n_spans=score.n_spans,
                low=nan if interval is None else interval.low,
                high=nan if interval is None else interval.high,
            )
        )
    return labels_chart(rows)


def _labels_by_system(found: Overview) -> Table:
    """Corrected scores of every system, label by label."""
    measure, ranking = next(iter(found.rankings.items()))
    names = by_rank(ranking)
    scores = {name: ranking.systems[name].by_label for name in names}
    labels = sorted({label for system in scores.values() for label in system})
    rows: list[tuple[Cell, ...]] = [
        (
            label,
            *(scores[name][label].corrected if label in scores[name] else nan for name in names),
        )
        for label in labels
    ]
    return Table(("label", *names), rows, f"corrected scores of each system, by {measure}")


def _annotators(found: Overview) -> Iterator[Section]:
    first = _first(found)
    if first is None:
        return
    measure, result = first
    annotators = result.counts.annotators
    parts: list[Part] = []
    intervals = known(found).kind("pair")
    if len(annotators) > 2 and found.gold is None:
        pairs = result.by_pair
        values = {pair: score.corrected for pair, score in pairs.items()}
        parts.append(Chart("pairs", pairs_chart(annotators, values)))
        table = scores_table(
            "pair", list(pairs.items()), intervals, title=f"pairs by {measure}", top=MOST_ROWS
        )
        parts.append(NamedTable("pairs", table))
        if not intervals.at:
            parts.append(Prose("There are too many pairs to give each an interval."))
    habits = habits_of(result, found.results.get("token", result))
    habits = {name: item for name, item in habits.items() if name != found.gold}
    beside = "the others" if found.gold is None else found.gold
    ratios = [HabitRow(name=name, ratio=item.marking_ratio) for name, item in habits.items()]
    if "token" in found.results:
        parts.append(Chart("habits", habits_chart(ratios, beside=beside)))
    table = habits_table(habits, MOST_ROWS, against_gold=found.gold is not None)
    parts.append(NamedTable("annotators", table))
    yield Section("annotators", "Annotators" if found.gold is None else "Habits", parts)


def _documents(found: Overview, view: DocumentView | None) -> Iterator[Section]:
    first = _first(found)
    if first is None:
        return
    _, result = first
    scores = {name: score for name, score in result.by_document.items() if score.n_spans}
    hardness = found.difficulty.by_document if found.difficulty is not None else {}
    links = view.numbers if view is not None else {}
    differing = {} if found.found is None else contested(found.found)
    order = [name for name in differing if name in scores] or [
        name for name, _ in most_contested(list(scores.items()))
    ]
    listed = order[:MOST_CONTESTED]
    rows = [
        (
            name,
            differing.get(name),
            scores[name].n_spans,
            *score_cells(scores[name]),
            hardness.get(name, nan),
        )
        for name in listed
    ]
    points = [
        DocumentPoint(
            number=links.get(name),
            name=name,
            observed=scores[name].observed,
            chance=scores[name].chance,
            corrected=scores[name].corrected,
            difficulty=hardness.get(name, nan),
            contested=differing.get(name, 0),
        )
        for name in order
    ]
    cut = f"{len(listed):,} of {len(order):,}." if len(listed) < len(order) else ""
    table = with_reasons(
        Table(
            ("document", "disagreements", "spans", *SCORES, "difficulty"),
            rows,
            "the most contested documents first",
            cut,
        ),
        [scores[name] for name in listed],
    )
    yield Section(
        "by-document",
        "Documents",
        [
            Chart("documents", documents_chart(points)),
            NamedTable("documents", table, [_href(name, links) for name in listed]),
        ],
    )


def _href(document: str, links: Mapping[str, int]) -> str | None:
    return f"#document-{links[document]}" if document in links else None


def _difficulty(found: Overview) -> Iterator[Section]:
    first = _first(found)
    if found.difficulty is None or found.found is None or first is None:
        return
    corpus = found.found.corpus
    compared = set(first[1].counts.documents)
    is_compared = np.fromiter((name in compared for name in corpus.documents), dtype=bool)
    values = found.difficulty.by_text[is_compared[corpus.text_document]]
    values = values[~np.isnan(values)]
    if not len(values):
        return
    hard = int(np.count_nonzero(values >= SPLIT))
    settings = found.difficulty.settings
    texts = counted(len(values), settings.unit)
    text = (
        "Difficulty is how unlikely luck is: 1 minus the agreement of random annotations, here by "
        f"{settings.measure}. Of {texts} in which something was marked, {hard:,} "
        f"{'has' if hard == 1 else 'have'} a difficulty of {SPLIT} or more, which the paper "
        "calls difficult."
    )
    yield Section(
        "difficulty",
        "Difficulty",
        [Prose(text), Chart("difficulty", difficulty_chart(values.tolist()))],
    )


def _texts(found: Overview, view: DocumentView | None) -> Iterator[Section]:
    if view is None or found.found is None:
        return
    kinds = [KindRow(a=a, b=b, counts=counts) for (a, b), counts in found.found.by_pair().items()]
    yield Section(
        "reader",
        "Disagreements",
        [Prose(f"Shown: {view.sentence}."), Chart("kinds", kinds_chart(kinds)), Texts(view)],
    )


def _coefficients(found: Overview) -> Iterator[Section]:
    if found.coefficients is None:
        return
    rows = [
        CoefficientRow(name=name, value=item.value, is_ours=name == OURS)
        for name, item in found.coefficients.values.items()
    ]
    parts: list[Part] = []
    if sum(not isnan(row.value) for row in rows) > 1:
        parts.append(Chart("coefficients", coefficients_chart(rows)))
    parts.append(NamedTable("coefficients", coefficients_report.values_table(found.coefficients)))
    parts += coefficients_report.remarks(found.coefficients)
    definitions = coefficients_report.definitions_table(found.coefficients)
    parts.append(NamedTable("definitions", replace(definitions, title="what each of them is")))
    yield Section("coefficients", "Other coefficients", parts)


def _placement(found: Overview) -> Iterator[Section]:
    if not found.placements:
        return
    curves = [
        Curve(
            name=f"{item.document}: {item.label} by {item.annotator}",
            values=item.coverage.tolist(),
        )
        for item in found.placements
    ]
    yield Section(
        "placement",
        "Where random spans fall",
        [
            Prose(
                "Chance agreement comes from putting each annotator's spans down at random, in "
                "every possible way. These are the chances of each position to be covered, in a "
                "short, a middling and a long text of this corpus."
            ),
            Chart("placement", placement_chart(curves)),
        ],
    )
