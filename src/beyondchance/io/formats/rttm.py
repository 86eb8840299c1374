"""RTTM: who spoke when, one turn a line.

The columns, separated by white space, are type, recording, channel, onset, duration,
orthography, subtype, name, confidence and look-ahead; the last may be missing. Only
``SPEAKER`` lines count. Each file or folder is an annotator and the name of a speaker
is a label, because that is how two diarisations are compared. A recording that a file does
not mention was not annotated by that file's annotator.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from beyondchance.annotations.corpus import Corpus
from beyondchance.io.options import Reading
from beyondchance.io.registry import Upload, by_files
from beyondchance.io.sources import Source
from beyondchance.io.times import Interval, Recording, corpus_of, grid_of, seconds
from beyondchance.io.values import refusal
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
    """Return whether the first lines begin with the types of RTTM."""
    found = list(islice(filter(None, map(_fields, source.head_lines)), 20))
    are_typed = all(fields[0] in _TYPES and len(fields) in {9, 10} for fields in found)
    onsets = (fields[3] for fields in found)
    return bool(found) and are_typed and all(o == "<NA>" or seconds(o) is not None for o in onsets)


is_format = by_files(any, _looks)


def _fields(line: str) -> list[str]:
    """Return the columns of a line; none if it is blank or a comment."""
    bare = line.strip(" \t\r\n")
    return [] if not bare or bare.startswith(";") else _BLANKS.split(bare)


def _recordings(upload: Upload, reading: Reading) -> Iterator[Recording]:
    """Return what one annotator did with each recording, in the order of the files."""
    intervals: dict[str, list[Interval]] = {}
    channels: dict[str, str] = {}
    for source in upload.sources_of(_looks, reading, ".rttm"):
        before = len(intervals)
        for where, line in source.placed_lines():
            fields = _fields(line)
            if not fields or not _is_turn(fields, where, reading):
                continue
            recording, channel = fields[1:3]
            if channels.setdefault(recording, channel) != channel:
                raise refusal(
                    where,
                    "recording {} has channel {} here and {} before",
                    *(recording, channel, channels[recording]),
                    expected="one channel",
                    remedy="give each a recording name of its own",
                )
            start, length = map(seconds, fields[3:5])
            if start is None or length is None or min(start, length) < 0:
                raise refusal(
                    where,
                    "the onset is {} and the duration {}",
                    *fields[3:5],
                    expected="seconds from 0 on, such as 12.34",
                )
            turn = Interval(start, start + length, fields[7], where)
            intervals.setdefault(recording, []).append(turn)
        if not upload.is_folder and len(intervals) == before:
            raise refusal(source.name, "has no SPEAKER line", expected="at least one")
    for name, turns in intervals.items():
        yield Recording(
            where=turns[0].where,
            document=name,
            annotator=upload.annotator,
            duration=max(turn.end for turn in turns),
            intervals=turns,
            is_least=True,
        )


def _is_turn(fields: list[str], where: str, reading: Reading) -> bool:
    """Return whether a line is about a turn; other known types are counted."""
    kind = fields[0]
    if kind not in _TYPES or len(fields) not in {9, 10}:
        raise refusal(
            where,
            f"found a line of type {{}} with {len(fields)} columns",
            kind,
            expected="SPEAKER or another type of RTTM, and 10 columns with <NA> for missing values",
        )
    if kind != "SPEAKER":
        reading.skipped[no_spans("lines of other types than SPEAKER")] += 1
        reading.note(f"lines of the type {kind} are ignored")
    return kind == "SPEAKER"
