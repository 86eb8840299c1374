"""Quotes without offsets: records of language models, each a text and the words marked in it.

``{"text": ..., "entities": [{"text": "Lund", "label": "LOC"}]}``, the quotes grouped by label
(``{"text": ..., "entities": {"LOC": ["Lund"]}}`` or ``{"text": ..., "LOC": ["Lund"]}``), the
examples of spacy-llm, and others with similar names.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any

from beyondchance.checks import is_whole
from beyondchance.errors import FormatError, SpanError
from beyondchance.io.drafts import Draft, DraftSpan, Mention
from beyondchance.io.json_rows import head_rows, rows_of
from beyondchance.io.options import Reading
from beyondchance.io.quoted import FOLDED, NEAR, POINTED, Missing, Place, placed
from beyondchance.io.registry import Upload
from beyondchance.io.shapes import Row, numbered
from beyondchance.io.sources import Source
from beyondchance.io.span_objects import ANNOTATORS, IDS, TEXTS
from beyondchance.io.text_files import by_names, files_of_texts
from beyondchance.io.values import label_of, object_of, refusal, refused
from beyondchance.messages import Quote, Text, Use, pieces, quotes
from beyondchance.tallies import left_out, mended, not_annotated, unsure, wrong

_ANNOTATORS = (*ANNOTATORS, "model")
_RUNS = ("run", "run_id")
LISTS = (
    *("entities", "spans", "quotes", "mentions", "extractions", "annotations", "labels", "label"),
    *("named_entities", "ner", "nerData", "predictions", "output"),
)
_WORDS = (
    *("text", "quote", "span", "mention", "extraction_text", "entity_text", "surface", "phrase"),
    *("word", "words", "token", "value", "name", "entity"),
)
_LABELS = (
    *("label", "type", "category", "entity_type", "extraction_class", "class", "tag"),
    *("entity_group", "entity"),
)
"""What records call these things; the first that is there counts."""
_NOT_LABELS = frozenset(
    {
        *("tokens", "words", "tags", "ner_tags", "pos_tags", "chunk_tags", "sentences", "lines"),
        *("cats", "categories", "accept", "comments", "options"),
    }
)
"""Lists of strings that are not the quotes of one label."""
_NONE = "==NONE=="
"""The label by which spacy-llm says that a quote is no entity."""
_MOST_NUMBERS = 6
"""Numbers of a quote of which two may be its offsets."""
_MOST_SEARCHED = 10**10
"""Characters that are looked at for all quotes of a text: some seconds, or a minute."""
_OFFSET = re.compile("start|begin|end|offset|position|index|indices|interval|span", re.IGNORECASE)

AMBIGUOUS = unsure("quotes that may be at other occurrences, placed in order")
_MISSING = {"count": wrong, "skip": left_out}


# --- Detection ----------------------------------------------------------------


def is_format(upload: Upload) -> bool:
    """Return whether the content looks like quotes: words with labels, and no offsets."""
    if upload.data is not None:
        return isinstance(upload.data, list | tuple) and _look_right(list(upload.data[:100]))
    return all(_look_right(head_rows(source, TEXTS)) for source in upload.sources)


def _look_right(rows: list[Any]) -> bool:
    """Return whether some records have quotes, and all of those have them without offsets."""
    if not all(isinstance(row, Mapping) for row in rows):
        return False
    verdicts = [verdict for row in rows if (verdict := has_quotes(row)) is not None]
    return bool(verdicts) and all(verdicts)


def has_quotes(row: Mapping[str, Any]) -> bool | None:
    """Return whether a record has quotes; None if it has none but could have had some."""
    if key_in(row, LISTS) is None:
        # Some of what lists next to the text hold must be in it.
        groups = _flat_groups(row)
        text = next((row[key] for key in TEXTS if row.get(key) is not None), None)
        if not isinstance(text, str) or (not groups and any(isinstance(row[x], list) for x in row)):
            return False
        return any(words in text for group in groups.values() for words in group) or None
    try:
        found = [quote.item for quote in _quotes(Row("", row))]
    except FormatError:
        return False
    # The last may be cut short where the head of the file ends.
    return all(is_quote(item) for item in (found[:-1] or found)) if found else None


def is_quote(item: Any) -> bool:
    """Return whether a value is a quote with a label and without offsets."""
    if not isinstance(item, Mapping) or "char_interval" in item or _has_offsets(item):
        return False
    words = key_in(item, _WORDS, str)
    return words is not None and key_in(item, _LABELS, str, words) is not None


def _has_offsets(item: Mapping[str, Any]) -> bool:
    return any(_numbers(value) and _OFFSET.search(str(key)) for key, value in item.items())


def _numbers(value: Any, depth: int = 4) -> tuple[int, ...]:
    """Return the first whole numbers in a value, which may be part of itself."""
    if isinstance(value, Mapping):
        value = list(value.values())
    elif isinstance(value, list | tuple):
        value = value[:4]
    else:
        return (int(value),) if is_whole(value) else ()
    inner = (number for item in value if depth for number in _numbers(item, depth - 1))
    return tuple(islice(inner, _MOST_NUMBERS))


def key_in(
    item: Mapping[str, Any],
    names: tuple[str, ...],
    kind: type | tuple[type, ...] = object,
    without: str = "",
) -> str | None:
    """Return the first of some names that an object has, with a value of a kind."""
    found = (name for name in names if name in item and isinstance(item[name], kind))
    return next((name for name in found if name != without), None)


def _flat_groups(row: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Return the lists by label that a record has next to its text."""
    known = {*TEXTS, *IDS, *_ANNOTATORS}
    groups: dict[str, list[Any]] = {
        key: value or []
        for key, value in row.items()
        if key not in known and isinstance(value, list | None)
    }
    is_odd = _NOT_LABELS & groups.keys() or not all(
        isinstance(item, str) for value in groups.values() for item in value
    )
    return {} if is_odd else groups


