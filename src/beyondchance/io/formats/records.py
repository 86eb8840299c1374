"""Records: JSON, JSONL or Parquet, or a list in memory, of texts with their spans.

Data sets for training and the output of models have this shape, with many names for the same
things. The keys of texts and spans are chosen once for a file, so that all records mean the
same, unless they are known (`fields.KNOWN`) or asked for by the option ``fields``. Training data
of spaCy are pairs of a text and its annotations, and those of spaCy 2 have tags.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import accumulate, islice, pairwise
from pathlib import PurePosixPath
from typing import Any, NamedTuple, TypeGuard

from beyondchance.checks import is_whole
from beyondchance.errors import FormatError
from beyondchance.io.assembling import other_text
from beyondchance.io.conventions import check_in_tokens, fitted
from beyondchance.io.drafts import Draft, DraftSpan, Tags, check_everybody, draft_of_sentences
from beyondchance.io.fields import KNOWN, asking, known_shape, shape_of
from beyondchance.io.json_rows import head_rows, rows_of
from beyondchance.io.layers import unknown
from beyondchance.io.offsets import Interval, places_of
from beyondchance.io.options import Reading
from beyondchance.io.parquet_rows import parquet_rows, schema_of, transposed
from beyondchance.io.registry import Upload, each_upload
from beyondchance.io.shapes import (
    Row,
    Shape,
    numbered,
    only,
    people_in,
    tokens_of,
)
from beyondchance.io.sources import Source, is_parquet
from beyondchance.io.span_objects import (
    ANNOTATORS,
    IDS,
    TEXTS,
    fields_of,
    has_offsets,
    has_text,
    triples_of,
    words_of,
)
from beyondchance.io.text_files import by_names, files_of_texts
from beyondchance.io.values import (
    label_of,
    named_by,
    object_of,
    refusal,
    refused,
    value_at,
)
from beyondchance.messages import Text, Use, quotes
from beyondchance.tallies import left_out, no_spans, not_annotated, not_read

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
_LEFT_OUT = {"reject": left_out("rejected records"), "ignore": left_out("ignored records")}
"""What to count records as by their answers of Prodigy."""
_PARAGRAPHS = "paragraphs"
_FIRST = frozenset(
    {*TEXTS, "tokenized_text", "sentences", "tokens", _PARAGRAPHS, "examples", "File"}
)
"""Keys of which records have one early on."""
_MOST_LOOKED_AT = 100
_NOBODY = (None,)


class _Work(NamedTuple):
    """A record that was read, before documents are named.

    Attributes
    ----------
    row : Row
    order : int, optional
        Its place among those that are read.
    id, annotator, user : str or None
        Where the record has them. A user may be the annotator, or who wrote the text.
    text : str
    spans : list of DraftSpan
    people : list of str or None
        The annotator of each span, where the spans have one.
    tokens : list of (start, end), optional
    n_words : int or None
        How many tokens the record lists by their words, without their places.
    sentences : list of (start, end), optional
    seen : sequence of str
        Who annotated the record, where its shape is declared.
    """

    row: Row
    order: int | None
    id: str | None
    annotator: str | None
    user: str | None
    text: str
    spans: list[DraftSpan]
    people: list[str | None]
    tokens: list[Interval] | None
    n_words: int | None = None
    sentences: list[Interval] | None = None
    seen: Sequence[str] = ()


# --- Detection ----------------------------------------------------------------


def is_format(upload: Upload) -> bool:
    """Return whether the first records are texts with spans that have offsets."""
    if upload.data is None:
        return all(map(_holds_records, upload.sources))
    if _is_list(upload.data):
        return _are_records(upload.data)
    return _is_data_set(upload.data) and _are_records([*islice(upload.data, _MOST_LOOKED_AT)])


def _is_data_set(data: Any) -> bool:
    """Return whether an object is a data set of Hugging Face that can be looked into twice."""
    return type(data).__module__.startswith("datasets.") and hasattr(data, "num_rows")


def _holds_records(source: Source) -> bool:
    if not is_parquet(source):
        return _are_records(head_rows(source, _FIRST))
    names = getattr(schema_of(source), "names", ())
    if any(not any(key in names for key in keys) for keys in (TEXTS, _SPANS)):
        return False  # to look into columns takes as long as to read them
    columns = [name for name in names if name in TEXTS or name in _SPANS]
    with suppress(FormatError):
        rows = islice(parquet_rows(source, columns), _MOST_LOOKED_AT)
        return _are_records([row for _, _, row in rows])
    return False


def _are_records(values: Sequence[Any]) -> bool:
    """Return whether some of the first values are records, with nothing else before them."""
    if len(values) == 1 and (wrapped := _unwrapped(values[0])) is not None:
        values = wrapped
    is_certain = False
    first = list(islice((value for value in values if value is not None), _MOST_LOOKED_AT))
    if any(isinstance(value, Mapping) and _is_of_paragraphs(value) for value in first):
        return True
    if any(shape.fits(value) for value in first for shape in KNOWN):
        return True
    for value in first:
        record = _record(value)
        if record is None or not has_text(record):
            return False
        lists = {key: record[key] for key in _SPANS if _is_list(record.get(key))}
        if any(map(_holds_spans, lists.values())):
            return True
        if any(isinstance(_first_of(spans), Mapping) for spans in lists.values()):
            return False  # spans without offsets
        is_certain |= isinstance(value, list | tuple) or not lists.keys().isdisjoint(_CERTAIN_SPANS)
    return is_certain


def _unwrapped(value: Any) -> list[Any] | None:
    """Return the records within an object that stands for the whole file, if it is one."""
    if not isinstance(value, Mapping) or has_text(value):
        return None
    for key in _WRAPPINGS:
        items = value.get(key)
        if _is_list(items) and any(_record(item) is not None for item in items):
            return list(items)
    return None


def _record(value: Any) -> Mapping[str, Any] | None:
    """Return a record, or spaCy's pair of a text and its annotations, as a mapping."""
    if _is_list(value) and len(value) == 2:
        text, annotations = value
        if isinstance(text, str) and isinstance(annotations, Mapping):
            return {**annotations, "text": text}
    if not isinstance(value, Mapping):
        return None
    columns = [key for key in _SPANS if key in value and _is_of_columns(value[key])]
    return {**value, **{key: list(transposed(value[key])) for key in columns}} if columns else value


