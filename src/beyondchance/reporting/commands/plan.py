"""The report of `plan`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from beyondchance.annotations.corpus import Corpus
from beyondchance.messages import Note
from beyondchance.numbers import in_digits
from beyondchance.reporting import breakdown, sentences
from beyondchance.reporting.blocks import Blocks, Report, in_list
from beyondchance.reporting.columns import (
    COUNT,
    FILES,
    NOTES,
    TEXT,
    Column,
    Data,
    Group,
    command,
    data_of,
    flat_of,
    interval_heading,
    kind,
    made,
    many,
    maybe,
    one_of,
    table_of,
)
from beyondchance.results.agreement import Agreement
from beyondchance.results.resampling import SCORES

if TYPE_CHECKING:
    from beyondchance.inference.plan import Plan


_NUMBER = maybe(kind(type="integer", minimum=2))
_PLAN = (
    Column(
        "half_width",
        kind(type="number", exclusiveMinimum=0, exclusiveMaximum=1),
        heading="half width",
        cell=lambda plan: f"± {plan.half_width:g}",
    ),
    _NUMBER("documents"),
    _NUMBER("low", heading="from"),
    _NUMBER("high", heading="to"),
)
_PILOT = Group("", [*made(breakdown.FIGURES), Column("spread"), COUNT("units")])
PLAN = command(
    "plan",
    *FILES,
    Column("score", one_of(*SCORES)),
    _PILOT("pilot"),
    Column("unit", one_of("documents", "sentences")),
    *made(_PLAN),
    Column("plans", many(Group("", [*_PLAN]))),
    TEXT("reason", "why there is no plan, only where there is none", is_optional=True),
    NOTES,
)


def plan_report(
    plans: Sequence[Plan],
    pilot: Agreement | None = None,
    corpus: Corpus | None = None,
    *,
    digits: int = 4,
) -> Report:
    """Build the report of `plan`; outputs show parts of it.

    Parameters
    ----------
    plans : sequence of Plan
        For the half width that was asked for, then for others.
    pilot : Agreement, optional
    corpus : Corpus, optional
        What was compared.
    digits : int
        For numbers within sentences.
    """
    wanted, score = plans[0], plans[0].of

    def blocks() -> Blocks:
        if pilot is not None and corpus is not None:
            who = in_list(pilot.counts.annotators)
            yield sentences.compared(who, pilot.extent, pilot.n_spans, corpus.positions)
        yield _meaning(wanted, digits)
        if wanted.reason is None:
            rows = sorted(plans, key=lambda item: -item.half_width)
            remark = _REMARK.format(unit=wanted.unit)
            yield table_of(rows, _PLAN, remark=remark, documents=wanted.unit)

    def data() -> Data:
        return {
            "score": score,
            "pilot": {
                **({score: wanted.score} if pilot is None else breakdown.SCORE.make(pilot.score)),
                "spread": wanted.spread,
                "units": wanted.n_pilot,
            },
            "unit": wanted.unit,
            **data_of(wanted, _PLAN),
            "plans": plans,
            "reason": wanted.reason,
        }

    caution = [Note(wanted.caution, is_caution=True)] if wanted.caution else []
    return Report(
        group=PLAN,
        corpus=corpus,
        signature=str(wanted.settings),
        notes=(*(() if corpus is None else corpus.notes), *caution),
        skipped=pilot.skipped if pilot else None,
        noun=pilot.extent.noun if pilot else "document",
        make_blocks=blocks,
        make_data=data,
        make_rows=lambda: [{"score": score, **flat_of(item, _PLAN)} for item in plans],
    )


def report_of_plan(plan: Plan) -> Report:
    """Build the report of one plan."""
    return plan_report([plan])


_REMARK = (
    "({unit}: enough in four of five studies; from, to: the range of numbers that may be needed; a "
    "pilot gives only a rough estimate)"
)


def _meaning(plan: Plan, digits: int) -> str:
    if plan.documents is None:
        return f"The pilot does not show how many {plan.unit} to annotate: {plan.reason}."
    level = interval_heading(plan.settings)
    now = in_digits(plan.half_width_of(plan.n_pilot), digits)
    known = (
        f"The pilot has a {plan.of} score of {in_digits(plan.score, digits)}, known to about "
        f"± {now} ({level} interval)."
    )
    wanted = f"For ± {plan.half_width:g}"
    if plan.pilot_is_enough:
        return f"{known} {wanted} it is enough."
    return (
        f"{known} {wanted} it takes {plan.documents:,} {plan.unit} like these by the same "
        f"annotators, the pilot's {plan.n_pilot:,} included, to be as narrow in four of five "
        "studies."
    )
