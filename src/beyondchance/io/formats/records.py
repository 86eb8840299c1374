"""Records: JSON, JSONL or Parquet, or a list in memory, of texts with their spans.

Data sets for training and the output of models have this shape, with many names for the same
things. The keys of texts and spans are chosen once for a file, so that all records mean the
same. Training data of spaCy are pairs of a text and its annotations; those of GLiNER have
words and spans that count words, the last one included.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any, TypeGuard

from beyondchance.checks import is_whole
from beyondchance.errors import FormatError, SpanError
from beyondchance.io.conventions import fitted
from beyondchance.io.drafts import Draft, DraftSpan, check_everybody, draft_of_words
from beyondchance.io.json_rows import head_rows, rows_of
from beyondchance.io.layers import out_of_order, unknown
from beyondchance.io.offsets import Interval, indices, length_of
from beyondchance.io.options import Reading
from beyondchance.io.parquet_rows import parquet_rows, schema_of
from beyondchance.io.record_keys import ANNOTATORS, IDS, TEXTS, has_text
from beyondchance.io.registry import Upload, each_upload
from beyondchance.io.sources import Source, is_parquet
from beyondchance.io.span_objects import has_offsets, triples_of, words_of
from beyondchance.io.values import identifier, listed, quoting, refused, string_of
from beyondchance.messages import Piece, Use, quotes
from beyondchance.tallies import Tally, left_out, no_spans, not_annotated, not_read

# In the order in which they are looked for.
_SPANS = (
    *("entities", "spans", "ents", "labels", "label", "annotations", "annotation", "ner"),
    *("named_entities", "mentions", "Entities"),
)
# What can only hold spans, so that an empty list says that there are none.
_CERTAIN_SPANS = ("entities", "spans", "ents", "named_entities")
# Also those who wrote a text: they are annotators only where several share one.
_USERS = ("user", "username", "user_id", "worker_id")
KEYS_OF_PEOPLE = (*ANNOTATORS, *_USERS)
"""Under which keys records, or spans, have their annotators."""
_WRAPPINGS = ("data", "annotations", "examples", "records", "documents", "items")
_LEFT_OUT = {"reject": "rejected", "ignore": "ignored"}
_IGNORED = {
    "relations": no_spans("relations"),
    "links": no_spans("links"),
    "events": no_spans("events"),
    "cats": no_spans("categories of whole texts"),
}
_WORDS, _NER = "tokenized_text", "ner"
_PARAGRAPHS = "paragraphs"
_MOST_LOOKED_AT = 100


@dataclass(frozen=True, slots=True)
class _Row:
    """A record, and where it is.

    Attributes
    ----------
    where : str
        For messages.
    number : str
        Its number, which names a document that has no other name.
    value : Any
    order : int, optional
        Its place among those that are read.
    """

    where: str
    number: str
    value: Any
    order: int | None = None


@dataclass(frozen=True, slots=True)
class _Work:
    """A record that was read, before documents are named.

    Attributes
    ----------
    where, number : str
    order : int, optional
    id, annotator, user : str or None
        Where the record has them. A user may be the annotator, or who wrote the text.
    text : str
    spans : list of DraftSpan
    people : list of str or None
        The annotator of each span, where the spans have one.
    tokens : list of (start, end), optional
    n_words : int or None
        How many tokens the record lists by their words, without their places.
    """

    where: str
    number: str
    order: int | None
    id: str | None
    annotator: str | None
    user: str | None
    text: str
    spans: list[DraftSpan]
    people: list[str | None]
    tokens: list[Interval] | None
    n_words: int | None


# --- Detection ----------------------------------------------------------------


def is_format(upload: Upload) -> bool:
    """Whether the first records are texts with spans that have offsets."""
    if upload.data is None:
        return all(map(_holds_records, upload.sources))
    if _is_list(upload.data):
        return _are_records(upload.data)
    return _is_data_set(upload.data) and _are_records([*islice(upload.data, _MOST_LOOKED_AT)])


def _is_data_set(data: Any) -> bool:
    """Whether an object is a data set of Hugging Face that can be looked into twice."""
    return type(data).__module__.startswith("datasets.") and hasattr(data, "num_rows")


def _holds_records(source: Source) -> bool:
    if is_parquet(source):
        return _is_parquet_of_records(source)
    return _are_records(head_rows(source, _seems_a_record))


def _seems_a_record(value: Any) -> bool:
    """Whether the beginning of a record has a text, or words."""
    if isinstance(value, list):
        return bool(value) and isinstance(value[0], str)
    return isinstance(value, dict) and any(key in value for key in (*TEXTS, _WORDS))


def _is_parquet_of_records(source: Source) -> bool:
    schema = schema_of(source)
    names = () if schema is None else schema.names
    if not any(key in names for key in TEXTS) or not any(key in names for key in _SPANS):
        return False
    columns = [name for name in names if name in TEXTS or name in _SPANS]
    try:
        rows = islice(parquet_rows(source, columns), _MOST_LOOKED_AT)
        return _are_records([row for _, _, row in rows])
    except FormatError:
        return False


def _are_records(values: Sequence[Any]) -> bool:
    """Whether some of the first values are records, and none before them is something else."""
    if len(values) == 1 and (wrapped := _unwrapped(values[0])) is not None:
        values = wrapped
    is_certain = False
    for value in islice((value for value in values if value is not None), _MOST_LOOKED_AT):
        record = _record(value)
        if record is None:
            return False
        if _is_of_words(record) or _is_of_paragraphs(record):
            return True
        if not has_text(record):
            return False
        if any(_holds_spans(record.get(key)) for key in _SPANS):
            return True
        if any(_holds_objects(record.get(key)) for key in _SPANS):
            return False  # spans without offsets
        is_certain |= any(_is_list(record.get(key)) for key in _CERTAIN_SPANS)
        is_certain |= isinstance(value, list | tuple)
    return is_certain


def _unwrapped(value: Any) -> list[Any] | None:
    """The records within an object that stands for the whole file, if it is one."""
    if not isinstance(value, Mapping) or has_text(value):
        return None
    for key in _WRAPPINGS:
        items = value.get(key)
        if _is_list(items) and any(_record(item) is not None for item in items):
            return list(items)
    return None


def _record(value: Any) -> Mapping[str, Any] | None:
    """A record, or spaCy's pair of a text and its annotations, as a mapping."""
    if _is_list(value) and len(value) == 2:
        text, annotations = value
        if isinstance(text, str) and isinstance(annotations, Mapping):
            return {**annotations, "text": text}
    if not isinstance(value, Mapping):
        return None
    columns = [key for key in _SPANS if key in value and _is_of_columns(value[key])]
    return {**value, **{key: _from_columns(value[key]) for key in columns}} if columns else value


