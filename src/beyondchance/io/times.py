"""Annotated recordings: from times to a corpus.

Where a file has times instead of a text, positions are the frames of a grid that the
user chooses. A recording of T seconds has as many frames as it takes to cover it. An
interval covers the frames between its two ends, each rounded to the nearest boundary
of the grid (half a frame goes up), and at least one frame. Times are exact fractions
throughout, so that a boundary which two intervals share stays one boundary.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from heapq import heappop, heappush
from math import lcm
from typing import NamedTuple

from beyondchance.annotations.corpus import MOST_POSITIONS, Corpus
from beyondchance.annotations.tags import UNNAMED
from beyondchance.errors import FormatError, MismatchError, OptionError, SpanError
from beyondchance.io.assembling import count_duplicate, matched
from beyondchance.io.options import Reading
from beyondchance.io.registry import Upload
from beyondchance.io.sources import Source
from beyondchance.io.values import quoting
from beyondchance.messages import Piece, Quote, Text, Use, pieces, quotes
from beyondchance.tallies import left_out, mended

Pair = tuple[int, int]

# So many digits and no more: a short number can stand for one that fills the memory.
_SECONDS = re.compile(r"[-+]?(?:\d{1,18}(?:\.\d{0,40})?|\.\d{1,40})(?:[eE][-+]?\d{1,2})?", re.ASCII)
_UNLABELLED = mended(f"annotations without a value, labelled {UNNAMED!r}")
_GRID = re.compile(r"(\d{1,9}(?:\.\d{1,9})?) ?(ms|s)", re.ASCII)


class Interval(NamedTuple):
    """A labelled stretch of a recording, in seconds, with its place in the file if known."""

    start: Fraction
    end: Fraction
    label: str
    where: Text = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """What one annotator did with one recording.

    Attributes
    ----------
    where : Text
        Its place, for messages.
    document, annotator : str
    duration : Fraction
        In seconds.
    intervals : list of Interval
        In any order.
    begin : Fraction
        The time at which the recording begins.
    is_least : bool
        Whether the duration is only the latest time that the file names: the recording
        may go on.
    """

    where: Text
    document: str
    annotator: str
    duration: Fraction
    intervals: list[Interval]
    begin: Fraction = Fraction(0)
    is_least: bool = False

    @property
    def end(self) -> Fraction:
        """The time at which the recording ends."""
        return self.begin + self.duration


class Tier(NamedTuple):
    """A named tier; its intervals are read only if it is wanted."""

    name: str
    intervals: Callable[[], list[Interval]]


@dataclass(frozen=True, slots=True, kw_only=True)
class TierFile:
    """A file with tiers, and how long it says that its recording lasts."""

    tiers: list[Tier]
    duration: Fraction
    begin: Fraction = Fraction(0)
    is_least: bool = False


def seconds(text: str) -> Fraction | None:
    """The number that a text stands for, exactly; None if it is none.

    Examples
    --------
    >>> seconds("0.35"), seconds("1e-3"), seconds("a")
    (Fraction(7, 20), Fraction(1, 1000), None)
    """
    return Fraction(text) if _SECONDS.fullmatch(text) else None


def grid_of(reading: Reading) -> Fraction:
    """The length of a frame in seconds, as the options say.

    Raises
    ------
    OptionError
        If there is none, or if it is not a length of time.
    """
    given: object = reading.options["grid"]
    if given is None:
        found = "times need a grid, the length of the frames that are counted as positions"
        raise OptionError(found, remedy=("pass, for instance, ", Use("grid", "10ms")))
    match = _GRID.fullmatch(given) if isinstance(given, str) else None
    if match is None or not Fraction(match[1]):
        raise OptionError(
            *("grid is ", Quote(given)),
            expected="a length of time with its unit, such as '10ms' or '0.01s'",
        )
    milliseconds = Decimal(match[1]) * (1 if match[2] == "ms" else 1000)
    # One spelling for one length: it stands in the signature.
    reading.signed["grid"] = f"{milliseconds.normalize():f}ms"
    return Fraction(milliseconds) / 1000


# --- Tiers --------------------------------------------------------------------


def corpus_of_tiers(
    uploads: Iterable[Upload],
    reading: Reading,
    *,
    parsed: Callable[[Source, Reading], TierFile],
    looks: Callable[[Source], bool],
    ending: str,
) -> Corpus:
    """Read files with tiers, and put what they hold on a grid.

    With ``tier="annotator"`` each tier is an annotator, each file a recording, and what
    is written in an interval its label. With ``tier="label"`` each file or folder is an
    annotator, and each tier a label. With ``tier="file"`` each file or folder is an
    annotator, and what is written in an interval its label.

    Parameters
    ----------
    uploads : iterable of Upload
    reading : Reading
    parsed : callable
        Reads one file.
    looks : callable
        Tells whether a file is of the format.
    ending : str
        The usual ending of its name.
    """
    grid_of(reading)
    files = [
        (upload, source, parsed(source, reading))
        for upload in uploads
        for source in upload.sources_of(looks, reading, ending)
    ]
    wanted = _wanted_tiers(reading, [tier.name for _, _, file in files for tier in file.tiers])
    recordings: list[Recording] = []
    for upload, source, file in files:
        _check_names(source, file)
        chosen = [tier for tier in file.tiers if tier.name in wanted]
        if chosen:
            recordings += _recordings(upload, source, file, chosen, reading)
        else:
            reading.skipped[left_out("files without a tier to read")] += 1
    return corpus_of(recordings, reading)


def _wanted_tiers(reading: Reading, names: list[str]) -> set[str]:
    """The tiers that the options select, all by default."""
    given: object = reading.options["layer"]
    if given is None:
        return set(names)
    wanted = [name.strip() for name in str(given).split(",")]
    for name in wanted:
        if name not in names:
            raise OptionError(
                *("layer ", Quote(name), " is no tier with intervals"),
                remedy=("there are: ", *quotes(dict.fromkeys(names), most=50)),
            )
    return set(wanted)


def _check_names(source: Source, file: TierFile) -> None:
    """Refuse tiers without a name, and two of one name."""
    seen = set()
    for number, tier in enumerate(file.tiers, start=1):
        if not tier.name:
            raise FormatError(f"tier {number} has no name", where=source.name, remedy="give it one")
        if tier.name in seen:
            raise FormatError(
                *("two tiers are named ", Quote(tier.name)),
                where=source.name,
                expected="a different name for each tier",
                remedy="rename one",
            )
        seen.add(tier.name)


def _recordings(
    upload: Upload, source: Source, file: TierFile, tiers: list[Tier], reading: Reading
) -> Iterator[Recording]:
    """What each annotator did with the recording of a file: the tiers, or the only one."""
    by_tier = reading.options["tier"] == "annotator"
    document = upload.document_of(source)
    if by_tier:
        reading.met(upload.name, [tier.name for tier in tiers])
        upload.check_named([tier.name for tier in tiers])
        is_one = upload.is_folder or upload.is_named
        document = document if is_one else upload.annotator
    for part in [[tier] for tier in tiers] if by_tier else [tiers]:
        yield Recording(
            where=(f"{source.name}: tier ", Quote(part[0].name)) if by_tier else source.name,
            document=document,
            annotator=part[0].name if by_tier and not upload.is_named else upload.annotator,
            duration=file.duration,
            intervals=[interval for tier in part for interval in _labelled(tier, reading)],
            begin=file.begin,
            is_least=file.is_least,
        )


def _labelled(tier: Tier, reading: Reading) -> Iterator[Interval]:
    """The intervals of a tier; those without a value are labelled as such and counted."""
    for interval in tier.intervals():
        if reading.options["tier"] == "label":
            yield interval._replace(label=tier.name)
        elif interval.label:
            yield interval
        else:
            reading.skipped[_UNLABELLED] += 1
            yield interval._replace(label=UNNAMED)


# --- The grid -----------------------------------------------------------------


def corpus_of(recordings: Iterable[Recording], reading: Reading) -> Corpus:
    """Put recordings on the grid that the options name.

    Raises
    ------
    OptionError
        If there is no grid.
    MismatchError
        If a recording lasts longer for one annotator than for another.
    FormatError, SpanError
        For an interval that has no place in its recording.
    """
    grid = grid_of(reading)
    groups = matched(recordings, reading, kind="recording", text_of=_no_text)
    if not groups:
        raise FormatError("no annotated recording was found", expected="at least one")
    rows: list[tuple[int, str, int, int, str]] = []
    lengths: list[int] = []
    for number, (document, group) in enumerate(groups.items()):
        begin, n_frames = _extent(document, group, grid, reading)
        lengths.append(n_frames)
        for recording in group:
            placed = _placed(recording, begin, n_frames, grid, reading)
            rows += ((number, recording.annotator, *frames) for frames in placed)
    reading.check()
    text, annotator, start, end, label = zip(*rows, strict=True) if rows else [()] * 5
    return Corpus.from_columns(
        text=text,
        annotator=annotator,
        start=start,
        end=end,
        label=label,
        lengths=lengths,
        documents=list(groups),
        annotated=[(name, one.annotator) for name, group in groups.items() for one in group],
        annotators=list(dict.fromkeys(one.annotator for group in groups.values() for one in group)),
        unit="document",
        positions="frames",
    )


def _no_text(_: Recording) -> str:
    found = "recordings have no text to match by"
    raise OptionError(found, remedy=("pass ", Use("match", "id"), " or ", Use("match", "order")))


def _extent(
    document: str, group: list[Recording], grid: Fraction, reading: Reading
) -> tuple[Fraction, int]:
    """When a recording begins, and how many frames it has."""
    exact = [one for one in group if not one.is_least]
    telling = exact or group
    first = telling[0]
    for one in exact[1:]:
        if max(abs(one.begin - first.begin), abs(one.end - first.end)) >= grid:
            raise MismatchError(
                *("recording ", Quote(document), f" goes {_range(one)}, but {_range(first)} at "),
                *pieces(first.where),
                where=one.where,
                expected="the same recording",
            )
    begin = min(one.begin for one in telling)
    n_frames = -((begin - max(one.end for one in telling)) // grid)
    if n_frames <= 0:
        found = quoting("recording {} has no length", document)
        raise FormatError(*found, where=first.where, expected="it to last some time")
    if n_frames > MOST_POSITIONS:
        raise FormatError(
            *("recording ", Quote(document)),
            f" has {n_frames:,} frames of {reading.signed['grid']}",
            where=first.where,
            expected=f"at most {MOST_POSITIONS:,}",
            remedy="choose a coarser grid",
        )
    return begin, n_frames


def _placed(
    recording: Recording, begin: Fraction, n_frames: int, grid: Fraction, reading: Reading
) -> Iterator[tuple[int, int, str]]:
    """The frames of each interval, and its label."""
    times, rounded = _rounded(recording, begin, grid)
    for interval, (first, last) in zip(recording.intervals, rounded, strict=True):
        _check_inside(interval, first, last, n_frames, recording)
    frames = _apart(times, rounded)
    if any(high > n_frames for _, high in frames):
        # Back from the end: the same, seen in a mirror.
        mirrored = _apart(
            [(-end, -start) for start, end in times],
            [(n_frames - high, n_frames - low) for low, high in frames],
        )
        frames = [(n_frames - high, n_frames - low) for low, high in mirrored]
    seen: set[tuple[int, int, str]] = set()
    for interval, wanted, (low, high) in zip(recording.intervals, rounded, frames, strict=True):
        if low < 0:
            raise SpanError(
                *_named(interval),
                f" finds no frame of {reading.signed['grid']}, because there are more intervals "
                "than frames",
                where=interval.where or recording.where,
                remedy="choose a finer grid",
            )
        if wanted[0] == wanted[1]:
            reading.skipped[mended("intervals lengthened to one frame")] += 1
        elif wanted != (low, high):
            reading.skipped[mended("intervals cut or moved to make room for a lengthened one")] += 1
        if (low, high, interval.label) in seen:
            same = " covers the same frames as another with that label by {}"
            found = (*_named(interval), *quoting(same, recording.annotator))
            told = (found, interval.where or recording.where)
            count_duplicate(lambda told=told: told, reading)  # type: ignore[misc]
            continue
        seen.add((low, high, interval.label))
        yield low, high, interval.label


def _apart(times: list[Pair], frames: list[Pair]) -> list[Pair]:
    """Give each interval at least one frame, from 0 on.

    Intervals that do not overlap in time do not overlap on the grid either: where one has
    to be lengthened, those after it begin no earlier than it ends.
    """
    placed = list(frames)
    free = 0  # the first frame that is not taken by an interval which is over
    running: list[Pair] = []
    for index in sorted(range(len(times)), key=times.__getitem__):
        start, end = times[index]
        while running and running[0][0] <= start:
            free = max(free, heappop(running)[1])
        low = max(frames[index][0], free)
        high = max(frames[index][1], low + 1)
        placed[index] = (low, high)
        heappush(running, (end, high))
    return placed


def _rounded(
    recording: Recording, begin: Fraction, grid: Fraction
) -> tuple[list[Pair], list[Pair]]:
    """The times of intervals, and the nearest boundaries of the grid, the later one of two.

    Times are whole numbers of the longest tick that measures them all: as exact as
    fractions, and faster by far.
    """
    denominators = {time.denominator for one in recording.intervals for time in one[:2]}
    scale = lcm(begin.denominator, grid.denominator, *denominators)

    def ticks(time: Fraction) -> int:
        return time.numerator * (scale // time.denominator)

    origin, width = ticks(begin), ticks(grid)
    times = [(ticks(one.start), ticks(one.end)) for one in recording.intervals]
    boundaries = [
        ((2 * (start - origin) + width) // (2 * width), (2 * (end - origin) + width) // (2 * width))
        for start, end in times
    ]
    return times, boundaries


def _check_inside(
    interval: Interval, first: int, last: int, n_frames: int, recording: Recording
) -> None:
    """Refuse an interval that is reversed or does not lie in its recording."""
    where = interval.where or recording.where
    if interval.end < interval.start:
        found = (*_named(interval), " ends before it starts")
        raise FormatError(*found, where=where, expected="start <= end")
    if first < 0 or last > n_frames:
        raise FormatError(
            *_named(interval),
            f" does not lie in the recording, which goes {_range(recording)}",
            where=where,
        )


def _named(interval: Interval) -> tuple[Piece, ...]:
    """Name an interval in a message: its times and its label."""
    times = f"[{_spelled(interval.start)}, {_spelled(interval.end)})"
    return f"interval {times} s ", Quote(interval.label)


def _range(recording: Recording) -> str:
    return f"from {_spelled(recording.begin)} to {_spelled(recording.end)} s"


def _spelled(time: Fraction) -> str:
    return f"{float(time):.12g}"
