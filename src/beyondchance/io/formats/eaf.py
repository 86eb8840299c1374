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
from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import partial
from typing import Any
from xml.etree.ElementTree import ParseError

from beyondchance.annotations.corpus import Corpus
from beyondchance.errors import FormatError
from beyondchance.io.options import Reading
from beyondchance.io.registry import Upload, required
from beyondchance.io.sources import Source, safe_xml
from beyondchance.io.times import Interval, Tier, TierFile, corpus_of_tiers

Times = dict[str, tuple[Fraction, Fraction]]
Slots = dict[str, Fraction | None]

_ROOT = re.compile(r"<([A-Za-z_][\w:.-]*)")
_COMMENT = re.compile(rb"<!--.*?-->", re.DOTALL)
_LATEST = 10**15  # milliseconds: longer than anybody listens


def is_format(upload: Upload) -> bool:
    """Whether the content looks like ELAN: its outermost element says so."""
    return upload.data is None and any(map(_looks, upload.sources))


def read(uploads: list[Upload], reading: Reading) -> Corpus:
    """Read ELAN files.

    A recording lasts until the latest time slot that any of its annotators has, for the
    files do not say how long it is.

    Raises
    ------
    FormatError
        For a file that ELAN did not write.
    """
    found = corpus_of_tiers(uploads, reading, parsed=_parsed, looks=_looks, ending=".eaf")
    reading.notes.append(
        "ELAN does not store how long a recording lasts; it is taken to last until the latest "
        "time slot of any of its annotators"
    )
    return found


def _looks(source: Source) -> bool:
    return _outermost(source) == "ANNOTATION_DOCUMENT"


def _outermost(source: Source) -> str | None:
    """The name of the first element, if this is XML."""
    head = source.head_text
    match = _ROOT.search(head) if head.lstrip().startswith("<") else None
    return match[1] if match else None


def _parsed(source: Source, reading: Reading) -> TierFile:
    """Read one file."""
    eaf = _read_by_library(source)
    slots = _slots(eaf, source)
    known = [time for time in slots.values() if time is not None]
    tiers = []
    # What a tier's annotations refer to may stand in a tier after it.
    times = _times(eaf, slots)
    for name, (aligned, referring, *_) in eaf.tiers.items():
        # ELAN puts this tier into every new file.
        if name == "default" and not aligned and not referring:
            reading.skipped["empty default tiers left out"] += 1
            continue
        place = f"{source.name}: tier {name!r}"
        tiers.append(Tier(name, partial(_intervals, eaf.tiers[name], times, slots, place, reading)))
    return TierFile(tiers=tiers, duration=max(known, default=Fraction(0)), is_least=True)


def _read_by_library(source: Source) -> Any:
    """Let pympi read the file, and check that it found all that is there."""
    data = safe_xml(source)
    if not _looks(source):
        outermost = _outermost(source)
        found = f"<{outermost}>" if outermost else "no XML"
        raise FormatError(
            f"{source.name}: found {found}; expected an ELAN file, whose outermost element is "
            "<ANNOTATION_DOCUMENT>"
        )
    # The library opens files by their path, and nothing is written to disk for it.
    if source.path is None:
        raise FormatError(
            f"{source.name}: an ELAN file in an archive; expected a file of its own: unpack it"
        )
    pympi = required("pympi", extra="eaf", purpose="reading ELAN files")
    try:
        eaf = pympi.Elan.Eaf(str(source.path.resolve()), suppress_version_warning=True)
    except Exception as error:
        raise FormatError(_complaint(source, error)) from None
    unit = eaf.header.get("TIME_UNITS", "milliseconds")
    if unit != "milliseconds":
        raise FormatError(f"{source.name}: counts times in {unit!r}; expected milliseconds")
    # The library lets a second one of the same name take the place of the first.
    plain = _COMMENT.sub(b"", data.replace(b"\0", b""))
    n_annotations = sum(len(tier[0]) + len(tier[1]) for tier in eaf.tiers.values())
    for kind, tags, n_read in (
        ("time slots", rb"TIME_SLOT", len(eaf.timeslots)),
        ("tiers", rb"TIER", len(eaf.tiers)),
        ("annotations", rb"(?:ALIGNABLE|REF)_ANNOTATION", n_annotations),
    ):
        n_written = len(re.findall(rb"<" + tags + rb"[\s/>]", plain))
        if n_written != n_read:
            raise FormatError(
                f"{source.name}: holds {n_written} {kind}, of which {n_read} can be told apart; "
                "expected an identifier of its own for each"
            )
    return eaf


def _complaint(source: Source, error: Exception) -> str:
    """What is wrong with a file that the library could not read."""
    cause = error.__context__
    if isinstance(cause, ParseError):
        return f"{source.name}:{cause.position[0]}: not valid XML ({cause})"
    lacks = f"lacks {error}" if isinstance(error, KeyError) else str(error)
    return (
        f"{source.name}: not an ELAN file that can be read ({lacks}); open it in ELAN and save it "
        "again"
    )


def _slots(eaf: Any, source: Source) -> Slots:
    """Time slots in seconds; None where ELAN stores no time."""
    slots: Slots = {}
    for name, value in eaf.timeslots.items():
        if value is not None and not 0 <= value <= _LATEST:
            found = value if abs(value) <= _LATEST else "too large"
            raise FormatError(
                f"{source.name}: the time of slot {name!r} is {found}; expected milliseconds from "
                "0 on"
            )
        slots[name] = None if value is None else Fraction(value, 1000)
    return slots


def _times(eaf: Any, slots: Slots) -> Times:
    """When each annotation starts and ends, for all of which that can be told."""
    times: Times = {}
    filled = dict(slots)
    waiting = []
    for tier in eaf.tiers.values():
        aligned, referring = tier[:2]
        _spread([annotation[:2] for annotation in aligned.values()], filled)
        for key, (first, last, *_) in aligned.items():
            start, end = filled.get(first), filled.get(last)
            if start is not None and end is not None:
                times[key] = (start, end)
        if referring:
            waiting.append(referring)
    while waiting:
        left = [referring for referring in waiting if not _divide(referring, times)]
        if len(left) == len(waiting):
            break
        waiting = left
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


def _divide(referring: Mapping[str, Any], times: Times) -> bool:
    """Divide the stretches of annotations among those of a tier that refer to them.

    Returns whether that could be done: the times of all of them have to be known.
    """
    children: dict[str, dict[str, str | None]] = {}
    for key, (parent, _, previous, _) in referring.items():
        if parent not in times:
            return False
        children.setdefault(parent, {})[key] = previous
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
    tier: tuple[Any, ...], times: Times, slots: Slots, place: str, reading: Reading
) -> list[Interval]:
    """The annotations of a tier."""
    aligned, referring = tier[:2]
    values = {key: value for key, (_, _, value, _) in aligned.items()}
    values |= {key: value for key, (_, value, _, _) in referring.items()}
    found = []
    for key, value in values.items():
        where = f"{place}, annotation {key!r}"
        if key not in times:
            raise FormatError(
                f"{where} has no time, and none follows from those around it; give it one in "
                "ELAN, or choose other tiers with layer="
            )
        found.append(Interval(*times[key], value.strip(), where))
    counts = {
        "annotations placed by spreading time slots without a time": sum(
            None in (slots.get(first), slots.get(last)) for first, last, *_ in aligned.values()
        ),
        "annotations placed in those that they refer to": len(referring),
    }
    # Only what did occur.
    reading.skipped.update({name: n for name, n in counts.items() if n})
    return found
