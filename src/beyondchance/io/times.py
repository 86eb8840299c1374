"""Annotated recordings: from times to a corpus.

Where a file has times instead of a text, positions are the frames of a grid that the
user chooses. A recording of T seconds has as many frames as it takes to cover it. An
interval covers the frames between its two ends, each rounded to the nearest boundary
of the grid (half a frame goes up), and at least one frame. Times are exact fractions
throughout, so that a boundary which two intervals share stays one boundary.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from heapq import heappop, heappush
from math import lcm
from typing import NamedTuple

from beyondchance.annotations.corpus import MOST_POSITIONS, Corpus
from beyondchance.annotations.tags import UNNAMED
from beyondchance.errors import FormatError, MismatchError, OptionError, SpanError
from beyondchance.io.assembling import matched
from beyondchance.io.conventions import count_duplicate
from beyondchance.io.layers import asked_names
from beyondchance.io.markup import check_distinct
from beyondchance.io.options import Reading
from beyondchance.io.registry import Upload
from beyondchance.io.sources import Source
from beyondchance.io.values import quoting, refusal
from beyondchance.messages import Quote, Text, Use, pieces, quotes
from beyondchance.tallies import left_out, mended

Pair = tuple[int, int]

# So many digits and no more: a short number can stand for one that fills the memory.
_SECONDS = re.compile(r"[-+]?(?:\d{1,18}(?:\.\d{0,40})?|\.\d{1,40})(?:[eE][-+]?\d{1,2})?", re.ASCII)
_GRID = re.compile(r"(\d{1,9}(?:\.\d{1,9})?) ?(ms|s)", re.ASCII)


class Interval(NamedTuple):
    """A labelled stretch of a recording, in seconds, with its place in the file if known."""

    start: Fraction
    end: Fraction
    label: str
    where: Text = ""

    def __str__(self) -> str:
        return f"interval [{_spelled(self.start)}, {_spelled(self.end)}) s"


class Recording(NamedTuple):
    """What one annotator did with one recording.

    Attributes
    ----------
    where : Text
        Its place, for messages.
    duration : Fraction
        In seconds.
    document, annotator : str
    intervals : sequence of Interval
        In any order.
    begin : Fraction
        The time at which the recording begins.
    is_least : bool
        Whether the duration is only the latest time that the file names: the recording
        may go on.
    """

    where: Text
    duration: Fraction
    document: str = ""
    annotator: str = ""
    intervals: Sequence[Interval] = ()
    begin: Fraction = Fraction(0)
    is_least: bool = False

    @property
    def end(self) -> Fraction:
        """The time at which the recording ends."""
        return self.begin + self.duration

    def __str__(self) -> str:
        return f"goes from {_spelled(self.begin)} to {_spelled(self.end)} s"


class Tier(NamedTuple):
    """A named tier; its intervals are read only if it is wanted."""

    name: str
    intervals: Callable[[], list[Interval]]


def _spelled(time: Fraction) -> str:
    return f"{float(time):.12g}"


def seconds(text: str) -> Fraction | None:
    """Return the number that a text stands for, exactly; None if it is none.

    Examples
    --------
    >>> seconds("0.35"), seconds("1e-3"), seconds("a")
    (Fraction(7, 20), Fraction(1, 1000), None)
    """
    return Fraction(text) if _SECONDS.fullmatch(text) else None


def grid_of(reading: Reading) -> Fraction:
    """Return the length of a frame in seconds, as the options say.

    Raises
    ------
    OptionError
        If there is none, or if it is not a length of time.
    """
    given: object = reading.options["grid"]
    match = _GRID.fullmatch(given) if isinstance(given, str) else None
    if match is None or not Fraction(match[1]):
        raise OptionError(
            *("grid is ", "missing" if given is None else Quote(given)),
            expected="a length with its unit, because times are counted in frames as positions",
            remedy=("pass, for instance, ", Use("grid", "10ms")),
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
    parsed: Callable[[Source, Reading], tuple[Recording, Sequence[Tier]]],
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
        Reads one file: its recording without intervals, and the tiers that have them.
    looks : callable
        Tells whether a file is of the format.
    ending : str
        The usual ending of its name.
    """
    grid_of(reading)
    files = [
        (upload, source, *parsed(source, reading))
        for upload in uploads
        for source in upload.sources_of(looks, reading, ending)
    ]
    known = dict.fromkeys(tier.name for *_, tiers in files for tier in tiers)
    wanted = asked_names(reading) or known
    for name in wanted:
        if name not in known:
            raise OptionError(
                *("layer ", Quote(name), " is no tier with intervals"),
                remedy=("there are: ", *quotes(known, most=50)),
            )
    recordings: list[Recording] = []
    for upload, source, recording, tiers in files:
        check_distinct((tier.name or None for tier in tiers), "tier", source.name)
        chosen = [tier for tier in tiers if tier.name in wanted]
        reading.skipped[left_out("files without a tier to read")] += not chosen
        document = upload.document_of(source)
        parts = [chosen] if chosen else []
        if by_tier := bool(chosen) and reading.options["tier"] == "annotator":
            names = [tier.name for tier in chosen]
            reading.met(upload.name, names)
            upload.check_named(names)
            is_one = upload.is_folder or upload.is_named
            document = document if is_one else upload.annotator
            parts = [[tier] for tier in chosen]
        recordings += (
            recording._replace(
                where=(f"{source.name}: tier ", Quote(part[0].name)) if by_tier else source.name,
                document=document,
                annotator=part[0].name if by_tier and not upload.is_named else upload.annotator,
                intervals=[_labelled(one, tier, reading) for tier in part for one in tier[1]()],
            )
            for part in parts
        )
    return corpus_of(recordings, reading)


