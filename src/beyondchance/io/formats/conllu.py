"""CoNLL-U with entities in MISC, as tags (``NER=B-PER``) or in brackets (``Entity=(PER``).

CoNLL-U Plus, which names its columns in ``# global.columns``, may have them in a column of its own.

Where a comment ``# global.Entity = eid-etype-...`` names the parts of a bracket, the
label is the part ``etype`` and the first part is what the closing bracket repeats.
``# newdoc`` begins a document; without it each sentence is one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from beyondchance.errors import DataError
from beyondchance.io.drafts import Draft, draft_of_sentences
from beyondchance.io.options import Reading
from beyondchance.io.registry import Upload, by_files, each_upload
from beyondchance.io.sources import Source
from beyondchance.io.tagged import Marks, are_tags, decoded, marks_of
from beyondchance.io.values import quoting, refusal
from beyondchance.messages import Text, Use, quotes
from beyondchance.tallies import not_read

_KEYS = ("NER", "ner", "Entity", "NE")
_COLUMNS = ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")
_ID = re.compile(r"[0-9]+([-.][0-9]+)?")
# A multiword token, from one word to another, or an empty node.
_OTHER_ID = re.compile(r"([1-9][0-9]{0,8})-([1-9][0-9]{0,8})|[0-9]+\.[1-9][0-9]*")
_HEAD = re.compile(r"[0-9]+|_")
_WHOLE, _CLOSE = 1, 3
# A name begins behind a bracket, so that none is looked through from each of its letters on.
_BRACKET = re.compile(r"\(([^()]+)\)|\(([^()]+)|(?<![^()])([^()]+)\)")
_COREFERENCE = re.compile(r"[A-Za-z]*[0-9]+-.*")
_FRAGMENT = re.compile(r"\[[0-9]+/[0-9]+\]")


class _Word(NamedTuple):
    """A word, its place in the file, and the values of MISC and of columns that CoNLL-U lacks."""

    where: str
    form: str
    misc: dict[str, str]


class _Sentence(NamedTuple):
    """A sentence; multiword tokens and empty nodes are kept apart from its words."""

    document: str | None
    name: str | None
    words: list[_Word]
    others: list[_Word]


@dataclass(slots=True)
class _File:
    """A file cut into sentences, its columns, and the parts of its brackets if it names them."""

    source: Source
    sentences: list[_Sentence] = field(default_factory=list)
    columns: Sequence[str] = _COLUMNS
    parts: list[str] | None = None

    @property
    def own_columns(self) -> list[str]:
        """The columns that CoNLL-U lacks."""
        return [column for column in self.columns if column.lower() not in _COLUMNS]


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
            where = sentence.words[0].where
            raise refusal(where, "a second document {}", name, expected="each name once")
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
            names = (comments.get("newdoc id"), comments.get("newdoc"), f"document {n_documents}")
            document = next(filter(None, names))
        sentence = _Sentence(document, comments.get("sent_id"), [], [])
        rows = [row for row in block if row[1][0] != "#"]
        for where, row in rows:
            _add(row, sentence, file, where)
        if rows and not sentence.words:
            raise refusal(rows[0][0], "a sentence without words", expected="at least one")
        file.sentences += [sentence] if rows else []
        block = []
    if not file.sentences:
        raise refusal(source.name, "holds no sentence", expected="lines of ten columns")
    return file


def _comment(line: str, file: _File) -> tuple[str, str]:
    """Return the key and value of a comment; some are about the whole file."""
    key, _, value = (part.strip() for part in line[1:].partition("="))
    if key.lower() == "global.columns":
        file.columns = value.split()
    elif key.lower() == "global.entity":
        file.parts = value.split("-")
    return key, value


def _add(row: str, sentence: _Sentence, file: _File, where: str) -> None:
    """Add a word, a multiword token or an empty node; words count from 1."""
    columns = file.columns
    cells = [" ".join(cell.split()) for cell in row.split("\t")]
    if len(cells) != len(columns) or not all(cells):
        found = f"{len(cells)} columns, {cells.count('')} of them empty"
        expected = f"{len(columns)}, separated by tabs, with '_' where there is nothing"
        raise refusal(where, found, expected=expected)
    named = dict(zip(map(str.lower, columns), cells, strict=True))
    if not {"id", "form"} <= named.keys() or not ("misc" in named or file.own_columns):
        expected = "ID, FORM, and MISC or a column of entities among them"
        raise refusal(where, "the columns are {}", quotes(columns), expected=expected)
    # The keys of MISC and their values, of which ``_`` stands for nothing, and further columns.
    values = {column: named[column.lower()] for column in file.own_columns}
    values |= dict(part.partition("=")[::2] for part in named.get("misc", "_").split("|"))
    misc = {
        key: value if value != "_" else "" for key, value in values.items() if key not in {"", "_"}
    }
    word, n_before = _Word(where, named["form"], misc), len(sentence.words)
    if named["id"] == str(n_before + 1):
        sentence.words.append(word)
        return
    other = _OTHER_ID.fullmatch(named["id"])
    if other is None or (other[1] and int(other[1]) > int(other[2])):
        expected = f"{n_before + 1}, 1-2 for a multiword token, or 1.1 for an empty node"
        found = f"word {{}} after word {n_before}"
        remedy = "a blank line ends a sentence"
        raise refusal(where, found, named["id"], expected=expected, remedy=remedy)
    sentence.others.append(word)


# --- Entities -----------------------------------------------------------------


def _key(files: list[_File], upload: Upload, reading: Reading) -> str:
    """Return the key of MISC, or the column, that holds the entities."""
    sentences = [sentence for file in files for sentence in file.sentences]
    words = [word for sentence in sentences for word in sentence.words]
    known = dict.fromkeys(key for word in words for key in word.misc)
    own = dict.fromkeys(column for file in files for column in file.own_columns)
    asked = reading.options["feature"]
    wanted = _KEYS if asked is None else (asked,)
    found = [key for key in wanted if key in known][:1]
    if not found and asked is None:
        # The only column, of those that CoNLL-U lacks, that holds tags.
        values = {column: {word.misc.get(column) or "O" for word in words} for column in own}
        found = [column for column, tags in values.items() if are_tags(tags) and tags != {"O"}]
    if len(found) != 1:
        raise refusal(
            upload.name,
            "entities were found in {}, among {}",
            *(quotes(found, none="no column and no key of MISC"), quotes(known, none="none")),
            expected=f"one, such as {' or '.join(wanted)}",
            remedy=("pass ", Use("feature", next(iter(found), None), placeholder="KEY")),
        )
    if asked is None:
        place = f"the column {found[0]}" if found[0] in own else f"{found[0]} in MISC"
        reading.note(f"entities read from {place}", where=upload.name)
    return found[0]


def _marks(files: list[_File], key: str, upload: Upload, reading: Reading) -> list[list[Marks]]:
    """Return the spans of every sentence of every file, counted in its words."""
    sentences = [sentence for file in files for sentence in file.sentences]
    marked = [word for sentence in sentences for word in sentence.words if word.misc.get(key)]
    tags = [word for word in marked if _BRACKET.sub("", word.misc[key])]
    if len(tags) < len(marked):
        if tags:
            why = "not in brackets, but others are"
            raise _refused(tags[0], key, why, expected="(LABEL, LABEL) or (LABEL)")
        return [
            [_in_brackets(s, file.parts, key, reading) for s in file.sentences] for file in files
        ]
    # A word without a tag is outside.
    for sentence in sentences:
        n_others = sum((word.misc.get(key) or "O") != "O" for word in sentence.others)
        reading.skipped[not_read("tags of multiword tokens and empty nodes")] += n_others
    found = decoded(
        [word.misc.get(key) or "O" for sentence in sentences for word in sentence.words],
        np.array([len(sentence.words) for sentence in sentences], dtype=np.int64),
        reading,
        file=upload.name,
        annotator=upload.annotator,
        where=lambda sentence, place: sentences[sentence].words[place].where,
    )
    marks = marks_of(found, len(sentences))
    return [[next(marks) for _ in file.sentences] for file in files]


def _refused(word: _Word, key: str, why: str, *values: object, expected: Text) -> DataError:
    """Build the error for a value of MISC, with its place."""
    value = word.misc.get(key)
    return refusal(word.where, f"{{}} is {{}}, {why}", (key,), value, *values, expected=expected)


def _in_brackets(sentence: _Sentence, parts: list[str] | None, key: str, reading: Reading) -> Marks:
    """Match the brackets of one sentence; they may nest and cross."""
    for word in sentence.others:
        for bracket in _BRACKET.finditer(word.misc.get(key, "")):
            if bracket.lastindex != _WHOLE:
                why = "which begins or ends an entity on a multiword token or an empty node"
                raise _refused(word, key, why, expected="it on a word")
            reading.skipped[not_read("entities of multiword tokens and empty nodes")] += 1
    spans: Marks = []
    # What is open by its name, the last one opened at the end.
    opened: dict[str, list[tuple[int, str]]] = {}
    for place, word in enumerate(sentence.words):
        for bracket in _BRACKET.finditer(word.misc.get(key, "")):
            content = bracket[bracket.lastindex or _WHOLE]
            if bracket.lastindex == _CLOSE:
                if not opened.get(content):
                    why = "which closes {}, but that is not open in this sentence"
                    expected = quoting("({} before it", content)
                    raise _refused(word, key, why, content, expected=expected)
                start, label = opened[content].pop()
                spans.append((start, place + 1, label))
                continue
            name, label = _named(content, parts, word, key)
            if bracket.lastindex == _WHOLE:
                spans.append((place, place + 1, label))
            else:
                opened.setdefault(name, []).append((place, label))
    if left := [(same[-1][0], name) for name, same in opened.items() if same]:
        place, name = max(left)
        why = "which opens {}, but nothing closes that in this sentence"
        expected = quoting("{}) after it", name)
        raise _refused(sentence.words[place], key, why, name, expected=expected)
    return sorted(spans)


def _named(content: str, parts: list[str] | None, word: _Word, key: str) -> tuple[str, str]:
    """Return what closes an entity, and its label."""
    if _FRAGMENT.search(content):
        why = "a fragment of an entity in several pieces"
        raise _refused(word, key, why, expected="entities in one piece")
    if parts is None:
        if _COREFERENCE.fullmatch(content):
            comment = "a comment such as '# global.Entity = eid-etype-head' that names the parts"
            why, expected = "which has several parts", f"(LABEL, or {comment}"
            raise _refused(word, key, why, expected=expected)
        return content, content
    values = dict(zip(parts, content.split("-"), strict=False))
    if not values.get("etype"):
        why = "which has no part etype; the parts, by '# global.Entity', are {}"
        raise _refused(word, key, why, quotes(parts), expected="etype among them")
    return content.partition("-")[0], values["etype"]
