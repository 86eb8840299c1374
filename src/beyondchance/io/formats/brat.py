"""brat standoff: for each document a text, ``.txt``, and next to it the annotations, ``.ann``.

One folder is one annotator; a folder that holds only folders holds one for each.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import PurePosixPath

from beyondchance.errors import FormatError
from beyondchance.io.drafts import Draft
from beyondchance.io.marked import Marked, by_folders, spans_of
from beyondchance.io.options import Reading
from beyondchance.io.registry import Upload, each_upload
from beyondchance.io.sources import Source, neighbour
from beyondchance.messages import Quote, Use
from beyondchance.tallies import no_spans, not_annotated, not_read

# Numbers of more digits than any text has characters are no offsets.
_PLACE = re.compile(r"(\S+) +([0-9]{1,18} +[0-9]{1,18}(?:;[0-9]{1,18} +[0-9]{1,18})*)")
_KINDS = {
    "R": no_spans("relations"),
    "E": no_spans("events"),
    "A": no_spans("attributes"),
    "M": no_spans("attributes"),
    "N": no_spans("normalizations"),
    "#": no_spans("notes"),
    "*": no_spans("equivalences"),
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


def is_format(upload: Upload) -> bool:
    """Whether a file, or the first annotations of a folder that say anything, are brat's."""
    if upload.data is not None:
        return False
    files = [source for source in upload.sources if source.ending == ".ann"]
    if not upload.is_folder:
        return _looks_like_lines(upload.sources[0]) or (
            bool(files) and not files[0].head.strip() and _has_sibling(files[0])
        )
    telling = next((source for source in files if source.head.strip()), None)
    if telling is not None:
        return _looks_like_lines(telling)
    # Nothing but empty annotations: recognised by the texts next to them.
    paths = {source.posix_path for source in upload.sources}
    return any(source.posix_path.with_suffix(".txt") in paths for source in files)


@each_upload
def read(upload: Upload, reading: Reading) -> Iterator[Draft]:
    """Read one ``.ann`` file, the folder of an annotator, or a folder of such folders."""
    n_empty = 0
    for document, annotator, source, text in _pairs(upload, reading):
        marked = _shifted(list(_marked(source, reading)), text)
        if not source.text.strip():
            if reading.options["empty"] == "missing":
                reading.skipped[
                    not_annotated("empty .ann files", " left out as not annotated")
                ] += 1
                continue
            n_empty += 1
        yield Draft(
            where=source.name,
            document=document,
            annotator=annotator,
            text=text.text,
            spans=spans_of(marked, text.text, reading.options["offsets"] or "codepoints", reading),
        )
    if n_empty:
        note = f"{n_empty} empty .ann files count as annotated without a span ("
        reading.note(note, Use("empty", "missing"), " leaves them out)", where=upload.name)


# --- Which files belong together ----------------------------------------------


def _pairs(upload: Upload, reading: Reading) -> Iterator[tuple[str, str, Source, Source]]:
    """Every document with its annotator, the annotations and the text that belongs to them."""
    if not upload.is_folder:
        source = upload.sources[0]
        yield upload.document_of(source), upload.annotator, source, _sibling(source)
        return
    files: dict[str, dict[PurePosixPath, Source]] = {".ann": {}, ".txt": {}}
    for source in upload.sources:
        suffix = source.ending
        if suffix in files:
            files[suffix][upload.stem_of(source)] = source
        else:
            reading.skipped[not_read("other files")] += 1
    annotations, texts = files[".ann"], files[".txt"]
    if not annotations:
        raise FormatError(
            "the folder holds no .ann file", where=upload.name, expected="one next to each .txt"
        )
    n_left = len(texts.keys() - annotations.keys())
    if n_left:
        reading.skipped[not_annotated("texts without .ann", " left out as not annotated")] += n_left
    whose = by_folders(upload, list(annotations), reading)
    for (document, annotator), (stem, source) in zip(whose, annotations.items(), strict=True):
        if stem not in texts:
            raise _without_text(source)
        yield document, annotator, source, texts[stem]


def _sibling(source: Source) -> Source:
    """The text next to an annotation file that was given by itself."""
    if source.ending != ".ann":
        expected = "one with its .txt next to it, or a folder of such files"
        raise FormatError("not an .ann file", where=source.name, expected=expected)
    if source.path is None or not _has_sibling(source):
        raise _without_text(source)
    path = source.path.with_suffix(".txt")
    name = str(PurePosixPath(source.name.replace("\\", "/")).with_suffix(".txt"))
    return neighbour(name, path)


def _has_sibling(source: Source) -> bool:
    return source.path is not None and source.path.with_suffix(".txt").is_file()


def _without_text(source: Source) -> FormatError:
    stem = PurePosixPath(source.name.replace("\\", "/")).stem
    return FormatError("its text is missing", where=source.name, expected=f"{stem}.txt next to it")


# --- Lines --------------------------------------------------------------------


def _looks_like_lines(source: Source) -> bool:
    """Whether the first line that is not blank is one of brat's."""
    first = next((line for line in source.head_text.split("\n") if line.strip()), "")
    return _LINE.match(first) is not None


def _marked(source: Source, reading: Reading) -> Iterator[Marked]:
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
            other = "another line of brat's (R, E, A, M, N, #, *)"
            expected = f"'T1<TAB>LABEL START END<TAB>WORDS' or {other}"
            raise FormatError("found ", Quote(line), where=where, expected=expected)
        if name in seen:
            found = (Quote(name), f" was used before, on line {seen[name]}")
            raise FormatError(*found, where=where, expected="another name for each annotation")
        seen[name] = number
        ends = [fragment.split() for fragment in place[2].split(";")]
        yield Marked(where, place[1], [(int(s), int(e)) for s, e in ends], parts[1], id=name)


# --- Spans --------------------------------------------------------------------


def _shifted(marked: list[Marked], source: Source) -> list[Marked]:
    """The annotations of a text whose offsets may count its byte order mark.

    brat takes the mark for a character of the text, other writers do not; the words
    stored next to the offsets show which it is.
    """
    if not source.data.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")):
        return marked
    text = source.text

    def n_fitting(shift: int) -> int:
        return sum(
            text.startswith(line.surface.split()[0], max(line.fragments[0][0] - shift, 0))
            for line in marked
            if line.surface and line.surface.split()
        )

    if n_fitting(1) <= n_fitting(0):
        return marked
    return [
        replace(line, fragments=[(start - 1, end - 1) for start, end in line.fragments])
        for line in marked
    ]
