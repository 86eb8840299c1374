"""The report of `agree`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan, nan
from typing import TYPE_CHECKING, Any

from beyondchance.report import words
from beyondchance.report.blocks import (
    CUT,
    SCORES,
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
from beyondchance.results import Agreement, Difficulty, Score
from beyondchance.spans import Corpus

if TYPE_CHECKING:
    from beyondchance.comparison import Coefficients


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
        How much the annotator marked, for each position (or span) that the others marked in
        the same texts.
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
    scores = result.by_annotator
    sizes = by_position.counts.size_by_annotator()
    alone = len(scores) <= 2
    return {
        name: Habits(
            score=score,
            mean_length=sizes[name] / score.n_spans if score.n_spans else nan,
            marking_ratio=score.size_a / score.size_b if score.size_b else nan,
            over_marking=1 - score.matched / score.size_a if score.size_a else nan,
            under_marking=1 - score.matched / score.size_b if score.size_b else nan,
            without=None if alone else result.counts.without(name).score(),
        )
        for name, score in scores.items()
    }


def agree_report(
    results: Mapping[str, Agreement],
    corpus: Corpus,
    *,
    by: Sequence[str] = (),
    difficulty: Difficulty | None = None,
    variants: Sequence[Variant] = (),
    others: Coefficients | None = None,
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
    top : int
        Rows of long tables for people; 0 shows all.
    digits : int
        For numbers within sentences.
    """
    measure, result = next(iter(results.items()))
    annotators = result.counts.annotators
    who = in_list(annotators)
    habits = habits_of(result, results["token"])
    notes = (*corpus.notes, *words.lonely_labels(corpus, annotators), *_gold_note(corpus, result))
    blocks: list[Block] = [
        Prose(words.compared(corpus, who, result.counts.documents, result.n_spans)),
        _overall(results),
        Prose(
            " ".join(
                filter(
                    None,
                    (words.meaning(result.score, who, digits), words.effect(result.score, digits)),
                )
            )
        ),
        _scores_table("label", list(result.by_label.items()), title=f"labels, by {measure}"),
    ]
    if len(annotators) > 2:
        pairs = [(" and ".join(pair), score) for pair, score in result.by_pair.items()]
        blocks.append(_scores_table("pair", pairs, title="pairs of annotators", top=top))
    blocks.append(_habits_table(habits, top))
    for name in by:
        if name == "document":
            blocks += _documents(result, difficulty, top)
        else:
            groups = list(result.by_field(name).items())
            blocks.append(_scores_table(name, groups, title=f"documents by {name}", top=top))
    if variants:
        blocks.append(_variants_table(variants))
    settings = result.settings
    data = _data(
        results, corpus, habits, by=by, difficulty=difficulty, variants=variants, notes=notes
    )
    rows = _rows(results, habits, by, difficulty, variants)
    if others is not None:
        from beyondchance.report import coefficients_report  # noqa: PLC0415 - rarely wanted

        settings = replace(settings, gamma=others.settings.gamma)
        blocks += coefficients_report.blocks_of(others)
        rows += coefficients_report.rows_of(others)
        plain = others.to_dict()
        data |= {name: plain[name] for name in ("coefficients", "differences")}
        data["signature"] = str(settings)
    blocks += [Prose(text) for text in (words.skipped(result.skipped.items()),) if text]
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


def _gold_note(corpus: Corpus, result: Agreement) -> list[str]:
    if corpus.gold is None or corpus.gold in result.counts.annotators:
        return []
    left_out = f"the gold standard {corpus.gold} is not one more annotator and was left out"
    return [f"{left_out}; 'beyondchance rank' compares everybody with it"]


def _overall(results: Mapping[str, Agreement]) -> Table:
    rows = [
        (measure, *score_cells(result.score), words.MATCHES.get(measure, ""))
        for measure, result in results.items()
    ]
    table = Table(("measure", *SCORES, "counts"), rows, "agreement")
    return with_reasons(table, [result.score for result in results.values()])


Named = Sequence[tuple[str, Score]]
"""Names with their scores; two may have the same name."""


def _scores_table(heading: str, scores: Named, *, title: str = "", top: int = 0) -> Table:
    """A row for each name; where there are too many, those of the lowest scores."""
    shown, remark = _cut(scores, top)
    rows = [(name, score.n_spans, *score_cells(score)) for name, score in shown]
    table = Table((heading, "spans", *SCORES), rows, title, remark)
    return with_reasons(table, [score for _, score in shown])


def _cut(scores: Named, top: int) -> tuple[Named, str]:
    """All, or the lowest and a remark on how many there are."""
    if not top or len(scores) <= top:
        return scores, ""
    return _contested(scores)[:top], f"The {top:,} lowest of {len(scores):,}."


def _contested(scores: Named) -> Named:
    """By corrected score, the lowest first; undefined ones last; many spans first."""

    def key(item: tuple[str, Score]) -> tuple[bool, float, int]:
        corrected = item[1].corrected
        return isnan(corrected), 0.0 if isnan(corrected) else corrected, -item[1].n_spans

    return sorted(scores, key=key)


