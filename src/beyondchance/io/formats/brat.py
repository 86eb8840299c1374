"""brat standoff: for each document a text, ``.txt``, and beside it the annotations, ``.ann``.

One folder is one annotator; a folder that holds only folders holds one for each.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import PurePosixPath

from beyondchance.errors import FormatError, SpanError
from beyondchance.io.drafts import Draft, DraftSpan, Interval, code_points
from beyondchance.io.options import Reading
from beyondchance.io.registry import Upload
from beyondchance.io.sources import Source

# Numbers of more digits than any text has characters are no offsets.
_PLACE = re.compile(r"(\S+) +([0-9]{1,18} +[0-9]{1,18}(?:;[0-9]{1,18} +[0-9]{1,18})*)")
_KINDS = {
    "R": "relations ignored",
    "E": "events ignored",
    "A": "attributes ignored",
    "M": "attributes ignored",
    "N": "normalizations ignored",
    "#": "notes ignored",
    "*": "equivalences ignored",
}
_LINE = re.compile(
    r"T\S+\t\S+ +\d+ +\d+[;\t]"
    r"|R\S+\t\S+ +[^\s:]+:[TE]\d"
    r"|E\S+\t[^\s:]+:T\d"
    r"|[AM]\S+\t\S+ +[TER]\d"
    r"|N\S+\t\S+ +[TER]\d+ +\S+:"
    r"|#\S+\t\S+ +[TERAMN]\d+\t"
    r"|\*\t\S+ +T\d+ +T\d"
)
# brat cuts a span wherever the text breaks into lines; nobody meant that as a gap.
_LINE_BREAK = re.compile(r"[^\S\r\n]*(?:\r\n|\r|\n)\s*")


@dataclass(frozen=True, slots=True)
class _Pair:
    """The annotations of one document by one annotator, with the text."""

    document: str
    annotator: str
    annotations: Source
    text: Source


@dataclass(frozen=True, slots=True)
class _Marked:
    """A text-bound annotation: one ``T`` line."""

    where: str
    label: str
    fragments: Sequence[Interval]
    surface: str


def is_format(upload: Upload) -> bool:
    """Whether a file, or the first annotations of a folder that say anything, are brat's."""
    if upload.data is not None:
        return False
    files = [source for source in upload.sources if _suffix(source) == ".ann"]
    if not upload.is_folder:
        return _looks_like_lines(upload.sources[0]) or (
            bool(files) and not files[0].head.strip() and _has_sibling(files[0])
        )
    telling = next((source for source in files if source.head.strip()), None)
    if telling is not None:
        return _looks_like_lines(telling)
    # Nothing but empty annotations: told by the texts beside them.
    texts = {_stem(upload, source) for source in upload.sources if _suffix(source) == ".txt"}
    return any(_stem(upload, source) in texts for source in files)


def drafts(upload: Upload, reading: Reading) -> Iterator[Draft]:
    """Read one ``.ann`` file, the folder of an annotator, or a folder of such folders."""
    n_empty = 0
    for pair in _pairs(upload, reading):
        marked = list(_marked(pair.annotations, reading))
        text = pair.text.text
        if not pair.annotations.text.strip():
            if reading.options["empty"] == "missing":
                reading.skipped["empty .ann files left out as not annotated"] += 1
                continue
            n_empty += 1
        shift = _shift(pair.text, marked)
        yield Draft(
            where=pair.annotations.name,
            document=pair.document,
            annotator=pair.annotator,
            text=text,
            spans=[span for item in marked for span in _spans(item, text, shift, reading)],
        )
    if n_empty:
        reading.notes.append(
            f"{upload.name}: {n_empty} empty .ann files count as annotated without a span "
            "(empty='missing' leaves them out)"
        )


# --- Which files belong together ----------------------------------------------


def _inside(upload: Upload, source: Source) -> PurePosixPath:
    """The path of a file below the folder that was given."""
    path = PurePosixPath(source.name.replace("\\", "/"))
    folder = PurePosixPath(upload.name.replace("\\", "/"))
    return path.relative_to(folder) if path.is_relative_to(folder) else path


def _stem(upload: Upload, source: Source) -> PurePosixPath:
    return _inside(upload, source).with_suffix("")


def _suffix(source: Source) -> str:
    return PurePosixPath(source.name.replace("\\", "/")).suffix


def _pairs(upload: Upload, reading: Reading) -> Iterator[_Pair]:
    """Find the text of every annotation file."""
    if not upload.is_folder:
        yield _single(upload)
        return
    files: dict[str, dict[PurePosixPath, Source]] = {".ann": {}, ".txt": {}}
    for source in upload.sources:
        if _suffix(source) in files:
            files[_suffix(source)][_stem(upload, source)] = source
        else:
            reading.skipped["other files ignored"] += 1
    annotations, texts = files[".ann"], files[".txt"]
    if not annotations:
        raise FormatError(
            f"{upload.name}: the folder holds no .ann file; expected one beside each .txt"
        )
    n_left = len(texts.keys() - annotations.keys())
    if n_left:
        reading.skipped["texts without .ann left out as not annotated"] += n_left
    has_folders = all(len(stem.parts) > 1 for stem in annotations)
    if has_folders:
        names = dict.fromkeys(stem.parts[0] for stem in annotations)
        reading.notes.append(f"{upload.name}: its folders are annotators: {', '.join(names)}")
    for stem, source in annotations.items():
        if stem not in texts:
            raise _without_text(source)
        yield _Pair(
            document=str(PurePosixPath(*stem.parts[1:]) if has_folders else stem),
            annotator=stem.parts[0] if has_folders else upload.annotator,
            annotations=source,
            text=texts[stem],
        )


