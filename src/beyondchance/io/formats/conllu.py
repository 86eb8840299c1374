"""CoNLL-U with entities in MISC, as tags (``NER=B-PER``) or in brackets (``Entity=(PER``).

CoNLL-U Plus, which names its columns in ``# global.columns``, may have them in a column of its own.

Where a comment ``# global.Entity = eid-etype-...`` names the parts of a bracket, the
label is the part ``etype`` and the first part is what the closing bracket repeats.
``# newdoc`` begins a document; without it each sentence is one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from beyondchance.errors import FormatError
from beyondchance.io.drafts import Draft, draft_of_sentences
from beyondchance.io.options import Reading
from beyondchance.io.registry import Upload, by_files, each_upload
from beyondchance.io.sources import Source
from beyondchance.io.tagged import Marks, are_tags, decoded, marks_of
from beyondchance.io.values import quoting
from beyondchance.messages import Piece, Quote, Text, Use, quotes
from beyondchance.tallies import not_read

_KEYS = ("NER", "ner", "Entity", "NE")
_COLUMNS = ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")
_ID = re.compile(r"[0-9]+([-.][0-9]+)?")
# A word; a multiword token, from one word to another; an empty node.
_WORD_ID = re.compile(r"_|0|[1-9][0-9]*")
_RANGE_ID = re.compile(r"([1-9][0-9]{0,8})-([1-9][0-9]{0,8})")
_EMPTY_ID = re.compile(r"[0-9]+\.[1-9][0-9]*")
_HEAD = re.compile(r"[0-9]+|_")
_WHOLE, _OPEN, _CLOSE = 1, 2, 3
# A name begins behind a bracket, so that none is looked through from each of its letters on.
_BRACKET = re.compile(r"\(([^()]+)\)|\(([^()]+)|(?<![^()])([^()]+)\)")
_COREFERENCE = re.compile(r"[A-Za-z]*[0-9]+-.*")
_FRAGMENT = re.compile(r"\[[0-9]+/[0-9]+\]")


@dataclass(frozen=True, slots=True)
class _Word:
    """A word, its place in the file, and the values of MISC and of columns that CoNLL-U lacks."""

    where: str
    form: str
    misc: dict[str, str]


@dataclass(slots=True)
class _Sentence:
    """A sentence; multiword tokens and empty nodes are kept apart from its words."""

    document: str | None = None
    name: str | None = None
    words: list[_Word] = field(default_factory=list)
    others: list[_Word] = field(default_factory=list)


@dataclass(slots=True)
class _File:
    """A file cut into sentences, its columns, and the parts of its brackets if it names them."""

    source: Source
    sentences: list[_Sentence] = field(default_factory=list)
    columns: Sequence[str] = _COLUMNS
    parts: list[str] | None = None


def _looks_like_it(source: Source) -> bool:
    """Whether lines have ten columns, with the numbers of a word and of its head."""
    lines = source.head_text.replace("\r\n", "\n").split("\n")
    # The last line may have been cut off.
    rows = [line.split("\t") for line in lines[:-1] or lines if line.strip() and line[0] != "#"]
    if lines[0].lower().replace(" ", "").startswith("#global.columns=id"):
        return any(len(row) > 2 for row in rows)
    return bool(rows) and all(
        len(row) == len(_COLUMNS) and _ID.fullmatch(row[0]) and _HEAD.fullmatch(row[6])
        for row in rows[:200]
    )


is_format = by_files(any, _looks_like_it)


@each_upload
def read(upload: Upload, reading: Reading) -> Iterator[Draft]:
    """Read the files of one annotator."""
    sources = upload.sources_of(_looks_like_it, reading, ".conllu", ".conllup")
    files = list(map(_parsed, sources))
    key = _key(files, upload, reading)
    for file, marks in zip(files, _marks(files, key, upload, reading), strict=True):
        yield from _documents(file, marks, upload.annotator, upload.prefix_of(file.source))


def _documents(file: _File, marks: Sequence[Marks], annotator: str, prefix: str) -> Iterator[Draft]:
    """Put the sentences of a document together."""
    groups: dict[str, list[int]] = {}
    for index, sentence in enumerate(file.sentences):
        name = sentence.document or sentence.name or f"{prefix}{index + 1}"
        group = groups.setdefault(name, [])
        if group and (sentence.document is None or group[-1] != index - 1):
            found = quoting("a second document {}", name)
            raise FormatError(*found, where=sentence.words[0].where, expected="each name once")
        group.append(index)
    for name, group in groups.items():
        sentences = [file.sentences[index].words for index in group]
        yield draft_of_sentences(
            [[word.form for word in words] for words in sentences],
            [marks[index] for index in group],
            where=sentences[0][0].where,
            document=name,
            annotator=annotator,
        )


# --- Lines to sentences -------------------------------------------------------


def _parsed(source: Source) -> _File:
    """Cut a file into sentences, which blank lines end."""
    file = _File(source)
    document: str | None = None
    n_documents = 0
    block: list[tuple[str, str]] = []
    for number, line in enumerate([*source.lines(), ""], start=1):
        if line.strip():
            block.append((f"{source.name}:{number}", line))
            continue
        comments = dict(_comment(line, file) for _, line in block if line[0] == "#")
        if comments.get("newdoc id") or "newdoc" in comments:
            n_documents += 1
            document = (
                comments.get("newdoc id") or comments.get("newdoc") or f"document {n_documents}"
            )
        rows = [row for row in block if row[1][0] != "#"]
        if rows:
            sentence = _Sentence(document, comments.get("sent_id"))
            for where, row in rows:
                _add(row, sentence, file.columns, where)
            if not sentence.words:
                raise FormatError(
                    "a sentence without words", where=rows[0][0], expected="at least one"
                )
            file.sentences.append(sentence)
        block = []
    if not file.sentences:
        raise FormatError("holds no sentence", where=source.name, expected="lines of ten columns")
    return file


def _comment(line: str, file: _File) -> tuple[str, str]:
    """The key and value of a comment; some are about the whole file."""
    key, _, value = (part.strip() for part in line[1:].partition("="))
    if key.lower() == "global.columns":
        file.columns = value.split()
    elif key.lower() == "global.entity":
        file.parts = value.split("-")
    return key, value


def _add(row: str, sentence: _Sentence, columns: Sequence[str], where: str) -> None:
    """Add a word, a multiword token or an empty node; words count from 1."""
    cells = [" ".join(cell.split()) for cell in row.split("\t")]
    named = [column.lower() for column in columns]
    others = dict.fromkeys(column for column in columns if column.lower() not in _COLUMNS)
    if not {"id", "form"} <= set(named) or not ("misc" in named or others):
        raise FormatError(
            *("the columns are ", *quotes(columns)),
            where=where,
            expected="ID, FORM, and MISC or a column of entities among them",
        )
    if len(cells) != len(columns):
        expected = f"{len(columns)}, separated by tabs"
        raise FormatError(f"{len(cells)} columns", where=where, expected=expected)
    if not all(cells):
        raise FormatError("an empty column", where=where, expected="'_' where there is nothing")
    number, form = (cells[named.index(column)] for column in ("id", "form"))
    values = _values(cells[named.index("misc")]) if "misc" in named else {}
    for column, value in zip(columns, cells, strict=True):
        if column in others:
            values.setdefault(column, "" if value == "_" else value)
    word = _Word(where, form, values)
    if _WORD_ID.fullmatch(number) is None:
        words = _RANGE_ID.fullmatch(number)
        if not _EMPTY_ID.fullmatch(number) and (words is None or int(words[1]) > int(words[2])):
            raise FormatError(
                *quoting("the number of a word is {}", number),
                where=where,
                expected="a number such as 1, 1-2 for a multiword token, or 1.1 for an empty node",
            )
        sentence.others.append(word)
        return
    n_before = len(sentence.words)
    if number != str(n_before + 1):
        expected = f"{n_before + 1} (a blank line ends a sentence)"
        found = ("word ", Quote(number), f" after word {n_before}")
        raise FormatError(*found, where=where, expected=expected)
    sentence.words.append(word)


def _values(misc: str) -> dict[str, str]:
    """The keys of MISC and their values; ``_`` stands for nothing."""
    pairs = (part.partition("=") for part in misc.split("|"))
    return {key: value if value != "_" else "" for key, _, value in pairs if key not in ("", "_")}


# --- Entities -----------------------------------------------------------------


def _key(files: list[_File], upload: Upload, reading: Reading) -> str:
    """The key of MISC, or the column, that holds the entities."""
    sentences = [sentence for file in files for sentence in file.sentences]
    words = [word for sentence in sentences for word in sentence.words]
    known = dict.fromkeys(key for word in words for key in word.misc)
    own = dict.fromkeys(
        column for file in files for column in file.columns if column.lower() not in _COLUMNS
    )
    asked = reading.options["feature"]
    wanted = _KEYS if asked is None else (asked,)
    key = next((key for key in wanted if key in known), None)
    if key is None and asked is None:
        key = _column_of_tags(words, own, upload)
    if key is None:
        raise FormatError(
            f"no word has {' or '.join(wanted)} in MISC, only ",
            *quotes(known, none="nothing"),
            where=upload.name,
            expected="entities there",
            remedy=("pass ", Use("feature", placeholder="KEY")),
        )
    if asked is None:
        place = f"the column {key}" if key in own else f"{key} in MISC"
        reading.note(f"entities read from {place}", where=upload.name)
    return key


def _column_of_tags(words: list[_Word], columns: Iterable[str], upload: Upload) -> str | None:
    """The only column, of those that CoNLL-U lacks, that holds tags."""
    values = {column: {word.misc.get(column) or "O" for word in words} for column in columns}
    found = [column for column, tags in values.items() if are_tags(tags) and tags != {"O"}]
    if len(found) > 1:
        raise FormatError(
            *("several columns hold tags: ", *quotes(found)),
            where=upload.name,
            expected="one",
            remedy=("choose it with ", Use("feature", found[0])),
        )
    return next(iter(found), None)


def _marks(files: list[_File], key: str, upload: Upload, reading: Reading) -> list[list[Marks]]:
    """The spans of every sentence of every file, counted in its words."""
    sentences = [sentence for file in files for sentence in file.sentences]
    marked = [word for sentence in sentences for word in sentence.words if word.misc.get(key)]
    tags = [word for word in marked if _BRACKET.sub("", word.misc[key])]
    if len(tags) < len(marked):
        if tags:
            why = ", not in brackets, but others are"
            raise _refused(tags[0], key, why, expected="(LABEL, LABEL) or (LABEL)")
        return [
            [_in_brackets(s, file.parts, key, reading) for s in file.sentences] for file in files
        ]
    marks = _by_tags(sentences, key, upload, reading)
    return [[next(marks) for _ in file.sentences] for file in files]


def _by_tags(
    sentences: list[_Sentence], key: str, upload: Upload, reading: Reading
) -> Iterator[Marks]:
    """Decode the tags of all sentences at once; a word without one is outside."""
    tags = [word.misc.get(key) or "O" for sentence in sentences for word in sentence.words]
    for sentence in sentences:
        n_others = sum((word.misc.get(key) or "O") != "O" for word in sentence.others)
        if n_others:
            reading.skipped[not_read("tags of multiword tokens and empty nodes")] += n_others
    found = decoded(
        tags,
        np.array([len(sentence.words) for sentence in sentences], dtype=np.int64),
        reading,
        file=upload.name,
        annotator=upload.annotator,
        where=lambda sentence, place: sentences[sentence].words[place].where,
    )
    return marks_of(found, len(sentences))


def _refused(word: _Word, key: str, *why: Piece, expected: Text) -> FormatError:
    """The error for a value of MISC, with its place."""
    value = Quote(word.misc.get(key))
    return FormatError(f"{key} is ", value, *why, where=word.where, expected=expected)


def _in_brackets(sentence: _Sentence, parts: list[str] | None, key: str, reading: Reading) -> Marks:
    """Match the brackets of one sentence; they may nest and cross."""
    _skip_others(sentence, key, reading)
    spans: Marks = []
    # What is open by its name, the last one opened at the end, with its number.
    opened: dict[str, list[tuple[int, str, int]]] = {}
    n_opened = 0
    for place, word in enumerate(sentence.words):
        for bracket in _BRACKET.finditer(word.misc.get(key, "")):
            if bracket.lastindex == _CLOSE:
                name = bracket[_CLOSE]
                if not opened.get(name):
                    why = quoting(", which closes {}, but that is not open in this sentence", name)
                    raise _refused(word, key, *why, expected=quoting("({} before it", name))
                _, label, start = opened[name].pop()
                spans.append((start, place + 1, label))
                continue
            name, label = _named(bracket[bracket.lastindex or _WHOLE], parts, word, key)
            if bracket.lastindex == _WHOLE:
                spans.append((place, place + 1, label))
            else:
                n_opened += 1
                opened.setdefault(name, []).append((n_opened, label, place))
    left = [(*same[-1], name) for name, same in opened.items() if same]
    if left:
        _, _, place, name = max(left)
        why = quoting(", which opens {}, but nothing closes that in this sentence", name)
        raise _refused(sentence.words[place], key, *why, expected=quoting("{}) after it", name))
    return sorted(spans)


def _skip_others(sentence: _Sentence, key: str, reading: Reading) -> None:
    """Leave out entities of a single empty node; refuse those that reach into the words."""
    for word in sentence.others:
        for bracket in _BRACKET.finditer(word.misc.get(key, "")):
            if bracket.lastindex != _WHOLE:
                why = ", which begins or ends an entity on a multiword token or an empty node"
                raise _refused(word, key, why, expected="it on a word")
            reading.skipped[not_read("entities of multiword tokens and empty nodes")] += 1


def _named(content: str, parts: list[str] | None, word: _Word, key: str) -> tuple[str, str]:
    """What closes an entity, and its label."""
    if _FRAGMENT.search(content):
        why = ", a fragment of an entity in several pieces"
        raise _refused(word, key, why, expected="entities in one piece")
    if parts is None:
        if _COREFERENCE.fullmatch(content):
            comment = "a comment such as '# global.Entity = eid-etype-head' that names the parts"
            expected = f"(LABEL, or {comment}"
            raise _refused(word, key, ", which has several parts", expected=expected)
        return content, content
    values = content.split("-")
    index = parts.index("etype") if "etype" in parts else len(values)
    if index >= len(values) or not values[index]:
        why = ", which has no part etype; the parts, by '# global.Entity', are "
        raise _refused(word, key, why, *quotes(parts), expected="etype among them")
    return values[0], values[index]
