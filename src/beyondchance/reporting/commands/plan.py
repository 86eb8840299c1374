"""The report of `plan`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from beyondchance.annotations.corpus import Corpus
from beyondchance.messages import Note
from beyondchance.numbers import in_digits
from beyondchance.reporting import breakdown, sentences
from beyondchance.reporting.blocks import Block, Prose, Report, Table, in_list, skipped_sentences
from beyondchance.results.agreement import Agreement

if TYPE_CHECKING:
    from beyondchance.inference.plan import Plan


def plan_report(
    plans: Sequence[Plan],
    pilot: Agreement | None = None,
    corpus: Corpus | None = None,
    *,
    digits: int = 4,
) -> Report:
    """The report of `plan`, of which an output shows a part.

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
    listed = [_plain(item) for item in plans]

    def blocks() -> list[Block]:
        made: list[Block] = [Prose(_meaning(wanted, digits))]
        if pilot is not None and corpus is not None:
            who = in_list(pilot.counts.annotators)
            said = sentences.compared(who, pilot.extent, pilot.n_spans, corpus.positions)
            made.insert(0, Prose(said))
        if wanted.reason is None:
            rows = [
                (f"± {item.half_width:g}", item.documents, item.low, item.high)
                for item in sorted(plans, key=lambda item: -item.half_width)
            ]
            remark = _REMARK.format(unit=wanted.unit)
            made.append(Table(("half width", wanted.unit, "from", "to"), rows, remark=remark))
        skipped = [] if pilot is None else skipped_sentences(pilot.skipped, pilot.extent.noun)
        return [*made, *map(Prose, skipped)]

    def data() -> dict[str, Any]:
        return {
            "score": score,
            "pilot": {
                **({score: wanted.score} if pilot is None else pilot.score.to_dict()),
                "spread": wanted.spread,
                "units": wanted.n_pilot,
            },
            "unit": wanted.unit,
            **listed[0],
            "plans": listed,
            **({"reason": wanted.reason} if wanted.reason is not None else {}),
        }

    caution = [Note(wanted.caution, is_caution=True)] if wanted.caution else []
    return Report(
        command="plan",
        corpus=corpus,
        signature=str(wanted.settings),
        notes=(*(() if corpus is None else corpus.notes), *caution),
        make_blocks=blocks,
        make_data=data,
        make_rows=lambda: [{"score": score, **item} for item in listed],
    )


def report_of_plan(plan: Plan) -> Report:
    """The report of one plan."""
    return plan_report([plan])


_REMARK = (
    "({unit}: enough in four of five studies; from, to: the range of numbers that may be needed; a "
    "pilot gives only a rough estimate)"
)


def _plain(plan: Plan) -> dict[str, Any]:
    return {name: getattr(plan, name) for name in ("half_width", "documents", "low", "high")}


def _meaning(plan: Plan, digits: int) -> str:
    if plan.documents is None:
        return f"The pilot does not show how many {plan.unit} to annotate: {plan.reason}."
    level = breakdown.interval_heading(plan.settings)
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
