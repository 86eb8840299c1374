"""The report of `careless`: annotators who agree much less than the others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from beyondchance.numbers import in_digits
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

if TYPE_CHECKING:
    from beyondchance.inference.careless import CarelessWork

_VERDICTS = {
    "random": "below half, not above chance",
    "another_rule": "below half, another rule",
    "below": "below half",
    "half": "at least half",
    "too_few": "too few to tell",
}


def report_of_careless(found: CarelessWork, *, top: int = 20, digits: int = 4) -> Report:
    """The report of careless work, of which an output shows a part."""
    corpus = found.corpus

    def blocks() -> list[Block]:
        made: list[Block] = [Prose(" ".join(_said(found, digits))), _people_table(found, top)]
        if found.stretches:
            made.append(_stretches_table(found, top))
        return made

    is_cut = 0 < top < max(len(found.stretches), len(found.by_annotator))
    return Report(
        command="careless",
        corpus=corpus,
        signature=str(found.settings),
        notes=(*corpus.notes, *([CUT] if is_cut else [])),
        skipped=dict(corpus.skipped),
        make_blocks=blocks,
        make_data=lambda: {
            "level": found.level,
            **{name: list(getattr(found, name)) for name in _NAMED},
            "annotators": {name: asdict(work) for name, work in found.by_annotator.items()},
            "stretches": [
                {**asdict(stretch), "documents": list(stretch.documents)}
                for stretch in found.stretches
            ],
            "luck": found.luck,
        },
        make_rows=lambda: _rows(found),
    )


_NAMED = ("below", "random", "another_rule", "too_few", "nothing", "everything")


def _rows(found: CarelessWork) -> list[dict[str, Any]]:
    return [{"annotator": name, **asdict(work)} for name, work in found.by_annotator.items()]


def _said(found: CarelessWork, digits: int) -> Iterator[str]:
    """The finding in sentences, which claim what is shown and no more."""
    for name in found.below[:_MOST]:
        work = found.by_annotator[name]
        own, others = (in_digits(x, digits) for x in (work.agreement, work.others))
        yield (
            f"{name} agrees less than half as much with the others as they do among themselves "
            f"({own} and {others}, in {counted(work.n_documents, 'document')}){_how(found, name)}."
        )
    if len(found.below) > _MOST:
        yield f"So do {counted(len(found.below) - _MOST, 'other annotator')}."
    if not found.below:
        yield (
            "No annotator is shown to agree less than half as much with the others as they do "
            "among themselves."
        )
    for names, what in ((found.nothing, "nothing"), (found.everything, "every position")):
        if names:
            yield f"{in_list(names)} marked {what}."
    if not any(work.n_documents for work in found.by_annotator.values()):
        yield "Nobody can be judged: no document has marks of three annotators."
    elif unknown := [name for name in found.too_few if name not in found.everything]:
        yield f"Too few marks to tell of {in_list(unknown)}."
    n_stretches = sum(work.n_stretches for work in found.by_annotator.values())
    if n_stretches:
        yield (
            f"Stretches of documents to look at: {len(found.stretches):,} of {n_stretches:,}, "
            f"expected by luck {found.luck:.1f}."
        )
    else:
        yield "No stretch of documents has enough spans to be judged by itself."


_MOST = 6
"""Annotators that have a sentence of their own."""


def _how(found: CarelessWork, name: str) -> str:
    if name in found.random:
        return "; the match is not above chance, not even next to the others' spans"
    if name in found.another_rule:
        return (
            "; not as random spans do, but by another rule: next to the others' spans, away from "
            "them, or with other labels"
        )
    return "" if name in found.nothing else "; the match is above chance"


def _people_table(found: CarelessWork, top: int) -> Table:
    # Those who are named come first.
    order = sorted(found.by_annotator, key=lambda name: name not in found.below)
    shown, remark = cut(order, top)
    rows: list[Sequence[Cell]] = []
    for name in shown:
        work = found.by_annotator[name]
        listed = sum(stretch.annotator == name for stretch in found.stretches)
        verdict = _VERDICTS[work.verdict]
        numbers = (work.n_documents, work.agreement, work.others, work.adjusted)
        rows.append((name, *numbers, verdict, listed, work.n_stretches, f"{work.luck:.1f}"))
    headings = ("annotator", "documents", "with others", "others", "p", "agrees")
    legend = "(documents with marks of two or more others; p adjusted for all annotators)"
    return Table(
        (*headings, "to look at", "stretches", "by luck"),
        rows,
        "annotators",
        " ".join(filter(None, (remark, legend))),
    )


def _stretches_table(found: CarelessWork, top: int) -> Table:
    shown, remark = cut(found.stretches, top)
    rows: list[Sequence[Cell]] = [
        (
            stretch.annotator,
            stretch.documents[0],
            stretch.documents[-1],
            len(stretch.documents),
            stretch.n_spans,
            stretch.matched,
            stretch.expected,
            stretch.p,
        )
        for stretch in shown
    ]
    headings = ("annotator", "from", "to", "documents", "spans", "matched", "by chance", "p")
    legend = "(positions of others that are met, by these spans and by random ones)"
    return Table(headings, rows, "documents to look at", " ".join(filter(None, (remark, legend))))
