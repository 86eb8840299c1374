"""CoNLL-U with entities in MISC, as tags (``NER=B-PER``) or in brackets (``Entity=(PER``).

Where a comment ``# global.Entity = eid-etype-...`` names the parts of a bracket, the
label is the part ``etype`` and the first part is what the closing bracket repeats.
``# newdoc`` begins a document; without it each sentence is one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np

from beyondchance.annotations.tags import decode_tags
from beyondchance.errors import FormatError
from beyondchance.io.drafts import Draft, Interval, draft_of_words
from beyondchance.io.options import Reading
from beyondchance.io.registry import Upload, required
from beyondchance.io.sources import Source

Marks = list[tuple[int, int, str]]

_KEYS = ("NER", "ner", "Entity", "NE")
_COLUMNS = ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")
_ID = re.compile(r"[0-9]+([-.][0-9]+)?")
_HEAD = re.compile(r"[0-9]+|_")
_SETTING = re.compile(r"#\s*(global\.columns|global\.Entity)\s*=\s*(.*?)\s*", re.IGNORECASE)
_WHOLE, _OPEN, _CLOSE = 1, 2, 3
_BRACKET = re.compile(r"\(([^()]+)\)|\(([^()]+)|([^()]+)\)")
_COREFERENCE = re.compile(r"[A-Za-z]*[0-9]+-.*")


@dataclass(frozen=True, slots=True)
class _Word:
    """A word, the line that it is on, and what MISC says of it."""

    line: int
    form: str
    misc: dict[str, str | None]


@dataclass(slots=True)
class _Sentence:
    """A sentence; what stands on multiword tokens and empty nodes lies beside it."""

    number: int
    document: str | None
    name: str | None
    words: list[_Word] = field(default_factory=list)
    others: list[_Word] = field(default_factory=list)


@dataclass(slots=True)
class _File:
    """A file cut into sentences, and the parts of its brackets if it names them."""

    source: Source
    sentences: list[_Sentence] = field(default_factory=list)
    parts: list[str] | None = None


def is_format(upload: Upload) -> bool:
    """Whether the lines have ten columns, with the numbers of a word and of its head."""
    return upload.data is None and any(map(_looks_like_it, upload.sources))


def _looks_like_it(source: Source) -> bool:
    lines = source.head_text.replace("\r\n", "\n").split("\n")
    # The last line may have been cut off.
    rows = [line.split("\t") for line in lines[:-1] or lines if line.strip() and line[0] != "#"]
    if lines[0].lower().replace(" ", "").startswith("#global.columns=id"):
        return any(len(row) > 2 for row in rows)
    return bool(rows) and all(
        len(row) == len(_COLUMNS) and _ID.fullmatch(row[0]) and _HEAD.fullmatch(row[6])
        for row in rows[:200]
    )


def drafts(upload: Upload, reading: Reading) -> Iterator[Draft]:
    """Read the files of one annotator."""
    files = []
    for source in upload.sources:
        is_other = upload.is_folder and not source.name.endswith((".conllu", ".conllup"))
        if is_other and not _looks_like_it(source):
            reading.skipped["files of other formats ignored"] += 1
        else:
            files.append(_parsed(source))
    key = _key(files, upload.name, reading)
    for file, marks in zip(files, _marks(files, key, upload.name, reading), strict=True):
        prefix = f"{upload.document_of(file.source)}/" if upload.is_folder else ""
        yield from _documents(file, marks, upload.annotator, prefix)


def _documents(file: _File, marks: Sequence[Marks], annotator: str, prefix: str) -> Iterator[Draft]:
    """Put the sentences of a document together."""
    groups: dict[str, list[int]] = {}
    for index, sentence in enumerate(file.sentences):
        name = sentence.document or sentence.name or f"{prefix}{sentence.number}"
        group = groups.setdefault(name, [])
        if group and (sentence.document is None or group[-1] != index - 1):
            raise FormatError(
                f"{file.source.name}:{sentence.words[0].line}: a second document {name!r}; "
                "expected each name once"
            )
        group.append(index)
    for name, group in groups.items():
        words: list[str] = []
        sentences: list[Interval] = []
        spans: Marks = []
        for index in group:
            base = len(words)
            words += [word.form for word in file.sentences[index].words]
            sentences.append((base, len(words)))
            spans += [(base + start, base + end, label) for start, end, label in marks[index]]
        yield draft_of_words(
            words,
            spans,
            where=f"{file.source.name}:{file.sentences[group[0]].words[0].line}",
            document=name,
            annotator=annotator,
            sentences=sentences,
        )


# --- Lines to sentences -------------------------------------------------------


def _parsed(source: Source) -> _File:
    """Cut a file into sentences; the library reads each of them."""
    library = required("conllu", extra="conllu", purpose="reading CoNLL-U")
    file = _File(source)
    columns = list(_COLUMNS)
    document: str | None = None
    n_documents = 0
    for block in _blocks(source.lines()):
        for _, line in block:
            setting = _SETTING.fullmatch(line)
            if setting and setting[1].lower() == "global.columns":
                columns = [column.lower() for column in setting[2].split()]
            elif setting:
                file.parts = setting[2].split("-")
        rows = [(number, line) for number, line in block if not line.startswith("#")]
        for number, line in rows:
            _check_row(line, columns, f"{source.name}:{number}")
        comments = [line for _, line in block if line.startswith("#")]
        parsed = _library_read(library, comments, rows, columns, source.name)
        newdoc = [key for key in ("newdoc id", "newdoc") if key in parsed.metadata]
        if newdoc:
            n_documents += 1
            document = str(parsed.metadata[newdoc[0]] or f"document {n_documents}")
        if rows:
            sentence = _Sentence(len(file.sentences) + 1, document, parsed.metadata.get("sent_id"))
            _fill(sentence, parsed, rows, source.name)
            file.sentences.append(sentence)
    if not file.sentences:
        raise FormatError(f"{source.name}: holds no sentence; expected lines of ten columns")
    return file


def _blocks(lines: list[str]) -> Iterator[list[tuple[int, str]]]:
    """Numbered lines between blank ones."""
    block: list[tuple[int, str]] = []
    for number, line in enumerate(lines, start=1):
        if line.strip():
            block.append((number, line))
        elif block:
            yield block
            block = []
    if block:
        yield block


def _check_row(line: str, columns: list[str], where: str) -> None:
    cells = line.split("\t")
    if not {"id", "form", "misc"} <= set(columns):
        raise FormatError(
            f"{where}: the columns are {' '.join(columns).upper() or 'none'}; expected ID, FORM "
            "and MISC among them"
        )
    if len(cells) != len(columns):
        raise FormatError(
            f"{where}: {len(cells)} columns; expected {len(columns)}, separated by tabs"
        )
    if not all(cell.strip() for cell in cells):
        raise FormatError(f"{where}: an empty column; expected '_' where there is nothing")


def _library_read(
    library: Any, comments: list[str], rows: list[tuple[int, str]], columns: list[str], name: str
) -> Any:
    """One sentence by the library, which takes two spaces for a column's end, and strips lines."""
    # Only what is needed: a broken tree is no reason to refuse entities.
    kept = [columns.index(column) for column in ("id", "form", "misc")]
    lines = list(comments)
    for _, row in rows:
        cells = row.split("\t")
        lines.append("\t".join(re.sub(r"\s+", " ", cells[index]).strip() for index in kept))
    if not rows:
        lines.append("1\t_\t_")
    try:
        return library.parse_token_and_metadata("\n".join(lines), fields=["id", "form", "misc"])
    except Exception as error:
        first = rows[0][0] if rows else 1
        raise FormatError(
            f"{name}:{first}: this sentence is not CoNLL-U ({str(error).rstrip('.')})"
        ) from None


