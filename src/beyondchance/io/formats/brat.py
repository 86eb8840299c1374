"""brat standoff: for each document a text, ``.txt``, and next to it the annotations, ``.ann``.

One folder is one annotator; a folder that holds only folders holds one for each.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from beyondchance.io.drafts import Draft
from beyondchance.io.marked import Marked, MarkedText, by_folders, spans_of, with_other_words
from beyondchance.io.options import Reading
from beyondchance.io.registry import Upload, each_upload
from beyondchance.io.sources import Source, neighbour
from beyondchance.io.values import refusal
from beyondchance.messages import Use
from beyondchance.tallies import no_spans, not_annotated, not_read

# Numbers of more digits than any text has characters are no offsets.
_PLACE = re.compile(r"(\S+) +([0-9]{1,18} +[0-9]{1,18}(?:;[0-9]{1,18} +[0-9]{1,18})*)")
_KINDS = {
    "R": "relations",
    "E": "events",
    "A": "attributes",
    "M": "attributes",
    "N": "normalizations",
    "#": "notes",
    "*": "equivalences",
}
_ATTRIBUTE = re.compile(r"[AM]\S*\t(\S+) (T\S+) *(.*)")
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
    """Return whether a file, or the first annotations of a folder that say anything, are brat's."""
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
        unit = reading.options["offsets"] or "codepoints"
        marked = _shifted(list(_marked(source, reading)), text, unit)
        is_empty = not source.text.strip()
        if is_empty and reading.options["empty"] == "missing":
            left = not_annotated("empty .ann files", " left out as not annotated")
            reading.skipped[left] += 1
            continue
        n_empty += is_empty
        yield Draft(
            where=source.name,
            document=document,
            annotator=annotator,
            text=text.text,
            spans=spans_of(marked, text.text, unit, reading),
        )
    if n_empty:
        note = f"{n_empty} empty .ann files count as annotated without a span ("
        reading.note(note, Use("empty", "missing"), " leaves them out)", where=upload.name)


# --- Which files belong together ----------------------------------------------


def _pairs(upload: Upload, reading: Reading) -> Iterator[tuple[str, str, Source, Source]]:
    """Return every document with its annotator, the annotations and their text."""
    annotations, texts = (
        {
            source.posix_path.with_suffix(""): source
            for source in upload.sources
            if source.ending == ending
        }
        for ending in (".ann", ".txt")
    )
    if not annotations:
        raise refusal(
            upload.name,
            "no .ann file",
            expected="one with its .txt next to it, or a folder of such files",
        )
    if upload.is_folder:
        n_others = len(upload.sources) - len(annotations) - len(texts)
        reading.skipped[not_read("other files")] += n_others
        left = not_annotated("texts without .ann", " left out as not annotated")
        reading.skipped[left] += len(texts.keys() - annotations.keys())
        whose = by_folders(upload, list(map(upload.stem_of, annotations.values())), reading)
    else:
        whose = iter([("1", upload.annotator)])
        for stem, source in annotations.items():
            if source.path is not None and _has_sibling(source):
                name = str(PurePosixPath(source.name.replace("\\", "/")).with_suffix(".txt"))
                texts[stem] = neighbour(name, source.path.with_suffix(".txt"))
    for (document, annotator), (stem, source) in zip(whose, annotations.items(), strict=True):
        if stem not in texts:
            name = PurePosixPath(source.name.replace("\\", "/")).stem
            raise refusal(source.name, "its text is missing", expected=f"{name}.txt next to it")
        yield document, annotator, source, texts[stem]


def _has_sibling(source: Source) -> bool:
    return source.path is not None and source.path.with_suffix(".txt").is_file()


# --- Lines --------------------------------------------------------------------


def _looks_like_lines(source: Source) -> bool:
    """Return whether the first line that is not blank is one of brat's."""
    first = next(filter(str.strip, source.head_lines), "")
    return _LINE.match(first) is not None


def _marked(source: Source, reading: Reading) -> Iterator[Marked]:
    """Return the text-bound annotations of a file; everything else is counted."""
    seen: dict[str, str] = {}
    # Filled as lines are read: attributes come after their spans.
    fields: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for where, line in source.placed_lines():
        if found := _ATTRIBUTE.fullmatch(line.rstrip()):
            fields[found[2]][found[1]] = found[3] or "true"
            continue
        if line[0] in _KINDS:
            reading.skipped[no_spans(_KINDS[line[0]])] += 1
            continue
        name, *parts = line.split("\t", 2)
        place = _PLACE.fullmatch(parts[0].rstrip(" ")) if len(parts) == 2 else None
        if not name.startswith("T") or place is None:
            other = "another line of brat's (R, E, A, M, N, #, *)"
            raise refusal(
                where, "found {}", line, expected=f"'T1<TAB>LABEL START END<TAB>WORDS' or {other}"
            )
        if seen.setdefault(name, where) != where:
            raise refusal(
                where,
                "{} was used before, at {}",
                name,
                (seen[name],),
                expected="another name for each annotation",
            )
        ends = [fragment.split() for fragment in place[2].split(";")]
        places = [(int(s), int(e)) for s, e in ends]
        yield Marked(where, place[1], places, parts[1], id=name, fields=fields[name])


def _shifted(marked: list[Marked], source: Source, unit: str) -> Sequence[Marked]:
    """Return the annotations of a text whose offsets may count its byte order mark.

    brat takes the mark for a character of the text, other writers do not; the words
    stored next to the offsets show which it is.
    """
    if not source.data.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")):
        return marked
    shifted = [
        line._replace(fragments=[(start - 1, end - 1) for start, end in line.fragments])
        for line in marked
    ]
    ways = [MarkedText(source.name, "", source.text, own, "") for own in (marked, shifted)]
    return min(ways, key=lambda way: len(with_other_words([way], unit))).marked
