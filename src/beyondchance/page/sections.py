"""The sections of the page: what each says, shows and draws."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import isnan, nan
from typing import Any, NamedTuple

import numpy as np

from beyondchance.diagnosis.diagnosis import Diagnosis, Pattern
from beyondchance.diagnosis.loss import LABEL, LOST
from beyondchance.page import people
from beyondchance.page.actions import by_influence
from beyondchance.page.charts import annotators, scores, texts
from beyondchance.page.charts.shared import change
from beyondchance.page.documents import DocumentView, place_of
from beyondchance.page.gather import Overview
from beyondchance.page.svg import Chart
from beyondchance.reporting import breakdown, sentences
from beyondchance.reporting.blocks import Prose, Report, Table, counted, cut, in_list, in_one
from beyondchance.reporting.citations import bibtex
from beyondchance.reporting.columns import for_people, table_of
from beyondchance.reporting.commands import (
    coefficients as coefficients_report,
    diagnose as diagnose_report,
    disagreements,
    rank,
    replace as replace_report,
)
from beyondchance.reporting.rendering import rendered

OURS = "corrected-f1"
MOST_ROWS = 200
"""Rows of a table; where there are more, those of the lowest scores."""
MOST_FINDINGS = 5
"""Patterns that are shown with examples."""
MOST_CONTESTED = 100
"""Documents that are listed."""


class NamedTable(NamedTuple):
    """A table with a name for its file, and where the names in its first column lead.

    Of a leaderboard, the first row is the best one.
    """

    name: str
    table: Table
    links: Sequence[str | None] = ()
    is_leaderboard: bool = False


class Notes(NamedTuple):
    """What else to know, as a list."""

    texts: Sequence[str]


class Stretch(NamedTuple):
    """A part of a bar: its name, how long it is, and what it is in words."""

    name: str
    share: float
    text: str


class Bar(NamedTuple):
    """A bar of several parts, which make one."""

    description: str
    parts: Sequence[Stretch]


class Case(NamedTuple):
    """An example of a finding, and where it leads.

    Its pieces are text, each with whose marks it has.
    """

    document: str
    pieces: Sequence[tuple[str, str]]
    link: str | None


class Finding(NamedTuple):
    """What annotators do otherwise, the gain of mending it, and examples."""

    sentence: str
    gain: str
    about: str
    cases: Sequence[Case]


class Findings(NamedTuple):
    """What to fix, the most costly first, and whose marks are highlighted how."""

    listed: Sequence[Finding]
    legend: Sequence[tuple[str, str]]


class Copyable(NamedTuple):
    """A text to be copied as it is."""

    name: str
    title: str
    text: str


class Folded(NamedTuple):
    """Details of a section, which open on a click."""

    summary: str
    parts: Sequence[Any]


class Signature(NamedTuple):
    """How everything was computed, in one line to cite."""

    text: str


Part = (
    Prose
    | Notes
    | NamedTable
    | Chart
    | DocumentView
    | Folded
    | Bar
    | Findings
    | people.Cards
    | Copyable
    | Signature
)


class Section(NamedTuple):
    """A part of the page that can be linked to; of details, one that opens on a click.

    The menu has a shorter title, where there is one.
    """

    name: str
    title: str
    parts: Sequence[Part]
    is_detail: bool = False
    short: str = ""


def sections(found: Overview, view: DocumentView | None, *, digits: int) -> list[Section]:
    """Make all sections that have something to show, in the order of the page.

    What to read first comes first; what explains it are details, at the end.
    """
    numbers = {} if view is None else view.numbers
    links = {name: f"#document-{number}" for name, number in numbers.items()}
    made = [
        *_systems(found, digits),
        *_to_fix(found, links),
        *_replacement(found),
        *_labels(found),
        *_people(found, links),
        *_documents(found, links),
        *_texts(found, view),
        *_coefficients(found),
        *_difficulty(found),
        *_placement(found),
    ]
    return [section for section in made if section.parts]


def paper_section(report: Report, *, digits: int) -> Section:
    """Make the section for a paper: methods, the main table and what to cite."""
    paragraph = report.make_methods(digits)
    texts: list[Part] = [
        Copyable("methods", "Methods, as plain text", paragraph.written()),
        Copyable("methods-latex", "Methods, for LaTeX with natbib", paragraph.written("latex")),
        Copyable(
            "table-latex", "The main table, for LaTeX", rendered(report, "latex", digits=digits)
        ),
        Copyable("bibtex", "What it cites, in BibTeX", bibtex()),
    ]
    return Section("paper", "For your paper", texts, is_detail=True)


def _to_fix(found: Overview, links: Mapping[str, str]) -> Iterator[Section]:
    """Show what to fix first: where the loss comes from, and the patterns that cost most."""
    diagnosis = found.diagnosis
    if diagnosis is None:
        if found.corpus is not None:
            why = "There is no diagnosis: chance of the whole corpus is not divided among texts."
            yield Section("fix", "What to fix first", [Prose(why)])
        return
    patterns = diagnosis.patterns
    if isnan(diagnosis.corrected) or not patterns:
        return
    listed = [_finding(pattern, found, links) for pattern in patterns[:MOST_FINDINGS]]
    parts: list[Part] = [
        Prose(_about_loss(found), quiet=True),
        Findings(listed, _legend(found)),
        Folded("Where the loss comes from, and all patterns", _all_patterns(found, diagnosis)),
    ]
    title = f"What to fix first in {patterns[0].who}" if found.rankings else "What to fix first"
    yield Section("fix", title, parts, short="What to fix")


def _all_patterns(found: Overview, diagnosis: Diagnosis) -> list[Part]:
    """Return what is behind what to fix first."""
    parts: list[Part] = []
    if diagnosis.loss:
        parts = [_loss_bar(diagnosis), Prose(sentences.largest_loss(diagnosis.loss, _by(found)))]
    if diagnosis.loss.get(LABEL):
        parts.append(Prose(f"In the bar, {diagnose_report.LABELS_LOST}.", quiet=True))
    if len(diagnosis.corpus.labels) > 1:
        parts.append(NamedTable("kinds", diagnose_report.kinds_table(diagnosis, MOST_ROWS)))
    table = diagnose_report.patterns_table(diagnosis.patterns, MOST_ROWS)
    parts.append(NamedTable("patterns", _named_first(table)))
    if diagnosis.merges:
        parts.append(NamedTable("merges", diagnose_report.merges_table(diagnosis, MOST_ROWS)))
    if diagnosis.loss:
        confidence = float(found.settings.confidence or 0.95)
        parts.append(NamedTable("loss", diagnose_report.loss_table(diagnosis, confidence)))
    return parts


def _about_loss(found: Overview) -> str:
    """Explain the numbers of what to fix first."""
    if found.gold is not None:
        return "Corrected score now → without these errors."
    return (
        "Corrected score now → if those who differ did as the others. This says who differs, not "
        "who is wrong."
    )


def _legend(found: Overview) -> list[tuple[str, str]]:
    """Say whose marks are highlighted how, in pieces as those of examples."""
    who = "who differs" if found.gold is None else "compared"
    theirs = "by others" if found.gold is None else f"in {found.gold}"
    return [
        ("In examples: ", ""),
        (f"marked by the one {who}", "own"),
        (" ", ""),
        (f"marked {theirs}", "theirs"),
        (" ", ""),
        ("marked by both", "own theirs"),
    ]


def _loss_bar(diagnosis: Diagnosis) -> Bar:
    """Return a bar of what was reached, and what was lost, by cause."""
    reached = max(diagnosis.corrected, 0.0)
    shares = {"reached": reached, **diagnosis.loss}
    stretches = [
        Stretch(name, share, f"{LOST.get(name, name)} {100 * share:.0f} %")
        for name, share in shares.items()
        if share > 0
    ]
    return Bar(
        "Of the way from chance to full agreement: " + ", ".join(s.text for s in stretches),
        stretches,
    )


def _finding(pattern: Pattern, found: Overview, links: Mapping[str, str]) -> Finding:
    """Describe a pattern with its examples, which lead to their places."""
    listed = () if found.disagreements is None else found.disagreements.corpus.annotators
    cases = [
        Case(x.document, diagnose_report.highlighted(x), place_of(x, links, listed))
        for x in pattern.examples
    ]
    gain = change(pattern.before, pattern.after)
    advice = f"{pattern.advice[0].upper()}{pattern.advice[1:]}."
    if pattern.n_places != pattern.count:
        # A span that covers two of another label differs from both.
        differ = counted(pattern.count, "disagreement")
        advice = f"{differ} in {counted(pattern.n_places, 'span')}. {advice}"
    return Finding(diagnose_report.what(pattern), gain, advice, cases)


def _named_first(table: Table) -> Table:
    """Drop the column of numbers, so that patterns are names."""
    return table._replace(headings=table.headings[1:], rows=[tuple(row)[1:] for row in table.rows])


def _replacement(found: Overview) -> Iterator[Section]:
    """Show whether models may replace people, and how much there is to reach."""
    first = found.replacement
    if first is None:
        return
    models = list(first.models.values())
    parts: list[Part] = []
    if len(models) > 1:
        parts.append(NamedTable("models", replace_report.models_table(models)))
        parts.append(NamedTable("model-differences", replace_report.differences_table(first)))
    for one in models:
        parts += [
            Prose(replace_report.verdict(one)),
            NamedTable(f"replace-{one.model}", replace_report.people_table(one)),
            NamedTable(f"ceilings-{one.model}", replace_report.ceiling_table(one)),
        ]
    parts += [Prose(note.text, quiet=True) for note in replace_report.cautions(models)]
    names = in_list([one.model for one in models])
    title = f"May {names} replace a person?"
    yield Section("replace", title, parts, short="Models")


def _systems(found: Overview, digits: int) -> Iterator[Section]:
    if not found.rankings:
        return
    measure, standings = next(iter(found.standings.items()))
    systems = found.systems[measure]
    parts: list[Part] = [
        NamedTable(f"systems-{measure}", _leaderboard(found, measure), is_leaderboard=True),
        scores.systems_chart(systems),
        Prose(rank.rank_changes(systems, is_tested=True, digits=digits)),
    ]
    if found.informed:
        parts.append(Prose(rank.skill_sentence(systems, None, digits)))
    details: list[Prose | NamedTable]
    details = [Prose(text) for text in sentences.verdict(standings, measure, digits)]
    for name, rows in found.systems.items():
        if name != measure:
            details.append(NamedTable(f"systems-{name}", _leaderboard(found, name)))
        table = rank.sure_table(found.standings[name], f"by {rows[0].by}")
        details.append(NamedTable(f"sureness-{name}", table))
    details += [NamedTable("differences", table) for table in rank.differences_tables(standings)]
    parts.append(Folded("How certain the ranks are, and by another measure", details))
    yield Section("systems", "Ranking", parts)


def _leaderboard(found: Overview, measure: str) -> Table:
    """List the systems by corrected score, with its interval and their changes of rank."""
    rows = found.systems[measure]
    return rank.ranking_table(rows, f"ranking by {rows[0].by}", found.standings[measure].settings)


def _labels(found: Overview) -> Iterator[Section]:
    parts: list[Part] = []
    if rows := breakdown.most_contested(found.breakdown.of("label")):
        who = " (all together)" if found.rankings else ""
        title = f"labels by {_by(found)}{who}, the lowest first"
        table = breakdown.scores_table("label", rows, found.settings, title=title, top=MOST_ROWS)
        parts += [scores.labels_chart(rows), NamedTable("labels", table)]
    if found.rankings:
        parts.append(NamedTable("labels-by-system", _labels_by_system(found)))
    yield Section("labels", "Labels", parts)


def _labels_by_system(found: Overview) -> Table:
    """List the corrected scores of every system, the lowest label of the best one first."""
    systems = found.leaderboard
    by_system = [row.agreement.by_label for row in systems]
    labels = sorted({label for by_label in by_system for label in by_label})
    rows: list[tuple[Any, ...]] = [
        (
            label,
            *(by_label[label].corrected if label in by_label else nan for by_label in by_system),
        )
        for label in labels
    ]
    rows.sort(key=lambda row: (isnan(row[1]), row[1]))
    headings = ("label", *(row.shown for row in systems))
    return Table(headings, rows, f"corrected scores of each, by {systems[0].by}")


def _by(found: Overview) -> str:
    """Return what scores are by, for titles."""
    return sentences.by_measure(found.breakdown.rows[0].measure, found.breakdown.positions)


def _people(found: Overview, links: Mapping[str, str]) -> Iterator[Section]:
    """Show a card for each annotator, agreement over time, and all annotators side by side."""
    if not found.results:
        return
    rows = [row for row in found.breakdown.of("annotator") if row.name != found.gold]
    made = people.cards(found, links)
    parts: list[Part] = [made] if made.listed else []
    if 0 < len(made.listed) < len(rows):
        n = f"{len(made.listed)} of {len(rows):,} annotators"
        parts.append(Prose(f"Cards of {n}, those with most documents; the table has all."))
    if made.rest:
        parts.append(Folded("To look at in the work of the rest", [Notes(made.rest)]))
    parts += _over_time(found)
    details: list[Part] = []
    if len(rows) > 2 and found.gold is None:
        pairs = found.breakdown.of("pair")
        values: Any = {row.name: row.score.corrected for row in pairs}
        parts.append(annotators.pairs_chart([row.shown for row in rows], values))
        title = f"pairs by {_by(found)}"
        table = breakdown.scores_table("pair", pairs, found.settings, title=title, top=MOST_ROWS)
        details.append(NamedTable("pairs", table))
        if not any(row.intervals for row in pairs):
            details.append(Prose("There are too many pairs to give each an interval."))
    parts.append(NamedTable("annotators", breakdown.habits_table(rows, MOST_ROWS, gold=found.gold)))
    if "token" in found.results:
        ratios = {row.shown: row.marking_ratio for row in rows}
        beside = "the others" if found.gold is None else found.gold
        details.append(annotators.habits_chart(ratios, beside=beside))
    if details:
        parts.append(Folded("How much each marks", details))
    title = "People" if found.gold is None else f"Each against {found.gold}"
    yield Section("people", title, parts, short="People" if found.gold is None else "Annotators")


def _over_time(found: Overview) -> Iterator[Part]:
    """Show the agreement of each annotator in each period, and who changed."""
    periods = None if found.diagnosis is None else found.diagnosis.periods
    if periods is None:
        return
    others = people.others_of(found)
    yield annotators.periods_chart(periods, periods.annotators, others=others)
    yield NamedTable("periods", diagnose_report.periods_table(periods, found.gold, MOST_ROWS))


def _documents(found: Overview, links: Mapping[str, str]) -> Iterator[Section]:
    if not found.results or not found.result.n_spans:
        return
    without = {row.shown: score for row, score in by_influence(found)}
    rows = {row.shown: row for row in found.breakdown.of("document")}
    order = [rows[name] for name in without]
    listed, remark = cut(order, MOST_CONTESTED)
    noun = found.breakdown.noun
    columns = (
        breakdown.NAMED,
        for_people("without", lambda row: without[row.shown]),
        *([for_people("places", lambda row: found.places[row.shown])] if found.places else []),
        breakdown.SPANS,
        *breakdown.SCORE_COLUMNS,
    )
    legend = f"without: the corrected score without the {noun}"
    legend += "; places: where annotators differ" if found.places else ""
    table = table_of(
        listed,
        columns,
        f"{noun}s, those that lower agreement most first",
        in_one(remark, f"({legend})"),
        name=noun,
    )
    yield Section(
        "by-document",
        f"{noun.capitalize()}s",
        [
            texts.documents_chart(order, links, noun),
            NamedTable("documents", table, [links.get(row.shown) for row in listed]),
        ],
    )


def _difficulty(found: Overview) -> Iterator[Section]:
    if found.difficulty is None or found.disagreements is None:
        return
    corpus = found.disagreements.corpus
    compared = {row.name for row in found.breakdown.of("document")}
    is_compared = np.fromiter((name in compared for name in corpus.documents), dtype=bool)
    values = found.difficulty.by_text[is_compared[corpus.text_document]]
    values = values[~np.isnan(values)]
    if not len(values):
        return
    hard = int(np.count_nonzero(values >= texts.SPLIT))
    settings = found.difficulty.settings
    counts = counted(len(values), settings.unit)
    by = sentences.by_measure(settings.measure, settings.positions)
    text = (
        f"Difficulty is {sentences.DIFFICULTY}: 1 minus the agreement of random annotations, here "
        f"by {by}. Of {counts} in which something was marked, "
        f"{hard:,} {'has' if hard == 1 else 'have'} a difficulty of {texts.SPLIT} or more, which "
        "the paper calls difficult."
    )
    yield Section(
        "difficulty",
        "Difficulty",
        [Prose(text), texts.difficulty_chart(values.tolist())],
        is_detail=True,
    )


def _texts(found: Overview, view: DocumentView | None) -> Iterator[Section]:
    if view is None or found.disagreements is None:
        return
    names = disagreements.kind_names(found.disagreements)
    yield Section(
        "reader",
        "Disagreements",
        [
            Prose(f"Shown: {view.sentence}."),
            view,
            Folded(
                "How annotators differ, pair by pair",
                [annotators.kinds_chart(found.disagreements.by_pair(), names)],
            ),
        ],
    )


def _coefficients(found: Overview) -> Iterator[Section]:
    if found.coefficients is None:
        return
    values = {name: item.value for name, item in found.coefficients.values.items()}
    parts: list[Part] = []
    if sum(not isnan(value) for value in values.values()) > 1:
        parts.append(scores.coefficients_chart(values, ours=OURS))
    parts.append(NamedTable("coefficients", coefficients_report.values_table(found.coefficients)))
    parts += coefficients_report.remarks(found.coefficients)
    definitions = coefficients_report.definitions_table(found.coefficients)
    parts.append(NamedTable("definitions", definitions._replace(title="what each of them is")))
    yield Section("coefficients", "Other coefficients", parts, is_detail=True)


def _placement(found: Overview) -> Iterator[Section]:
    if not found.placements:
        return
    yield Section(
        "placement",
        "Where random spans fall",
        [
            Prose(
                "Chance agreement is the mean over all possible placements of each annotator's "
                "spans. These are the probabilities that each position is covered, in a short, a "
                "medium and a long text of this corpus."
            ),
            texts.placement_chart(found.placements),
        ],
        is_detail=True,
    )