def _habits_table(habits: Mapping[str, Habits], top: int) -> Table:
    shown, remark = _cut([(name, item.score) for name, item in habits.items()], top)
    headings = ["annotator", "spans", "length", "marks", *SCORES]
    team = len(habits) > 2
    rows: list[tuple[Cell, ...]] = []
    for name, score in shown:
        item = habits[name]
        length = None if isnan(item.mean_length) else f"{item.mean_length:.1f}"
        row: tuple[Cell, ...] = (
            name,
            score.n_spans,
            length,
            _more_or_less(item.marking_ratio),
            *score_cells(score),
        )
        without = item.without.corrected if item.without is not None else nan
        rows.append((*row, without) if team else row)
    legend = "length: mean of its spans; marks: more or less than the others in the same texts"
    legend += "; without: corrected, of the team without it" if team else ""
    return Table(
        (*headings, "without") if team else tuple(headings),
        rows,
        "annotators, each against the others" if team else "annotators",
        " ".join(filter(None, (remark, f"({legend})"))),
    )


def _more_or_less(ratio: float) -> str | None:
    """A change in percent.

    >>> _more_or_less(1.5), _more_or_less(0.999), _more_or_less(1)
    ('+50 %', '-0 %', '0 %')
    """
    if isnan(ratio):
        return None
    return "0 %" if ratio == 1 else f"{ratio - 1:+.0%}".replace("%", " %")


def _documents(result: Agreement, difficulty: Difficulty | None, top: int) -> list[Block]:
    """The most contested documents, and the hardest."""
    scores = [(name, score) for name, score in result.by_document.items() if score.n_spans]
    hardness = difficulty.by_document if difficulty is not None else {}
    contested = _contested(scores)
    hardest = sorted(contested, key=lambda item: -_or_nothing(hardness.get(item[0], nan)))
    blocks: list[Block] = []
    for title, ordered in (
        ("the most contested documents first", contested),
        ("the hardest documents first", hardest),
    ):
        shown = ordered[:top] if top else ordered
        rows = [
            (name, score.n_spans, *score_cells(score), hardness.get(name, nan))
            for name, score in shown
        ]
        cut = f"{len(shown):,} of {len(ordered):,}." if len(shown) < len(ordered) else ""
        table = Table(("document", "spans", *SCORES, "difficulty"), rows, title, cut)
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
    corpus: Corpus,
    habits: Mapping[str, Habits],
    *,
    by: Sequence[str],
    difficulty: Difficulty | None,
    variants: Sequence[Variant],
    notes: Sequence[str],
) -> dict[str, Any]:
    result = next(iter(results.values()))
    data: dict[str, Any] = {
        "signature": str(result.settings),
        "inputs": inputs(corpus),
        **result.score.to_dict(),
        "measures": {name: item.score.to_dict() for name, item in results.items()},
        "labels": {name: score.to_dict() for name, score in result.by_label.items()},
        "pairs": [{"a": a, "b": b, **score.to_dict()} for (a, b), score in result.by_pair.items()],
        "annotators": {
            name: {
                **item.score.to_dict(),
                "spans": item.score.n_spans,
                "mean_length": item.mean_length,
                "marking_ratio": item.marking_ratio,
                "over_marking": item.over_marking,
                "under_marking": item.under_marking,
                "without": item.without.to_dict() if item.without is not None else None,
            }
            for name, item in habits.items()
        },
    }
    if "document" in by:
        hardness = difficulty.by_document if difficulty is not None else {}
        data["documents"] = {
            name: {**score.to_dict(), "difficulty": hardness.get(name)}
            for name, score in result.by_document.items()
        }
    groups = [name for name in by if name != "document"]
    if groups:
        data["groups"] = {
            field: {name: score.to_dict() for name, score in result.by_field(field).items()}
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
    return {**data, "skipped": dict(result.skipped), "notes": list(notes)}


def _rows(
    results: Mapping[str, Agreement],
    habits: Mapping[str, Habits],
    by: Sequence[str],
    difficulty: Difficulty | None,
    variants: Sequence[Variant],
) -> list[dict[str, Any]]:
    """One row for each score, with the level that it is of."""
    measure, result = next(iter(results.items()))
    rows = [
        {"level": "all", "name": "", "measure": name, **flat_score(item.score)}
        for name, item in results.items()
    ]

    def add(level: str, scores: Mapping[str, Score], **more: Mapping[str, Any]) -> None:
        rows.extend(
            {
                "level": level,
                "name": name,
                "measure": measure,
                **flat_score(score),
                **{column: values.get(name) for column, values in more.items()},
            }
            for name, score in scores.items()
        )

    add("label", result.by_label)
    rows.extend(
        {
            "level": "pair",
            "name": f"{a} and {b}",
            "measure": measure,
            **flat_score(score),
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