def _is_of_columns(value: Any) -> bool:
    """Return whether spans are an object of lists, as older versions of ``datasets`` have them."""
    return (
        isinstance(value, Mapping)
        and has_offsets(dict.fromkeys(value, 0))
        and all(map(_is_list, value.values()))
        and len(set(map(len, value.values()))) == 1
    )


def _is_list(value: Any) -> TypeGuard[Sequence[Any]]:
    return isinstance(value, list | tuple)


def _first_of(value: Any) -> Any:
    return value[0] if _is_list(value) and value else None


def _holds_spans(value: Any) -> bool:
    return has_offsets(_first_of(value))


def _is_of_paragraphs(record: Mapping[str, Any]) -> bool:
    """Return whether a record is a document of spaCy 2, with tags of tokens."""
    first = _first_of(record.get(_PARAGRAPHS))
    return isinstance(first, Mapping) and _is_list(first.get("sentences"))


# --- Reading ------------------------------------------------------------------


@each_upload
def read(upload: Upload, reading: Reading) -> Iterator[Draft]:
    """Read the records of one upload, of one annotator or of several."""
    asked = reading.options["fields"]
    shape = None if asked is None else shape_of(asked)
    given = list(_rows(upload, shape))
    reading.ordered[upload.annotator] = len(given)
    rows = [(order, _checked(row)) for order, row in given if row.item is not None]
    records = [row.item for _, row in rows]
    if not rows:
        return
    if shape is None and _is_of_paragraphs(records[0]):
        for _, row in rows:
            yield from _drafts_of_paragraphs(row, upload, reading)
        return
    for path in () if shape is None else (shape.tokens or "".join(shape.texts), shape.spans):
        _check_path(path, [row for _, row in rows], upload.name)
    shape = shape or known_shape(records[:_MOST_LOOKED_AT]) or _usual(records, upload, reading)
    works = list(_works(rows, shape, upload, reading))
    if not shape.tokens:
        _check_unit(works, upload)
        marked = [(work.row.where, work.text, work.spans) for work in works]
        spans = fitted(marked, reading, file=upload.name, ends=shape.ends)
        works = [work._replace(spans=found) for work, found in zip(works, spans, strict=True)]
    for draft in _drafts(works, upload, reading, len(given)):
        yield replace(draft, is_words=bool(shape.tokens))


