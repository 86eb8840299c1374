"""spaCy's DocBin, or documents in memory: their tokens, entities and span groups.

A document is named by its number in the file. One whose entities were never set is not
annotated; one whose entities were set to none is annotated, with nothing found.
"""

from __future__ import annotations

import gc
import re
import struct
import warnings
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beyondchance.io.drafts import Draft, DraftSpan
from beyondchance.io.layers import unknown
from beyondchance.io.options import Reading
from beyondchance.io.registry import Upload, each_upload, required
from beyondchance.io.sources import WITHOUT_LIMIT, Source, too_large
from beyondchance.io.values import reason, refusal, refused
from beyondchance.messages import Quote, Use, quotes
from beyondchance.tallies import Tally, mended, no_spans, not_annotated, not_read

Groups = dict[str, list[tuple[int, int, int]]]

# Identifier, knowledge base, label; first and last token; first and last character.
_SPAN = struct.Struct(">QQQllll")
_BEGIN = 3
_SAVED = "a file that DocBin.to_disk wrote"
_AGAIN = "write the DocBin again"


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
    library = required("spacy", extra="spacy", purpose="reading spaCy's DocBin")
    message, groups_of = _content(source, reading)
    key = reading.options["layer"]
    names = dict.fromkeys(name for groups in groups_of for name in groups)
    if key is not None and key not in names:
        raise unknown("span group", key, names, source.name)
    n_annotated = 0
    reading.ordered[annotator] = len(groups_of)
    docs = _docs(library, message, source.name)
    for number, (doc, groups) in enumerate(zip(docs, groups_of, strict=True), start=1):
        where = f"{source.name}: document {number}"
        is_annotated = doc.has_annotation("ENT_IOB") if key is None else key in groups
        if not is_annotated:
            reading.skipped[not_annotated("documents")] += 1
            continue
        n_annotated += 1
        reading.skipped.update(_ignored(doc, groups, key))
        tokens = [(token.idx, token.idx + len(token)) for token in doc]
        found = [(entity.start, entity.end, entity.label_) for entity in doc.ents]
        if key is not None:
            found = _grouped(doc, groups[key], key, where)
        sentences = None
        if doc.has_annotation("SENT_START"):
            sentences = [(tokens[s.start][0], tokens[s.end - 1][1]) for s in doc.sents]
        yield Draft(
            where=where,
            document=f"{prefix}{number}",
            annotator=annotator,
            text=doc.text,
            spans=[DraftSpan(tokens[s][0], tokens[e - 1][1], label) for s, e, label in found],
            tokens=tokens,
            sentences=sentences,
            order=None if prefix else number - 1,
        )
    if groups_of and not n_annotated:
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


def _docs(library: Any, message: Mapping[str, Any], name: str) -> list[Any]:
    """Have the library build the documents from what was checked, and nothing else."""
    packer = required("srsly", extra="spacy", purpose="reading spaCy's DocBin")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            packed = zlib.compress(packer.msgpack_dumps(message), level=0)
            store = library.tokens.DocBin().from_bytes(packed)
            documents = store.get_docs(library.blank("xx").vocab)
            # Texts and entities are looked up here, where a string may turn out to be missing.
            checked = [(doc, doc.text, doc.ents) for doc in documents]
    except MemoryError:
        raise
    except Exception as error:
        raise refusal(name, "spaCy cannot read the documents{}", reason(error)) from None
    return [doc for doc, *_ in checked]


def _ignored(doc: Any, groups: Groups, key: str | None) -> Counter[Tally]:
    """Count what is not read."""
    n_unset = 0 if key is not None else sum(token.ent_iob == 0 for token in doc)
    counts = {
        not_read("span groups"): len(groups) - (key is not None),
        mended("tokens whose entities were not set, taken as outside"): n_unset,
    }
    return +Counter(counts)  # without those that are zero


def _grouped(
    doc: Any, group: list[tuple[int, int, int]], key: str, where: str
) -> list[tuple[int, int, str]]:
    found = []
    for start, end, label in group:
        place = (f"{where}: span [{start}, {end}) of the group ", Quote(key))
        if not 0 <= start < end <= len(doc):
            raise refusal(
                place,
                f"does not lie in the document, which has {len(doc)} tokens",
                expected="tokens of the document",
            )
        try:
            name = str(doc.vocab.strings[label]) if label else ""
        except KeyError:
            name = ""
        if not name:
            raise refusal(
                place,
                "has no label that the file spells out",
                expected="a name, among the file's strings",
            )
        found.append((start, end, name))
    return found


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


