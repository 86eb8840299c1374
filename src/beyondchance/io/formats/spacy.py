"""spaCy's DocBin, or documents in memory: their tokens, entities and span groups.

A document is named by its number in the file. One whose entities were never set is not
annotated; one whose entities were set to none is annotated, with nothing found. Of the library,
only the store of strings is used: its documents trust what a file says.
"""

from __future__ import annotations

import gc
import re
import struct
import zlib
from collections.abc import Iterator, Mapping
from itertools import accumulate, pairwise
from operator import add
from typing import Any, NamedTuple

import numpy as np

from beyondchance.io.drafts import Draft, DraftSpan
from beyondchance.io.layers import unknown
from beyondchance.io.offsets import Interval
from beyondchance.io.options import Reading
from beyondchance.io.registry import Upload, each_upload, required
from beyondchance.io.sources import WITHOUT_LIMIT, Source, too_large
from beyondchance.io.values import reason, refusal, refused
from beyondchance.messages import Quote, Use, quotes
from beyondchance.tallies import mended, no_spans, not_annotated, not_read

Marks = list[tuple[int, int, int]]
"""The spans of a document: first token, end, and the code of the label."""
Groups = dict[str, Marks]

# Identifier, knowledge base, label; first and last token; first and last character.
_SPAN = struct.Struct(">QQQllll")
_INSIDE, _BEGIN = 1, 3
_COLUMNS = ("ORTH", "SENT_START", "ENT_IOB", "ENT_TYPE")
_SAVED = "a file that DocBin.to_disk wrote"
_AGAIN = "write the DocBin again"


class _Docs(NamedTuple):
    """The documents of a file.

    Attributes
    ----------
    strings : StringStore
        What codes stand for.
    columns : mapping of str to array
        The codes of all tokens, by `_COLUMNS`.
    spaces, lengths : list of int
        Whether a space follows each token, and how many tokens each document has.
    groups : list of Groups
        The span groups of each document.
    """

    strings: Any
    columns: Mapping[str, Any]
    spaces: list[int]
    lengths: list[int]
    groups: list[Groups]

    def named(self, code: int) -> str:
        """Return what a code stands for; nothing if the file does not spell it out."""
        try:
            return str(self.strings[code]) if code else ""
        except KeyError:
            return ""


def is_format(upload: Upload) -> bool:
    """Return whether the files, or some in a folder, unfold to what a DocBin begins with.

    Data in memory have to be a DocBin, a Doc, or a list of Docs.
    """
    if upload.data is None:
        return any(map(_looks_like_it, upload.sources))
    if isinstance(upload.data, list | tuple):
        return bool(upload.data) and _kind(upload.data[0]) == "Doc"
    return _kind(upload.data) is not None


@each_upload
def read(upload: Upload, reading: Reading) -> Iterator[Draft]:
    """Read the DocBins of one annotator."""
    if upload.data is not None:
        yield from _documents(_packed(upload), upload.annotator, "", reading)
        return
    for source in upload.sources_of(_looks_like_it, reading, ".spacy"):
        yield from _documents(source, upload.annotator, upload.prefix_of(source), reading)


def _looks_like_it(source: Source) -> bool:
    head = source.head
    # The header of zlib: method 8, and a check that makes it a multiple of 31.
    if len(head) < 2 or head[0] & 15 != 8 or (head[0] * 256 + head[1]) % 31:
        return False
    try:
        begin = zlib.decompressobj().decompress(head, 1024)
    except zlib.error:
        return False
    # A small map, one of whose first keys is attrs.
    return begin[:1] != b"" and begin[0] >> 4 == 8 and b"\xa5attrs" in begin


def _kind(value: object) -> str | None:
    """Return which of spaCy's classes a value has, if it is one that holds documents."""
    kinds = type(value).__mro__
    names = (kind.__name__ for kind in kinds if kind.__module__.startswith("spacy."))
    return next((name for name in names if name in {"Doc", "DocBin"}), None)


# --- Documents ----------------------------------------------------------------


