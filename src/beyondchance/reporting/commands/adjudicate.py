"""The report of `adjudicate`: who decided what, and how annotators agree with the gold standard."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from beyondchance.adjudication.adjudicated import AdjudicatedCorpus
from beyondchance.adjudication.comparison import Deciders
from beyondchance.adjudication.decisions import CHOICES, Decision
from beyondchance.reporting.blocks import (
    Block,
    Cell,
    Prose,
    Report,
    Table,
    counted,
    cut,
    in_list,
    report_of_corpus,
)
from beyondchance.reporting.commands.consensus import against, gold_table
from beyondchance.results.agreement import Agreement

_NOBODY = "(no name)"


def adjudicate_report(gold: AdjudicatedCorpus, result: Agreement, *, top: int = 20) -> Report:
    """Build the report of a gold standard that people decided on."""
    name, decisions = str(gold.gold), gold.decisions

    def blocks() -> list[Block]:
        noted = [(x.document, _place(x), x.note, x.by) for x in decisions if x.note]
        shown, remark = cut(noted, top)
        notes = Table(("document", "place", "note", "by"), shown, "notes", remark)
        return [
            Prose(_how_many(gold)),
            _people_table(decisions),
            gold_table(result, name, f"annotators against {name}"),
            *([notes] if noted else []),
        ]

    return report_of_corpus(
        "adjudicate",
        gold,
        signature=str(result.settings),
        make_blocks=blocks,
        make_data=lambda: {
            "rest": gold.rest,
            "n_places": gold.n_places,
            "n_decided": gold.n_decided,
            "n_ties": gold.n_ties,
            "agreement": result.score.to_dict(),
            "annotators": against(result, name),
            "decisions": [x.to_dict() for x in decisions],
        },
        make_rows=lambda: [
            {**x.to_dict(), "spans": _written(x), "of": ", ".join(x.of)} for x in decisions
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
    """Show how each person decided."""
    counts: dict[str, Counter[str]] = {}
    for decision in decisions:
        counts.setdefault(decision.by or _NOBODY, Counter())[decision.choice] += 1
    rows: list[Sequence[Cell]] = [
        (who, *(found[choice] for choice in CHOICES), found.total())
        for who, found in counts.items()
    ]
    headings = ("decided by", "an annotator's", "consensus", "nothing", "edited", "all")
    return Table(headings, rows, "decisions")


def _place(decision: Decision) -> str:
    return decision.words or f"{decision.start}-{decision.end}"


def _written(decision: Decision) -> str:
    """Write the spans of a decision into a cell."""
    return "; ".join(f"{start}-{end} {label}" for start, end, label in decision.spans) or "nothing"


def deciders_report(found: Deciders, *, top: int = 20) -> Report:
    """Build the report of how far people decided alike."""
    pairs, differing = found.pairs, found.differing
    known = {names: x.agreement for names, x in pairs.items() if x.agreement}

    def blocks() -> list[Block]:
        shown, remark = cut(differing, top)
        versions = [
            (
                one.document,
                _place(one),
                *(f"{x.by}: {_written(x)}" if x.by else _written(x) for x in (one, other)),
            )
            for one, other in shown
        ]
        counts = [
            (*names, x.n_places, x.n_same, x.n_places - x.n_same) for names, x in pairs.items()
        ]
        scores = [(*names, x.observed, x.chance, x.corrected) for names, x in known.items()]
        who = ("first", "second")
        where = ("document", "place", "one", "other")
        return [
            Prose(f"{in_list(found.names)}: what they decided, where both of two did."),
            Table((*who, "both decided", "the same", "differently"), counts, "places"),
            Table((*who, "observed", "chance", "corrected"), scores, "agreement at these places"),
            *([Table(where, versions, "decided differently", remark)] if versions else []),
        ]

    return report_of_corpus(
        "adjudicate",
        found.corpus,
        is_cut=0 < top < len(differing),
        signature=next((str(x.settings) for x in known.values()), None),
        make_blocks=blocks,
        make_data=lambda: {
            "pairs": [
                {
                    "a": a,
                    "b": b,
                    "n_places": x.n_places,
                    "n_same": x.n_same,
                    "agreement": x.agreement and x.agreement.score.to_dict(),
                }
                for (a, b), x in pairs.items()
            ],
            "differing": [
                {"one": one.to_dict(), "other": other.to_dict()} for one, other in differing
            ],
        },
        make_rows=lambda: [
            {
                **{name: getattr(one, name) for name in ("document", "text", "start", "end")},
                "by_one": one.by,
                "spans_one": _written(one),
                "by_other": other.by,
                "spans_other": _written(other),
            }
            for one, other in differing
        ],
    )
