"""The report of `adjudicate`: who decided what, and how annotators agree with the gold standard."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from beyondchance.adjudication.adjudicated import AdjudicatedCorpus
from beyondchance.adjudication.comparison import Deciders
from beyondchance.adjudication.decisions import CHOICES, Decision
from beyondchance.reporting.blocks import (
    CUT,
    Block,
    Cell,
    Prose,
    Report,
    Table,
    counted,
    cut,
    in_list,
)
from beyondchance.reporting.commands.consensus import against, gold_table
from beyondchance.results.agreement import Agreement

_NOBODY = "(no name)"


def adjudicate_report(gold: AdjudicatedCorpus, result: Agreement, *, top: int = 20) -> Report:
    """The report of a gold standard that people decided on."""
    name = str(gold.gold)

    def blocks() -> list[Block]:
        return [
            Prose(_how_many(gold)),
            _people_table(gold.decisions),
            gold_table(result, name, f"annotators against {name}"),
            *_notes_table(gold.decisions, top),
        ]

    return Report(
        command="adjudicate",
        corpus=gold,
        signature=str(result.settings),
        notes=gold.notes,
        skipped=dict(gold.skipped),
        make_blocks=blocks,
        make_data=lambda: {
            "rest": gold.rest,
            "n_places": gold.n_places,
            "n_decided": gold.n_decided,
            "n_ties": gold.n_ties,
            "agreement": result.score.to_dict(),
            "annotators": {who: score.to_dict() for who, score in against(result, name)},
            "decisions": rows_of(gold.decisions),
        },
        make_rows=lambda: [
            {**row, "spans": _written(row["spans"]), "of": ", ".join(row["of"])}
            for row in rows_of(gold.decisions)
        ],
    )


def _how_many(gold: AdjudicatedCorpus) -> str:
    left = gold.n_places - gold.n_decided
    rest = f" The {gold.rest} of the annotators decides the other {left:,}." if left else ""
    if left and gold.n_ties and gold.rest == "consensus":
        rest += f" {counted(gold.n_ties, 'tie')} among them: a person has to decide."
    if left:
        rest += " Scores are too high there: annotators are compared with their own votes."
    are = "is" if gold.n_decided == 1 else "are"
    differ = counted(gold.n_places, "place")
    return f"{gold.n_decided:,} of {differ} where annotators differ {are} decided.{rest}"


def _people_table(decisions: Sequence[Decision]) -> Table:
    """How each person decided."""
    counts: dict[str, Counter[str]] = {}
    for decision in decisions:
        counts.setdefault(decision.by or _NOBODY, Counter())[decision.choice] += 1
    rows: list[Sequence[Cell]] = [
        (who, *(found[choice] for choice in CHOICES), found.total())
        for who, found in counts.items()
    ]
    headings = ("decided by", "an annotator's", "consensus", "nothing", "edited", "all")
    return Table(headings, rows, "decisions")


def _notes_table(decisions: Sequence[Decision], top: int) -> list[Block]:
    """What people noted."""
    noted = [
        (x.document, x.words or f"{x.start}-{x.end}", x.note, x.by) for x in decisions if x.note
    ]
    if not noted:
        return []
    shown, remark = cut(noted, top)
    return [Table(("document", "place", "note", "by"), shown, "notes", remark)]


def rows_of(decisions: Sequence[Decision]) -> list[dict[str, Any]]:
    """One row for each decision."""
    return [decision.to_dict() for decision in decisions]


def _written(spans: Sequence[Sequence[Any]]) -> str:
    """Spans in a cell."""
    return "; ".join(f"{start}-{end} {label}" for start, end, label in spans) or "nothing"


def deciders_report(found: Deciders, *, top: int = 20) -> Report:
    """The report of how far people decided alike."""
    scored = {pair: x.agreement.score for pair, x in found.pairs.items() if x.agreement}
    settings = [str(x.agreement.settings) for x in found.pairs.values() if x.agreement]

    def blocks() -> list[Block]:
        made: list[Block] = [
            Prose(f"{in_list(found.names)}: what they decided, where both of two did."),
            Table(
                ("first", "second", "both decided", "the same", "differently"),
                [
                    (a, b, x.n_places, x.n_same, x.n_places - x.n_same)
                    for (a, b), x in found.pairs.items()
                ],
                "places",
            ),
            Table(
                ("first", "second", "observed", "chance", "corrected"),
                [(*pair, x.observed, x.chance, x.corrected) for pair, x in scored.items()],
                "agreement at these places",
            ),
        ]
        if not found.differing:
            return made
        shown, remark = cut(found.differing, top)
        rows = [
            (one.document, one.words or f"{one.start}-{one.end}", *map(_version, (one, other)))
            for one, other in shown
        ]
        return [
            *made,
            Table(("document", "place", "one", "other"), rows, "decided differently", remark),
        ]

    return Report(
        command="adjudicate",
        corpus=found.corpus,
        signature=settings[0] if settings else None,
        notes=(*found.corpus.notes, *([CUT] if 0 < top < len(found.differing) else [])),
        skipped=dict(found.corpus.skipped),
        make_blocks=blocks,
        make_data=lambda: {
            "pairs": [
                {
                    "a": a,
                    "b": b,
                    "n_places": x.n_places,
                    "n_same": x.n_same,
                    "agreement": scored[a, b].to_dict() if x.agreement else None,
                }
                for (a, b), x in found.pairs.items()
            ],
            "differing": [
                {"one": one.to_dict(), "other": other.to_dict()} for one, other in found.differing
            ],
        },
        make_rows=lambda: [
            {
                "document": one.document,
                "text": one.text,
                "start": one.start,
                "end": one.end,
                **{
                    f"{key}_{side}": value
                    for side, x in (("one", one), ("other", other))
                    for key, value in (("by", x.by), ("spans", _written(x.to_dict()["spans"])))
                },
            }
            for one, other in found.differing
        ],
    )


def _version(decision: Decision) -> str:
    spans = _written([list(span) for span in decision.spans])
    return f"{decision.by}: {spans}" if decision.by else spans
