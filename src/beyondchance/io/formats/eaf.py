"""ELAN annotation files.

By default each tier is an annotator and the value of an annotation its label; with
``tier="label"`` each file or folder is an annotator and each tier a label. ``layer``
selects tiers by name, separated by commas. An annotation without a value is a span
without a name, ``_``.

Where ELAN stores no times, those are taken at which it shows the annotation: time slots
without a value divide the stretch between their neighbours evenly, and annotations that
refer to another divide its stretch evenly.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import NamedTuple
from xml.etree.ElementTree import Element

from beyondchance.annotations.corpus import Corpus
from beyondchance.io.markup import check_distinct, outermost, xml_root
from beyondchance.io.options import Reading
from beyondchance.io.registry import Upload, by_files
from beyondchance.io.sources import Source
from beyondchance.io.times import Interval, Recording, Tier, corpus_of_tiers
from beyondchance.io.values import refusal
from beyondchance.messages import Piece, Quote, Use
from beyondchance.tallies import mended, not_read

Times = dict[str, tuple[Fraction, Fraction]]
Slots = dict[str, Fraction | None]

_DOCUMENT = "ANNOTATION_DOCUMENT"
_MILLISECONDS = re.compile(r"\s*\+?[0-9]{1,15}\s*")
# What an annotation must have, by its kind.
_NEEDED = {
    "ALIGNABLE_ANNOTATION": ("TIME_SLOT_REF1", "TIME_SLOT_REF2"),
    "REF_ANNOTATION": ("ANNOTATION_REF",),
}


def read(uploads: list[Upload], reading: Reading) -> Corpus:
    """Read ELAN files.

    A recording lasts until the latest time slot that any of its annotators has, because the
    files do not store its duration.

    Raises
    ------
    FormatError
        For a file that ELAN did not write.
    """
    found = corpus_of_tiers(uploads, reading, parsed=_parsed, looks=_looks, ending=".eaf")
    reading.note(
        "ELAN does not store how long a recording lasts; it is taken to last until the latest "
        "time slot of any of its annotators"
    )
    return found


def _looks(source: Source) -> bool:
    """Return whether the outermost element is that of ELAN."""
    return outermost(source) == _DOCUMENT


is_format = by_files(any, _looks)


def _parsed(source: Source, reading: Reading) -> tuple[Recording, list[Tier]]:
    """Read one file."""
    where = source.name
    root = xml_root(source, program="ELAN", name=_DOCUMENT)
    for header in root.iterfind("HEADER[@TIME_UNITS]"):
        if (unit := header.get("TIME_UNITS")) != "milliseconds":
            raise refusal(where, "counts times in {}", unit, expected="milliseconds")
    slots = _slots(root, where)
    elements = root.findall("TIER")
    check_distinct((tier.get("TIER_ID") for tier in elements), "tier", where)
    rows = {tier.attrib["TIER_ID"]: list(_annotations(tier, where)) for tier in elements}
    check_distinct((one.key for row in rows.values() for one in row), "annotation", where)
    # What the annotations of a tier refer to may be in a tier after it.
    times = _times(rows.values(), slots)
    # ELAN puts this tier into every new file.
    if rows.get("default") == []:
        del rows["default"]
        reading.skipped[not_read("empty default tiers", " left out")] += 1
    tiers = [
        Tier(
            name, partial(_intervals, row, times, slots, (f"{where}: tier ", Quote(name)), reading)
        )
        for name, row in rows.items()
    ]
    known = [time for time in slots.values() if time is not None]
    latest = max(known, default=Fraction(0))
    return Recording(where=where, duration=latest, is_least=True), tiers


def _slots(root: Element, where: str) -> Slots:
    """Return time slots in seconds; None where ELAN stores no time."""
    elements = root.findall("TIME_ORDER/TIME_SLOT")
    check_distinct((slot.get("TIME_SLOT_ID") for slot in elements), "time slot", where)
    slots: Slots = {}
    for slot in elements:
        name, value = slot.attrib["TIME_SLOT_ID"], slot.get("TIME_VALUE")
        if value is not None and not _MILLISECONDS.fullmatch(value):
            raise refusal(
                where, "the time of slot {} is {}", name, value, expected="milliseconds from 0 on"
            )
        slots[name] = None if value is None else Fraction(int(value), 1000)
    return slots


class _Annotation(NamedTuple):
    """An annotation between two time slots, or one that refers to another."""

    key: str
    value: str
    ends: Sequence[str]
    previous: str | None


def _annotations(tier: Element, where: str) -> Iterator[_Annotation]:
    for element in tier.iterfind("ANNOTATION/*"):
        if element.tag not in _NEEDED:
            continue
        needed = ("ANNOTATION_ID", *_NEEDED[element.tag])
        given = [element.get(name) for name in needed]
        value = element.find("ANNOTATION_VALUE")
        if None in given or value is None:
            raise refusal(
                where,
                "an annotation of tier {} is incomplete",
                tier.attrib["TIER_ID"],
                expected=f"{', '.join(needed)}, ANNOTATION_VALUE",
                remedy="open the file in ELAN and save it again",
            )
        key, *ends = map(str, given)
        text = (value.text or "").strip()
        yield _Annotation(key, text, ends, element.get("PREVIOUS_ANNOTATION"))


def _times(rows: Iterable[Sequence[_Annotation]], slots: Slots) -> Times:
    """Return when each annotation starts and ends, where that can be determined."""
    times: Times = {}
    filled = dict(slots)
    waiting = []
    for row in rows:
        aligned = {one.key: (one.ends[0], one.ends[1]) for one in row if len(one.ends) == 2}
        _spread(aligned.values(), filled)
        for key, (first, last) in aligned.items():
            start, end = filled.get(first), filled.get(last)
            if start is not None and end is not None:
                times[key] = (start, end)
        waiting.append([one for one in row if one.key not in aligned])
    n_left = -1
    while n_left != len(waiting):
        n_left = len(waiting)
        waiting = [referring for referring in waiting if not _divide(referring, times)]
    return times


def _spread(pairs: Iterable[tuple[str, str]], slots: Slots) -> None:
    """Fill in time slots without a time, evenly between those of a row that have one."""
    following = {start: end for start, end in pairs if None in (slots.get(start), slots.get(end))}
    for first in [slot for slot in following if slots.get(slot) is not None]:
        row = [first]
        while row[-1] in following:
            row.append(following.pop(row[-1]))
            if slots.get(row[-1]) is not None:
                break
        begin, end = slots[first], slots.get(row[-1])
        if begin is None or end is None:
            continue
        for number, slot in enumerate(row[1:-1], start=1):
            slots[slot] = begin + (end - begin) * number / (len(row) - 1)


def _divide(referring: Iterable[_Annotation], times: Times) -> bool:
    """Divide the stretches of annotations among those of a tier that refer to them.

    Returns whether that could be done: the times of all of them have to be known.
    """
    children: dict[str, dict[str, str | None]] = {}
    for one in referring:
        if one.ends[0] not in times:
            return False
        children.setdefault(one.ends[0], {})[one.key] = one.previous
    for parent, siblings in children.items():
        start, end = times[parent]
        share = (end - start) / len(siblings)
        for number, key in enumerate(_in_order(siblings)):
            times[key] = (start + number * share, start + (number + 1) * share)
    return True


def _in_order(siblings: Mapping[str, str | None]) -> list[str]:
    """Return siblings, each after the one that it names as previous; as they come if that fails."""
    after = {previous: key for key, previous in siblings.items()}
    ordered: list[str] = []
    last: str | None = None
    while last in after:
        last = after.pop(last)
        ordered.append(last)
    return ordered if len(ordered) == len(siblings) else list(siblings)


def _intervals(
    row: Sequence[_Annotation],
    times: Times,
    slots: Slots,
    place: tuple[Piece, ...],
    reading: Reading,
) -> list[Interval]:
    """Return the annotations of a tier, and count those that store no times."""
    found = []
    for one in row:
        where = (*place, ", annotation ", Quote(one.key))
        if one.key not in times:
            raise refusal(
                where,
                "has no time, and none follows from the annotations around it",
                remedy=("give it one in ELAN, or choose other tiers with ", Use("layer")),
            )
        found.append(Interval(*times[one.key], one.value, where))
        if len(one.ends) == 1:
            reading.skipped[mended("annotations placed in those that they refer to")] += 1
        elif None in map(slots.get, one.ends):
            reading.skipped[
                mended("annotations placed by spreading time slots without a time")
            ] += 1
    return found