def _fill(sentence: _Sentence, parsed: Any, rows: list[tuple[int, str]], name: str) -> None:
    """Sort words from multiword tokens and empty nodes, and see that words count from 1."""
    for token, (line, _) in zip(parsed, rows, strict=True):
        word = _Word(line, token["form"], token["misc"] or {})
        if isinstance(token["id"], tuple):
            sentence.others.append(word)
            continue
        sentence.words.append(word)
        if token["id"] != len(sentence.words):
            raise FormatError(
                f"{name}:{line}: word {token['id'] if token['id'] is not None else '_'} after word "
                f"{len(sentence.words) - 1}; expected {len(sentence.words)} (a blank line ends a "
                "sentence)"
            )
    if not sentence.words:
        raise FormatError(f"{name}:{rows[0][0]}: a sentence without words; expected at least one")


# --- Entities -----------------------------------------------------------------


def _key(files: list[_File], name: str, reading: Reading) -> str:
    """The key of MISC that holds the entities."""
    sentences = [sentence for file in files for sentence in file.sentences]
    words = chain.from_iterable(sentence.words for sentence in sentences)
    found = dict.fromkeys(key for word in words for key in word.misc)
    wanted = (reading.options["feature"],) if reading.options["feature"] is not None else _KEYS
    key = next((key for key in wanted if key in found), None)
    if key is None:
        raise FormatError(
            f"{name}: no word has {' or '.join(wanted)} in MISC; expected entities there, or say "
            f"feature for another key (in the file: {', '.join(found) or 'none'})"
        )
    if reading.options["feature"] is None:
        reading.notes.append(f"{name}: entities read from {key} in MISC")
    return key


def _marks(files: list[_File], key: str, name: str, reading: Reading) -> list[list[Marks]]:
    """The spans of every sentence of every file, counted in its words."""
    values = [
        (f"{file.source.name}:{word.line}", word.misc[key])
        for file in files
        for sentence in file.sentences
        for word in sentence.words
        if word.misc.get(key) is not None
    ]
    bracketed = [_BRACKET.sub("", value or "") == "" for _, value in values]
    if any(bracketed):
        if not all(bracketed):
            where, value = values[bracketed.index(False)]
            raise FormatError(
                f"{where}: {key} is {value!r}, not in brackets, but others are; expected (LABEL, "
                "LABEL) or (LABEL)"
            )
        return [[_in_brackets(s, file, key, reading) for s in file.sentences] for file in files]
    marks = _by_tags(files, key, name, reading)
    return [[next(marks) for _ in file.sentences] for file in files]