def _rows(upload: Upload, shape: Shape | None) -> Iterator[tuple[int | None, Row]]:
    """Yield the values of all files, or of a list in memory, with their places among all."""
    if upload.data is not None:
        is_many = _is_list(upload.data) or _is_data_set(upload.data)
        for order, value in enumerate(upload.data if is_many else [upload.data]):
            yield order, Row(f"{upload.name}: record {order + 1}", value, f"{order + 1}")
        return
    files = [(source, list(_rows_of(source, shape))) for source in upload.sources]
    is_one_each = all(len(rows) == 1 for _, rows in files)
    for source, rows in files:
        for order, (where, value) in enumerate(rows):
            if upload.is_folder:
                name = upload.document_of(source)
                name = name if is_one_each else f"{name}:{order + 1}"
                yield int(name) - 1 if name.isdecimal() else None, Row(where, value, name)
            else:
                yield order, Row(where, value, f"{source.texts_before + order + 1}")


def _rows_of(source: Source, shape: Shape | None) -> Iterator[tuple[str, Any]]:
    content = parquet_rows(source) if is_parquet(source) else rows_of(source)
    rows = [(where, value) for where, _, value in content]
    wrapped = _unwrapped(rows[0][1]) if len(rows) == 1 and shape is None else None
    if shape is not None and shape.records:
        files = [Row(at, object_of(value, at)) for at, value in rows]
        _check_path(shape.records, files, source.name)
        wrapped = [x for file in files for x in file.values(shape.records)]
    items = enumerate(wrapped or (), start=1)
    yield from rows if wrapped is None else ((f"{source.name}: item {i}", x) for i, x in items)


def _check_path(path: str, rows: Sequence[Row], name: str) -> None:
    """Refuse a path under which no record has anything, with those that may be meant."""
    if path and rows and not any(path in row.item or row.at(path) is not None for row in rows):
        raise refusal(
            name,
            "no record has anything under {}, but {}",
            *(path, quotes(rows[0].item)),
            expected="keys that are there",
            remedy=asking([row.item for row in rows]),
        )


def _checked(row: Row) -> Row:
    record = _record(row.item)
    if record is None:
        raise refused(row.item, "the record", row.where, "an object with a text and its spans")
    return row._replace(item=dict(record))


def _drafts_of_paragraphs(row: Row, upload: Upload, reading: Reading) -> Iterator[Draft]:
    """Yield the paragraphs of a document of spaCy 2, whose tokens have tags."""
    name, paragraphs = _id(row) or row.name, list(row.each(_PARAGRAPHS, "paragraph"))
    for place, one in enumerate(paragraphs, start=1):
        at, sentences = one.where, one.values("sentences")
        words = [_words(value_at(sentence, "tokens.*.orth", at), at) for sentence in sentences]
        tags = one.at("sentences.*.tokens.*.ner") or ()
        # A dash says that nobody looked at the token.
        known = [None if tag in (None, "-") else label_of(tag, at, "'ner'") for tag in tags]
        if not any(known):
            reading.skipped[not_annotated("paragraphs")] += 1
            continue
        if len(known) != (n_words := sum(map(len, words))):
            problem = f"{len(known)} tags and {n_words} words"
            raise refusal(at, problem, expected="a tag and a word for each token")
        yield draft_of_sentences(
            words,
            [()] * len(words),
            where=at,
            document=f"{name}/{place}" if len(paragraphs) > 1 else name,
            annotator=upload.annotator,
            tagged=Tags(known, upload.name),
        )


def _words(values: Any, where: Text) -> list[str]:
    """Return the words of a text, refused unless all are strings."""
    if not _is_list(values):
        raise refused(values, "the text", where, "a list of words")
    for at, word in numbered(values, where, "word"):
        if not isinstance(word, str) or not word:
            raise refused(word, "it", at, "a string")
    return list(values)


# --- Records with a text ------------------------------------------------------


def _usual(records: list[Any], upload: Upload, reading: Reading) -> Shape:
    """Return the shape of records with usual keys: the first text that some record has."""
    has_strings = (
        key for key in TEXTS if any(isinstance(record.get(key), str) for record in records)
    )
    return _USUAL._replace(
        texts=(next(has_strings, TEXTS[0]),), spans=_layer(records, upload, reading)
    )