def _single(upload: Upload) -> _Pair:
    """An annotation file given by itself, with the text that lies beside it."""
    source = upload.sources[0]
    if _suffix(source) != ".ann":
        raise FormatError(
            f"{source.name}: not an .ann file; expected one with its .txt beside it, or a folder "
            "of such files"
        )
    text = _sibling(source)
    if text is None:
        raise _without_text(source)
    return _Pair(upload.document_of(source), upload.annotator, source, text)


def _sibling(source: Source) -> Source | None:
    """The text beside an annotation file on disk."""
    if source.path is None or not _has_sibling(source):
        return None
    path = source.path.with_suffix(".txt")
    name = str(PurePosixPath(source.name.replace("\\", "/")).with_suffix(".txt"))
    if path.is_symlink() and not path.resolve().is_relative_to(path.parent.resolve()):
        raise FormatError(f"{name}: a link that leads out of the folder; remove it")
    return Source(name, path=path)


def _has_sibling(source: Source) -> bool:
    return source.path is not None and source.path.with_suffix(".txt").is_file()


def _without_text(source: Source) -> FormatError:
    return FormatError(
        f"{source.name}: its text is missing; expected {source.stem}.txt beside it, which the "
        "offsets count in"
    )


# --- Lines --------------------------------------------------------------------


def _looks_like_lines(source: Source) -> bool:
    """Whether the first line that is not blank is one of brat's."""
    first = next((line for line in source.head_text.split("\n") if line.strip()), "")
    return _LINE.match(first) is not None


def _marked(source: Source, reading: Reading) -> Iterator[_Marked]:
    """The text-bound annotations of a file; everything else is counted."""
    seen: dict[str, int] = {}
    for number, line in enumerate(source.lines(), start=1):
        if not line.strip():
            continue
        where = f"{source.name}:{number}"
        if line[0] in _KINDS:
            reading.skipped[_KINDS[line[0]]] += 1
            continue
        name, *parts = line.split("\t", 2)
        place = _PLACE.fullmatch(parts[0].rstrip(" ")) if len(parts) == 2 else None
        if not name.startswith("T") or place is None:
            raise FormatError(
                f"{where}: found {_shortened(line)!r}; expected 'T1<TAB>LABEL START END<TAB>WORDS' "
                "or another line of brat's (R, E, A, M, N, #, *)"
            )
        if name in seen:
            raise FormatError(
                f"{where}: {_shortened(name)!r} was used before, on line {seen[name]}; expected a "
                "name of its own for each annotation"
            )
        seen[name] = number
        ends = [fragment.split() for fragment in place[2].split(";")]
        yield _Marked(where, place[1], [(int(s), int(e)) for s, e in ends], parts[1])


def _shortened(line: str) -> str:
    return line if len(line) <= 60 else f"{line[:57]}..."


# --- Spans --------------------------------------------------------------------


def _shift(source: Source, marked: Sequence[_Marked]) -> int:
    """What to take off the offsets: 1 if they count a byte order mark.

    brat takes the mark for a character of the text, other writers do not; the words
    stored beside the offsets tell.
    """
    if not source.data.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")):
        return 0
    text = source.text

    def n_fitting(shift: int) -> int:
        return sum(
            text.startswith(item.surface.split()[0], max(item.fragments[0][0] - shift, 0))
            for item in marked
            if item.surface.split()
        )

    return int(n_fitting(1) > n_fitting(0))


def _spans(item: _Marked, text: str, shift: int, reading: Reading) -> list[DraftSpan]:
    """One span, or one for each fragment, as the options say."""
    fragments = [(start - shift, end - shift) for start, end in item.fragments]
    whole = DraftSpan(
        min(start for start, _ in fragments),
        max(end for _, end in fragments),
        item.label,
        where=item.where,
    )
    if len(fragments) == 1:
        return [DraftSpan(whole.start, whole.end, item.label, item.surface, item.where)]
    parts = [DraftSpan(start, end, item.label, where=item.where) for start, end in fragments]
    unit = reading.options["offsets"] or "codepoints"
    places = code_points(text, fragments, item.where) if unit == "utf16" else fragments
    outside = [
        part
        for part, (start, end) in zip(parts, places, strict=True)
        if not 0 <= start <= end <= len(text)
    ]
    if outside:
        return outside  # refused with the others that do not lie in their text
    if _is_broken_by_lines(text, sorted(places), item):
        _check_words(item, text, places)
        return [whole]
    if reading.options["discontinuous"] == "error":
        raise SpanError(
            f"{item.where}: {item.label!r} has {len(fragments)} fragments, expected one; say "
            "discontinuous='split' to take each for a span, or 'join' to take all from the first "
            "to the last"
        )
    if reading.options["discontinuous"] == "join":
        reading.skipped["discontinuous spans joined"] += 1
        return [whole]
    _check_words(item, text, places)
    reading.skipped["discontinuous spans split"] += 1
    return parts


def _is_broken_by_lines(text: str, places: Sequence[Interval], item: _Marked) -> bool:
    """Whether nothing but line breaks lies between the fragments, which are in order."""
    gaps = [(end, start) for (_, end), (start, _) in pairwise(places)]
    if any(end > start for end, start in gaps):
        raise SpanError(
            f"{item.where}: the fragments of {item.label!r} overlap; expected one after the other"
        )
    return all(_LINE_BREAK.fullmatch(text, end, start) for end, start in gaps)


def _check_words(item: _Marked, text: str, places: Sequence[Interval]) -> None:
    """Check the fragments together: brat stores their words in one string."""
    found = " ".join(text[start:end] for start, end in places)
    if found.split() != item.surface.split():
        raise SpanError(
            f"{item.where}: the fragments of {item.label!r} cover {found!r}, but the file stores "
            f"{item.surface!r}; check that offsets and text belong together"
        )
