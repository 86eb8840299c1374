"""Lists of spans in memory: one list for each text, of dictionaries, tuples or objects.

The texts, their tokens or their lengths are given next to them, or come from another annotator's
files or data. Offsets count tokens next to tokens and characters next to texts. Next to the data of
others they count what ``positions`` says, or the characters of a text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from beyondchance.annotations.building import check_counted, check_lengths
from beyondchance.annotations.corpus import Corpus
from beyondchance.errors import DataError, MismatchError, OptionError, SpanError
from beyondchance.io.assembling import assembled
from beyondchance.io.conventions import check_in_tokens, check_words, fitted
from beyondchance.io.drafts import Draft, DraftSpan, draft_of_sentences
from beyondchance.io.formats.tags import is_nothing
from beyondchance.io.offsets import Interval
from beyondchance.io.options import Reading
from beyondchance.io.registry import Upload
from beyondchance.io.span_objects import is_span, triples_of, words_of
from beyondchance.messages import Quote, Use
from beyondchance.tallies import left_out

Marked = list[DraftSpan]
"""The spans of one text."""


@dataclass(frozen=True, slots=True)
class _Beside:
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

    def check_number(self, number: int, where: str) -> None:
        """Refuse lists of spans that are more or fewer than what is given next to them."""
        sizes = {"texts": self.texts, "lists of tokens": self.tokens, "documents": self.names}
        for what, given in sizes.items():
            if given is not None and len(given) != number:
                problem = f"there are {len(given)} {what} and {number} lists of spans"
                raise MismatchError(problem, where=where, expected="as many")


def is_format(upload: Upload) -> bool:
    """Whether data are lists of spans, or one such list."""
    data = upload.data
    if not isinstance(data, list | tuple) or is_nothing(data):
        return False
    first = next(item for item in data if not is_nothing(item))
    return is_span(first) or (isinstance(first, list | tuple) and is_span(first[0]))


def read(uploads: list[Upload], reading: Reading) -> Corpus | Iterator[Draft]:
    """Read the spans of each annotator."""
    beside = _beside(reading)
    spans = {upload.annotator: list(_spans(upload, beside.counted)) for upload in uploads}
    for upload in uploads:
        reading.met(upload.name, [upload.annotator])
        beside.check_number(len(spans[upload.annotator]), upload.name)
    if beside.tokens is not None:
        _check_words(spans, beside.tokens, reading)
    if reading.is_mixed:
        return _drafts(uploads, spans, beside, reading)
    if beside.texts is not None and beside.tokens is None:
        drafts = _drafts(uploads, spans, beside, reading)
        is_split = beside.names is not None and len(set(beside.names)) < len(beside.names)
        unit = "sentence" if is_split else "document"
        return assembled(drafts, reading, unit=unit, positions="characters")
    reading.check_unused("offsets", "align", "whitespace", "match", "tokeniser", needs="texts=")
    return Corpus.from_spans(
        {name: [_triples(text, reading) for text in texts] for name, texts in spans.items()},
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
        raise OptionError(
            *(Use("lengths", is_name=True), " does not apply next to data that have texts or "),
            "tokens",
            remedy="leave it out",
        )
    for number, text in enumerate(texts or ()):
        if not isinstance(text, str):
            raise DataError("found ", Quote(text), where=f"text {number}", expected="a string")
    for number, words in enumerate(tokens or ()):
        if not isinstance(words, list | tuple):
            where = f"tokens of text {number}"
            raise DataError("found ", Quote(words), where=where, expected="a list of strings")
    if texts is not None and lengths is not None and tokens is None:
        check_lengths(lengths, list(map(len, texts)), "characters")
    names = None if documents is None else _names(documents)
    return _Beside(texts, tokens, lengths, names, "tokens" if is_tokens else "characters")


def _names(documents: Any) -> list[str]:
    """The names of documents, one for each text."""
    if not isinstance(documents, list | tuple):
        raise DataError("documents are ", Quote(documents), expected="a name for each text")
    return [str(name) for name in documents]


# --- Spans --------------------------------------------------------------------


def _spans(upload: Upload, counted: str) -> Iterator[Marked | None]:
    """The spans of each text."""
    listed = upload.data
    if not isinstance(listed, list | tuple):
        found = ("found ", Quote(listed))
        raise SpanError(*found, where=upload.name, expected="a list of spans for each text")
    if any(is_span(item) for item in listed):
        listed = [listed]
    for number, spans in enumerate(listed):
        where = f"{upload.name}: text {number}"
        if spans is None:
            yield None
            continue
        if not isinstance(spans, list | tuple):
            raise SpanError("found ", Quote(spans), where=where, expected="a list of spans")
        yield [
            DraftSpan(start, end, label, words_of(span), place)
            for index, span in enumerate(spans)
            for place in (f"{where}, span {index}",)
            for start, end, label in triples_of(span, place, positions=counted)
        ]


def _triples(text: Marked | None, reading: Reading) -> list[tuple[int, int, str]] | None:
    """The spans of a text that is not known: as they are, without those that are empty."""
    if text is None:
        return None
    found = []
    for span in _half_open(text, reading):
        if span.start == span.end:
            reading.mend("zero_length", left_out("empty spans"), partial(_emptiness, span))
        else:
            found.append((span.start, span.end, span.label))
    return found


def _check_words(
    spans: Mapping[str, list[Marked | None]], tokens: list[list[str]], reading: Reading
) -> None:
    """Check the words that are stored with spans that count tokens."""
    for texts in spans.values():
        marked = []
        for words, text in zip(tokens, texts, strict=True):
            stored = [span for span in text or () if span.surface is not None]
            for span in stored:
                check_in_tokens(span, len(words))
            draft = draft_of_sentences([words], [()], where="", document="", annotator="")
            places = draft.tokens or ()
            moved = [
                replace(span, start=places[span.start][0], end=places[span.end - 1][1])
                for span in stored
            ]
            marked.append(("", draft.text, moved))
        check_words(marked, reading)


def _half_open(spans: Marked, reading: Reading) -> Marked:
    """Spans as the option says that they are, without a text that would show it."""
    if reading.options["ends"] != "inclusive":
        return spans
    return [replace(span, end=span.end + 1) for span in spans]


def _emptiness(span: DraftSpan) -> SpanError:
    return SpanError(
        *(*span.named, " is empty"),
        where=span.where or "",
        expected="at least one position",
        remedy=(Use("zero_length", "skip"), " leaves such spans out"),
    )


# --- Spans of texts -----------------------------------------------------------


def _drafts(
    uploads: list[Upload],
    spans: Mapping[str, list[Marked | None]],
    beside: _Beside,
    reading: Reading,
) -> Iterator[Draft]:
    """Spans of texts that are given next to them, or that other files or data have."""
    for upload in uploads:
        own = spans[upload.annotator]
        reading.lists[upload.annotator] = len(own)
        if beside.tokens is None and beside.texts is not None:
            stored = [
                (f"{upload.name}: text {i}", text, own[i] or [])
                for i, text in enumerate(beside.texts)
            ]
            checked = fitted(stored, reading, file=upload.name)
            own = [None if own[i] is None else found for i, found in enumerate(checked)]
        else:
            own = [None if text is None else _half_open(text, reading) for text in own]
        for name, numbers in _documents(beside.names, len(own), reading).items():
            found = [own[i] for i in numbers]
            if all(text is None for text in found):
                continue
            where = f"{upload.name}: text {numbers[0]}"
            if any(text is None for text in found):
                raise DataError(
                    *("document ", Quote(name), " was annotated in part only"),
                    where=where,
                    expected="all of its texts or none",
                )
            marked = [text or [] for text in found]
            draft = _draft(beside, numbers, marked, where, is_mixed=reading.is_mixed)
            yield replace(
                draft,
                document=name,
                annotator=upload.annotator,
                order=numbers[0] if beside.names is None and reading.is_mixed else None,
            )


def _documents(names: list[str] | None, n_texts: int, reading: Reading) -> dict[str, list[int]]:
    """The texts of each document by their numbers."""
    if names is None:
        return {str(i + reading.first_number): [i] for i in range(n_texts)}
    found: dict[str, list[int]] = {}
    for i, name in enumerate(names):
        if found.setdefault(name, [i])[-1] < i - 1:
            raise DataError(
                *("document ", Quote(name), " goes on after other documents"),
                where=f"text {i}",
                expected="the texts of a document to follow each other",
            )
        if found[name][-1] < i:
            found[name].append(i)
    return found


def _draft(
    beside: _Beside, numbers: Sequence[int], spans: list[Marked], where: str, *, is_mixed: bool
) -> Draft:
    """A draft of a document: of its tokens, of its texts, or of neither."""
    if beside.tokens is not None:
        sentences = [beside.tokens[i] for i in numbers]
        for words, marked in zip(sentences, spans, strict=True):
            for span in marked:
                check_in_tokens(span, len(words))
        marks = [[(span.start, span.end, span.label) for span in marked] for marked in spans]
        return draft_of_sentences(sentences, marks, where=where, document="", annotator="")
    texts = None if beside.texts is None else [beside.texts[i] for i in numbers]
    if texts is None:
        return Draft(
            where=where,
            document="",
            annotator="",
            text="",
            spans=[span for marked in spans for span in marked],
            is_blank=True,
            counts_tokens=beside.counted == "tokens",
        )
    begin = 0
    bounds: list[Interval] = []
    moved: Marked = []
    for text, marked in zip(texts, spans, strict=True):
        bounds.append((begin, begin + len(text)))
        for span in marked:
            # Past the end of its text it would lie in the next one.
            if not 0 <= span.start <= span.end <= len(text) and len(texts) > 1:
                lost = f" does not lie in its text, which has {len(text)} characters"
                raise SpanError(*span.named, lost, where=span.where or where)
            moved.append(replace(span, start=span.start + begin, end=span.end + begin))
        begin += len(text) + 1
    return Draft(
        where=where,
        document="",
        annotator="",
        text=" ".join(texts),
        spans=moved,
        sentences=None if is_mixed else bounds,
    )