def _works(
    rows: list[tuple[int | None, Row]], shape: Shape, upload: Upload, reading: Reading
) -> Iterator[_Work]:
    texts = _given_texts(shape, upload, reading)
    is_group = shape.reads is not None and shape.spans.startswith("spans.")
    key = shape.spans.partition(".")[2] if is_group else shape.spans
    for order, row in rows:
        where, item = row.where, row.item
        shape.count_others(item, reading)
        own = Row(where, item.get("spans")) if is_group else row
        # A record without groups of spans is not annotated.
        found = None if is_group and not isinstance(own.item, Mapping) else own.at(key)
        found = own.values(key) if found is not None and not _is_list(found) else found
        tally = _LEFT_OUT.get(str(item.get("answer")))
        if tally is None and found is None:
            tally = not_annotated("records", " not annotated left out")
        elif tally is None and not found and reading.options["empty"] == "missing":
            tally = not_annotated("records without spans", " left out as not annotated")
        if tally is not None:
            reading.skipped[tally] += 1
            continue
        name = named_by(item, shape.documents, where) if shape.documents else _id(row)
        if shape.line and (line := row.known(shape.line)):
            name = f"{name}:{line}"
        text, tokens, sentences = _text(row, name, shape, texts)
        marked = [
            (span, person)
            for at, value in numbered(found or (), where, shape.kind)
            for span in shape.marks(value, text, at, reading)
            for person in _people_of(value, shape, at)
        ]
        people = [person for _, person in marked]
        is_usual = shape.reads is not None
        who = row.known(*ANNOTATORS) if is_usual else None
        seen = [] if is_usual else people_in(item, (*shape.annotators, *ANNOTATORS), where)
        if shape.annotators and not (seen or not people or people[0]):
            raise row.refused(shape.annotators[0], "a name or a number")
        is_own = not set(shape.annotator) <= set(shape.annotators)
        if is_own and len(seen) > 1 and None in people:
            raise row.refused(shape.annotator[0], "who of several marked a span")
        words = item.get("tokens")
        has_words = is_usual and _is_list(words) and words and isinstance(words[0], str)
        yield _Work(
            row,
            order,
            name,
            seen[0] if len(seen) == 1 else who,
            _user(item),
            text,
            [_in_characters(x, tokens, shape, reading) if shape.tokens else x for x, _ in marked],
            people,
            _tokens(row, text, reading) if is_usual else tokens or None,
            n_words=len(words or ()) if has_words else None,
            sentences=sentences,
            seen=seen,
        )


def _given_texts(shape: Shape, upload: Upload, reading: Reading) -> dict[str, str]:
    """Return the texts that are given next to records, and each of their lines, by name."""
    if reading.options["documents"] is None:
        return {}
    if shape.texts or shape.tokens:
        unused = ("no ", Use("documents", is_name=True))
        raise refusal(upload.name, "records have texts of their own", expected=unused)
    found: dict[str, str] = {}
    for name, file in by_names(files_of_texts(reading, lambda _: True)).items():
        lines = enumerate(file.text.split("\n"))
        found |= {name: file.text, **{f"{name}:{number}": line for number, line in lines}}
    return found


def _text(
    row: Row, name: str | None, shape: Shape, texts: Mapping[str, str]
) -> tuple[str, list[Interval], list[Interval] | None]:
    """Return the text of a record, its tokens if it has words instead, and its sentences."""
    if shape.tokens:
        words = _words(row.at(shape.tokens), row.where)
        tokens, sentences = places_of(words), None
        parts = row.at(shape.tokens.removesuffix(".*"))
        if all(map(_is_list, parts)):
            bounds = pairwise([0, *accumulate(map(len, parts))])
            sentences = [(tokens[s][0], tokens[e - 1][1]) for s, e in bounds if s < e]
        return " ".join(words), tokens, sentences
    if shape.texts:
        return shape.text(row), [], None
    if (file := PurePosixPath(name or "").name) in texts:
        return texts[file], [], None
    known = ("one of ", *quotes(texts)) if texts else ()
    mend = ("pass the texts with ", Use("documents", placeholder="FOLDER"))
    raise refusal(row.where, "the text of {} is missing", name, expected=known, remedy=mend)


def _usual_spans(value: Any, where: Text) -> Iterator[DraftSpan]:
    """Yield the spans that an object with usual keys stands for, or a list of three values."""
    words, fields = words_of(value), fields_of(value)
    for start, end, label in triples_of(value, where):
        yield DraftSpan(start, end, label, words, where, fields=fields)