def _by_tags(files: list[_File], key: str, name: str, reading: Reading) -> Iterator[Marks]:
    """Decode the tags of all sentences at once; a word without one is outside."""
    from beyondchance.io.formats.conll import detected_scheme  # noqa: PLC0415 - only where it is needed

    sentences = [(file, sentence) for file in files for sentence in file.sentences]
    tags = [[word.misc.get(key) or "O" for word in s.words] for _, s in sentences]
    for _, sentence in sentences:
        n_others = sum((word.misc.get(key) or "O") != "O" for word in sentence.others)
        if n_others:
            reading.skipped["tags of multiword tokens and empty nodes ignored"] += n_others
    scheme: str | None = reading.options["scheme"]
    if scheme is None:
        scheme = detected_scheme(tags)
        reading.notes.append(f"{name}: tags read as {scheme}")
    signed = {*reading.signed.get("scheme", scheme).split("+"), scheme}
    reading.signed["scheme"] = "+".join(sorted(signed))

    def where(index: int, place: int) -> str:
        file, sentence = sentences[index]
        return f"{file.source.name}:{sentence.words[place].line}"

    found = decode_tags(
        chain.from_iterable(tags),
        np.array([len(row) for row in tags], dtype=np.int64),
        scheme=scheme,
        repair=reading.options["repair"],
        where=where,
    )
    if found.n_repaired:
        reading.skipped[f"tags repaired by {reading.options['repair']}"] += found.n_repaired
    marks: list[Marks] = [[] for _ in sentences]
    columns = (found.text, found.start, found.end, found.label)
    for text, start, end, label in zip(*(column.tolist() for column in columns), strict=True):
        marks[text].append((start, end, found.labels[label]))
    return iter(marks)


def _in_brackets(sentence: _Sentence, file: _File, key: str, reading: Reading) -> Marks:
    """Match the brackets of one sentence; they may nest and cross."""
    _skip_others(sentence, file, key, reading)
    found: Marks = []
    opened: list[tuple[str, str, int, int]] = []
    for place, word in enumerate(sentence.words):
        where = f"{file.source.name}:{word.line}: {key}={word.misc.get(key)}"
        for bracket in _BRACKET.finditer(word.misc.get(key) or ""):
            if bracket.lastindex == _CLOSE:
                name = bracket[_CLOSE]
                index = next((i for i, item in enumerate(opened) if item[0] == name), None)
                if index is None:
                    raise FormatError(
                        f"{where} closes {name!r}, which is not open in this sentence; expected "
                        f"({name} before it"
                    )
                _, label, start, _ = opened.pop(index)
                found.append((start, place + 1, label))
                continue
            name, label = _named(bracket[bracket.lastindex or _WHOLE], file.parts, where)
            if bracket.lastindex == _WHOLE:
                found.append((place, place + 1, label))
            else:
                # The last one opened is the first to be closed.
                opened.insert(0, (name, label, place, word.line))
    if opened:
        name, _, _, line = opened[0]
        raise FormatError(
            f"{file.source.name}:{line}: {key} opens {name!r}, which nothing closes in this "
            f"sentence; expected {name}) after it"
        )
    return sorted(found)


def _skip_others(sentence: _Sentence, file: _File, key: str, reading: Reading) -> None:
    """Leave out entities of one empty node; refuse those that reach into the words."""
    for word in sentence.others:
        for bracket in _BRACKET.finditer(word.misc.get(key) or ""):
            if bracket.lastindex != _WHOLE:
                raise FormatError(
                    f"{file.source.name}:{word.line}: {key} is {word.misc[key]!r}, which begins or "
                    "ends an entity on a multiword token or an empty node; expected it on a word"
                )
            reading.skipped["entities of multiword tokens and empty nodes ignored"] += 1


def _named(content: str, parts: list[str] | None, where: str) -> tuple[str, str]:
    """What closes an entity, and its label."""
    if re.search(r"\[[0-9]+/[0-9]+\]", content):
        raise FormatError(
            f"{where} is a fragment of an entity in several pieces; expected entities in one piece"
        )
    if parts is None:
        if _COREFERENCE.fullmatch(content):
            raise FormatError(
                f"{where} has several parts; expected (LABEL, or a comment such as '# "
                "global.Entity = eid-etype-head' that names the parts"
            )
        return content, content
    values = content.split("-")
    if "etype" not in parts:
        raise FormatError(
            f"{where}: '# global.Entity' names the parts {', '.join(parts)}; expected etype among "
            "them"
        )
    index = parts.index("etype")
    if index >= len(values) or not values[index]:
        raise FormatError(f"{where} has no part etype; expected {'-'.join(parts)}")
    return values[0], values[index]
