"""The report of `careless`: annotators who agree much less than the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from beyondchance.numbers import in_digits
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
    """Build the report of careless work, of which an output shows a part."""
    people, stretches = found.by_annotator, found.stretches
    rows = {name: asdict(work) for name, work in people.items()}

    def blocks() -> list[Block]:
        said = Prose(" ".join(_said(found, digits)))
        return [said, _people_table(found, top), *_stretches_table(found, top)]

    return report_of_corpus(
        "careless",
        found.corpus,
        is_cut=0 < top < max(len(stretches), len(people)),
        signature=str(found.settings),
        make_blocks=blocks,
        make_data=lambda: {
            "level": found.level,
            **{name: list(getattr(found, name)) for name in _NAMED},
            "annotators": rows,
            "stretches": [asdict(stretch) for stretch in stretches],
            "luck": found.luck,
        },
        make_rows=lambda: [{"annotator": name, **row} for name, row in rows.items()],
    )


_NAMED = ("below", "random", "another_rule", "too_few", "nothing", "everything")


def _said(found: CarelessWork, digits: int) -> Iterator[str]:
    """Say what is shown and no more, in sentences."""
    people, noun = found.by_annotator.values(), found.corpus.extent.noun
    for name in found.below[:_MOST]:
        work = found.by_annotator[name]
        own, others = (in_digits(x, digits) for x in (work.agreement, work.others))
        yield (
            f"{name} agrees less than half as much with the others as they do among themselves "
            f"({own} and {others}, in {counted(work.n_documents, noun)})"
            f"{_HOW[work.verdict] if work.n_spans else ''}."
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
    if not any(work.n_documents for work in people):
        yield f"Nothing can be judged: no {noun} has marks of three annotators."
    elif unknown := [name for name in found.too_few if name not in found.everything]:
        yield f"Not enough is marked or agreed on to judge {in_list(unknown)}."
    n_stretches = sum(work.n_stretches for work in people)
    if n_stretches:
        yield (
            f"Stretches of {noun}s to look at: {len(found.stretches):,} of {n_stretches:,}; "
            f"{found.luck:.1f} are expected by luck."
        )
    else:
        yield f"No stretch of {noun}s has enough spans to be judged by itself."


_MOST = 6
"""Annotators that have a sentence of their own."""
_HOW = {
    "random": "; the match is not above chance, not even next to the others' spans",
    "another_rule": "; not as random spans do, but by another rule: next to the others' spans, "
    "away from them, or with other labels",
    "below": "; the match is above chance",
}
"""What is said of those who are named, unless they marked nothing."""


def _people_table(found: CarelessWork, top: int) -> Table:
    # Those who are named come first.
    order = sorted(found.by_annotator, key=lambda name: name not in found.below)
    shown, remark = cut(order, top)
    n_listed = Counter(stretch.annotator for stretch in found.stretches)
    rows: list[Sequence[Cell]] = []
    for name in shown:
        work = found.by_annotator[name]
        numbers = (work.n_documents, work.agreement, work.others, work.adjusted)
        judged = (_VERDICTS[work.verdict], n_listed[name], work.n_stretches, f"{work.luck:.1f}")
        rows.append((name, *numbers, *judged))
    nouns = f"{found.corpus.extent.noun}s"
    headings = ("annotator", nouns, "with others", "others", "p", "agrees")
    legend = f"({nouns} with marks of two or more others; p adjusted for all annotators)"
    return Table(
        (*headings, "to look at", "stretches", "by luck"),
        rows,
        "annotators",
        f"{remark} {legend}".lstrip(),
    )


def _stretches_table(found: CarelessWork, top: int) -> list[Block]:
    shown, remark = cut(found.stretches, top)
    nouns = f"{found.corpus.extent.noun}s"
    rows: list[Sequence[Cell]] = [
        (
            *(x.annotator, x.documents[0], x.documents[-1], len(x.documents)),
            *(x.n_spans, x.matched, x.expected, x.p),
        )
        for x in shown
    ]
    headings = ("annotator", "from", "to", nouns, "spans", "matched", "by chance", "p")
    legend = "(matched: positions of others that these spans cover; by chance: that random ones do)"
    table = Table(headings, rows, f"{nouns} to look at", f"{remark} {legend}".lstrip())
    return [table] if rows else []