_USUAL = Shape(
    annotator=ANNOTATORS,
    reads=_usual_spans,
    not_spans={
        "relations": no_spans("relations"),
        "links": no_spans("links"),
        "events": no_spans("events"),
        "cats": no_spans("categories of whole texts"),
    },
)


def _in_characters(
    span: DraftSpan, tokens: list[Interval], shape: Shape, reading: Reading
) -> DraftSpan:
    """Return a span that counts words as one of characters."""
    is_inclusive = (reading.ends or shape.ends) == "inclusive"
    end = span.end + is_inclusive
    other = "before" if is_inclusive else "with"
    use = Use("offsets", "exclusive" if is_inclusive else "inclusive")
    remedy = (f"if spans end {other} their last word, pass ", use)
    is_near = is_inclusive or span.start == span.end
    check_in_tokens(replace(span, end=end), len(tokens), remedy if is_near else ())
    return replace(span, start=tokens[span.start][0], end=tokens[end - 1][1])


def _people_of(value: Any, shape: Shape, where: Text) -> Sequence[str | None]:
    """Return who marked a span: of usual records one annotator, if the span names any."""
    if shape.reads is None:
        return people_in(value, shape.annotator, where) or _NOBODY
    return [Row(where, value).known(*ANNOTATORS)] if isinstance(value, Mapping) else _NOBODY


def _layer(records: list[Mapping[str, Any]], upload: Upload, reading: Reading) -> str:
    """Return the path of the spans: the one that was asked for, or the only one that holds spans.

    Of spaCy, what was asked for may be one of the span groups.
    """
    own = [record["spans"] for record in records if isinstance(record.get("spans"), Mapping)]
    groups = dict.fromkeys(str(name) for group in own for name in group)
    key, known = reading.options["layer"], dict.fromkeys(name for r in records for name in r)
    if key is not None and key in groups:
        return f"spans.{key}"
    if key is not None and key not in known:
        names = (name for name in known if any(_is_list(record.get(name)) for record in records))
        raise unknown("list of spans", key, dict.fromkeys([*groups, *names]), upload.name)
    use = Use("layer", placeholder="NAME")
    for holds in (_holds_spans, _is_list):
        keys = [x for x in _SPANS if x in known and any(holds(record.get(x)) for record in records)]
        if key is None and holds is _holds_spans:
            only(keys, upload.name, "lists hold spans", ("choose with ", use))
        key = key or next(iter(keys), None)
    if key is None:
        found = "spans are in groups ({})" if groups else "no record has a list of spans{}"
        raise refusal(
            upload.name,
            found,
            quotes(groups, none=""),
            expected=("one under ", *quotes(_SPANS[:3]), " or a name like these"),
            remedy=("choose it with ", use),
        )
    if groups:
        reading.skipped[not_read("span groups")] += sum(map(len, own))
    return key


def _id(row: Row) -> str | None:
    """Return the name of a record; MongoDB has it in an object."""
    for key in IDS:
        value = row.item.get(key)
        path = f"{key}.$oid" if isinstance(value, Mapping) and "$oid" in value else key
        if name := str(value) if is_whole(value) else row.known(path):
            return name
    return None


def _user(record: Mapping[str, Any]) -> str | None:
    values = (record.get(key) for key in _USERS)
    names = (str(value) for value in values if isinstance(value, str) or is_whole(value))
    return next(filter(None, names), None)


def _tokens(row: Row, text: str, reading: Reading) -> list[Interval] | None:
    """Return tokens with a start and an end, as Prodigy and spaCy write them."""
    if not isinstance(_first_of(row.item.get("tokens")), Mapping):
        return None
    try:
        return tokens_of(row, text, reading, checks_words=False)
    except FormatError:
        reading.skipped[not_read("lists of tokens that do not fit their text")] += 1
        return None


def _check_unit(works: list[_Work], upload: Upload) -> None:
    """Refuse spans that count tokens: all are small enough, and as characters they cut words."""
    marked = [(work, span) for work in works for span in work.spans]
    if any(
        span.surface is not None or work.n_words is None or span.end > work.n_words
        for work, span in marked
    ):
        return
    if any(_cuts(work.text, place) for work, span in marked for place in (span.start, span.end)):
        raise refusal(
            upload.name,
            "the spans seem to count tokens: no end is larger than the number of 'tokens', and as "
            "characters, some cut words",
            expected="offsets that count characters",
            remedy="convert them; if they do count characters, remove 'tokens'",
        )


