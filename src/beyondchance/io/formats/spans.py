"""Lists of spans in memory: one list for each text, of dictionaries, tuples or objects.

The texts, their tokens or their lengths are given next to them, or come from another annotator's
files or data.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from beyondchance.annotations.corpus import Corpus
from beyondchance.annotations.names import as_list
from beyondchance.errors import DataError, MismatchError, SpanError
from beyondchance.io.drafts import Draft, DraftSpan
from beyondchance.io.formats.tags import is_nothing
from beyondchance.io.options import Reading
from beyondchance.io.registry import Upload
from beyondchance.io.span_objects import has_offsets, triples_of
from beyondchance.messages import Quote

_RECORD = frozenset({"tokens", "words", "entities", "spans", "ner"})
"""Keys of what holds spans, rather than of a span."""
Triple = tuple[int, int, str]


def is_format(upload: Upload) -> bool:
    """Whether data are lists of spans, or one such list."""
    data = upload.data
    if not isinstance(data, list | tuple) or is_nothing(data):
        return False
    first = next((item for item in data if item is not None and not is_nothing(item)), None)
    if _is_span(first):
        return True
    inner = as_list(first) if not isinstance(first, Mapping) else None
    return isinstance(inner, list | tuple) and bool(inner) and _is_span(inner[0])


def _is_span(value: Any) -> bool:
    """Whether a value is a span: an object with a label, or (start, end, label)."""
    if isinstance(value, Mapping):
        return not _RECORD & value.keys() and has_offsets(value)
    if isinstance(value, list | tuple):
        return len(value) == 3 and isinstance(value[2], str) and not isinstance(value[0], str)
    return hasattr(value, "label_") and hasattr(value, "start_char")


def read(uploads: list[Upload], reading: Reading) -> Corpus | Iterator[Draft]:
    """Read the spans of each annotator."""
    texts, tokens, lengths = (reading.beside.get(key) for key in ("texts", "tokens", "lengths"))
    positions = reading.options["positions"]
    documents = reading.options["documents"]
    names = None if documents is None else _names(documents)
    has_drafts = reading.is_mixed or (texts is not None and tokens is None)
    # Texts that make up one document together are put together by the corpus.
    if names is not None and len(set(names)) < len(names) and not reading.is_mixed:
        has_drafts = False
    is_tokens = not has_drafts and (positions == "tokens" or tokens is not None)
    counted = "tokens" if is_tokens else "characters"
    spans = {upload.annotator: list(_spans(upload, counted)) for upload in uploads}
    for upload in uploads:
        reading.met(upload.name, [upload.annotator])
    if has_drafts:
        return _drafts(uploads, spans, None if texts is None else as_list(texts), names)
    return Corpus.from_spans(
        spans,
        lengths=lengths,
        texts=texts,
        tokens=tokens,
        documents=names,
        positions=positions or counted,
        unit=reading.options["unit"] or "document",
        duplicates="error" if reading.refuses("duplicates") else "skip",
    )


def _names(documents: Any) -> list[str]:
    """The names of documents, one for each text."""
    listed = as_list(documents)
    if not isinstance(listed, list | tuple):
        raise DataError("documents are ", Quote(documents), expected="a name for each text")
    return [str(name) for name in listed]


def _spans(upload: Upload, positions: str) -> Iterator[list[Triple] | None]:
    """The spans of each text."""
    listed = as_list(upload.data)
    if not isinstance(listed, list | tuple):
        found = ("found ", Quote(listed))
        raise SpanError(*found, where=upload.name, expected="a list of spans for each text")
    if any(_is_span(item) for item in listed):
        listed = [listed]
    for number, text in enumerate(listed):
        where = f"{upload.name}: text {number}"
        if text is None:
            yield None
            continue
        spans = as_list(text)
        if not isinstance(spans, list | tuple):
            raise SpanError("found ", Quote(spans), where=where, expected="a list of spans")
        yield [
            triple
            for place, span in enumerate(spans)
            for triple in triples_of(span, f"{where}, span {place}", positions=positions)
        ]


def _drafts(
    uploads: list[Upload],
    spans: Mapping[str, list[list[Triple] | None]],
    texts: Any,
    names: list[str] | None,
) -> Iterator[Draft]:
    """Spans of texts that are given next to them, or that other files or data have."""
    for upload in uploads:
        own = spans[upload.annotator]
        for what, given in (("texts", texts), ("documents", names)):
            if given is not None and len(given) != len(own):
                problem = f"there are {len(given)} {what} and {len(own)} lists of spans"
                raise MismatchError(problem, where=upload.name, expected="as many")
        for number, found in enumerate(own):
            where, text = f"{upload.name}: text {number}", "" if texts is None else texts[number]
            if not isinstance(text, str):
                raise DataError("found ", Quote(text), where=where, expected="a string")
            if found is not None:
                yield Draft(
                    where=where,
                    document=names[number] if names else str(number + 1),
                    annotator=upload.annotator,
                    text=text,
                    spans=[DraftSpan(*span) for span in found],
                    is_blank=texts is None,
                    order=None if names or texts is not None else number,
                )