def _content(source: Source, reading: Reading) -> tuple[dict[str, Any], list[Groups]]:
    """Return what a file holds: a message to the library, and the span groups of documents.

    Everything in it is checked: the library trusts its input and reads past the end.
    """
    message = _loaded(_unfolded(source), source.name, source.most)
    if not isinstance(message, dict):
        raise refusal(source.name, f"not a DocBin (a {type(message).__name__})", expected="a map")
    codes = required("spacy.attrs", extra="spacy", purpose="reading spaCy's DocBin").IDS
    attributes = _list_of(message, "attrs", int, source.name)
    if codes["ORTH"] not in attributes or len(set(attributes)) < len(attributes):
        raise refusal(
            source.name,
            "'attrs' is {}",
            attributes,
            expected=f"different numbers, and {codes['ORTH']} (the words) among them",
        )
    tokens, spaces, lengths = _arrays(message, len(attributes), source.name)
    n_documents = len(lengths)
    size = _PER_DOCUMENT * n_documents + _PER_TOKEN * len(tokens)
    _check_memory(size, source.most, source.name)
    counts: Counter[Tally] = Counter()
    columns = {
        name: tokens[:, attributes.index(codes[name])]
        for name in ("ORTH", "SENT_START", "ENT_IOB", "ENT_TYPE")
        if codes[name] in attributes
    }
    n_entities = _n_entities(columns, lengths, source.name, check=reading.options["layer"] is None)
    # Only these: the others are neither needed nor harmless.
    if reading.options["layer"] is not None:
        columns = {name: columns[name] for name in columns if not name.startswith("ENT")}
        counts[not_read("entities")] = n_entities
    groups = _list_of(message, "span_groups", bytes, source.name, n_documents)
    flags = _list_of(message, "flags", dict, source.name, n_documents)
    categories, user_data = message.get("cats"), message.get("user_data")
    if isinstance(categories, list):
        n_categories = sum(len(item) for item in categories if isinstance(item, dict))
        counts[no_spans("categories of documents")] = n_categories
    if isinstance(user_data, list):
        counts[no_spans("user data of documents")] = len(user_data)
    reading.skipped.update(+counts)  # without those that are zero
    checked = {
        "attrs": [codes[name] for name in columns],
        "tokens": np.stack(list(columns.values()), axis=1).tobytes(),
        "spaces": spaces.tobytes(),
        "lengths": lengths.tobytes(),
        "strings": _list_of(message, "strings", str, source.name),
        "cats": [{}] * n_documents,
        "flags": [{"has_unknown_spaces": flag.get("has_unknown_spaces") is True} for flag in flags],
        "span_groups": [b""] * n_documents,
    }
    return checked, [
        _groups(data, f"{source.name}: document {number}", source.most)
        for number, data in enumerate(groups, start=1)
    ]


def _n_entities(
    columns: Mapping[str, NDArray[np.uint64]], lengths: NDArray[np.int32], name: str, *, check: bool
) -> int:
    """Count the entities, and refuse one without a label, as the library hides it."""
    if "ENT_IOB" not in columns:
        return 0
    begins = columns["ENT_IOB"] == _BEGIN
    nameless = begins & (columns.get("ENT_TYPE", np.zeros_like(columns["ENT_IOB"])) == 0)
    if check and nameless.any():
        index = int(np.argmax(nameless))
        ends = np.cumsum(lengths, dtype=np.int64)
        document = int(np.searchsorted(ends, index, side="right"))
        token = index - int(ends[document]) + int(lengths[document])
        raise refusal(
            f"{name}: document {document + 1}",
            f"the entity at token {token} has no label",
            expected="a name",
        )
    return int(np.count_nonzero(begins & ~nameless))


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
        raise refusal(
            name, f"{key!r} has {len(value)} values for {length} documents", expected="one each"
        )
    return value


def _arrays(
    message: Mapping[Any, Any], n_attributes: int, name: str
) -> tuple[NDArray[np.uint64], NDArray[np.bool_], NDArray[np.int32]]:
    sizes = {"tokens": 8 * n_attributes, "spaces": 1, "lengths": 4}
    for key, size in sizes.items():
        value = message.get(key)
        if not isinstance(value, bytes) or len(value) % size:
            raise refused(value, f"{key!r}", name, f"bytes, a multiple of {size}", _AGAIN)
    tokens = np.frombuffer(message["tokens"], dtype=np.uint64).reshape(-1, n_attributes)
    spaces = np.frombuffer(message["spaces"], dtype=np.uint8) != 0
    lengths = np.frombuffer(message["lengths"], dtype=np.int32)
    n_tokens = int(lengths.sum(dtype=np.int64))
    if (lengths < 0).any() or not len(tokens) == len(spaces) == n_tokens:
        raise refusal(
            name,
            f"has {len(tokens)} tokens and {len(spaces)} spaces for documents of {n_tokens} tokens",
            expected="as many of each",
            remedy=_AGAIN,
        )
    return tokens, spaces, lengths


def _groups(data: bytes, where: str, most: int) -> Groups:
    """Return the span groups of one document: tokens and the code of the label."""
    message = _loaded(data, f"{where}: span groups", most) if data else []
    if isinstance(message, list):  # as older versions wrote them: the name is inside
        pairs = [(packed, None) for packed in message]
    elif isinstance(message, dict):
        pairs = list(message.items())
    else:
        raise refused(message, "what holds span groups", where, "a map")
    found: Groups = {}
    for packed, keys in pairs:
        if not isinstance(packed, bytes):
            raise refused(packed, "a span group", where, "bytes")
        name, spans = _group(packed, where, most)
        names: Any = [name] if keys is None else keys
        if not isinstance(names, list) or not all(isinstance(item, str) for item in names):
            raise refused(names, "the name of a span group", where, "strings")
        found.update(dict.fromkeys(names, spans))
    return found


def _group(packed: bytes, where: str, most: int) -> tuple[object, list[tuple[int, int, int]]]:
    group = _loaded(packed, f"{where}: a span group", most)
    spans = group.get("spans") if isinstance(group, dict) else None
    if not isinstance(spans, list) or not all(
        isinstance(span, bytes) and len(span) == _SPAN.size for span in spans
    ):
        expected = f"a list of {_SPAN.size} bytes each"
        raise refused(spans, "what holds the spans of a group", where, expected)
    unpacked = map(_SPAN.unpack, spans)
    return group.get("name"), [(start, end, label) for _, _, label, start, end, _, _ in unpacked]