def _cuts(text: str, place: int) -> bool:
    """Return whether a place lies inside a word."""
    return 0 < place < len(text) and text[place - 1].isalnum() and text[place].isalnum()


# --- Documents and annotators -------------------------------------------------


def _drafts(
    works: list[_Work], upload: Upload, reading: Reading, n_records: int
) -> Iterator[Draft]:
    """Name the documents, and give each annotator their spans."""
    works = _by_users(works)
    owners = [work.annotator or upload.annotator for work in works]
    people = dict.fromkeys(name for work in works for name in work.people if name)
    names = _names(works, owners, reading)
    is_seen = any(work.seen for work in works)
    has_all = bool(people) and not is_seen and reading.options["empty"] == "annotated"
    if has_all:
        n_given = sum(1 + len(work.spans) for work in works)
        check_everybody(len(works), len(people), n_given, upload.name)
        reading.note(
            *("spans name their annotators: all are taken to have annotated every record (",),
            *(Use("empty", "missing"), " takes only those who have a span in it)"),
            where=upload.name,
        )
    # Records without ids, by one annotator, are known by their order only.
    has_order = not upload.is_folder and not is_seen and len({*owners, *people}) == 1
    has_order &= all(work.id is None for work in works)
    reading.ordered.update(dict.fromkeys(owners, n_records))
    for work, owner, name in zip(works, owners, names, strict=True):
        everybody = work.seen or (people if has_all else () if people else [owner])
        marked: dict[str, list[DraftSpan]] = {person: [] for person in everybody}
        for span, person in zip(work.spans, work.people, strict=True):
            for who in [person] if person else work.seen or [owner]:
                marked.setdefault(who, []).append(span)
        for annotator, spans in marked.items():
            yield Draft(
                where=work.row.where,
                document=name,
                annotator=annotator,
                text=work.text,
                spans=spans,
                tokens=work.tokens,
                sentences=work.sentences,
                order=work.order if has_order else None,
                is_assumed=bool(people) and not spans and not work.seen,
            )


def _by_users(works: list[_Work]) -> list[_Work]:
    """Take users for annotators where several of them have one text."""
    users: dict[str, set[str]] = {}
    for work in works:
        if work.user is not None:
            users.setdefault(work.text, set()).add(work.user)
    if all(len(names) == 1 for names in users.values()):
        return works
    return [work._replace(annotator=work.annotator or work.user) for work in works]


def _names(works: list[_Work], annotators: list[str], reading: Reading) -> list[str]:
    """Return the document of each record: its id, or its number.

    Where one annotator has several texts under one id, as with the sentences of a document,
    the texts are numbered. Where a file without ids has several annotators, texts match.
    """
    texts: dict[tuple[str, str | None], set[str]] = {}
    for work, annotator in zip(works, annotators, strict=True):
        texts.setdefault((annotator, work.id), set()).add(work.text)
    shared = {id_ for (_, id_), known in texts.items() if id_ is not None and len(known) > 1}
    if shared:
        twins = [work for work in works if work.id in shared]
        what = "records numbered because others have the same id"
        reading.mend("match", what, partial(_other_text, twins), len(twins))
    numbers: dict[str | None, dict[str, int]] = {}
    places: dict[tuple[str, int], str] = {}
    seen: Counter[tuple[str, str]] = Counter()
    is_by_several = any(work.annotator is not None for work in works)
    names = []
    for work, annotator in zip(works, annotators, strict=True):
        name = work.id or work.row.name
        if work.id in shared:
            known = numbers.setdefault(work.id, {})
            name = f"{work.id}/{known.setdefault(work.text, len(known) + 1)}"
        elif work.id is None and is_by_several:
            seen[annotator, work.text] += 1
            name = places.setdefault((work.text, seen[annotator, work.text]), name)
        names.append(name)
    return names


def _other_text(works: list[_Work]) -> FormatError:
    """Return the refusal of several texts under one id."""
    first = works[0]
    other = next(work for work in works if work.id == first.id and work.text != first.text)
    remedy = (Use("match", "id"), " numbers the texts, ", Use("match", "text"), " matches them")
    return other_text(str(first.id), first.row.where, other.row.where, remedy)