# --- Reading ------------------------------------------------------------------


def read(uploads: list[Upload], reading: Reading) -> Iterator[Draft]:
    """Read all records: a draft for each."""
    return drafts_of(uploads, reading, _rows)


def drafts_of(
    uploads: list[Upload],
    reading: Reading,
    rows_in: Callable[[Upload, Reading], Iterator[Row]],
) -> Iterator[Draft]:
    """Make a draft of each record; where it has no text, that of its document is filled in."""
    given = [] if reading.options["documents"] is None else files_of_texts(reading)
    texts = {name: file.text for name, file in by_names(given).items()}
    for upload in uploads:
        own = list(rows_in(upload, reading))
        for where, item, _ in own:
            object_of(item, where, "the record")
        annotated = list(filter(_is_annotated, own))
        left = not_annotated("records", " not annotated left out")
        reading.skipped[left] += len(own) - len(annotated)
        if own and not annotated:
            raise refusal(
                own[0].where,
                "no quotes among {}",
                quotes(own[0].item),
                expected="a list of them under a key such as 'entities'",
            )
        for row in annotated:
            draft = _draft(row, upload, texts, reading)
            reading.met(upload.name, [draft.annotator])
            yield draft


def _is_annotated(row: Row) -> bool:
    """Return whether a record has quotes or an empty list; null is no answer of a model."""
    key = key_in(row.item, LISTS)
    return bool(_flat_groups(row.item)) if key is None else row.item[key] is not None


def _rows(upload: Upload, _: Reading) -> Iterator[Row]:
    if upload.data is not None:
        rows = upload.data if isinstance(upload.data, list | tuple) else [upload.data]
        for number, row in enumerate(rows, start=1):
            item = dict(row) if isinstance(row, Mapping) else row
            yield Row(f"{upload.name}: item {number}", item, f"{number}")
        return
    for source in upload.sources:
        yield from named_rows(upload, source, list(rows_of(source)))


def named_rows(
    upload: Upload, source: Source, found: Sequence[tuple[str, int, Any]]
) -> Iterator[Row]:
    """Name the records of a file, in a folder after it."""
    stem = upload.document_of(source)
    for where, number, row in found:
        name = stem if len(found) == 1 else f"{stem}:{number}"
        yield Row(where, row, name if upload.is_folder else f"{number}")


def _draft(row: Row, upload: Upload, texts: Mapping[str, str], reading: Reading) -> Draft:
    """Return the draft of a record, which may have no text yet."""
    where, key = row.where, next((key for key in TEXTS if row.item.get(key) is not None), "")
    if key:
        row.string(key, "the text that was quoted from, as a string")
    name = row.known(*IDS)
    if not (name or key or upload.is_folder):
        raise refusal(
            where,
            "has no text and no id",
            expected="an object with 'text' or 'id'",
            remedy="or put files that are named after their documents into a folder",
        )
    mentions = []
    for quote in _quotes(row):
        # As spacy-llm marks what is no entity.
        if quote.item.get("is_entity") is False or quote.item.get("label") == _NONE:
            reading.skipped[left_out("quotes marked as no entity")] += 1
        else:
            mentions.append(_mention(quote))
    names = row.known(*_ANNOTATORS) or upload.annotator, row.known(*_RUNS)
    draft = Draft(
        where=where,
        document=name or row.name,
        annotator="/".join(filter(None, names)),
        text="",
        spans=(),
        is_words=True,
        is_blank=True,
    )
    text = row.item[key] if key else texts.get(draft.document)
    find = partial(_found, draft, mentions, reading)
    return replace(draft, find=find) if text is None else find(text)


