"""RTTM: who spoke when, one turn a line.

The columns, separated by white space, are type, recording, channel, onset, duration,
orthography, subtype, name, confidence and look-ahead; the last may be missing. Only
``SPEAKER`` lines count. Each file or folder is an annotator and the name of a speaker
is a label, because that is how two diarisations are compared. A recording that a file does
not mention was not annotated by that file's annotator.
"""

from __future__ import annotations

import re
from fractions import Fraction
from itertools import islice

from beyondchance.annotations.corpus import Corpus
from beyondchance.errors import FormatError
from beyondchance.io.options import Reading
from beyondchance.io.registry import Upload, by_files
from beyondchance.io.sources import Source
from beyondchance.io.times import Interval, Recording, corpus_of, grid_of, seconds
from beyondchance.io.values import quoting
from beyondchance.messages import Quote
from beyondchance.tallies import no_spans

_TYPES = (
    *("SEGMENT", "NOSCORE", "NO_RT_METADATA", "LEXEME", "NON-LEX", "NON-SPEECH", "FILLER"),
    *("EDIT", "SU", "IP", "CB", "A/P", "SPEAKER", "SPKR-INFO"),
)
_BLANKS = re.compile(r"[ \t]+")


def read(uploads: list[Upload], reading: Reading) -> Corpus:
    """Read RTTM files.

    A recording lasts until the latest end of a turn that any annotator has in it, because
    the files do not store its duration.

    Raises
    ------
    FormatError
        For a line that is not RTTM.
    """
    grid_of(reading)
    recordings = [one for upload in uploads for one in _recordings(upload, reading)]
    reading.note(
        "RTTM does not say how long a recording lasts; it is taken to last until the latest "
        "end of a turn by any of its annotators"
    )
    return corpus_of(recordings, reading)


def _looks(source: Source) -> bool:
    """Whether the first lines begin with the types of RTTM."""
    lines = source.head_text.splitlines()
    # The last line may have been cut.
    whole = lines[:-1] if source.is_longer_than_head else lines
    found = list(islice(filter(None, map(_fields, whole)), 20))
    are_typed = all(fields[0] in _TYPES and len(fields) in {9, 10} for fields in found)
    onsets = (fields[3] for fields in found)
    return bool(found) and are_typed and all(o == "<NA>" or seconds(o) is not None for o in onsets)


is_format = by_files(any, _looks)


def _fields(line: str) -> list[str]:
    """The columns of a line; none if it is blank or a comment."""
    bare = line.strip(" \t\r\n")
    return [] if not bare or bare.startswith(";") else _BLANKS.split(bare)


def _recordings(upload: Upload, reading: Reading) -> list[Recording]:
    """What one annotator did with each recording, in the order of the files."""
    intervals: dict[str, list[Interval]] = {}
    channels: dict[str, str] = {}
    for source in upload.sources_of(_looks, reading, ".rttm"):
        before = len(intervals)
        for number, line in enumerate(source.lines(), start=1):
            where = f"{source.name}:{number}"
            fields = _fields(line)
            if not fields or not _is_turn(fields, where, reading):
                continue
            recording, channel = fields[1:3]
            if channels.setdefault(recording, channel) != channel:
                raise FormatError(
                    *("recording ", Quote(recording), " has channel ", Quote(channel)),
                    *(" here and ", Quote(channels[recording]), " before"),
                    where=where,
                    expected="one channel",
                    remedy="give each a recording name of its own",
                )
            start, length = (_time(fields, column, where) for column in (3, 4))
            turn = Interval(start, start + length, fields[7], where)
            intervals.setdefault(recording, []).append(turn)
        if not upload.is_folder and len(intervals) == before:
            raise FormatError("has no SPEAKER line", where=source.name, expected="at least one")
    return [
        Recording(
            where=turns[0].where,
            document=name,
            annotator=upload.annotator,
            duration=max(turn.end for turn in turns),
            intervals=turns,
            is_least=True,
        )
        for name, turns in intervals.items()
    ]


def _is_turn(fields: list[str], where: str, reading: Reading) -> bool:
    """Whether a line is about a turn; other known types are counted."""
    if fields[0] not in _TYPES:
        found = quoting("found a line of type {}", fields[0])
        raise FormatError(*found, where=where, expected="SPEAKER or another type of RTTM")
    if len(fields) not in {9, 10}:
        raise FormatError(
            f"found {len(fields)} columns",
            where=where,
            expected="the 10 of RTTM, separated by white space, with <NA> for missing values",
        )
    if fields[0] != "SPEAKER":
        reading.skipped[no_spans("lines of other types than SPEAKER")] += 1
        reading.note(f"lines of the type {fields[0]} are ignored")
    return fields[0] == "SPEAKER"


def _time(fields: list[str], column: int, where: str) -> Fraction:
    time = seconds(fields[column])
    if time is None or time < 0:
        found = (f"the {'onset' if column == 3 else 'duration'} is ", Quote(fields[column]))
        raise FormatError(*found, where=where, expected="seconds from 0 on, such as 12.34")
    return time
