"""Lists of spans in memory: one list for each text, of dictionaries, tuples or objects.

The texts, their tokens or their lengths are given next to them, or come from another annotator's
files or data. Offsets count tokens next to tokens and characters next to texts. Next to the data of
others they count what ``positions`` says, or the characters of a text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import starmap
from typing import Any, NamedTuple

from beyondchance.annotations.building import check_counted, check_lengths
from beyondchance.annotations.corpus import Corpus
from beyondchance.checks import repeated
from beyondchance.errors import DataError, MismatchError, OptionError, SpanError
from beyondchance.io.assembling import assembled
from beyondchance.io.conventions import (
    check_in_tokens,
    check_words,
    emptiness,
    fitted,
)
from beyondchance.io.drafts import Draft, DraftSpan, draft_of_sentences
from beyondchance.io.formats.tags import is_nothing
from beyondchance.io.offsets import places_of
from beyondchance.io.options import Reading
from beyondchance.io.registry import Upload
from beyondchance.io.span_objects import fields_of, is_span, triples_of, words_of
from beyondchance.io.values import refusal
from beyondchance.messages import Quote, Use
from beyondchance.tallies import left_out

Marked = list[DraftSpan]
"""The spans of one text."""


class _Beside(NamedTuple):
    """What was given next to lists of spans, checked.

    Attributes
    ----------
    texts : list of str, optional
    tokens : list of lists of str, optional
    lengths : list of int, optional
    names : list of str, optional
        The document of each text.
    counted : {"characters", "tokens"}
        What offsets count.
    """

    texts: list[str] | None
    tokens: list[list[str]] | None
    lengths: Any
    names: list[str] | None
    counted: str

    @property
    def has_texts(self) -> bool:
        """Whether offsets count the characters of texts that are given."""
        return self.texts is not None and self.tokens is None


def is_format(upload: Upload) -> bool:
    """Return whether data are lists of spans, or one such list."""
    data = upload.data
    if not isinstance(data, list | tuple) or is_nothing(data):
        return False
    first = next(item for item in data if not is_nothing(item))
    return is_span(first) or (isinstance(first, list | tuple) and is_span(first[0]))


def read(uploads: list[Upload], reading: Reading) -> Corpus | Iterator[Draft]:
    """Read the spans of each annotator."""
    beside = _beside(reading)
    spans = {upload.annotator: list(_spans(upload, beside, reading)) for upload in uploads}
    sizes = {"texts": beside.texts, "lists of tokens": beside.tokens, "documents": beside.names}
    for upload in uploads:
        reading.met(upload.name, [upload.annotator])
        number = len(spans[upload.annotator])
        for what, given in sizes.items():
            if given is not None and len(given) != number:
                problem = f"there are {len(given)} {what} and {number} lists of spans"
                raise MismatchError(problem, where=upload.name, expected="as many")
    for texts in spans.values() if beside.tokens is not None else ():
        check_words([*starmap(_stored, zip(beside.tokens or (), texts, strict=True))], reading)
    if reading.is_mixed:
        return _drafts(uploads, spans, beside, reading)
    if beside.has_texts:
        drafts = _drafts(uploads, spans, beside, reading)
        unit = "sentence" if repeated(beside.names or ()) else "document"
        return assembled(drafts, reading, unit=unit, positions="tokens")
    reading.check_unused("offsets", "match", needs="texts=")
    return Corpus.from_spans(
        {
            name: [None if text is None else [*_triples(text, reading)] for text in texts]
            for name, texts in spans.items()
        },
        lengths=beside.lengths,
        texts=beside.texts,
        tokens=beside.tokens,
        documents=beside.names,
        positions=beside.counted,
        unit=reading.options["unit"],
        duplicates="error" if reading.refuses("duplicates") else "skip",
    )


# --- What is given next to spans ----------------------------------------------


def _beside(reading: Reading) -> _Beside:
    texts, tokens, lengths = (reading.beside.get(key) for key in ("texts", "tokens", "lengths"))
    positions, documents = reading.options["positions"], reading.options["documents"]
    if tokens is not None:
        check_counted("tokens", positions)
    is_tokens = tokens is not None or (positions == "tokens" and texts is None)
    if reading.is_mixed and lengths is not None:
        found = (
            Use("lengths", is_name=True),
            " does not apply next to data that have texts or tokens",
        )
        raise OptionError(*found, remedy="leave it out")
    for what, given, kind, expected in (
        ("text", texts, str, "a string"),
        ("tokens of text", tokens, list | tuple, "a list of strings"),
    ):
        for number, value in enumerate(given or ()):
            if not isinstance(value, kind):
                where = f"{what} {number}"
                raise refusal(where, "found {}", value, expected=expected, kind=DataError)
    if texts is not None and lengths is not None and tokens is None:
        check_lengths(lengths, list(map(len, texts)), "characters")
    if documents is not None and not isinstance(documents, list | tuple):
        raise DataError("documents are ", Quote(documents), expected="a name for each text")
    names = None if documents is None else list(map(str, documents))
    return _Beside(texts, tokens, lengths, names, "tokens" if is_tokens else "characters")


# --- Spans --------------------------------------------------------------------


def _spans(upload: Upload, beside: _Beside, reading: Reading) -> Iterator[Marked | None]:
    """Yield the spans of each text, half-open unless its words may show that they are not."""
    n_more = int(reading.ends == "inclusive" and not beside.has_texts)
    listed, expected = upload.data, "a list of spans"
    if not isinstance(listed, list | tuple):
        expected += " for each text"
        raise refusal(upload.name, "found {}", listed, expected=expected, kind=SpanError)
    if any(is_span(item) for item in listed):
        listed = [listed]
    for number, spans in enumerate(listed):
        where = f"{upload.name}: text {number}"
        if spans is None:
            yield None
        elif not isinstance(spans, list | tuple):
            raise refusal(where, "found {}", spans, expected=expected, kind=SpanError)
        else:
            yield [
                DraftSpan(start, end + n_more, label, words_of(span), place, fields=fields_of(span))
                for index, span in enumerate(spans)
                for place in (f"{where}, span {index}",)
                for start, end, label in triples_of(span, place, positions=beside.counted)
            ]


def _triples(text: Marked, reading: Reading) -> Iterator[tuple[int, int, str]]:
    """Yield the spans of a text that is not known, without those that are empty."""
    for span in text:
        if span.start == span.end:
            reading.mend("zero_length", left_out("empty spans"), partial(emptiness, span))
        else:
            yield span.start, span.end, span.label


def _stored(words: list[str], text: Marked | None) -> tuple[str, str, Marked]:
    """Return the spans of tokens with stored words, by the characters of the joined tokens."""
    stored = [span for span in text or () if span.surface is not None]
    for span in stored:
        check_in_tokens(span, len(words))
    draft = draft_of_sentences([words], [()], where="", document="", annotator="")
    places = draft.tokens or ()
    moved = [
        replace(span, start=places[span.start][0], end=places[span.end - 1][1]) for span in stored
    ]
    return "", draft.text, moved


# --- Spans of texts -----------------------------------------------------------


def _drafts(
    uploads: list[Upload],
    spans: Mapping[str, list[Marked | None]],
    beside: _Beside,
    reading: Reading,
) -> Iterator[Draft]:
    """Yield spans of texts that are given next to them, or that other files or data have."""
    for upload in uploads:
        own = spans[upload.annotator]
        reading.lists[upload.annotator] = len(own)
        if beside.has_texts:
            pairs = enumerate(zip(beside.texts or (), own, strict=True))
            stored = [
                (f"{upload.name}: text {i}", text, marked or []) for i, (text, marked) in pairs
            ]
            checked = fitted(stored, reading, file=upload.name)
            own = [
                found if was is not None else None for was, found in zip(own, checked, strict=True)
            ]
        for name, numbers in _documents(beside.names, len(own), reading).items():
            where = f"{upload.name}: text {numbers[0]}"
            marked = [text for text in (own[i] for i in numbers) if text is not None]
            if marked and len(marked) < len(numbers):
                found, expected = (
                    "document {} was annotated in part only",
                    "all of its texts or none",
                )
                raise refusal(where, found, name, expected=expected, kind=DataError)
            if marked:
                yield _draft(
                    *(beside, numbers, marked),
                    is_mixed=reading.is_mixed,
                    where=where,
                    document=name,
                    annotator=upload.annotator,
                    order=numbers[0] if beside.names is None and reading.is_mixed else None,
                )


def _documents(names: list[str] | None, n_texts: int, reading: Reading) -> dict[str, list[int]]:
    """Return the texts of each document by their numbers."""
    if names is None:
        return {str(i + reading.first_number): [i] for i in range(n_texts)}
    found: dict[str, list[int]] = {}
    for i, name in enumerate(names):
        own = found.setdefault(name, [])
        if own and own[-1] < i - 1:
            raise refusal(
                f"text {i}",
                "document {} goes on after other documents",
                name,
                expected="the texts of a document to follow each other",
                kind=DataError,
            )
        own.append(i)
    return found


def _draft(
    beside: _Beside, numbers: Sequence[int], spans: list[Marked], *, is_mixed: bool, **known: Any
) -> Draft:
    """Return a draft of a document: of its tokens, of its texts, or of neither."""
    if beside.tokens is not None:
        sentences = [beside.tokens[i] for i in numbers]
        for words, marked in zip(sentences, spans, strict=True):
            for span in marked:
                check_in_tokens(span, len(words))
        marks = [[(span.start, span.end, span.label) for span in marked] for marked in spans]
        return draft_of_sentences(sentences, marks, **known)
    draft = Draft(
        **known,
        text="",
        spans=[span for marked in spans for span in marked],
        is_blank=True,
        counts_tokens=beside.counted == "tokens",
    )
    if beside.texts is None:
        return draft
    texts = [beside.texts[i] for i in numbers]
    bounds = places_of(texts)
    moved: Marked = []
    for (begin, end), marked in zip(bounds, spans, strict=True):
        for span in marked:
            # Past the end of its text it would lie in the next one.
            if not 0 <= span.start <= span.end <= end - begin and len(texts) > 1:
                lost = f" does not lie in its text, which has {end - begin} characters"
                raise SpanError(*span.named, lost, where=span.where or known["where"])
            moved.append(replace(span, start=span.start + begin, end=span.end + begin))
    cut = None if is_mixed else bounds
    return replace(draft, text=" ".join(texts), spans=moved, sentences=cut, is_blank=False)