def _documents(source: Source, annotator: str, prefix: str, reading: Reading) -> Iterator[Draft]:
    key = reading.options["layer"]
    docs = _content(source, reading)
    names = dict.fromkeys(name for groups in docs.groups for name in groups)
    if key is not None and key not in names:
        raise unknown("span group", key, names, source.name)
    reading.ordered[annotator] = len(docs.groups)
    n_annotated = end = 0
    for number, (length, groups) in enumerate(zip(docs.lengths, docs.groups, strict=True), start=1):
        where = f"{source.name}: document {number}"
        begin, end = end, end + length
        codes, begins, iob, kinds = (docs.columns[x][begin:end].tolist() for x in _COLUMNS)
        marks = groups.get(key or "")
        if key is None and (any(iob) or not iob):
            marks = _entities(iob, kinds, where)
            unset = mended("tokens whose entities were not set, taken as outside")
            reading.skipped[unset] += iob.count(0)
        if marks is None:
            reading.skipped[not_annotated("documents")] += 1
            continue
        n_annotated += 1
        reading.skipped[not_read("span groups")] += len(groups) - (key is not None)
        words, spaces = list(map(docs.named, codes)), docs.spaces[begin:end]
        if not all(words):
            found = f"token {words.index('')} cannot be spelled out"
            raise refusal(where, found, expected="its word among the file's strings")
        sizes = map(len, words)
        starts = accumulate(map(add, map(len, words), spaces), initial=0)
        tokens = [(start, start + size) for start, size in zip(starts, sizes, strict=False)]
        yield Draft(
            where=where,
            document=f"{prefix}{number}",
            annotator=annotator,
            text="".join(word + " " * space for word, space in zip(words, spaces, strict=True)),
            spans=[_span(mark, docs, tokens, key, where) for mark in marks],
            tokens=tokens,
            sentences=_sentences(begins, tokens),
            order=None if prefix else number - 1,
        )
    if docs.groups and not n_annotated:
        raise refusal(
            source.name,
            "no document has entities",
            expected="some",
            remedy=(
                *("for a span group, pass ", Use("layer", placeholder="NAME")),
                *(" (in the file: ", *quotes(names), ")"),
            ),
        )


def _packed(upload: Upload) -> Source:
    """Pack documents in memory as the file that spaCy would write, for the same reader."""
    data = upload.data
    if _kind(data) != "DocBin":
        docs = data if isinstance(data, list | tuple) else [data]
        for number, doc in enumerate(docs, start=1):
            if _kind(doc) != "Doc":
                where = f"{upload.name}: document {number}"
                raise refusal(where, f"a {type(doc).__name__}", expected="spaCy's Doc")
        library = required("spacy.tokens", extra="spacy", purpose="reading documents of spaCy")
        data = library.DocBin(docs=docs)
    # Not packed, because many equal documents in memory are no reason for distrust.
    content = zlib.compress(zlib.decompress(data.to_bytes()), level=0)
    return Source(upload.name, member=content, allowed=WITHOUT_LIMIT)


def _entities(iob: list[int], kinds: list[int], where: str) -> Marks:
    """Return the entities of a document; refuse one without a label, as the library hides it."""
    found: Marks = []
    for token, (code, kind) in enumerate(zip(iob, kinds, strict=True)):
        start, end, label = found[-1] if found else (0, -1, 0)
        if code == _BEGIN and kind:
            found.append((token, token + 1, kind))
        elif code == _INSIDE and end == token:
            found[-1] = start, token + 1, label
        elif code == _BEGIN:
            raise refusal(where, f"the entity at token {token} has no label", expected="a name")
        elif code == _INSIDE or code > _BEGIN:
            found_code = f"the code for entities of token {token} is {code}"
            raise refusal(where, found_code, expected="0, 2, 3, or 1 after 1 or 3")
    return found


def _sentences(begins: list[int], tokens: list[Interval]) -> list[Interval] | None:
    """Return the sentences of a document, if any are set; a single token is one."""
    if len(tokens) > 1 and not any(begins[1:]):
        return None
    firsts = [place for place in range(len(tokens)) if not place or begins[place] == 1]
    return [(tokens[s][0], tokens[e - 1][1]) for s, e in pairwise([*firsts, len(tokens)])]


def _span(
    mark: tuple[int, int, int], docs: _Docs, tokens: list[Interval], key: str | None, where: str
) -> DraftSpan:
    """Return an entity or a span of a group, whose tokens and label have to be there."""
    start, end, code = mark
    label, problem, expected = docs.named(code), "", ""
    if not 0 <= start < end <= len(tokens):
        problem = f"does not lie in the document, which has {len(tokens)} tokens"
        expected = "tokens of the document"
    elif not label:
        problem = "has no label that the file spells out"
        expected = "a name, among the file's strings"
    if problem:
        group = () if key is None else (" of the group ", Quote(key))
        place = (f"{where}: span [{start}, {end})", *group)
        raise refusal(place, problem, expected=expected)
    return DraftSpan(tokens[start][0], tokens[end - 1][1], label)


# --- Bytes --------------------------------------------------------------------


