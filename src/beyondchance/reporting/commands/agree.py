"""The report of `agree`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan, nan
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from beyondchance.annotations.corpus import Corpus
from beyondchance.numbers import in_digits
from beyondchance.reporting import sentences as words
from beyondchance.reporting.blocks import (
    CUT,
    SCORES,
    Amount,
    Block,
    Cell,
    Prose,
    Report,
    Table,
    flat_score,
    in_list,
    inputs,
    score_cells,
    with_reasons,
)
from beyondchance.reporting.intervals import (
    Scores,
    cautions,
    explained,
    flat_intervals,
    json_intervals,
    json_uncertainty,
    with_intervals,
)
from beyondchance.results.agreement import Agreement
from beyondchance.results.difficulty import Difficulty
from beyondchance.results.score import Score
from beyondchance.settings import Settings

if TYPE_CHECKING:
    from beyondchance.inference.null import NullDistribution
    from beyondchance.other_coefficients.coefficients import Coefficients
    from beyondchance.results.intervals import Intervals


Name: TypeAlias = str | tuple[str, str]
"""Of a label, an annotator, a group of documents; or of a pair of annotators, whose names
together would be no name: 'a and b' may be one annotator."""

AnyName = TypeVar("AnyName", bound=Name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """The score under another measure, unit and scope."""

    measure: str
    unit: str
    scope: str
    score: Score


@dataclass(frozen=True, slots=True, kw_only=True)
class Habits:
    """How an annotator marks, beside the others.

    Attributes
    ----------
    score : Score
        Against all others; its side a is the annotator.
    mean_length : float
        Positions in a span.
    marking_ratio : float
        How much the annotator marked, for each position that the others marked in the same
        texts.
    over_marking, under_marking : float
        The share of the own marks that the others do not have, and of the others' marks
        that the annotator does not have.
    without : Score, optional
        The score of the team without the annotator, where two are left.
    """

    score: Score
    mean_length: float
    marking_ratio: float
    over_marking: float
    under_marking: float
    without: Score | None


def habits_of(result: Agreement, by_position: Agreement) -> dict[str, Habits]:
    """The habits of every annotator.

    Parameters
    ----------
    result : Agreement
    by_position : Agreement
        The same by the token measure, whose sizes are numbers of positions.
    """
    scores, positions = result.by_annotator, by_position.by_annotator
    sizes = by_position.counts.size_by_annotator()
    alone = len(scores) <= 2
    return {
        name: Habits(
            score=score,
            mean_length=sizes[name] / score.n_spans if score.n_spans else nan,
            marking_ratio=_ratio(positions[name]),
            over_marking=1 - score.matched / score.size_a if score.size_a else nan,
            under_marking=1 - score.matched / score.size_b if score.size_b else nan,
            without=None if alone else result.counts.without(name).score(),
        )
        for name, score in scores.items()
    }


def _ratio(score: Score) -> float:
    return score.size_a / score.size_b if score.size_b else nan


def agree_report(
    results: Mapping[str, Agreement],
    corpus: Corpus,
    *,
    by: Sequence[str] = (),
    difficulty: Difficulty | None = None,
    variants: Sequence[Variant] = (),
    others: Coefficients | None = None,
    intervals: Mapping[str, Intervals] | None = None,
    null: NullDistribution | None = None,
    top: int = 20,
    digits: int = 4,
) -> Report:
    """What `agree` has to say.

    Parameters
    ----------
    results : mapping of measure to Agreement
        The first is the one that is broken down; ``token`` must be among them.
    corpus : Corpus
        What was compared.
    by : sequence of str
        ``document``, or fields of the documents.
    difficulty : Difficulty, optional
        Of the documents, for ``document``.
    variants : sequence of Variant
        The score under other choices.
    others : Coefficients, optional
        Other coefficients on the same annotations.
    intervals : mapping of measure to Intervals, optional
        For every one of the `results`.
    null : NullDistribution, optional
        Of the first of the `results`.
    top : int
        Rows of long tables for people; 0 shows all.
    digits : int
        For numbers within sentences.
    """
    measure, result = next(iter(results.items()))
    annotators = result.counts.annotators
    who = in_list(annotators)
    habits = habits_of(result, results["token"])
    known = known_intervals(intervals or {}, measure)
    settings = known.settings or (null.settings if null is not None else result.settings)
    notes = (
        *corpus.notes,
        *words.lonely_labels(corpus, annotators),
        *_gold_note(corpus, result),
        *cautions(found for name, found in known.of("all", measure).items() if name == "corrected"),
    )
    blocks: list[Block] = [
        Prose(words.compared(corpus, who, result.counts.documents, result.n_spans)),
        overall_table(results, known),
        Prose(
            " ".join(
                filter(
                    None,
                    (words.meaning(result.score, who, digits), words.effect(result.score, digits)),
                )
            )
        ),
        *([Prose(luck(null, digits))] if null is not None else []),
        scores_table(
            "label",
            list(result.by_label.items()),
            known.kind("label"),
            title=f"labels, by {measure}",
        ),
    ]
    if len(annotators) > 2:
        pairs, own = list(result.by_pair.items()), known.kind("pair")
        blocks.append(scores_table("pair", pairs, own, title="pairs of annotators", top=top))
    blocks.append(habits_table(habits, top))
    if known.kind("annotator").at and len(annotators) > 2:
        blocks.append(_sure_table(habits, known.kind("annotator"), top))
    for name in by:
        if name == "document":
            blocks += _documents(result, difficulty, null, top)
        else:
            groups, own = list(result.by_field(name).items()), known.kind(f"field {name}")
            blocks.append(scores_table(name, groups, own, title=f"documents by {name}", top=top))
    if variants:
        blocks.append(_variants_table(variants))
    data = {
        "signature": str(settings),
        "inputs": inputs(corpus),
        **_data(results, habits, known, by=by, difficulty=difficulty, variants=variants, null=null),
        "skipped": dict(result.skipped),
        "notes": list(notes),
    }
    rows = _rows(results, habits, known, by=by, difficulty=difficulty, variants=variants, null=null)
    if others is not None:
        from beyondchance.reporting.commands import coefficients as coefficients_report  # noqa: PLC0415 - rarely wanted

        settings = settings.replaced(gamma=others.settings.gamma)
        blocks += coefficients_report.blocks_of(others)
        rows += coefficients_report.rows_of(others)
        plain = others.to_dict()
        data |= {name: plain[name] for name in ("coefficients", "differences")}
        data["signature"] = str(settings)
    texts = (known.explanation(measure), words.skipped(result.skipped.items()))
    blocks += [Prose(text) for text in texts if text]
    blocks.append(Prose(str(settings), quiet=True))
    longest = max(len(habits), len(result.by_pair), *(_n_groups(result, name) for name in by), 0)
    if 0 < top < longest:
        notes = (*notes, CUT)
        data["notes"] = list(notes)
    return Report(
        command="agree",
        blocks=tuple(blocks),
        data=data,
        rows=rows,
        notes=notes,
    )


def _n_groups(result: Agreement, name: str) -> int:
    return len(result.counts.documents if name == "document" else set(result.counts.fields[name]))


@dataclass(frozen=True, slots=True)
class KnownIntervals:
    """Intervals of everything that is shown, by the kind and the name of what it is.

    Attributes
    ----------
    settings : Settings, optional
        None where no intervals were asked for.
    at : mapping of (kind, name) to Scores
    """

    settings: Settings | None
    at: Mapping[tuple[str, Name], Scores]

    def of(self, kind: str, name: Name) -> Scores:
        """The intervals of a score; none where there are none."""
        return self.at.get((kind, name), {})

    def kind(self, kind: str) -> IntervalsByName:
        """The intervals of one kind of scores."""
        at = {name: found for (known, name), found in self.at.items() if known == kind}
        return IntervalsByName(self.settings, at)

    def explanation(self, measure: str) -> str:
        """How they were made; nothing if they were not."""
        if self.settings is None:
            return ""
        first = self.of("all", measure)["corrected"]
        # Two annotators are one pair, and need no tables beside the first.
        is_team = len(self.kind("annotator").at) > 2
        hidden = {"without"} if is_team else {"without", "pair", "annotator"}
        shown = [
            (_shown(name), found["corrected"])
            for (kind, name), found in self.at.items()
            if kind not in hidden
        ]
        return explained(first, shown, self.settings)


@dataclass(frozen=True, slots=True)
class IntervalsByName:
    """Intervals by name."""

    settings: Settings | None
    at: Mapping[Name, Scores]

    def beside(self, table: Table, names: Sequence[Name]) -> Table:
        """The table with a column of intervals, if there are any."""
        if not self.at:
            return table
        return with_intervals(table, [self.at.get(name, {}) for name in names], self.settings)


def known_intervals(intervals: Mapping[str, Intervals], measure: str) -> KnownIntervals:
    """The intervals of all measures, and of everything else by the first one."""
    if not intervals:
        return KnownIntervals(None, {})
    found = intervals[measure]
    at: dict[tuple[str, Name], Scores] = {
        ("all", name): item.overall for name, item in intervals.items()
    }
    at |= {("label", name): item for name, item in found.by_label.items()}
    at |= {("pair", pair): item for pair, item in found.by_pair.items()}
    at |= {("annotator", name): item for name, item in found.by_annotator.items()}
    at |= {("without", name): item for name, item in found.without.items()}
    at |= {
        (f"field {field}", name): item
        for field, values in found.by_field.items()
        for name, item in values.items()
    }
    return KnownIntervals(found.settings, at)


def luck(null: NullDistribution, digits: int) -> str:
    """What random annotations would give, and how the observed agreement compares."""
    if null.reason is not None:
        return f"Random annotations have no agreement here: {null.reason}."
    low, high = (in_digits(null.quantiles[share], digits) for share in (0.025, 0.975))
    draws = f"{len(null.samples):,}"
    mean_is = "exact" if null.settings.samples is None else "estimated"
    return (
        f"Of {draws} random annotations with spans of the same lengths, 95 % agree between {low} "
        f"and {high} (mean {in_digits(null.mean, digits)} {mean_is}, standard deviation "
        f"{in_digits(null.sd, digits)} {null.sd_is}). To agree as much as was observed, "
        f"{in_digits(null.observed, digits)}, or more has p = {in_digits(null.p_value, digits)} "
        f"(± {in_digits(null.p_error, digits)} from sampling). A small p says that this is more "
        "than luck, not that it is much."
    )


def _gold_note(corpus: Corpus, result: Agreement) -> list[str]:
    if corpus.gold is None or corpus.gold in result.counts.annotators:
        return []
    left_out = f"the gold standard {corpus.gold} is not one more annotator and was left out"
    return [f"{left_out}; 'beyondchance rank' compares everybody with it"]


def overall_table(results: Mapping[str, Agreement], known: KnownIntervals) -> Table:
    """The score by each measure."""
    rows = [
        (measure, *score_cells(result.score), words.MATCHES.get(measure, ""))
        for measure, result in results.items()
    ]
    table = Table(("measure", *SCORES, "counts"), rows, "agreement")
    table = with_reasons(table, [result.score for result in results.values()])
    return known.kind("all").beside(table, list(results))


def _shown(name: Name) -> str:
    """A name for people."""
    return name if isinstance(name, str) else " and ".join(name)


def scores_table(
    heading: str,
    scores: Sequence[tuple[Name, Score]],
    intervals: IntervalsByName,
    *,
    title: str = "",
    top: int = 0,
) -> Table:
    """A row for each name; where there are too many, those of the lowest scores."""
    shown, remark = _cut(scores, top)
    rows = [(_shown(name), score.n_spans, *score_cells(score)) for name, score in shown]
    table = Table((heading, "spans", *SCORES), rows, title, remark)
    table = with_reasons(table, [score for _, score in shown])
    return intervals.beside(table, [name for name, _ in shown])


def _cut(
    scores: Sequence[tuple[AnyName, Score]], top: int
) -> tuple[Sequence[tuple[AnyName, Score]], str]:
    """All, or the lowest and a remark on how many there are."""
    if not top or len(scores) <= top:
        return scores, ""
    return most_contested(scores)[:top], f"The {top:,} lowest of {len(scores):,}."


def most_contested(scores: Sequence[tuple[AnyName, Score]]) -> list[tuple[AnyName, Score]]:
    """By corrected score, the lowest first; undefined ones last; many spans first."""

    def key(item: tuple[AnyName, Score]) -> tuple[bool, float, int]:
        corrected = item[1].corrected
        return isnan(corrected), 0.0 if isnan(corrected) else corrected, -item[1].n_spans

    return sorted(scores, key=key)


def habits_table(habits: Mapping[str, Habits], top: int, *, against_gold: bool = False) -> Table:
    """How each annotator marks, beside the others or beside a gold standard."""
    shown, remark = _cut([(name, item.score) for name, item in habits.items()], top)
    team = len(habits) > 2 and not against_gold
    rows: list[tuple[Cell, ...]] = []
    for name, score in shown:
        item = habits[name]
        length = item.mean_length
        row: tuple[Cell, ...] = (
            name,
            score.n_spans,
            None if isnan(length) else Amount(length, f"{length:.1f}"),
            _more_or_less(item.marking_ratio),
            *score_cells(score),
        )
        without = item.without.corrected if item.without is not None else nan
        rows.append((*row, without) if team else row)
    others = "the gold standard" if against_gold else "the others"
    legend = f"length: mean of its spans; marks: more or less than {others} in the same texts"
    legend += "; without: corrected, of the team without it" if team else ""
    headings = ("annotator", "spans", "length", "marks", *SCORES)
    return Table(
        (*headings, "without") if team else headings,
        rows,
        f"annotators, each against {others}" if team or against_gold else "annotators",
        " ".join(filter(None, (remark, f"({legend})"))),
    )


def _sure_table(habits: Mapping[str, Habits], intervals: IntervalsByName, top: int) -> Table:
    """The intervals of the annotators, for which their own table has no room."""
    shown, remark = _cut([(name, item.score) for name, item in habits.items()], top)
    rows = [(name, score.corrected) for name, score in shown]
    table = Table(("annotator", "corrected"), rows, "intervals of the annotators", remark)
    return intervals.beside(table, [name for name, _ in shown])


def _more_or_less(ratio: float) -> Amount | None:
    """A change in percent.

    >>> [_more_or_less(ratio).text for ratio in (1.5, 0.999, 1)]
    ['+50 %', '-0 %', '0 %']
    """
    if isnan(ratio):
        return None
    text = "0 %" if ratio == 1 else f"{ratio - 1:+.0%}".replace("%", " %")
    return Amount(ratio - 1, text)


def _documents(
    result: Agreement, difficulty: Difficulty | None, null: NullDistribution | None, top: int
) -> list[Block]:
    """The most contested documents, and the hardest; with p-values, where there are some."""
    scores = [(name, score) for name, score in result.by_document.items() if score.n_spans]
    hardness = difficulty.by_document if difficulty is not None else {}
    contested = most_contested(scores)
    hardest = sorted(contested, key=lambda item: -_or_nothing(hardness.get(item[0], nan)))
    blocks: list[Block] = []
    for title, ordered in (
        ("the most contested documents first", contested),
        ("the hardest documents first", hardest),
    ):
        shown = ordered[:top] if top else ordered
        headings = ["document", "spans", *SCORES, "difficulty"]
        rows: list[tuple[Cell, ...]] = [
            (name, score.n_spans, *score_cells(score), hardness.get(name, nan))
            for name, score in shown
        ]
        if null is not None:
            headings.append("p, luck")
            rows = [
                (*row, null.by_document[name].p_value)
                for row, (name, _) in zip(rows, shown, strict=True)
            ]
        cut = f"{len(shown):,} of {len(ordered):,}." if len(shown) < len(ordered) else ""
        table = Table(headings, rows, title, cut)
        blocks.append(with_reasons(table, [score for _, score in shown]))
    return blocks


def _or_nothing(value: float) -> float:
    """A number to sort by; what is undefined comes last."""
    return -1.0 if isnan(value) else value


def _variants_table(variants: Sequence[Variant]) -> Table:
    rows = [(item.measure, item.unit, item.scope, *score_cells(item.score)) for item in variants]
    table = Table(("measure", "unit", "scope", *SCORES), rows, "the score by other choices")
    return with_reasons(table, [item.score for item in variants])


def _data(
    results: Mapping[str, Agreement],
    habits: Mapping[str, Habits],
    known: KnownIntervals,
    *,
    by: Sequence[str],
    difficulty: Difficulty | None,
    variants: Sequence[Variant],
    null: NullDistribution | None,
) -> dict[str, Any]:
    measure, result = next(iter(results.items()))

    def plain(score: Score, kind: str, name: Name) -> dict[str, Any]:
        return {**score.to_dict(), **json_intervals(known.of(kind, name))}

    data: dict[str, Any] = {
        **plain(result.score, "all", measure),
        "measures": {name: plain(item.score, "all", name) for name, item in results.items()},
        "labels": {name: plain(score, "label", name) for name, score in result.by_label.items()},
        "pairs": [
            {"a": a, "b": b, **plain(score, "pair", (a, b))}
            for (a, b), score in result.by_pair.items()
        ],
        "annotators": {
            name: {
                **plain(item.score, "annotator", name),
                "spans": item.score.n_spans,
                "mean_length": item.mean_length,
                "marking_ratio": item.marking_ratio,
                "over_marking": item.over_marking,
                "under_marking": item.under_marking,
                "without": plain(item.without, "without", name) if item.without else None,
            }
            for name, item in habits.items()
        },
    }
    if known.settings is not None:
        first = known.of("all", measure)["corrected"]
        data["uncertainty"] = json_uncertainty(first, known.settings)
    if null is not None:
        data["null_distribution"] = _plain_null(null)
    if "document" in by:
        hardness = difficulty.by_document if difficulty is not None else {}
        own = null.by_document if null is not None else {}
        data["documents"] = {
            name: {
                **score.to_dict(),
                "difficulty": hardness.get(name),
                **({"null_distribution": _plain_null(own[name])} if name in own else {}),
            }
            for name, score in result.by_document.items()
        }
    groups = [name for name in by if name != "document"]
    if groups:
        data["groups"] = {
            field: {
                name: plain(score, f"field {field}", name)
                for name, score in result.by_field(field).items()
            }
            for field in groups
        }
    if variants:
        data["sensitivity"] = [
            {
                "measure": item.measure,
                "unit": item.unit,
                "scope": item.scope,
                **item.score.to_dict(),
            }
            for item in variants
        ]
    return data


def _plain_null(null: NullDistribution) -> dict[str, Any]:
    """The agreement of random annotations, for JSON."""
    return {
        "mean": null.mean,
        "sd": null.sd,
        "sd_is": null.sd_is,
        "quantiles": {str(share): value for share, value in null.quantiles.items()},
        "p_value": null.p_value,
        "p_error": null.p_error,
    }


def _rows(
    results: Mapping[str, Agreement],
    habits: Mapping[str, Habits],
    known: KnownIntervals,
    *,
    by: Sequence[str],
    difficulty: Difficulty | None,
    variants: Sequence[Variant],
    null: NullDistribution | None,
) -> list[dict[str, Any]]:
    """One row for each score, with the level that it is of."""
    measure, result = next(iter(results.items()))
    lucky = {} if null is None else null.by_document
    rows = [
        {
            "level": "all",
            "name": "",
            "measure": name,
            **flat_score(item.score),
            **flat_intervals(known.of("all", name)),
            **({"p_value": null.p_value} if null is not None and name == measure else {}),
        }
        for name, item in results.items()
    ]

    def add(level: str, scores: Mapping[str, Score], **more: Mapping[str, Any]) -> None:
        kind = level if level in {"label", "pair", "annotator"} else f"field {level}"
        rows.extend(
            {
                "level": level,
                "name": name,
                "measure": measure,
                **flat_score(score),
                **flat_intervals(known.of(kind, name)),
                **{column: values.get(name) for column, values in more.items()},
            }
            for name, score in scores.items()
        )

    add("label", result.by_label)
    rows.extend(
        {
            "level": "pair",
            "name": _shown((a, b)),
            "measure": measure,
            **flat_score(score),
            **flat_intervals(known.of("pair", (a, b))),
            "a": a,
            "b": b,
        }
        for (a, b), score in result.by_pair.items()
    )
    add(
        "annotator",
        {name: item.score for name, item in habits.items()},
        **{
            column: {name: getattr(item, column) for name, item in habits.items()}
            for column in ("mean_length", "marking_ratio", "over_marking", "under_marking")
        },
        without={
            name: item.without.corrected
            for name, item in habits.items()
            if item.without is not None
        },
    )
    for name in by:
        if name == "document":
            add(
                "document",
                result.by_document,
                difficulty=difficulty.by_document if difficulty else {},
                **(
                    {"p_value": {name: item.p_value for name, item in lucky.items()}}
                    if lucky
                    else {}
                ),
            )
        else:
            add(name, result.by_field(name))
    rows.extend(
        {
            "level": "sensitivity",
            "name": f"{item.measure} {item.unit} {item.scope}",
            "measure": item.measure,
            **flat_score(item.score),
        }
        for item in variants
    )
    return rows