def _is_of_columns(value: Any) -> bool:
    """Whether spans are an object of lists, as older versions of ``datasets`` have them."""
    return (
        isinstance(value, Mapping)
        and has_offsets(dict.fromkeys(value, 0))
        and all(map(_is_list, value.values()))
        and len(set(map(len, value.values()))) == 1
    )


def _from_columns(value: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    return [dict(zip(value, row, strict=True)) for row in zip(*value.values(), strict=True)]


def _is_list(value: Any) -> TypeGuard[Sequence[Any]]:
    return isinstance(value, list | tuple)


def _holds_spans(value: Any) -> bool:
    return _is_list(value) and bool(value) and has_offsets(value[0])


def _holds_objects(value: Any) -> bool:
    return _is_list(value) and bool(value) and isinstance(value[0], Mapping)


def _is_of_words(record: Mapping[str, Any]) -> bool:
    """Whether a record is GLiNER's."""
    return _is_list(record.get(_WORDS)) and _is_list(record.get(_NER))


def _is_of_paragraphs(record: Mapping[str, Any]) -> bool:
    """Whether a record is a document of spaCy 2, with tags of tokens."""
    paragraphs = record.get(_PARAGRAPHS)
    first = paragraphs[0] if _is_list(paragraphs) and paragraphs else None
    return isinstance(first, Mapping) and _is_list(first.get("sentences"))


# --- Reading ------------------------------------------------------------------


@each_upload
def read(upload: Upload, reading: Reading) -> Iterator[Draft]:
    """Read the records of one upload, of one annotator or of several."""
    given = list(_rows(upload))
    reading.ordered[upload.annotator] = len(given)
    rows = [row for row in given if row.value is not None]
    records = [(row, _checked(row)) for row in rows]
    of_words = [(row, record) for row, record in records if _is_of_words(record)]
    if of_words and reading.options["positions"] is None:
        note = ("spans count the words of the file: ", Use("positions", "tokens"), " scores words")
        reading.note(*note, where=upload.name)
    for row, record in of_words:
        yield _draft_of_words(row, record, upload.annotator, reading)
    others = [(row, record) for row, record in records if not _is_of_words(record)]
    if others:
        works = list(_works(others, upload, reading))
        _check_unit(works, upload)
        marked = [(work.where, work.text, work.spans) for work in works]
        spans = fitted(marked, reading, file=upload.name)
        works = [replace(work, spans=found) for work, found in zip(works, spans, strict=True)]
        yield from _drafts(works, upload, reading, len(given))


def _rows(upload: Upload) -> Iterator[_Row]:
    """The values of all files, or of a list in memory."""
    if upload.data is not None:
        is_many = _is_list(upload.data) or _is_data_set(upload.data)
        values = upload.data if is_many else [upload.data]
        for number, value in enumerate(values, start=1):
            where = f"{upload.name}: record {number}"
            yield _Row(where, str(number), value, order=number - 1)
        return
    files = [(source, list(_rows_of(source))) for source in upload.sources]
    is_one_each = all(len(rows) == 1 for _, rows in files)
    for source, rows in files:
        prefix = upload.document_of(source)
        for number, (where, value) in enumerate(rows, start=1):
            if not upload.is_folder:
                yield _Row(where, f"{source.texts_before + number}", value, order=number - 1)
                continue
            name = prefix if is_one_each else f"{prefix}:{number}"
            yield _Row(where, name, value, order=int(name) - 1 if name.isdecimal() else None)


def _rows_of(source: Source) -> Iterator[tuple[str, Any]]:
    content = parquet_rows(source) if is_parquet(source) else rows_of(source)
    rows = [(where, value) for where, _, value in content]
    wrapped = _unwrapped(rows[0][1]) if len(rows) == 1 else None
    if wrapped is None:
        yield from rows
    else:
        for number, value in enumerate(wrapped, start=1):
            yield f"{source.name}: item {number}", value


def _checked(row: _Row) -> Mapping[str, Any]:
    record = _record(row.value)
    if record is None:
        raise refused(row.value, "the record", row.where, "an object with a text and its spans")
    if _is_of_paragraphs(record):
        raise FormatError(
            "training data of spaCy 2",
            where=row.where,
            expected="texts with spans",
            remedy="convert the file with: python -m spacy convert FILE FOLDER --converter json",
        )
    return record


# --- GLiNER -------------------------------------------------------------------


def _draft_of_words(
    row: _Row, record: Mapping[str, Any], annotator: str, reading: Reading
) -> Draft:
    """A record whose spans count words; the last word is included."""
    words = record[_WORDS]
    for number, word in enumerate(words, start=1):
        if not isinstance(word, str) or not word:
            raise refused(word, f"word {number}", row.where, "a string")
    n_more = int(reading.options["ends"] != "exclusive")
    spans = []
    for number, span in enumerate(record[_NER], start=1):
        place = f"{row.where}: span #{number}"
        for start, last, label in triples_of(span, place):
            if not 0 <= start < last + n_more <= len(words):
                found = f"words {start} to {last + n_more - 1} of a text of {len(words)}"
                raise SpanError(found, where=place, expected="words of the text, counted from 0")
            spans.append((start, last + n_more, label))
    name, own = _id(record, row.where), _annotator(record, row.where)
    draft = draft_of_words(
        words,
        spans,
        where=row.where,
        document=name or row.number,
        annotator=own or annotator,
    )
    has_order = name is None and own is None
    return replace(draft, order=row.order if has_order else None)


# --- Records with a text ------------------------------------------------------


def _works(
    records: list[tuple[_Row, Mapping[str, Any]]], upload: Upload, reading: Reading
) -> Iterator[_Work]:
    spans_of = _spans_of([record for _, record in records], upload, reading)
    text_key = _text_key([record for _, record in records])
    for row, record in records:
        text = string_of(record, text_key, row.where, "the text that was annotated, as a string")
        for key, kind in _IGNORED.items():
            if key in record and isinstance(record[key], list | dict) and record[key]:
                reading.skipped[kind] += len(record[key])
        found = spans_of(record, row.where)
        why = _why_left_out(record, found, reading)
        if why is not None:
            reading.skipped[why] += 1
            continue
        marked = [
            (DraftSpan(start, end, label, words_of(span), place), _annotator(span, place))
            for number, span in enumerate(found or (), start=1)
            for place in (f"{row.where}: span #{number}",)
            for start, end, label in triples_of(span, place)
        ]
        yield _Work(
            where=row.where,
            number=row.number,
            order=row.order,
            id=_id(record, row.where),
            annotator=_annotator(record, row.where),
            user=_user(record),
            text=text,
            spans=[span for span, _ in marked],
            people=[person for _, person in marked],
            tokens=_tokens(record, text, reading),
            n_words=_n_words(record),
        )


def _why_left_out(
    record: Mapping[str, Any], spans: list[Any] | None, reading: Reading
) -> Tally | None:
    """What to count a record as that is no annotation."""
    answer = record.get("answer")  # of Prodigy
    if isinstance(answer, str) and answer in _LEFT_OUT:
        return left_out(f"{_LEFT_OUT[answer]} records")
    if spans is None:
        return not_annotated("records", " not annotated left out")
    if not spans and reading.options["empty"] == "missing":
        return not_annotated("records without spans", " left out as not annotated")
    return None


def _text_key(records: list[Mapping[str, Any]]) -> str:
    """Under which key the texts are: the first that some record has."""
    return next(
        (key for key in TEXTS if any(isinstance(record.get(key), str) for record in records)),
        TEXTS[0],
    )


def _spans_of(
    records: list[Mapping[str, Any]], upload: Upload, reading: Reading
) -> Callable[[Mapping[str, Any], str], list[Any] | None]:
    """How to find the spans of a record: None where it was not annotated."""
    asked_for = reading.options["spans_key"]
    groups = dict.fromkeys(
        str(name)
        for record in records
        if isinstance(record.get("spans"), Mapping)
        for name in record["spans"]
    )
    if asked_for is not None and asked_for in groups:
        return lambda record, where: _group(record, asked_for, where)
    key: str = asked_for or ""
    if asked_for is None:
        key = _spans_key(records, groups, upload)
    elif not any(asked_for in record for record in records):
        names = dict.fromkeys(key for record in records for key in record if _is_list(record[key]))
        raise unknown("list of spans", asked_for, [*groups, *names], upload.name)
    if groups:
        reading.skipped[not_read("span groups")] += sum(
            len(record["spans"]) for record in records if isinstance(record.get("spans"), Mapping)
        )
    return lambda record, where: _list_of(record, key, where)


def _spans_key(records: list[Mapping[str, Any]], groups: Mapping[str, None], upload: Upload) -> str:
    """Under which key the spans are: the only one that holds some."""
    known, use = set[str]().union(*records), Use("spans_key", placeholder="NAME")
    candidates = [key for key in _SPANS if key in known]
    keys = [key for key in candidates if any(_holds_spans(record.get(key)) for record in records)]
    if len(keys) > 1:
        raise FormatError(
            *("spans under ", *quotes(keys)),
            where=upload.name,
            expected="one of them",
            remedy=("choose with ", use),
        )
    if not keys:
        keys = [key for key in candidates if any(_is_list(record.get(key)) for record in records)]
    if keys:
        return keys[0]
    found: tuple[Piece, ...] = ("no record has a list of spans",)
    remedy = ("name it with ", use)
    if groups:
        found, remedy = ("spans are in groups (", *quotes(groups), ")"), ("choose one with ", use)
    expected = f"one under {', '.join(map(repr, _SPANS[:3]))} or a name like these"
    raise FormatError(*found, where=upload.name, expected=expected, remedy=remedy)


def _list_of(record: Mapping[str, Any], key: str, where: str) -> list[Any] | None:
    value = record.get(key)
    if value is None:
        return None
    return list(value) if isinstance(value, tuple) else listed(record, key, where)


def _group(record: Mapping[str, Any], name: str, where: str) -> list[Any] | None:
    groups = record.get("spans")
    return _list_of(groups, name, where) if isinstance(groups, Mapping) else None


def _id(record: Mapping[str, Any], where: str) -> str | None:
    for key in IDS:
        value = record.get(key)
        if isinstance(value, Mapping) and "$oid" in value:  # of MongoDB
            return identifier(value, "$oid", where)
        if is_whole(value):
            return str(value)
        if name := identifier(record, key, where):
            return name
    return None


def _annotator(item: Any, where: str) -> str | None:
    """Who made a record or a span, if it says so."""
    if not isinstance(item, dict | Mapping) or item.keys().isdisjoint(ANNOTATORS):
        return None
    return next((name for key in ANNOTATORS if (name := identifier(item, key, where))), None)


def _user(record: Mapping[str, Any]) -> str | None:
    values = (record.get(key) for key in _USERS)
    names = (str(value) for value in values if isinstance(value, str) or is_whole(value))
    return next((name for name in names if name), None)


def _tokens(record: Mapping[str, Any], text: str, reading: Reading) -> list[Interval] | None:
    """Tokens with a start and an end, as Prodigy and spaCy write them."""
    values = record.get("tokens")
    if not _holds_objects(values):
        return None
    tokens = [
        (int(item["start"]), int(item["end"]))
        for item in record["tokens"]
        if isinstance(item, Mapping) and is_whole(item.get("start")) and is_whole(item.get("end"))
    ]
    unit = reading.options["offsets"] or "codepoints"
    places = indices(text, unit)
    is_whole_characters = all(start in places and end in places for start, end in tokens)
    if (
        len(tokens) < len(record["tokens"])
        or not is_whole_characters
        or out_of_order(tokens, length_of(text, unit)) is not None
    ):
        reading.skipped[not_read("lists of tokens that do not fit their text")] += 1
        return None
    return tokens


def _n_words(record: Mapping[str, Any]) -> int | None:
    words = record.get("tokens")
    return len(words) if _is_list(words) and words and isinstance(words[0], str) else None


def _check_unit(works: list[_Work], upload: Upload) -> None:
    """Refuse spans that count tokens: all are small enough, and as characters they cut words."""
    marked = [(work, span) for work in works for span in work.spans]
    if any(
        span.surface is not None or work.n_words is None or span.end > work.n_words
        for work, span in marked
    ):
        return
    if any(_cuts(work.text, span.start) or _cuts(work.text, span.end) for work, span in marked):
        raise FormatError(
            "the spans seem to count tokens: no end is larger than the number of 'tokens', and as "
            "characters, some cut words",
            where=upload.name,
            expected="offsets that count characters",
            remedy="convert them; if they do count characters, remove 'tokens'",
        )


def _cuts(text: str, place: int) -> bool:
    """Whether a place lies inside a word."""
    return 0 < place < len(text) and text[place - 1].isalnum() and text[place].isalnum()


# --- Documents and annotators -------------------------------------------------


def _drafts(
    works: list[_Work], upload: Upload, reading: Reading, n_records: int
) -> Iterator[Draft]:
    """Name the documents, and give each annotator their spans."""
    works = _by_users(works)
    by = {index: work.annotator or upload.annotator for index, work in enumerate(works)}
    people = dict.fromkeys(name for work in works for name in work.people if name)
    names = _names(works, list(by.values()), reading)
    has_all = reading.options["empty"] == "annotated"
    if people and has_all:
        n_given = sum(1 + len(work.spans) for work in works)
        check_everybody(len(works), len(people), n_given, upload.name)
        reading.note(
            *("spans name their annotators: all are taken to have annotated every record (",),
            *(Use("empty", "missing"), " takes only those who have a span in it)"),
            where=upload.name,
        )
    # Records without ids, by one annotator, are known by their order only.
    has_order = not upload.is_folder and len({*by.values(), *people}) == 1
    has_order &= all(work.id is None for work in works)
    reading.ordered.update(dict.fromkeys(by.values(), n_records))
    for index, (work, name) in enumerate(zip(works, names, strict=True)):
        marked: dict[str, list[DraftSpan]] = {}
        if not people:
            marked = {by[index]: work.spans}
        elif has_all:
            marked = {person: [] for person in people}
        for span, person in zip(work.spans, work.people if people else (), strict=bool(people)):
            marked.setdefault(person or by[index], []).append(span)
        for annotator, spans in marked.items():
            yield Draft(
                where=work.where,
                document=name,
                annotator=annotator,
                text=work.text,
                spans=spans,
                tokens=work.tokens,
                order=work.order if has_order else None,
                is_assumed=bool(people) and not spans,
            )


def _by_users(works: list[_Work]) -> list[_Work]:
    """Take users for annotators where several of them have one text."""
    users: dict[str, set[str]] = {}
    for work in works:
        if work.user is not None:
            users.setdefault(work.text, set()).add(work.user)
    if all(len(names) == 1 for names in users.values()):
        return works
    return [replace(work, annotator=work.annotator or work.user) for work in works]


def _names(works: list[_Work], annotators: list[str], reading: Reading) -> list[str]:
    """The document of each record: its id, or its number.

    Where one annotator has several texts under one id, as with the sentences of a document,
    the texts are numbered. Where a file without ids has several annotators, texts match.
    """
    texts: dict[tuple[str, str], set[str]] = {}
    for work, annotator in zip(works, annotators, strict=True):
        if work.id is not None:
            texts.setdefault((annotator, work.id), set()).add(work.text)
    shared = {id_ for (_, id_), known in texts.items() if len(known) > 1}
    if shared:
        numbered = [work for work in works if work.id in shared]
        what = "records numbered because others have the same id"
        reading.mend("match", what, partial(_other_text, numbered), len(numbered))
    numbers: dict[str, dict[str, int]] = {}
    places: dict[tuple[str, int], str] = {}
    seen: Counter[tuple[str, str]] = Counter()
    is_by_several = any(work.annotator is not None for work in works)
    names = []
    for work, annotator in zip(works, annotators, strict=True):
        if work.id is not None and work.id in shared:
            known = numbers.setdefault(work.id, {})
            number = known.setdefault(work.text, len(known) + 1)
            names.append(f"{work.id}/{number}")
        elif work.id is not None:
            names.append(work.id)
        elif is_by_several:
            seen[annotator, work.text] += 1
            names.append(places.setdefault((work.text, seen[annotator, work.text]), work.number))
        else:
            names.append(work.number)
    return names


def _other_text(works: list[_Work]) -> FormatError:
    """The refusal of several texts under one id."""
    first = works[0]
    other = next(work for work in works if work.id == first.id and work.text != first.text)
    return FormatError(
        *quoting("document {} has another text at {}", other.id, (first.where,)),
        where=other.where,
        expected="different identifiers for different texts",
        remedy=(
            *(Use("match", "id"), " numbers the texts, "),
            *(Use("match", "text"), " matches them"),
        ),
    )