def _unfolded(source: Source) -> bytes:
    """Unfold the file, but never more than an annotation can hold."""
    packed = source.data
    most = source.most_of(len(packed))
    engine = zlib.decompressobj()
    try:
        content = engine.decompress(packed, most + 1)
    except zlib.error as error:
        raise refusal(source.name, f"not a DocBin ({error})", expected=_SAVED) from None
    if len(content) > most:
        found = f"unfolds from {len(packed):,} to more than {most:,} bytes"
        raise too_large(source.name, found, most=most)
    if not engine.eof:
        raise refusal(source.name, "ends early", expected="a whole DocBin", remedy="copy it again")
    return content


# Values of a message that are whole in one, two, three, five and nine bytes.
_PLAIN = re.compile(
    rb"([\x00-\x80\x90\xa0\xc0\xc2\xc3\xe0-\xff]+)|((?:[\xcc\xd0].)+)|((?:[\xcd\xd1]..)+)"
    rb"|((?:[\xca\xce\xd2].{4})+)|((?:[\xcb\xcf\xd3].{8})+)",
    re.DOTALL,
)
_WIDTHS = (0, 1, 2, 3, 5, 9)
# For the others, by their first byte: the bytes of the length that follows it.
_LENGTHS = {
    **dict.fromkeys((0xC4, 0xC7, 0xD9), 1),
    **dict.fromkeys((0xC5, 0xC8, 0xDA, 0xDC, 0xDE), 2),
    **dict.fromkeys((0xC6, 0xC9, 0xDB, 0xDD, 0xDF), 4),
}
_PER_VALUE, _PER_ENTRY, _PER_ITEM, _PER_LETTER = 72, 100, 8, 4
"""Bytes of memory: of any value, of a key with its value in a map, of a place in a list, and of
a byte of a string."""
_PER_DOCUMENT, _PER_TOKEN = 5000, 100
"""Bytes of memory of what spaCy makes."""