def _labelled(interval: Interval, tier: Tier, reading: Reading) -> Interval:
    """Label an interval by its tier, or as one without a value, which is counted."""
    if reading.options["tier"] == "label":
        return interval._replace(label=tier.name)
    if not interval.label:
        reading.skipped[mended(f"annotations without a value, labelled {UNNAMED!r}")] += 1
    return interval if interval.label else interval._replace(label=UNNAMED)


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
    annotated = [(name, one.annotator) for name, group in groups.items() for one in group]
    return Corpus.from_columns(
        text=text,
        annotator=annotator,
        start=start,
        end=end,
        label=label,
        lengths=lengths,
        documents=list(groups),
        annotated=annotated,
        annotators=list(dict.fromkeys(who for _, who in annotated)),
        unit="document",
        positions="frames",
    )


def _no_text(_: Recording) -> str:
    raise OptionError(
        "recordings have no text to match by",
        remedy=("pass ", Use("match", "id"), " or ", Use("match", "order")),
    )


def _extent(
    document: str, group: list[Recording], grid: Fraction, reading: Reading
) -> tuple[Fraction, int]:
    """Return when a recording begins, and how many frames it has."""
    exact = [one for one in group if not one.is_least]
    telling = exact or group
    first = telling[0]
    for one in exact[1:]:
        if max(abs(one.begin - first.begin), abs(one.end - first.end)) >= grid:
            raise refusal(
                one.where,
                f"recording {{}} {one}, but {first} at {{}}",
                *(document, pieces(first.where)),
                expected="the same recording",
                kind=MismatchError,
            )
    begin = min(one.begin for one in telling)
    n_frames = -((begin - max(one.end for one in telling)) // grid)
    if not 0 < n_frames <= MOST_POSITIONS:
        raise refusal(
            first.where,
            f"recording {{}} has {n_frames:,} frames of {reading.signed['grid']}",
            document,
            expected=f"at least one and at most {MOST_POSITIONS:,}",
            remedy="choose a coarser grid" if n_frames > 0 else (),
        )
    return begin, n_frames


def _rounded(
    recording: Recording, begin: Fraction, n_frames: int, grid: Fraction
) -> tuple[list[Pair], list[Pair]]:
    """Return the times of intervals in ticks, and the boundaries of the grid next to them.

    A tick is the longest time that measures them all: as exact as fractions, and faster by far.

    Raises
    ------
    FormatError
        For an interval that is reversed or does not lie in its recording.
    """
    denominators = {time.denominator for one in recording.intervals for time in one[:2]}
    scale = lcm(begin.denominator, grid.denominator, *denominators)

    def ticks(time: Fraction) -> int:
        return time.numerator * (scale // time.denominator)

    origin, width = ticks(begin), ticks(grid)
    times = [(ticks(one.start), ticks(one.end)) for one in recording.intervals]
    rounded = [
        ((2 * (start - origin) + width) // (2 * width), (2 * (end - origin) + width) // (2 * width))
        for start, end in times
    ]
    for one, (low, high) in zip(recording.intervals, rounded, strict=True):
        problem = ""
        if low < 0 or high > n_frames:
            problem = f"does not lie in the recording, which {recording}"
        if one.end < one.start:
            problem = "ends before it starts"
        if problem:
            raise refusal(one.where or recording.where, f"{one} {{}} {problem}", one.label)
    return times, rounded


def _placed(
    recording: Recording, begin: Fraction, n_frames: int, grid: Fraction, reading: Reading
) -> Iterable[tuple[int, int, str]]:
    """Return the frames of each interval, without those that were there before, and its label."""
    times, rounded = _rounded(recording, begin, n_frames, grid)
    frames = _apart(times, rounded)
    if any(high > n_frames for _, high in frames):
        # Back from the end: the same, seen in a mirror.
        mirrored = _apart(
            [(-end, -start) for start, end in times],
            [(n_frames - high, n_frames - low) for low, high in frames],
        )
        frames = [(n_frames - high, n_frames - low) for low, high in mirrored]
    seen: dict[tuple[int, int, str], None] = {}
    for one, wanted, place in zip(recording.intervals, rounded, frames, strict=True):
        where = one.where or recording.where
        if place[0] < 0:
            raise refusal(
                where,
                f"{one} {{}} finds no frame of {reading.signed['grid']}, because there are more "
                "intervals than frames",
                one.label,
                remedy="choose a finer grid",
                kind=SpanError,
            )
        if wanted[0] == wanted[1]:
            reading.skipped[mended("intervals lengthened to one frame")] += 1
        elif wanted != place:
            reading.skipped[mended("intervals cut or moved to make room for a lengthened one")] += 1
        if (*place, one.label) in seen:
            same = f"{one} {{}} covers the same frames as another with that label by {{}}"
            count_duplicate(reading, where, *quoting(same, one.label, recording.annotator))
        seen[*place, one.label] = None
    return seen


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
