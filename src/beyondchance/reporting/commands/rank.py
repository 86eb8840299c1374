"""The report of `rank`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from math import inf
from operator import attrgetter
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any, NamedTuple

from beyondchance.annotations.corpus import Corpus
from beyondchance.messages import Note, Use
from beyondchance.numbers import in_digits
from beyondchance.reporting import breakdown, sentences
from beyondchance.reporting.blocks import (
    Block,
    Cell,
    PaperTable,
    Prose,
    Report,
    Table,
    counted,
    in_list,
)
from beyondchance.reporting.columns import (
    COUNT,
    CSV,
    DATA,
    FIGURE,
    FILES,
    JSON,
    METHODS,
    PAPER,
    PEOPLE,
    SHARE,
    TABLE,
    TAIL,
    TEXT,
    TEXTS,
    YES_OR_NO,
    Column,
    Group,
    cell_of,
    command,
    data_of,
    flat_of,
    for_people,
    kind,
    many,
    maybe,
    named,
    table_of,
)
from beyondchance.reporting.paper_tables import paper_table
from beyondchance.reporting.parts import MACRO, Part, parts_of
from beyondchance.results.averages import AVERAGES
from beyondchance.results.ranking import Ranking
from beyondchance.results.resampling import SCORES
from beyondchance.settings import Settings

if TYPE_CHECKING:
    from beyondchance.inference.compare import Comparison
    from beyondchance.inference.standings import Standings
    from beyondchance.messages import Text
    from beyondchance.reporting.paragraphs import Paragraph
    from beyondchance.results.agreement import Agreement


@dataclass(frozen=True, slots=True, kw_only=True)
class Sureness:
    """How certain a ranking is.

    Attributes
    ----------
    standings : Standings
        Which systems differ significantly.
    labels : mapping of system to mapping of label to intervals
        Of those systems whose labels were resampled too.
    means : mapping of system to mapping of "label" and "document" to intervals
        Of the means of their scores, where they were resampled too.
    """

    standings: Standings
    labels: Mapping[str, Mapping[str, breakdown.Scores]] = field(default_factory=dict)
    means: Mapping[str, Mapping[str, breakdown.Scores]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Subset:
    """The ranking by some of the texts."""

    name: str
    condition: str
    n_texts: int
    ranking: Ranking
    sureness: Sureness | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemRow(breakdown.Row):
    """A system in a ranking.

    Attributes
    ----------
    rank_observed, rank_corrected : int, optional
        None where the score is undefined.
    agreement : Agreement
        With the gold standard.
    label_intervals : mapping of label to intervals
    mean_intervals : mapping of "label" and "document" to intervals
        Of the means of their scores.
    standings : Standings, optional
        Of all systems, where they were tested.
    """

    rank_observed: int | None
    rank_corrected: int | None
    agreement: Agreement
    label_intervals: Mapping[str, breakdown.Scores] = field(default_factory=dict)
    mean_intervals: Mapping[str, breakdown.Scores] = field(default_factory=dict)
    standings: Standings | None = None

    @property
    def by(self) -> str:
        """What the score is by, for people."""
        return sentences.by_measure(self.measure, self.agreement.settings.positions)

    @property
    def change(self) -> str:
        """How far correction moves the rank: up, down or not at all."""
        before, after = self.rank_observed, self.rank_corrected
        if before is None or after is None:
            return ""
        if before == after:
            return "="
        return f"▲ {before - after}" if after < before else f"▼ {after - before}"

    @property
    def means(self) -> dict[str, Part]:
        """The means of the scores of labels and of documents."""
        parts = parts_of(self.measure, self.agreement, intervals=self.mean_intervals)
        return {part.joined: part for part in parts}

    @property
    def labels(self) -> list[breakdown.Row]:
        """The labels of the system."""
        support = self.agreement.support or {}
        return [
            breakdown.Row(
                measure=self.measure,
                score=score,
                level="label",
                name=label,
                intervals=self.label_intervals.get(label, {}),
                support=support.get(label),
            )
            for label, score in self.agreement.by_label.items()
        ]

    @property
    def group(self) -> Group:
        """What JSON and CSV have of it."""
        return SYSTEM

    def flat_rows(self, subset: str, *, by_label: bool) -> Iterator[dict[str, Any]]:
        """The system for CSV, and its labels."""
        names = {"subset": subset, "measure": self.measure, "system": self.name, "label": ""}
        yield {**names, **flat_of(self, SYSTEM.columns)}
        if by_label:
            for row in self.labels:
                yield {**names, "label": row.name, **flat_of(row, row.group.columns)}


def letters_of(standings: Standings, name: str) -> str:
    """A letter for each group of a system."""
    return "".join(
        ascii_lowercase[number] if number < 26 else f" {number + 1}"
        for number in standings.groups_of(name)
    )


class _Standing(NamedTuple):
    """A system in tests alone."""

    standings: Standings
    shown: str

    @property
    def intervals(self) -> breakdown.Scores:
        """Of its scores."""
        return self.standings.intervals[self.shown]


def _tested(make: Callable[[Standings, str], Any]) -> Callable[[SystemRow], Any]:
    """What tests say of a system; None where there were none."""
    return lambda row: None if row.standings is None else make(row.standings, row.shown)


def _ahead(name: str) -> Callable[[SystemRow], Any]:
    """What is known of the difference from the next system below, where there is one."""

    def value(standings: Standings, system: str) -> Any:
        found = standings.pairs.get((system, standings.next_below(system)))
        return None if found is None else attrgetter(name)(found)

    return _tested(value)


def _against(key: str, heading: str, about: str) -> Column:
    """Declare a p-value of a system and another one, a bound where it may be smaller."""

    def value(standings: Standings, name: str) -> float | None:
        is_asked = key != "p_against" or standings.against is not None
        return getattr(standings, key)(name) if is_asked else None

    def cell(standings: Standings, name: str) -> Cell:
        p = value(standings, name)
        best, below, own = standings.order[0], standings.next_below(name), standings.against
        other = {"p_best": best, "p_next": below}.get(key, str(own))
        return (
            None if p is None else breakdown.p_cell(p, is_floor=standings.is_floored(name, other))
        )

    p_value, shown = maybe(SHARE), DATA | TABLE
    values = _tested(value), heading, _tested(cell)
    return Column(key, p_value, about, *values, is_optional=True, outputs=shown)


_RANK = maybe(kind(type="integer", minimum=1))
RANKS = (
    Column("rank_observed", _RANK, outputs=DATA),
    Column("rank_corrected", _RANK, heading="rank", outputs=DATA | TABLE),
    Column("change", TEXT, outputs=TABLE),
)
"""What is shown of a system next to its scores; a column added here is in every output."""
_P_VALUES = (
    _against("p_best", "p vs best", "against the best system, by Holm's method"),
    _against("p_next", "p vs next", "against the next system below, by Holm's method"),
    _against(
        "p_against", "", "against the system of --against, by Holm's method for its tests only"
    ),
)
STANDING = (
    *_P_VALUES,
    Column(
        "ahead",
        FIGURE,
        "corrected score minus that of the next system below",
        _ahead("difference"),
        is_optional=True,
        outputs=DATA,
    ),
    *(
        Column(f"ahead_{end}", value=_ahead(f"interval.{end}"), is_optional=True, outputs=DATA)
        for end in ("low", "high")
    ),
    Column(
        "groups",
        many(COUNT),
        "groups of systems without significant differences",
        _tested(lambda standings, name: standings.groups_of(name)),
        is_optional=True,
        outputs=JSON,
    ),
    Column("group", TEXT, value=_tested(letters_of), is_optional=True, outputs=CSV | PEOPLE),
    _P_VALUES[-1].only(PAPER),
)
"""What tests say of a system."""


def _flat_means(row: SystemRow) -> dict[str, Any]:
    flat = {}
    for name, part in row.means.items():
        flat[f"macro_{name}"] = part.score.corrected
        flat |= {f"macro_{name}_{score}": getattr(part.score, score) for score in SCORES[:2]}
        if part.intervals:
            flat[f"macro_{name}_low"], flat[f"macro_{name}_high"] = part.intervals["corrected"]
    return flat


SYSTEM = Group(
    "system",
    [
        Column("name", TEXT, outputs=JSON),
        *RANKS,
        *breakdown.FIGURES,
        breakdown.INTERVALS,
        *STANDING,
        Column("macro", MACRO, value=attrgetter("means"), flat=_flat_means),
        Column(
            "labels",
            named(breakdown.SCORE),
            value=lambda row: {label.name: label for label in row.labels},
            outputs=JSON,
        ),
    ],
)
_SYSTEMS = many(SYSTEM)
COMPARISON = Group(
    "comparison",
    [
        Column("a", TEXT),
        Column("b", TEXT),
        Column("difference", FIGURE, "corrected score of a minus that of b"),
        Column("interval", breakdown.ENDS),
        Column(
            "interval_reason",
            TEXT,
            "why there is no interval, only where there is none",
            lambda row: row["interval"].reason,
            is_optional=True,
        ),
        Column(
            "caution",
            TEXT,
            "what to know before relying on the interval, if anything",
            lambda row: row["interval"].caution,
            is_optional=True,
        ),
        Column("p_value", maybe(SHARE)),
        Column("p_error"),
        Column("p_adjusted", maybe(SHARE), "by Holm's method, for all pairs together"),
        Column("n_documents", COUNT),
        Column(
            "reason", TEXT, "why there is no p-value, only where there is none", is_optional=True
        ),
    ],
)
_OVERTAKING = Group(
    "", [Column("system", TEXT), Column("overtaken", TEXT), Column("significant", YES_OR_NO)]
)
_TESTS = (
    breakdown.UNCERTAINTY,
    Column("comparisons", many(COMPARISON), is_optional=True),
    Column("groups", many(TEXTS), "systems without significant differences", is_optional=True),
    Column(
        "overtakings",
        many(_OVERTAKING),
        "pairs whose order changes when chance is taken out",
        is_optional=True,
    ),
)
_SUBSET = Group(
    "",
    [
        Column("name", TEXT),
        Column("condition", TEXT),
        Column("n_texts", COUNT),
        Column("systems", _SYSTEMS),
    ],
)
RANK = command(
    "rank",
    *FILES,
    Column("gold", TEXT),
    Column("systems", _SYSTEMS),
    Column("measures", named(_SYSTEMS)),
    *_TESTS,
    Column("subsets", many(_SUBSET), is_optional=True),
    METHODS,
    *TAIL,
)


def system_rows(
    ranking: Ranking, measure: str, sureness: Sureness | None = None
) -> list[SystemRow]:
    """The systems of a ranking by corrected score, the highest first; undefined ones last."""
    before, after = ranking.ranks("observed"), ranking.ranks("corrected")
    standings = None if sureness is None else sureness.standings

    def row(name: str) -> SystemRow:
        system = ranking.systems[name]
        tested: dict[str, Any] = {}
        if sureness is not None and standings is not None:
            tested = {
                "intervals": standings.intervals[name],
                "label_intervals": sureness.labels.get(name, {}),
                "mean_intervals": sureness.means.get(name, {}),
                "standings": standings,
            }
        return SystemRow(
            measure=measure,
            score=system.score,
            level="system",
            name=name,
            support=sum((system.support or {}).values()),
            rank_observed=before[name],
            rank_corrected=after[name],
            agreement=system,
            **tested,
        )

    return [row(name) for name in sorted(after, key=lambda name: after[name] or inf)]


def rank_report(
    rankings: Mapping[str, Ranking],
    corpus: Corpus | None = None,
    *,
    by_label: bool = False,
    subsets: Sequence[Subset] = (),
    sureness: Mapping[str, Sureness] | None = None,
    digits: int = 4,
) -> Report:
    """The report of `rank`, of which an output shows a part.

    Parameters
    ----------
    rankings : mapping of measure to Ranking
        The first is the one that is broken down.
    corpus : Corpus, optional
        What was compared; needed for `subsets`.
    by_label : bool
        Whether tables and CSV have the labels of each system.
    subsets : sequence of Subset
        Rankings by the first measure on parts of the texts.
    sureness : mapping of measure to Sureness, optional
        For every one of the `rankings`.
    digits : int
        For numbers within sentences.
    """
    measure, ranking = next(iter(rankings.items()))
    sure = sureness or {}
    standings = sure[measure].standings if sure else None
    settings = ranking.settings if standings is None else standings.settings
    by_measure = {name: system_rows(item, name, sure.get(name)) for name, item in rankings.items()}
    by_subset = [
        (subset, system_rows(subset.ranking, measure, subset.sureness)) for subset in subsets
    ]

    def blocks() -> list[Block]:
        made: list[Block] = [
            Prose(verdict(ranking.gold, by_measure)),
            Prose(compared(ranking, ranking.settings.positions)),
        ]
        for name, systems in by_measure.items():
            made.append(ranking_table(systems, f"by {systems[0].by}"))
            if name in sure:
                made.append(sure_table(sure[name].standings, f"by {systems[0].by}"))
        is_tested = standings is not None
        changes = rank_changes(by_measure[measure], is_tested=is_tested, digits=digits)
        across = sentences.across_corpora(settings.positions)
        made.append(Prose(sentences.joined((changes, sentences.REPORT, across))))
        made.append(means_table(by_measure[measure], settings))
        if standings is not None:
            made += [differences_table(standings, measure)] if len(standings.order) > 1 else []
            made += map(Prose, sentences.verdict(standings, measure, digits))
        return made

    def asked() -> list[Block]:
        listed = by_measure[measure] if by_label else []
        tables = (labels_tables(system, settings) for system in listed)
        made: list[Block] = [*chain.from_iterable(tables)]
        if subsets:
            made += _subset_blocks(by_subset, ranking)
        return made if standings is None else [*made, Prose(explanation(standings, listed))]

    def data() -> dict[str, Any]:
        parts = [
            {
                "name": subset.name,
                "condition": subset.condition,
                "n_texts": subset.n_texts,
                "systems": rows,
            }
            for subset, rows in by_subset
        ]
        return {
            "gold": ranking.gold,
            "systems": by_measure[measure],
            "measures": by_measure,
            **(_comparisons(standings) if standings is not None else {}),
            **({"subsets": parts} if parts else {}),
        }

    def methods() -> Paragraph:
        from beyondchance.reporting.methods import methods_of_ranking  # noqa: PLC0415 - rarely wanted

        return methods_of_ranking(ranking, standings, digits=digits)

    def rows() -> list[dict[str, Any]]:
        tables = [("all", rows) for rows in by_measure.values()]
        tables += [(subset.name, rows) for subset, rows in by_subset]
        return [
            row
            for name, systems in tables
            for system in systems
            for row in system.flat_rows(name, by_label=by_label)
        ]

    return Report(
        command="rank",
        group=RANK,
        corpus=corpus,
        signature=str(settings),
        skipped=dict(ranking.skipped),
        notes=rank_notes(ranking, corpus, standings),
        make_blocks=blocks,
        make_asked=asked,
        make_data=data,
        make_rows=rows,
        make_paper=lambda: _paper_table(ranking, by_measure, settings, standings),
        make_methods=methods,
        noun=ranking.extent.noun,
    )


def verdict(gold: str, by_measure: Mapping[str, Sequence[SystemRow]]) -> str:
    """How far the agreement of the first system is by every measure."""
    first = [systems[0] for systems in by_measure.values()]
    is_alone = len(next(iter(by_measure.values()))) == 1
    scores = []
    for row in first:
        by = sentences.explained_measure(row.measure, row.agreement.settings.positions)
        scores.append((by if is_alone else f"{by} for {row.shown}", row.score))
    whose = f"Agreement of {first[0].shown}" if is_alone else "The highest agreement"
    return sentences.headline(f"{whose} with {gold}", scores)


def _subset_blocks(
    by_subset: Sequence[tuple[Subset, Sequence[SystemRow]]], ranking: Ranking
) -> list[Block]:
    """The rankings on parts of the texts."""
    neither = ranking.extent.n_texts - sum(part.n_texts for part, _ in by_subset)
    by = sentences.by_measure("token", ranking.settings.positions)
    made: list[Block] = [
        Prose(
            f"By difficulty: {sentences.DIFFICULTY}, 1 minus the chance agreement of the "
            f"gold standard with itself, by {by}. {counted(neither, 'text')} in which the "
            "gold standard marks nothing: in neither subset."
        )
    ]
    for subset, systems in by_subset:
        title = f"{subset.name}: {counted(subset.n_texts, 'text')} of {subset.condition}"
        made.append(ranking_table(systems, title))
        if subset.sureness is not None:
            made.append(sure_table(subset.sureness.standings, f"on {subset.name} texts"))
    return made


def compared(ranking: Ranking, positions: str = "") -> str:
    """Which systems were compared with which gold standard, on what."""
    who = f"{in_list(list(ranking.systems))} against the gold standard {ranking.gold}"
    return sentences.compared(who, ranking.extent, n_spans_of(ranking), positions)


def n_spans_of(ranking: Ranking) -> int:
    """How many spans the gold standard and all systems have."""
    spans = [system.by_annotator[name].n_spans for name, system in ranking.systems.items()]
    gold = max(system.by_annotator[ranking.gold].n_spans for system in ranking.systems.values())
    return sum(spans) + gold


def rank_notes(
    ranking: Ranking, corpus: Corpus | None, standings: Standings | None
) -> tuple[Note, ...]:
    """What to know besides the ranking."""
    notes = list(ranking.notes)
    if corpus is not None:
        unshared = corpus.documents and sentences.unshared_labels(corpus, corpus.annotators)
        notes = [*corpus.notes, *unshared]
    sizes = {name: system.counts.n_compared for name, system in ranking.systems.items()}
    # Of all that the gold standard shares with any of them.
    n_documents, noun = ranking.extent.n_documents, ranking.extent.noun
    fewer = [f"{name} ({size:,})" for name, size in sizes.items() if size < n_documents]
    if fewer:
        text = f"not all have all {n_documents:,} {noun}s: {in_list(fewer)}"
        notes.append(Note(f"{text}; ranks compare different {noun}s"))
    return (*notes, *(sentences.weakest_caution(standings) if standings is not None else ()))


def explanation(standings: Standings, systems: Iterable[SystemRow] = ()) -> Text:
    """How the intervals were made, of all systems and of the labels of some."""
    shown = list(sentences.shown_of(standings))
    labels = ((f"{system.shown}, {x.shown}", x) for system in systems for x in system.labels)
    shown += [(name, label.intervals["corrected"]) for name, label in labels if label.intervals]
    return sentences.explained(shown[0][1], shown, standings.settings)


def ranking_table(
    systems: Sequence[SystemRow], title: str, settings: Settings | None = None
) -> Table:
    """The systems by corrected score, and how correction moves their ranks.

    With the settings of intervals, these stand after the corrected scores.
    """
    columns = (breakdown.NAMED, *breakdown.RATE_COLUMNS, *RANKS)
    return breakdown.scored(systems, columns, title, settings=settings)


def labels_tables(system: SystemRow, settings: Settings) -> list[Table]:
    """The labels of a system, then all of them, then their mean; and the intervals, if any."""
    rows = [*system.labels, replace(system, name="all (micro)"), system.means["label"]]
    return breakdown.rates_tables(rows, settings, f"labels of {system.shown}, by {system.by}")


def _paper_table(
    ranking: Ranking,
    by_measure: Mapping[str, Sequence[SystemRow]],
    settings: Settings,
    standings: Standings | None,
) -> PaperTable:
    """The systems by each measure, with letters for those that do not differ significantly."""
    said, headings = compared(ranking), {"name": "name", "group": ""}
    tested = standings is not None and len(standings.order) > 1
    if standings is not None and tested:
        level = f"{1 - settings.confidence:.10g}"
        said += (
            " Rows that share a letter do not differ significantly (permutation test within "
            f"{ranking.extent.noun}s, Holm's adjustment, p > {level})."
        )
        if standings.against is not None:
            headings["p_against"] = f"p vs {standings.against}"
            said += f" {headings['p_against']}: adjusted for these tests only."
    sections = {f"by {rows[0].by}": rows for rows in by_measure.values()}
    return paper_table(
        sections,
        *RANKS,
        *(STANDING if tested else ()),
        settings=settings,
        said=said,
        label="tab:ranking",
        gold=ranking.gold,
        headings=headings,
    )


# --- Results in Python --------------------------------------------------------


def report_of_ranking(ranking: Ranking) -> Report:
    """The report of a ranking by one measure."""
    return rank_report(ranking.measures)


def report_of_standings(standings: Standings) -> Report:
    """Intervals, groups and tests of systems."""
    measure, settings = standings.settings.measure, standings.settings
    rows = [_Standing(standings, name) for name in standings.order]
    columns = (Column("system", TEXT, value=attrgetter("shown")), breakdown.INTERVALS, *STANDING)

    def blocks() -> list[Block]:
        by = sentences.by_measure(measure, settings.positions)
        made: list[Block] = [sure_table(standings, f"by {by}")]
        made += [differences_table(standings, measure)] if len(standings.order) > 1 else []
        said = (explanation(standings), *sentences.verdict(standings, measure, 4))
        return [*made, *map(Prose, said)]

    return Report(
        command="standings",
        signature=str(settings),
        notes=tuple(sentences.weakest_caution(standings)),
        make_blocks=blocks,
        make_data=lambda: {
            "systems": [flat_of(row, columns) for row in rows],
            **data_of(_comparisons(standings), _TESTS),
        },
        make_rows=lambda: [flat_of(row, columns) for row in rows],
    )


def report_of_comparison(found: Comparison) -> Report:
    """A difference, its interval and its p-value."""
    row = flat_of(found, _DIFFERENCE)
    remark = _floor_remark(_DIFFERENCE[3].cells([found]), found.settings)
    level = breakdown.interval_heading(found.settings)

    def blocks() -> list[Block]:
        why = [Prose(f"No p-value: {found.reason}.")] if found.reason is not None else []
        shown = [("the difference", found.interval)]
        how = sentences.explained(found.interval, shown, found.settings)
        return [table_of([found], _DIFFERENCE, remark=remark, level=level), *why, Prose(how)]

    return Report(
        command="compare",
        signature=str(found.settings),
        notes=tuple(sentences.cautions([found.interval])),
        make_blocks=blocks,
        make_data=lambda: row,
        make_rows=lambda: [row],
    )


_DIFFERENCE = (
    Column("difference", interval=attrgetter("interval")),
    Column("low", value=attrgetter("interval.low"), outputs=DATA),
    Column("high", value=attrgetter("interval.high"), outputs=DATA),
    Column(
        "p_value",
        heading="p",
        cell=lambda found: breakdown.p_cell(found.p_value, is_floor=found.p_is_floor),
    ),
    Column("p_error", outputs=DATA),
    Column("n_documents", many(COUNT), value=lambda found: [*found.n_documents], outputs=DATA),
    Column("paired", YES_OR_NO, outputs=DATA),
    Column("reason", TEXT, outputs=DATA),
)


def sure_table(standings: Standings, which: str) -> Table:
    """Intervals, and p-values of the differences from the best system and from the next.

    `which` says which ranks they are, such as ``by token``.
    """
    rows = [_Standing(standings, name) for name in standings.order]
    p_values = chain.from_iterable(column.cells(rows) for column in _P_VALUES)
    remark = _floor_remark(p_values, standings.settings, len(rows))
    own = f"p vs {standings.against}"
    remark += f" ({own}: adjusted for these tests only)" if standings.against is not None else ""
    ends = for_people(
        f"corrected, {breakdown.interval_heading(standings.settings)}",
        lambda row: cell_of(row.intervals["corrected"]),
    )
    title = f"how certain the ranks {which} are"
    columns = (breakdown.NAMED, ends, *STANDING)
    return table_of(rows, columns, title, remark.strip(), p_against=own)


def _floor_remark(p_values: Iterable[Cell], settings: Settings, n_systems: int = 2) -> str:
    """What the sign in front of some p-values means; nothing if none has one."""
    is_adjusted = n_systems > 2  # Two systems make one comparison.
    return breakdown.floor_remark(p_values, settings, "permutations", is_adjusted=is_adjusted)


def means_table(systems: Sequence[SystemRow], settings: Settings) -> Table:
    """The corrected score of each system, and the means of its labels and documents."""
    means = [row.means for row in systems]
    headings = ["name", "overall"]
    cells: list[list[Cell]] = [[row.shown, row.score.corrected] for row in systems]
    nouns = {by: f"{systems[0].agreement.macro(by).noun}s" for by in AVERAGES}
    for by, noun in nouns.items():
        headings.append(noun)
        headings += [breakdown.interval_heading(settings)] if means[0][by].intervals else []
        for row, parts in zip(cells, means, strict=True):
            row.append(parts[by].score.corrected)
            if parts[by].intervals:
                row.append(cell_of(parts[by].intervals["corrected"]))
    title = f"by {systems[0].by}, corrected: overall, and means of {in_list([*nouns.values()])}"
    return Table(headings, cells, title)


def differences_table(standings: Standings, measure: str) -> Table:
    """How far each system is ahead of the next."""
    rows: list[tuple[Cell, ...]] = [
        (one, other, item.difference, cell_of(item.interval))
        for (one, other), item in sentences.neighbours(standings)
    ]
    headings = ("name", "next", "difference", breakdown.interval_heading(standings.settings))
    by = sentences.by_measure(measure, standings.settings.positions)
    return Table(headings, rows, f"by {by}, corrected: how far ahead of the next")


def rank_changes(systems: Sequence[SystemRow], *, is_tested: bool = False, digits: int = 4) -> Text:
    """Whose rank correction changes, by how much it lowers scores, and whether that is untested."""
    ranked = [row for row in systems if row.change]
    if not ranked:
        return "None has a corrected score: whether correction changes ranks cannot be said."
    moved = [row.shown for row in ranked if row.change != "="]
    changes = f"the rank of {in_list(moved)}" if moved else "no rank"
    lowered = [row.score.observed - row.score.corrected for row in ranked]
    ends = dict.fromkeys(in_digits(end, digits) for end in (min(lowered), max(lowered)))
    scores = "scores" if len(ranked) > 1 else "score"
    by = f"By {systems[0].by}, correction for chance changes {changes}"
    said = [f"{by}; it lowers the {scores} by {' to '.join(ends)}."]
    if undefined := [row.shown for row in systems if not row.change]:
        said.append(f"{in_list(undefined)} cannot be ranked: the corrected score is undefined.")
    if len(ranked) == 1 or is_tested:
        return " ".join(said)
    noun = systems[0].agreement.extent.noun
    untested = f"Whether the order would be the same on other {noun}s was not tested; "
    return " ".join([*said, untested]), Use("confidence", 0.95), " tests it."


def _comparisons(standings: Standings) -> dict[str, Any]:
    """What was tested, for JSON."""
    first = standings.intervals[standings.order[0]]["corrected"]
    names = ("difference", "interval", "p_value", "p_error", "reason")
    return {
        "uncertainty": breakdown.uncertainty(first, standings.settings),
        "comparisons": [
            {
                "a": one,
                "b": other,
                **{name: getattr(item, name) for name in names},
                "p_adjusted": standings.adjusted[one, other],
                "n_documents": item.n_documents[0],
            }
            for (one, other), item in standings.pairs.items()
        ],
        "groups": standings.groups,
        "overtakings": [
            {"system": one, "overtaken": other, "significant": significant}
            for (one, other), significant in standings.overtakings.items()
        ],
    }
