"""The report of `plan`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from beyondchance.annotations.corpus import Corpus
from beyondchance.numbers import in_digits
from beyondchance.reporting import sentences as words
from beyondchance.reporting.blocks import Block, Prose, Report, Table, in_list, inputs
from beyondchance.results.agreement import Agreement

if TYPE_CHECKING:
    from beyondchance.inference.plan import Plan


def plan_report(
    plans: Sequence[Plan], pilot: Agreement, corpus: Corpus, *, score: str, digits: int = 4
) -> Report:
    """What `plan` has to say.

    Parameters
    ----------
    plans : sequence of Plan
        For the half width that was asked for, then for others.
    pilot : Agreement
    corpus : Corpus
        What was compared.
    score : str
        What is to be known so well.
    digits : int
        For numbers within sentences.
    """
    wanted = plans[0]
    notes = (*corpus.notes, *([wanted.caution] if wanted.caution else []))
    who = in_list(pilot.counts.annotators)
    blocks: list[Block] = [
        Prose(words.compared(corpus, who, pilot.counts.documents, pilot.n_spans)),
        Prose(_meaning(wanted, score, digits)),
    ]
    if wanted.reason is None:
        rows = [
            (f"± {item.half_width:g}", item.documents, item.low, item.high)
            for item in sorted(plans, key=lambda item: -item.half_width)
        ]
        blocks.append(Table(("half width", wanted.unit, "from", "to"), rows, remark=_REMARK))
    blocks += [Prose(text) for text in (words.skipped(pilot.skipped.items()),) if text]
    blocks.append(Prose(str(wanted.settings), quiet=True))
    listed = [_plain(item) for item in plans]
    data: dict[str, Any] = {
        "signature": str(wanted.settings),
        "inputs": inputs(corpus),
        "score": score,
        "pilot": {**pilot.score.to_dict(), "spread": wanted.spread, "units": wanted.n_pilot},
        "unit": wanted.unit,
        **listed[0],
        "plans": listed,
        **({"reason": wanted.reason} if wanted.reason is not None else {}),
        "notes": list(notes),
    }
    return Report(
        command="plan",
        blocks=tuple(blocks),
        data=data,
        rows=[{"score": score, **item} for item in listed],
        notes=notes,
    )


_REMARK = "(from, to: what it may turn out to take, as the pilot shows its own spread only roughly)"


def _plain(plan: Plan) -> dict[str, Any]:
    return {
        "half_width": plan.half_width,
        "documents": plan.documents,
        "low": plan.low,
        "high": plan.high,
    }


def _meaning(plan: Plan, score: str, digits: int) -> str:
    if plan.documents is None:
        return f"The pilot does not tell how many {plan.unit} to annotate: {plan.reason}."
    level = f"{100 * plan.settings.confidence:.10g} %"
    now = in_digits(plan.half_width_of(plan.n_pilot), digits)
    known = (
        f"The pilot has a {score} score of {in_digits(plan.score, digits)}, known to about ± {now} "
        f"({level} interval)."
    )
    wanted = f"For ± {plan.half_width:g}"
    if plan.pilot_is_enough:
        enough = f"about {plan.documents:,} of its {plan.n_pilot:,} {plan.unit} would have done"
        return f"{known} {wanted} it is enough: {enough}."
    return (
        f"{known} {wanted} it takes about {plan.documents:,} {plan.unit} like these by the same "
        f"annotators, the pilot's {plan.n_pilot:,} included."
    )