def _found(draft: Draft, mentions: Sequence[Mention], reading: Reading, text: str) -> Draft:
    """Return a draft with the quotes that are in a text."""
    if len(text) * len(mentions) > _MOST_SEARCHED:
        raise refusal(
            draft.where,
            f"{len(mentions):,} quotes of a text of {len(text):,} characters take too long to find",
            expected="shorter texts",
            remedy="divide it into documents",
        )
    places = placed(text, mentions, near=reading.options["near_quotes"])
    pairs = zip(mentions, places, strict=True)
    spans = [_span(*pair, draft.where, reading) for pair in pairs]
    return replace(
        draft,
        text=text,
        is_blank=False,
        spans=[span for span in spans if span is not None],
        missing=[m for m, span in zip(mentions, spans, strict=True) if span is None],
    )


def _span(
    mention: Mention, place: Place | Missing, where: Text, reading: Reading
) -> DraftSpan | None:
    """Return the span of a quote that was found, and count what there is to say of it."""
    if mention.has_offsets and getattr(place, "how", "") != POINTED:
        reading.skipped[mended("offsets ignored, quotes found by their words")] += 1
    tally, problem = None, ""
    if isinstance(place, Missing):
        lost, problem = "quotes not found in the text", "is not in the text"
        if place.is_surplus:
            lost = "quotes marked more often than they occur, surplus"
            problem = "was quoted more often than it occurs"
        tally = _MISSING[reading.options["missing_quotes"]](lost)
        reading.signed["missing_quotes"] = reading.options["missing_quotes"]
    elif place.how == FOLDED:
        problem = "is in the text with another case, white space or typography only"
        tally = mended("quotes found up to case, white space and typography")
    if tally is not None:
        refusal = partial(
            SpanError,
            *("the quote ", Quote(mention.words), f" {problem}"),
            where=where,
            expected="the words of the text, as often as they are marked",
            remedy=(Use("strict", "-inexact_quotes"), " takes what is found and counts the others"),
        )
        reading.mend("inexact_quotes", tally, refusal)
    if isinstance(place, Missing):
        return None
    if place.how == NEAR:
        reading.skipped[unsure("quotes found nearly, not word for word")] += 1
    if place.elsewhere:
        reading.skipped[AMBIGUOUS] += 1
    return DraftSpan(place.start, place.end, mention.label, elsewhere=place.elsewhere)


def _quotes(row: Row) -> Iterator[Row]:
    """Yield the quotes of a record in their order, those by label as objects too."""
    key = key_in(row.item, LISTS)
    value = _flat_groups(row.item) if key is None else row.item[key]
    groups: list[tuple[Text, dict[str, Any], Any]] = [(row.where, {}, value)]
    if isinstance(value, Mapping):
        outer = (*pieces(row.where), ": ")
        groups = [((*outer, Quote(name)), {"label": name}, value[name]) for name in value]
    for place, more, items in groups:
        if not isinstance(items, list | None):
            expected = "a list of quotes, or lists by label"
            why = ", because the words and the label could be either way round" if more else ""
            raise refused(items, "it" if more else f"{key!r}", place, f"{expected}{why}")
        for at, item in numbered(items or (), place, "quote"):
            quote = {"text": item} if isinstance(item, str) and more else item
            if not isinstance(quote, Mapping):
                raise refused(item, "it", at, "words with a label")
            yield Row(at, {**quote, **more})


def _mention(quote: Row) -> Mention:
    item = quote.item
    words = key_in(item, _WORDS, str)
    label = key_in(item, _LABELS, without=words or "")
    if words is None or label is None:
        what, key = ("words", "text") if words is None else ("label", "label")
        raise refusal(
            quote.where,
            f"has no {what}, but {{}}",
            quotes(item),
            expected=f"it under a key such as {key!r}",
        )
    named = label_of(item[label], quote.where, f"{label!r}")
    return Mention(item[words], named, _numbers(item), _has_offsets(item))
