"""CoNLL-U with entities in MISC, as tags (``NER=B-PER``) or in brackets (``Entity=(PER``).

CoNLL-U Plus, which names its columns in ``# global.columns``, may have them in a column of its own.

Where a comment ``# global.Entity = eid-etype-...`` names the parts of a bracket, the
label is the part ``etype`` and the first part is what the closing bracket repeats.
``# newdoc`` begins a document; without it each sentence is one.

In CoNLL-2012, as OntoNotes has it, ``#begin document (name); part 000`` begins a document, and
column 11 has the entities in brackets: ``(GPE)``, or ``(PERSON*`` to ``*)``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, groupby
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
# What is read of the columns of CoNLL-2012, of which sentences have more or fewer.
_STAR, _CLOSED = re.compile(r"\*(?!\))"), re.compile(r"(?<=\))\)")
_CONLL_2012 = ("id", "form", "Entity")
_ENTITY = 10
_DOCUMENT = re.compile(r"#begin document \((.*)\);?(?: part 0*([0-9]*))?")
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


@dataclass(slots=True)
class _Header:
    """The columns of a file, and the parts of its brackets if it names them."""

    columns: Sequence[str] = _COLUMNS
    parts: list[str] | None = None

    @property
    def own_columns(self) -> list[str]:
        """The columns that CoNLL-U lacks."""
        return [column for column in self.columns if column.lower() not in _COLUMNS]


class _Sentence(NamedTuple):
    """A sentence; multiword tokens and empty nodes are kept apart from its words.

    Attributes
    ----------
    header : _Header
    document : str, optional
        The document that it is a part of, if the file names one.
    number : int
        Its own, if it is a document.
    name : str
        Its own name.
    words, others : list of _Word
    """

    header: _Header
    document: str | None
    number: int
    name: str
    words: list[_Word]
    others: list[_Word]


def _looks_like_it(source: Source) -> bool:
    """Return whether lines have ten columns, with the numbers of a word and of its head."""
    lines = [line for line in source.head_lines if line.strip() and line[0] != "#"]
    if _DOCUMENT.match(source.beginning):
        cells = [line.split()[_ENTITY:] for line in lines]
        # A line that is cut short is refused with its number.
        return 2 * sum(len(own) > 1 and own[0][0] in "(*-_" for own in cells) > len(cells)
    rows = [line.split("\t") for line in lines]
    if source.head_lines[0].lower().replace(" ", "").startswith("#global.columns=id"):
        return any(len(row) > 2 for row in rows)
    return bool(rows) and all(
        len(row) == len(_COLUMNS) and _ID.fullmatch(row[0]) and _HEAD.fullmatch(row[6])
        for row in rows[:200]
    )


is_format = by_files(any, _looks_like_it)


@each_upload
def read(upload: Upload, reading: Reading) -> Iterator[Draft]:
    """Read the files of one annotator, and put the sentences of a document together."""
    sources = upload.sources_of(_looks_like_it, reading, ".conllu", ".conllup")
    files = [_parsed(source, upload.prefix_of(source)) for source in sources]
    sentences = list(chain.from_iterable(files))
    key = _key(sentences, upload, reading)
    marks = iter(_marks(sentences, key, upload, reading))
    for file in files:
        names = set()
        # Sentences without a document are documents, even if they have one name.
        for (name, _), group in groupby(file, lambda one: (one.document or one.name, one.number)):
            own = list(group)
            where = own[0].words[0].where
            if name in names:
                raise refusal(where, "a second document {}", name, expected="each name once")
            names.add(name)
            yield draft_of_sentences(
                [[word.form for word in sentence.words] for sentence in own],
                [next(marks) for _ in own],
                where=where,
                document=name,
                annotator=upload.annotator,
            )


# --- Lines to sentences -------------------------------------------------------


def _parsed(source: Source, prefix: str = "") -> list[_Sentence]:
    """Cut a file into sentences, which blank lines end; those without a name are numbered."""
    header = _Header()
    found: list[_Sentence] = []
    document: str | None = None
    n_documents = 0
    lines = enumerate(source.lines(), start=1)
    for is_filled, block in groupby(lines, lambda item: bool(item[1].strip())):
        rows = []
        comments = {}
        for number, line in block if is_filled else ():
            if line[0] == "#":
                key, value = _comment(line, header)
                comments[key] = value
            else:
                rows.append((f"{source.name}:{number}", line))
        if "newdoc id" in comments or "newdoc" in comments:
            n_documents += 1
            names = (comments.get("newdoc id"), comments.get("newdoc"), f"document {n_documents}")
            document = next(filter(None, names))
        name = comments.get("sent_id") or f"{prefix}{len(found) + 1}"
        number = -1 if document else len(found)
        sentence = _Sentence(header, document, number, name, [], [])
        for where, row in rows:
            _add(row, sentence, where)
        if rows and not sentence.words:
            raise refusal(rows[0][0], "a sentence without words", expected="at least one")
        found += [sentence] if rows else []
    if not found:
        raise refusal(source.name, "holds no sentence", expected="lines of ten columns")
    return found


def _comment(line: str, header: _Header) -> tuple[str, str]:
    """Return the key and value of a comment; some are about the whole file."""
    if begin := _DOCUMENT.match(line):
        header.columns = _CONLL_2012
        return "newdoc id", f"{begin[1]}; part {begin[2]}" if begin[2] else begin[1]
    key, _, value = (part.strip() for part in line[1:].partition("="))
    if key.lower() == "global.columns":
        header.columns = value.split()
    elif key.lower() == "global.entity":
        header.parts = value.split("-")
    return key, value


def _add(row: str, sentence: _Sentence, where: str) -> None:
    """Add a word, a multiword token or an empty node; words count from 1."""
    columns, own = sentence.header.columns, sentence.header.own_columns
    if columns is _CONLL_2012:
        cells = row.split()
        if len(cells) <= _ENTITY:
            raise refusal(where, f"{len(cells)} columns", expected="entities in column 11 of 12")
        # A bracket that closes has no name, which the star is in the place of.
        entity = _CLOSED.sub("*)", _STAR.sub("", cells[_ENTITY].strip("-_")))
        sentence.words.append(_Word(where, cells[3], {columns[-1]: entity}))
        return
    cells = [" ".join(cell.split()) for cell in row.split("\t")]
    if len(cells) != len(columns) or not all(cells):
        raise refusal(
            where,
            f"{len(cells)} columns, {cells.count('')} of them empty",
            expected=f"{len(columns)}, separated by tabs, with '_' where there is nothing",
        )
    named = dict(zip(map(str.lower, columns), cells, strict=True))
    if not {"id", "form"} <= named.keys() or not ("misc" in named or own):
        raise refusal(
            where,
            "the columns are {}",
            quotes(columns),
            expected="ID, FORM, and MISC or a column of entities among them",
        )
    # The keys of MISC and their values, of which ``_`` stands for nothing, and further columns.
    values = {column: named[column.lower()] for column in own}
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
        raise refusal(
            where,
            f"word {{}} after word {n_before}",
            named["id"],
            expected=f"{n_before + 1}, 1-2 for a multiword token, or 1.1 for an empty node",
            remedy="a blank line ends a sentence",
        )
    sentence.others.append(word)


# --- Entities -----------------------------------------------------------------


def _key(sentences: list[_Sentence], upload: Upload, reading: Reading) -> str:
    """Return the key of MISC, or the column, that holds the entities."""
    words = [word for sentence in sentences for word in sentence.words]
    known = dict.fromkeys(key for word in words for key in word.misc)
    own = dict.fromkeys(column for one in sentences for column in one.header.own_columns)
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


def _marks(
    sentences: list[_Sentence], key: str, upload: Upload, reading: Reading
) -> Iterable[Marks]:
    """Return the spans of every sentence, counted in its words."""
    marked = [word for sentence in sentences for word in sentence.words if word.misc.get(key)]
    tags = [word for word in marked if _BRACKET.sub("", word.misc[key])]
    if len(tags) < len(marked):
        if tags:
            raise _refused(
                tags[0],
                key,
                "not in brackets, but others are",
                expected="(LABEL, LABEL) or (LABEL)",
            )
        return [_in_brackets(sentence, key, reading) for sentence in sentences]
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
    return marks_of(found, len(sentences))


def _refused(word: _Word, key: str, why: str, *values: object, expected: Text) -> DataError:
    """Build the error for a value of MISC, with its place."""
    value = word.misc.get(key)
    return refusal(word.where, f"{{}} is {{}}, {why}", (key,), value, *values, expected=expected)


def _in_brackets(sentence: _Sentence, key: str, reading: Reading) -> Marks:
    """Match the brackets of one sentence; they may nest and cross."""
    for word in sentence.others:
        for bracket in _BRACKET.finditer(word.misc.get(key, "")):
            if bracket.lastindex != _WHOLE:
                raise _refused(
                    word,
                    key,
                    "which begins or ends an entity on a multiword token or an empty node",
                    expected="it on a word",
                )
            reading.skipped[not_read("entities of multiword tokens and empty nodes")] += 1
    spans: Marks = []
    # What is open by its name, the last one opened at the end.
    opened: dict[str, list[tuple[int, str]]] = {}
    names: list[str] = []
    for place, word in enumerate(sentence.words):
        for bracket in _BRACKET.finditer(word.misc.get(key, "")):
            content = bracket[bracket.lastindex or _WHOLE]
            if bracket.lastindex == _CLOSE:
                content = names.pop() if content == "*" and names else content
                if not opened.get(content):
                    raise _refused(
                        word,
                        key,
                        "which closes {}, but that is not open in this sentence",
                        content,
                        expected=quoting("({} before it", content),
                    )
                start, label = opened[content].pop()
                spans.append((start, place + 1, label))
                continue
            name, label = _named(content.rstrip("*"), sentence.header.parts, word, key)
            if bracket.lastindex == _WHOLE:
                spans.append((place, place + 1, label))
            else:
                opened.setdefault(name, []).append((place, label))
                names.append(name)
    if left := [(same[-1][0], name) for name, same in opened.items() if same]:
        place, name = max(left)
        raise _refused(
            sentence.words[place],
            key,
            "which opens {}, but nothing closes that in this sentence",
            name,
            expected=quoting("{}) after it", name),
        )
    return sorted(spans)


def _named(content: str, parts: list[str] | None, word: _Word, key: str) -> tuple[str, str]:
    """Return what closes an entity, and its label."""
    if _FRAGMENT.search(content):
        raise _refused(
            word, key, "a fragment of an entity in several pieces", expected="entities in one piece"
        )
    if parts is None:
        if _COREFERENCE.fullmatch(content):
            comment = "a comment such as '# global.Entity = eid-etype-head' that names the parts"
            raise _refused(word, key, "which has several parts", expected=f"(LABEL, or {comment}")
        return content, content
    values = dict(zip(parts, content.split("-"), strict=False))
    if not values.get("etype"):
        raise _refused(
            word,
            key,
            "which has no part etype; the parts, by '# global.Entity', are {}",
            quotes(parts),
            expected="etype among them",
        )
    return content.partition("-")[0], values["etype"]
