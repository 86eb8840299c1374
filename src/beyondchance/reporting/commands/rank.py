"""The report of `rank`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, combinations
from math import inf
from operator import attrgetter
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any, NamedTuple

from beyondchance.annotations.corpus import Corpus
from beyondchance.messages import Note, Use
from beyondchance.numbers import in_digits, p_is
from beyondchance.reporting import breakdown, sentences
from beyondchance.reporting.blocks import (
    Below,
    Blocks,
    PaperTable,
    Report,
    Table,
    counted,
    in_list,
    methods,
    report_on,
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
    AnyKind,
    Column,
    Data,
    Group,
    alike,
    attributes,
    cell_of,
    command,
    data_of,
    flat_of,
    flat_rows,
    for_people,
    interval_heading,
    kind,
    many,
    maybe,
    named,
    report_of_rows,
    table_of,
)
from beyondchance.reporting.paper_tables import paper_table
from beyondchance.results.averages import AVERAGES
from beyondchance.results.ranking import Ranking
from beyondchance.results.resampling import SCORES
from beyondchance.results.score import Score
from beyondchance.scoring.options import BOTH
from beyondchance.settings import Settings

if TYPE_CHECKING:
    from beyondchance.inference.compare import Comparison
    from beyondchance.inference.standings import Standings
    from beyondchance.messages import Text
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

    @property
    def systems(self) -> list[SystemRow]:
        """The systems by these texts."""
        return system_rows(self.ranking, self.ranking.settings.measure, self.sureness)


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemRow(breakdown.Row):
    """A system in a ranking.

    Attributes
    ----------
    rank_observed, rank_corrected : int, optional
        None where the score is undefined.
    agreement : Agreement
        With the gold standard.
    sureness : Sureness, optional
        Of all systems, where they were tested.
    informed : Score, optional
        Against chance that sees the shapes of words, where that was asked for.
    rank_skill : int, optional
        By that score.
    """

    rank_observed: int | None
    rank_corrected: int | None
    agreement: Agreement
    sureness: Sureness | None = None
    informed: Score | None = None
    rank_skill: int | None = None

    @property
    def standings(self) -> Standings | None:
        """Which systems differ significantly, where they were tested."""
        return self.sureness.standings if self.sureness else None

    @property
    def by(self) -> str:
        """What the score is by, for people."""
        return sentences.by_measure(self.measure, self.agreement.settings.positions)

    @property
    def change(self) -> str:
        """How far correction moves the rank: up, down or not at all."""
        if self.rank_observed is None or self.rank_corrected is None:
            return ""
        risen = self.rank_observed - self.rank_corrected
        return f"{'▲' if risen > 0 else '▼'} {abs(risen)}" if risen else "="

    @property
    def means(self) -> dict[str, breakdown.Row]:
        """The means of the scores of labels and of documents."""
        intervals = self.sureness.means.get(self.joined) if self.sureness else None
        parts = breakdown.parts_of(self.measure, self.agreement, intervals=intervals)
        return {part.joined: part for part in parts}

    @property
    def labels(self) -> dict[str, breakdown.Row]:
        """The labels of the system."""
        known = self.sureness.labels.get(self.joined, {}) if self.sureness else {}
        return {x.joined: x for x in breakdown.labels_of(self.measure, self.agreement, known)}

    @property
    def tests(self) -> Data:
        """What tests say of the system."""
        return tests_of(self.standings, self.joined)

    @property
    def group(self) -> Group:
        """What JSON and CSV have of it."""
        return SYSTEM


class _Standing(NamedTuple):
    """A system in tests alone."""

    standings: Standings
    shown: str

    @property
    def intervals(self) -> breakdown.Scores:
        """Of its scores."""
        return self.standings.intervals[self.shown]

    @property
    def tests(self) -> Data:
        """What tests say of it."""
        return tests_of(self.standings, self.shown)


def tests_of(standings: Standings | None, name: str) -> Data:
    """Return what tests say of a system; nothing where there were none."""
    if standings is None:
        return {}
    groups, below = standings.groups_of(name), standings.next_below(name)
    letters = (ascii_lowercase[i] if i < len(ascii_lowercase) else f" {i + 1}" for i in groups)
    found: Data = {"groups": groups, "group": "".join(letters)}
    # Two systems make one comparison.
    adjusted = ", adjusted" if len(standings.order) > 2 else ""
    floor = f"{standings.settings.resamples:,} permutations can show{adjusted}"
    others = {"p_best": standings.order[0], "p_next": below, "p_against": standings.against}
    for key, other in others.items():
        if other is not None:
            p = getattr(standings, key)(name)
            found[key] = Below(p, floor) if standings.is_floored(name, other) else p
    if ahead := standings.pairs.get((name, below)):
        low, high = ahead.interval
        found |= {"ahead": ahead.difference, "ahead_low": low, "ahead_high": high}
    return found


def _tested(key: str, sort: AnyKind, about: str = "", **more: Any) -> Column:
    """Declare what tests say of a system."""
    return Column(key, sort, about, lambda row: row.tests.get(key), is_optional=True, **more)


def _p(key: str, heading: str, about: str) -> Column:
    """Declare a p-value of a system and another one, a bound where it may be smaller."""

    def value(row: Any) -> float | None:
        p = row.tests.get(key)
        return p.value if isinstance(p, Below) else p

    known = _tested(key, maybe(SHARE), about, heading=heading, outputs=DATA | TABLE)
    return known._replace(value=value, cell=known.value)


_RANK = maybe(kind(type="integer", minimum=1))
RANKS = (
    _RANK("rank_observed", outputs=DATA),
    _RANK("rank_corrected", heading="rank", outputs=DATA | TABLE),
    TEXT("change", outputs=TABLE),
    FIGURE(
        "chance_shapes",
        "chance agreement of annotators who see the shapes of words",
        lambda row: row.informed and row.informed.chance,
        "by shapes",
        is_optional=True,
        outputs=DATA | PEOPLE,
    ),
    FIGURE(
        "skill",
        "agreement beyond that chance",
        lambda row: row.informed and row.informed.corrected,
        is_optional=True,
        outputs=DATA | PEOPLE,
    ),
    _RANK("rank_skill", heading="by skill", is_optional=True, outputs=DATA | TABLE),
)
"""What is shown of a system next to its scores; a column added here is in every output."""
_AGAINST = _p(
    "p_against", "", "against the system of --against, by Holm's method for its tests only"
)
STANDING = (
    _p("p_best", "p vs best", "against the best system, by Holm's method"),
    _p("p_next", "p vs next", "against the next system below, by Holm's method"),
    _AGAINST,
    _tested("ahead", FIGURE, "corrected score minus that of the next system below", outputs=DATA),
    *(_tested(f"ahead_{end}", FIGURE, outputs=DATA) for end in ("low", "high")),
    _tested(
        "groups", many(COUNT), "groups of systems without significant differences", outputs=JSON
    ),
    _tested("group", TEXT, outputs=CSV | PEOPLE),
    _AGAINST.only(PAPER),
)
"""What tests say of a system."""


def _flat_means(row: SystemRow) -> Data:
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
        TEXT("name", outputs=JSON),
        *RANKS,
        *breakdown.FIGURES,
        breakdown.INTERVALS,
        *STANDING,
        breakdown.MACRO("macro", value=attrgetter("means"), flat=_flat_means),
        Column("labels", named(breakdown.SCORE), outputs=JSON),
    ],
)
_SYSTEMS = many(SYSTEM)
COMPARISON = Group(
    "comparison",
    [
        *alike(TEXT, "a", "b"),
        FIGURE("difference", "corrected score of a minus that of b"),
        breakdown.ENDS("interval"),
        TEXT(
            "interval_reason",
            "why there is no interval, only where there is none",
            lambda row: row["interval"].reason,
            is_optional=True,
        ),
        TEXT(
            "caution",
            "what to know before relying on the interval, if anything",
            lambda row: row["interval"].caution,
            is_optional=True,
        ),
        Column("p_value", maybe(SHARE)),
        Column("p_error"),
        Column("p_adjusted", maybe(SHARE), "by Holm's method, for all pairs together"),
        COUNT("n_documents"),
        TEXT("reason", "why there is no p-value, only where there is none", is_optional=True),
    ],
)
_OVERTAKING = Group("", [*alike(TEXT, "system", "overtaken"), YES_OR_NO("significant")])
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
        *alike(TEXT, "name", "condition"),
        COUNT("n_texts"),
        _SYSTEMS("systems"),
    ],
)
RANK = command(
    "rank",
    *FILES,
    TEXT("gold"),
    _SYSTEMS("systems"),
    Column("measures", named(_SYSTEMS)),
    *_TESTS,
    Column("subsets", many(_SUBSET), is_optional=True),
    METHODS,
    *TAIL,
)


def system_rows(
    ranking: Ranking,
    measure: str,
    sureness: Sureness | None = None,
    informed: Ranking | None = None,
) -> list[SystemRow]:
    """Return the systems of a ranking, the highest corrected score first, undefined ones last."""
    before, after = ranking.ranks("observed"), ranking.ranks("corrected")
    skill = informed.ranks("corrected") if informed else {}
    return [
        SystemRow(
            measure=measure,
            score=ranking.systems[name].score,
            level="system",
            name=name,
            support=sum((ranking.systems[name].support or {}).values()),
            intervals=sureness.standings.intervals[name] if sureness else {},
            rank_observed=before[name],
            rank_corrected=after[name],
            agreement=ranking.systems[name],
            sureness=sureness,
            informed=informed.systems[name].score if informed else None,
            rank_skill=skill.get(name),
        )
        for name in sorted(after, key=lambda name: after[name] or inf)
    ]


def rank_report(
    rankings: Mapping[str, Ranking],
    corpus: Corpus | None = None,
    *,
    by_label: bool = False,
    subsets: Sequence[Subset] = (),
    sureness: Mapping[str, Sureness] | None = None,
    informed: Mapping[str, Ranking] | None = None,
    skill: Standings | None = None,
    digits: int = 4,
) -> Report:
    """Build the report of `rank`; outputs show parts of it.

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
    informed : mapping of measure to Ranking, optional
        The same against chance that sees the shapes of words.
    skill : Standings, optional
        Tests of the first of the `informed`.
    digits : int
        For numbers within sentences.
    """
    measure, ranking = next(iter(rankings.items()))
    sure = sureness or {}
    standings = sure[measure].standings if sure else None
    settings = ranking.settings if standings is None else standings.settings
    by_shapes = informed or {}
    settings = settings.replaced(chance=BOTH if informed else settings.chance)
    by_measure = {
        name: system_rows(item, name, sure.get(name), by_shapes.get(name))
        for name, item in rankings.items()
    }

    def blocks() -> Blocks:
        yield verdict(ranking.gold, by_measure)
        yield compared(ranking, ranking.settings.positions)
        for systems in by_measure.values():
            yield from ranking_tables(systems, f"by {systems[0].by}", f"by {systems[0].by}")
        systems, is_tested = by_measure[measure], standings is not None
        changes = rank_changes(systems, is_tested=is_tested, digits=digits)
        across = sentences.across_corpora(settings.positions)
        yield sentences.joined((changes, sentences.REPORT, across))
        if by_shapes:
            yield skill_sentence(systems, skill, digits)
        yield means_table(systems, settings)
        if standings is not None:
            yield from differences_tables(standings)
            yield from sentences.verdict(standings, measure, digits)

    def asked() -> Blocks:
        listed = by_measure[measure] if by_label else []
        for system in listed:
            yield from labels_tables(system, settings)
        if subsets:
            yield from _subset_blocks(subsets, ranking)
        if standings is not None:
            yield explanation(standings, listed)

    def data() -> Data:
        return {
            "gold": ranking.gold,
            "systems": by_measure[measure],
            "measures": by_measure,
            **(_comparisons(standings) if standings is not None else {}),
            "subsets": subsets or None,
        }

    return report_on(
        ranking,
        corpus,
        group=RANK,
        signature=str(settings),
        notes=rank_notes(ranking, corpus, standings),
        make_blocks=blocks,
        make_asked=asked,
        make_data=data,
        make_rows=lambda: _flat_rows(by_measure, subsets, by_label=by_label),
        make_paper=lambda: _paper_table(ranking, by_measure, settings, standings),
        make_methods=lambda digits=3: methods(
            "methods_of_ranking",
            *rankings.values(),
            standings=[item.standings for item in sure.values()],
            digits=digits,
        ),
    )


def _flat_rows(
    by_measure: Mapping[str, Sequence[SystemRow]],
    subsets: Sequence[Subset],
    *,
    by_label: bool,
) -> Iterator[Data]:
    """Yield the systems for CSV, and their labels."""
    listed = {"all": [*chain.from_iterable(by_measure.values())]}
    listed |= {subset.name: subset.systems for subset in subsets}
    for subset, systems in listed.items():
        for system in systems:
            for label, row in {"": system, **(system.labels if by_label else {})}.items():
                names = {"subset": subset, "measure": row.measure, "system": system.name}
                yield {**names, "label": label, **flat_of(row, row.group.columns)}


def ranking_tables(systems: Sequence[SystemRow], title: str, which: str) -> Iterator[Table]:
    """Yield the table of a ranking, and how certain it is, where that is known."""
    yield ranking_table(systems, title)
    if standings := systems[0].standings:
        yield sure_table(standings, which)


def verdict(
    gold: str,
    by_measure: Mapping[str, Sequence[SystemRow]],
    named: Callable[[str, str], str] = sentences.explained_measure,
) -> str:
    """Say how far the agreement of the first system is by every measure."""
    first = [systems[0] for systems in by_measure.values()]
    is_alone = len(next(iter(by_measure.values()))) == 1
    scores = []
    for row in first:
        by = named(row.measure, row.agreement.settings.positions)
        scores.append((by if is_alone else f"{by} for {row.shown}", row.score))
    whose = f"Agreement of {first[0].shown}" if is_alone else "The highest agreement"
    return sentences.headline(f"{whose} with {gold}", scores)


def _subset_blocks(subsets: Sequence[Subset], ranking: Ranking) -> Blocks:
    """Yield the rankings on parts of the texts."""
    neither = ranking.extent.n_texts - sum(subset.n_texts for subset in subsets)
    by = sentences.by_measure("token", ranking.settings.positions)
    yield (
        f"By difficulty: {sentences.DIFFICULTY}, 1 minus the chance agreement of the "
        f"gold standard with itself, by {by}. {counted(neither, 'text')} in which the "
        "gold standard marks nothing: in neither subset."
    )
    for subset in subsets:
        title = f"{subset.name}: {counted(subset.n_texts, 'text')} of {subset.condition}"
        yield from ranking_tables(subset.systems, title, f"on {subset.name} texts")


def compared(ranking: Ranking, positions: str = "") -> str:
    """Say which systems were compared with which gold standard, on what."""
    who = f"{in_list(list(ranking.systems))} against the gold standard {ranking.gold}"
    return sentences.compared(who, ranking.extent, n_spans_of(ranking), positions)


def n_spans_of(ranking: Ranking) -> int:
    """Count the spans of the gold standard and of all systems."""
    spans = [system.by_annotator[name].n_spans for name, system in ranking.systems.items()]
    gold = max(system.by_annotator[ranking.gold].n_spans for system in ranking.systems.values())
    return sum(spans) + gold


def rank_notes(
    ranking: Ranking, corpus: Corpus | None, standings: Standings | None
) -> tuple[Note, ...]:
    """Return what to know besides the ranking."""
    notes = list(ranking.notes)
    if corpus is not None:
        counts = (system.counts for system in ranking.systems.values())
        notes = [*corpus.notes, *sentences.unshared_labels(ranking.settings, *counts)]
    sizes = {name: system.counts.n_compared for name, system in ranking.systems.items()}
    # Of all that the gold standard shares with any of them.
    n_documents, noun = ranking.extent.n_documents, ranking.extent.noun
    fewer = [f"{name} ({size:,})" for name, size in sizes.items() if size < n_documents]
    if fewer:
        text = f"not all have all {n_documents:,} {noun}s: {in_list(fewer)}"
        notes.append(Note(f"{text}; ranks compare different {noun}s"))
    return (*notes, *(sentences.weakest_caution(standings) if standings is not None else ()))


def explanation(standings: Standings, systems: Iterable[SystemRow] = ()) -> Text:
    """Say how the intervals were made, of all systems and of the labels of some."""
    shown = list(sentences.shown_of(standings))
    labels = (
        (f"{system.shown}, {name}", x) for system in systems for name, x in system.labels.items()
    )
    shown += [(name, label.intervals["corrected"]) for name, label in labels if label.intervals]
    return sentences.explained(shown[0][1], shown, standings.settings)


def ranking_table(
    systems: Sequence[SystemRow], title: str, settings: Settings | None = None
) -> Table:
    """Return a table of systems by corrected score, and how correction moves their ranks.

    With the settings of intervals, these stand after the corrected scores.
    """
    columns = (breakdown.NAMED, *breakdown.RATE_COLUMNS, *RANKS)
    return table_of(systems, columns, title, settings=settings)


def labels_tables(system: SystemRow, settings: Settings) -> list[Table]:
    """Return tables of the labels of a system, of all together and of their mean."""
    rows = [*system.labels.values(), replace(system, name="all (micro)"), system.means["label"]]
    return breakdown.rates_tables(rows, settings, f"labels of {system.shown}, by {system.by}")


def _paper_table(
    ranking: Ranking,
    by_measure: Mapping[str, Sequence[SystemRow]],
    settings: Settings,
    standings: Standings | None,
) -> PaperTable:
    """Return the table of a paper, with letters for systems that do not differ significantly."""
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
    """Build the report of a ranking by one measure."""
    return rank_report(ranking.measures)


def report_of_standings(standings: Standings) -> Report:
    """Build the report of intervals, groups and tests of systems."""
    measure, settings = standings.settings.measure, standings.settings
    rows = [_Standing(standings, name) for name in standings.order]
    columns = (TEXT("system", value=attrgetter("shown")), breakdown.INTERVALS, *STANDING)

    def blocks() -> Blocks:
        by = sentences.by_measure(measure, settings.positions)
        yield sure_table(standings, f"by {by}")
        yield from differences_tables(standings)
        yield explanation(standings)
        yield from sentences.verdict(standings, measure, 4)

    return report_of_rows(
        rows,
        columns,
        settings=settings,
        notes=tuple(sentences.weakest_caution(standings)),
        make_blocks=blocks,
        make_data=lambda: {
            "systems": flat_rows(rows, columns),
            **data_of(_comparisons(standings), _TESTS),
        },
    )


def report_of_comparison(found: Comparison) -> Report:
    """Build the report of a difference, its interval and its p-value."""
    return report_of_rows(
        [found],
        _DIFFERENCE,
        "" if found.reason is None else f"No p-value: {found.reason}.",
        sentences.explained(found.interval, [("the difference", found.interval)], found.settings),
        settings=found.settings,
        notes=tuple(sentences.cautions([found.interval])),
    )


_DIFFERENCE = (
    Column("difference", interval=attrgetter("interval")),
    *(Column(end, value=attrgetter(f"interval.{end}"), outputs=DATA) for end in ("low", "high")),
    Column("p_value", heading="p", cell=partial(breakdown.p_cell, draws="permutations")),
    Column("p_error", outputs=DATA),
    Column("n_documents", many(COUNT), outputs=DATA),
    YES_OR_NO("paired", outputs=DATA),
    TEXT("reason", outputs=DATA),
)


def sure_table(standings: Standings, which: str) -> Table:
    """Return a table of intervals, and of p-values against the best system and the next.

    `which` says which ranks they are, such as ``by token``.
    """
    rows = [_Standing(standings, name) for name in standings.order]
    own = f"p vs {standings.against}"
    remark = "" if standings.against is None else f"({own}: adjusted for these tests only)"
    ends = for_people(
        f"corrected, {interval_heading(standings.settings)}",
        lambda row: cell_of(row.intervals["corrected"]),
    )
    title = f"how certain the ranks {which} are"
    columns = (breakdown.NAMED, ends, *STANDING)
    return table_of(rows, columns, title, remark, p_against=own)


def means_table(systems: Sequence[SystemRow], settings: Settings) -> Table:
    """Return a table of corrected scores, and of means of labels and of documents."""
    rows = [{"name": row.shown, "overall": row.score.corrected, **row.means} for row in systems]
    nouns = {by: f"{systems[0].agreement.macro(by).noun}s" for by in AVERAGES}
    columns = [*alike(FIGURE, "name", "overall"), *(_mean(*item) for item in nouns.items())]
    title = f"by {systems[0].by}, corrected: overall, and means of {in_list([*nouns.values()])}"
    return table_of(rows, columns, title, settings=settings)


def _mean(by: str, noun: str) -> Column:
    """Declare a mean of scores."""
    return for_people(
        noun,
        lambda row: row[by].score.corrected,
        interval=lambda row: row[by].intervals.get("corrected"),
    )


def differences_tables(standings: Standings) -> list[Table]:
    """Return a table of how far each system is ahead of the next; none of a single system."""
    settings, rows = standings.settings, sentences.neighbours(standings)
    by = sentences.by_measure(settings.measure, settings.positions)
    title = f"by {by}, corrected: how far ahead of the next"
    return [table_of(rows, _AHEAD, title, settings=settings)] if rows else []


_AHEAD = (
    for_people("name", lambda row: row[0][0]),
    for_people("next", lambda row: row[0][1]),
    for_people("difference", lambda row: row[1].difference, interval=lambda row: row[1].interval),
)


def rank_changes(systems: Sequence[SystemRow], *, is_tested: bool = False, digits: int = 4) -> Text:
    """Say whose rank correction changes, and by how much it lowers scores."""
    ranked = [row for row in systems if row.change]
    if not ranked:
        return "None has a corrected score: whether correction changes ranks cannot be said."
    moved = [row.shown for row in ranked if row.change != "="]
    changes = f"the rank of {in_list(moved)}" if moved else "no rank"
    lowered = [row.score.observed - row.score.corrected for row in ranked]
    ends = dict.fromkeys(in_digits(end, digits) for end in (min(lowered), max(lowered)))
    by = f"By {systems[0].by}, correction for chance changes {changes}"
    said = f"{by}; it lowers the {'scores' if ranked[1:] else 'score'} by {' to '.join(ends)}."
    if undefined := [row.shown for row in systems if not row.change]:
        said += f" {in_list(undefined)} cannot be ranked: the corrected score is undefined."
    if is_tested or not ranked[1:]:
        return said
    others = f"other {systems[0].agreement.extent.noun}s"
    untested = f"Whether the order would be the same on {others} was not tested; "
    return f"{said} {untested}", Use("confidence", 0.95), " tests it."


def skill_sentence(systems: Sequence[SystemRow], skill: Standings | None, digits: int) -> str:
    """Say what skill is, and who overtakes whom by it, with p where that was tested."""
    moved = []
    for first, second in combinations(systems, 2):
        if (first.rank_skill or inf) > (second.rank_skill or inf):
            tested, pair = "", (second.joined, first.joined)
            if skill is not None and pair in skill.adjusted:
                p = skill.adjusted[pair]
                is_clear = p <= 1 - skill.settings.confidence
                tested = f" ({'' if is_clear else 'not '}significant, {p_is(p, digits)})"
            moved.append(f"{second.shown} is ahead of {first.shown}{tested}")
    order = f"{in_list(moved)}, other than by" if moved else "the order is the same as by"
    return f"{sentences.SKILL} By {systems[0].by} and skill, {order} the corrected score."


def _comparisons(standings: Standings) -> Data:
    """Return what was tested, for JSON."""
    first = standings.intervals[standings.order[0]]["corrected"]
    return {
        "uncertainty": breakdown.uncertainty(first, standings.settings),
        "comparisons": [
            {
                "a": one,
                "b": other,
                **attributes(item, "difference", "interval", "p_value", "p_error", "reason"),
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
