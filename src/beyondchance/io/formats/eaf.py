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
from beyondchance.errors import FormatError
from beyondchance.io.markup import check_distinct, outermost, xml_root
from beyondchance.io.options import Reading
from beyondchance.io.registry import Upload, by_files
from beyondchance.io.sources import Source
from beyondchance.io.times import Interval, Tier, TierFile, corpus_of_tiers
from beyondchance.io.values import quoting
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
    """Whether the outermost element is that of ELAN."""
    return outermost(source.head_text) == _DOCUMENT


is_format = by_files(any, _looks)


def _parsed(source: Source, reading: Reading) -> TierFile:
    """Read one file."""
    root = _root(source)
    slots = _slots(root, source.name)
    elements = root.findall("TIER")
    check_distinct((tier.get("TIER_ID") for tier in elements), "tier", source.name)
    rows = {tier.attrib["TIER_ID"]: list(_annotations(tier, source.name)) for tier in elements}
    check_distinct((one.key for row in rows.values() for one in row), "annotation", source.name)
    # What the annotations of a tier refer to may be in a tier after it.
    times = _times(rows.values(), slots)
    tiers = []
    for name, row in rows.items():
        # ELAN puts this tier into every new file.
        if name == "default" and not row:
            reading.skipped[not_read("empty default tiers", " left out")] += 1
            continue
        place = (f"{source.name}: tier ", Quote(name), ", annotation ")
        tiers.append(Tier(name, partial(_intervals, row, times, slots, place, reading)))
    known = [time for time in slots.values() if time is not None]
    return TierFile(tiers=tiers, duration=max(known, default=Fraction(0)), is_least=True)


def _root(source: Source) -> Element:
    """The outermost element, refused if ELAN did not write it."""
    first = outermost(source.head_text)
    root = xml_root(source, program="ELAN") if first == _DOCUMENT else None
    if root is None or root.tag != _DOCUMENT:
        raise FormatError(
            "found ",
            "no XML" if first is None else f"<{first}>",
            where=source.name,
            expected=f"an ELAN file, whose outermost element is <{_DOCUMENT}>",
        )
    header = root.find("HEADER")
    unit = "milliseconds" if header is None else header.get("TIME_UNITS", "milliseconds")
    if unit != "milliseconds":
        found = quoting("counts times in {}", unit)
        raise FormatError(*found, where=source.name, expected="milliseconds")
    return root


def _slots(root: Element, where: str) -> Slots:
    """Time slots in seconds; None where ELAN stores no time."""
    elements = root.findall("TIME_ORDER/TIME_SLOT")
    check_distinct((slot.get("TIME_SLOT_ID") for slot in elements), "time slot", where)
    slots: Slots = {}
    for slot in elements:
        name, value = slot.attrib["TIME_SLOT_ID"], slot.get("TIME_VALUE")
        if value is not None and not _MILLISECONDS.fullmatch(value):
            found = quoting("the time of slot {} is {}", name, value)
            raise FormatError(*found, where=where, expected="milliseconds from 0 on")
        slots[name] = None if value is None else Fraction(int(value), 1000)
    return slots


class _Annotation(NamedTuple):
    """An annotation between two time slots, or one that refers to another."""

    key: str
    value: str
    slots: tuple[str, str] | None
    parent: str = ""
    previous: str | None = None


def _annotations(tier: Element, where: str) -> Iterator[_Annotation]:
    for element in tier.iterfind("ANNOTATION/*"):
        if element.tag not in _NEEDED:
            continue
        given = [element.get(name) for name in ("ANNOTATION_ID", *_NEEDED[element.tag])]
        value = element.find("ANNOTATION_VALUE")
        if None in given or value is None:
            raise FormatError(
                "an annotation of tier ",
                Quote(tier.attrib["TIER_ID"]),
                " is incomplete",
                where=where,
                expected=f"ANNOTATION_ID, {', '.join(_NEEDED[element.tag])}, ANNOTATION_VALUE",
                remedy="open the file in ELAN and save it again",
            )
        key, *others = map(str, given)
        text = (value.text or "").strip()
        if len(others) == 2:
            yield _Annotation(key, text, (others[0], others[1]))
        else:
            yield _Annotation(key, text, None, others[0], element.get("PREVIOUS_ANNOTATION"))


def _times(rows: Iterable[Sequence[_Annotation]], slots: Slots) -> Times:
    """When each annotation starts and ends, where that can be determined."""
    times: Times = {}
    filled = dict(slots)
    waiting = []
    for row in rows:
        aligned = {one.key: one.slots for one in row if one.slots is not None}
        _spread(aligned.values(), filled)
        for key, (first, last) in aligned.items():
            start, end = filled.get(first), filled.get(last)
            if start is not None and end is not None:
                times[key] = (start, end)
        waiting.append([one for one in row if one.slots is None])
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
        if one.parent not in times:
            return False
        children.setdefault(one.parent, {})[one.key] = one.previous
    for parent, siblings in children.items():
        start, end = times[parent]
        share = (end - start) / len(siblings)
        for number, key in enumerate(_in_order(siblings)):
            times[key] = (start + number * share, start + (number + 1) * share)
    return True


def _in_order(siblings: Mapping[str, str | None]) -> list[str]:
    """Siblings, each after the one that it names as previous; as they come if that fails."""
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
    """The annotations of a tier."""
    found = []
    for one in row:
        if one.key not in times:
            raise FormatError(
                "has no time, and none follows from the annotations around it",
                where=(*place, Quote(one.key)),
                remedy=("give it one in ELAN, or choose other tiers with ", Use("layer")),
            )
        found.append(Interval(*times[one.key], one.value, (*place, Quote(one.key))))
        if one.slots is None:
            reading.skipped[mended("annotations placed in those that they refer to")] += 1
        elif None in map(slots.get, one.slots):
            reading.skipped[
                mended("annotations placed by spreading time slots without a time")
            ] += 1
    return found
