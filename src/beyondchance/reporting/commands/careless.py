"""The report of `careless`: annotators who agree much less than the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING

from beyondchance.reporting.blocks import Blocks, Report, in_list, report_on
from beyondchance.reporting.columns import (
    COUNT,
    CSV,
    FIGURE,
    FILES,
    JSON,
    NUMBER,
    TABLE,
    TAIL,
    TEXT,
    TEXTS,
    YES_OR_NO,
    Column,
    Group,
    attributes,
    command,
    flat_rows,
    for_people,
    many,
    named,
    one_of,
    picked,
    table_of,
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


_WORK = Group(
    "",
    [
        TEXT("annotator", outputs=CSV | TABLE),
        FIGURE("agreement", "corrected, with the others", heading="with others"),
        FIGURE("others", "corrected, of the others among themselves"),
        COUNT("n_documents", "with marks, that two or more others annotated"),
        Column("p"),
        FIGURE("adjusted", "for all who are tested", heading="p"),
        Column(
            "verdict",
            one_of(*_VERDICTS),
            heading="agrees",
            cell=lambda row: _VERDICTS[row["verdict"]],
        ),
        COUNT("n_spans"),
        YES_OR_NO("is_full"),
        Column("n_listed", outputs=TABLE, heading="to look at"),
        COUNT("n_stretches", "that would show random work", heading="stretches"),
        COUNT("n_left", "documents in no such stretch"),
        NUMBER(
            "luck",
            "stretches expected to be listed",
            heading="by luck",
            cell=lambda row: f"{row['luck']:.1f}",
        ),
    ],
)
_PEOPLE = picked(
    _WORK.columns,
    "annotator n_documents agreement others adjusted verdict n_listed n_stretches luck",
)
_STRETCH = Group(
    "",
    [
        TEXT("annotator"),
        for_people("from", lambda stretch: stretch.documents[0]),
        for_people("to", lambda stretch: stretch.documents[-1]),
        TEXTS("documents", cell=lambda stretch: len(stretch.documents)),
        COUNT("n_spans", heading="spans"),
        COUNT("matched", "positions of others that are met"),
        NUMBER("expected", "by random spans", heading="by chance"),
        NUMBER("p"),
        NUMBER("luck", "how often work as elsewhere would be listed", outputs=JSON),
    ],
)
_MATCHED = "(matched: positions of others that these spans cover; by chance: that random ones do)"
_NAMED = {
    "below": "who agree less than half as much with the others as these do among themselves",
    "random": "of these, whose match is not above chance, not even next to the others' spans",
    "another_rule": "of these, whose match is below chance, or above it only next to the others' "
    "spans",
    "too_few": "of whom documents do not show whether they agree half as much",
    "nothing": "who marked nothing",
    "everything": "who marked every position",
}
CARELESS = command(
    "careless",
    *FILES,
    NUMBER("level"),
    *(TEXTS(name, about) for name, about in _NAMED.items()),
    Column("annotators", named(_WORK)),
    Column("stretches", many(_STRETCH), "documents to look at"),
    NUMBER("luck", "stretches expected to be listed by luck"),
    *TAIL,
)


def report_of_careless(found: CarelessWork, *, top: int = 20) -> Report:
    """Build the report of careless work, of which an output shows a part."""
    people, stretches = found.by_annotator, found.stretches
    n_listed = Counter(stretch.annotator for stretch in stretches)
    rows = {
        name: {"annotator": name, "n_listed": n_listed[name], **asdict(work)}
        for name, work in people.items()
    }

    def blocks() -> Blocks:
        # Those who are named come first.
        order = sorted(rows.values(), key=lambda row: row["annotator"] not in found.below)
        nouns = f"{found.corpus.extent.noun}s"
        legend = (
            f"({nouns} with marks of two or more others; p adjusted for all annotators; another "
            "rule: next to the others' spans, away from them, or with other labels)"
        )
        yield " ".join(_said(found))
        yield table_of(order, _PEOPLE, "annotators", legend, top=top, n_documents=nouns)
        if stretches:
            title, columns = f"{nouns} to look at", _STRETCH.columns
            yield table_of(stretches, columns, title, _MATCHED, top=top, documents=nouns)

    return report_on(
        found.corpus,
        found.corpus,
        group=CARELESS,
        signature=str(found.settings),
        make_blocks=blocks,
        make_data=lambda: {
            **attributes(found, "level", *_NAMED, "stretches", "luck"),
            "annotators": rows,
        },
        make_rows=lambda: flat_rows(rows.values(), _WORK.columns),
    )


def _said(found: CarelessWork) -> Iterator[str]:
    """Say what is shown and no more, in sentences."""
    people, noun = found.by_annotator.values(), found.corpus.extent.noun
    who = in_list(found.below) if found.below else "none"
    yield f"Shown to agree less than half as much with the others as these among themselves: {who}."
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
