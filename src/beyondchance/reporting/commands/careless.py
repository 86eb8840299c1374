"""The report of `careless`: documents that are no better than random."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from beyondchance.reporting.blocks import CUT, Block, Cell, Prose, Report, Table, cut

if TYPE_CHECKING:
    from beyondchance.inference.careless import CarelessWork, DocumentWork


def report_of_careless(found: CarelessWork, *, top: int = 20) -> Report:
    """The report of careless work, of which an output shows a part."""
    corpus = found.corpus
    listed = [
        (name, work)
        for name, works in found.by_annotator.items()
        for work in sorted(works, key=lambda work: -work.p)
        if work.verdict == "random"
    ]

    def blocks() -> list[Block]:
        made: list[Block] = [Prose(_said(found)), _people_table(found)]
        if listed:
            shown, remark = cut(listed, top)
            rows: list[Sequence[Cell]] = [
                (name, work.document, work.matched, work.expected, work.p) for name, work in shown
            ]
            headings = ("annotator", "document", "matched", "by chance", "p")
            legend = "(positions of others that are met, by the work and by random spans)"
            title = "no better than random"
            made.append(Table(headings, rows, title, " ".join(filter(None, (remark, legend)))))
        return made

    return Report(
        command="careless",
        corpus=corpus,
        signature=str(found.settings),
        notes=(*corpus.notes, *([CUT] if 0 < top < len(listed) else [])),
        skipped=dict(corpus.skipped),
        make_blocks=blocks,
        make_data=lambda: {
            "level": found.level,
            "annotators": {
                name: {
                    "n_told": found.n_told[name],
                    "n_random": len(found.random[name]),
                    **_counts(works),
                }
                for name, works in found.by_annotator.items()
            },
            "works": _rows(found),
        },
        make_rows=lambda: _rows(found),
    )


def _rows(found: CarelessWork) -> list[dict[str, Any]]:
    return [
        {"annotator": name, **asdict(work)}
        for name, works in found.by_annotator.items()
        for work in works
    ]


def _counts(works: Sequence[DocumentWork]) -> dict[str, int]:
    verdicts = [work.verdict for work in works]
    return {
        "n_documents": len(works),
        "n_unknown": verdicts.count("unknown"),
        "n_nothing": verdicts.count("nothing"),
    }


def _said(found: CarelessWork) -> str:
    """The finding, in a sentence for each annotator who has such documents."""
    parts = [
        f"{len(documents):,} of {name}'s {found.n_told[name]:,} documents "
        f"{'is' if len(documents) == 1 else 'are'} no better than random"
        for name, documents in found.random.items()
        if documents
    ]
    if not any(found.n_told.values()):
        return "No document could be judged: none would show whether work is better than random."
    if not parts:
        return "No document is no better than random, of those with enough spans to tell."
    return f"{'; '.join(parts)} (of those with enough spans to tell)."


def _people_table(found: CarelessWork) -> Table:
    rows: list[Sequence[Cell]] = []
    for name, works in found.by_annotator.items():
        counts = _counts(works)
        n_random = len(found.random[name])
        better = found.n_told[name] - n_random
        rows.append((name, n_random, better, counts["n_unknown"], counts["n_nothing"]))
    headings = ("annotator", "random", "better", "too little to tell", "nothing marked")
    return Table(headings, rows, "documents")