def _weight(data: bytes, most: int) -> int:
    r"""Return the memory that the values of a message take, or more than `most` of it.

    Found without making them: a list of so many can be declared in five bytes, and an empty map
    takes one byte here and 64 there.

    Examples
    --------
    >>> _weight(b"\x93\x01\x02\x03", 10**9)
    312
    >>> _weight(b"\xdd\xff\xff\xff\xff", 10**9) > 10**9
    True
    """
    weight = place = 0
    while place < len(data) and weight <= most:
        if (plain := _PLAIN.match(data, place)) is not None:
            assert plain.lastindex is not None  # noqa: S101 - one of the groups was found
            weight += _PER_VALUE * ((plain.end() - place) // _WIDTHS[plain.lastindex])
            place = plain.end()
            continue
        kind = data[place]
        if kind < 0xC0:  # maps, lists and strings whose length is part of the first byte
            n_length, length = 0, kind & (0x1F if kind > 0xA0 else 0x0F)
        else:
            n_length = _LENGTHS.get(kind, 0)
            length = int.from_bytes(data[place + 1 : place + 1 + n_length], "big")
        place += 1 + n_length
        weight += _PER_VALUE
        if 0x80 < kind < 0x90 or kind in {0xDE, 0xDF}:
            weight += _PER_ENTRY * length
        elif 0x90 < kind < 0xA0 or kind in {0xDC, 0xDD}:
            weight += _PER_ITEM * length
        else:
            weight += _PER_LETTER * length if kind < 0xC0 or kind > 0xD8 else length
            place += length
    return weight


def _loaded(data: bytes, where: str, most: int) -> Any:
    """Unpack a message of plain values, if they do not take more memory than they may."""
    packer = required("srsly", extra="spacy", purpose="reading spaCy's DocBin")
    _check_memory(_weight(data, most), most, where)
    collects = gc.isenabled()
    try:
        return packer.msgpack_loads(data)
    except MemoryError:
        raise
    except Exception as error:
        raise refusal(where, "not a DocBin{}", reason(error), expected=_SAVED) from None
    finally:
        # The library switches it off, and leaves it so where unpacking fails.
        if collects:
            gc.enable()


def _check_memory(size: int, most: int, where: str) -> None:
    if size > most:
        raise too_large(where, f"takes about {size:,} bytes of memory", most=most, size=size)


def _content(source: Source, reading: Reading) -> _Docs:
    """Return what a file holds; everything in it is checked."""
    name = source.name
    message = _loaded(_unfolded(source), name, source.most)
    if not isinstance(message, dict):
        raise refusal(name, f"not a DocBin (a {type(message).__name__})", expected="a map")
    ids = required("spacy.attrs", extra="spacy", purpose="reading spaCy's DocBin").IDS
    library = required("spacy.strings", extra="spacy", purpose="reading spaCy's DocBin")
    attributes = _list_of(message, "attrs", int, name)
    if ids["ORTH"] not in attributes or len(set(attributes)) < len(attributes):
        raise refusal(
            name,
            "'attrs' is {}",
            attributes,
            expected=f"different numbers, and {ids['ORTH']} (the words) among them",
        )
    kinds = (("tokens", "<u8", len(attributes)), ("spaces", "?", 1), ("lengths", "<i4", 1))
    tokens, spaces, lengths = (_array(message, *kind, name) for kind in kinds)
    n_tokens, n_documents = int(lengths.sum(dtype=np.int64)), len(lengths)
    if (lengths < 0).any() or not len(tokens) == len(spaces) == n_tokens:
        raise refusal(
            name,
            f"has {len(tokens)} tokens and {len(spaces)} spaces for documents of {n_tokens} tokens",
            expected="as many of each",
            remedy=_AGAIN,
        )
    _check_memory(_PER_DOCUMENT * n_documents + _PER_TOKEN * n_tokens, source.most, name)
    unset = np.zeros(n_tokens, dtype=np.int64)
    columns = {
        x: tokens[:, attributes.index(ids[x])] if ids[x] in attributes else unset for x in _COLUMNS
    }
    groups = _list_of(message, "span_groups", bytes, name, n_documents)
    flags = _list_of(message, "flags", dict, name, n_documents)
    for flag, end, length in zip(flags, np.cumsum(lengths), lengths, strict=True):
        if flag.get("has_unknown_spaces") is True:
            spaces[end - length : end] = True
    categories, others = (
        x if isinstance(x, list) else [] for x in map(message.get, ("cats", "user_data"))
    )
    n_categories = sum(len(item) for item in categories if isinstance(item, dict))
    reading.skipped[no_spans("categories of documents")] += n_categories
    reading.skipped[no_spans("user data of documents")] += len(others)
    if reading.options["layer"] is not None:
        are_entities = (columns["ENT_IOB"] == _BEGIN) & (columns["ENT_TYPE"] != 0)
        reading.skipped[not_read("entities")] += int(np.count_nonzero(are_entities))
    return _Docs(
        library.StringStore(_list_of(message, "strings", str, name)),
        columns,
        spaces.tolist(),
        lengths.tolist(),
        [
            _groups(data, f"{name}: document {number}", source.most)
            for number, data in enumerate(groups, start=1)
        ],
    )


def _list_of(
    message: Mapping[Any, Any], key: str, kind: type, name: str, length: int | None = None
) -> list[Any]:
    """Return a list; older files lack those that have one value for each document."""
    if key not in message and length is not None:
        return [kind()] * length
    value = message.get(key)
    if not isinstance(value, list):
        raise refused(value, f"{key!r}", name, f"a list of {kind.__name__}", _AGAIN)
    for item in value:
        if type(item) is not kind:
            raise refused(item, f"a value of {key!r}", name, kind.__name__, _AGAIN)
    if length is not None and len(value) != length:
        found = f"{key!r} has {len(value)} values for {length} documents"
        raise refusal(name, found, expected="one each")
    return value


def _array(message: Mapping[Any, Any], key: str, kind: str, width: int, name: str) -> Any:
    """Return an array from its bytes, with rows if it has several columns."""
    value, size = message.get(key), np.dtype(kind).itemsize * width
    if not isinstance(value, bytes) or len(value) % size:
        raise refused(value, f"{key!r}", name, f"bytes, a multiple of {size}", _AGAIN)
    array = np.frombuffer(value, dtype="u1" if kind == "?" else kind)
    return array != 0 if kind == "?" else array.reshape(-1, width) if key == "tokens" else array


def _groups(data: bytes, where: str, most: int) -> Groups:
    """Return the span groups of one document."""
    message = _loaded(data, f"{where}: span groups", most) if data else {}
    if isinstance(message, list):  # as older versions wrote them: the name is inside
        message = dict.fromkeys(message) if all(isinstance(x, bytes) for x in message) else message
    if not isinstance(message, dict):
        raise refused(message, "what holds span groups", where, "a map")
    found: Groups = {}
    for packed, names in message.items():
        content = isinstance(packed, bytes) and _loaded(packed, f"{where}: a span group", most)
        group = content if isinstance(content, dict) else {}
        spans = group.get("spans")
        if not isinstance(spans, list) or not all(
            isinstance(span, bytes) and len(span) == _SPAN.size for span in spans
        ):
            expected = f"a list of {_SPAN.size} bytes each"
            raise refused(spans, "what holds the spans of a group", where, expected)
        own = [group.get("name")] if names is None else names
        if not isinstance(own, list) or not all(isinstance(name, str) for name in own):
            raise refused(own, "the name of a span group", where, "strings")
        unpacked = map(_SPAN.unpack, spans)
        marks = [(start, end, label) for _, _, label, start, end, _, _ in unpacked]
        found.update(dict.fromkeys(own, marks))
    return found
