"""From what files say to a corpus: one road for every format with texts.

A reader yields a `Draft` for each document and annotator, with offsets as they stand
in the file. `assembled` converts and checks them, puts the annotators of a document
together, and builds the corpus.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import Protocol, TypeVar

import numpy as np

from beyondchance.annotations.corpus import Corpus
from beyondchance.errors import DataError, FormatError, MismatchError, SpanError
from beyondchance.io.options import Reading

Interval = tuple[int, int]

_TOKEN = re.compile(r"\w+|[^\w\s]")
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class DraftSpan:
    """A span as a file tells it.

    Attributes
    ----------
    start, end : int
        Half-open, in the unit of its draft.
    label : str
    surface : str, optional
        The words that the file stores beside the offsets, to check them by.
    where : str, optional
        Its place in the file, such as ``anna.ann:3``, if closer than the draft's.
    """

    start: int
    end: int
    label: str
    surface: str | None = None
    where: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What one annotator did with one document, as a file tells it.

    Attributes
    ----------
    where : str
        Its place, for messages: ``export.jsonl:12``.
    document, annotator : str
    text : str
        The characters.
    spans : sequence of DraftSpan
    tokens, sentences : sequence of (start, end), optional
        Where the file has them.
    offsets : {"codepoints", "utf16"}
        What the offsets of spans, tokens and sentences count.
    is_words : bool
        Whether spans are made of whole tokens, so that no white space is to be trimmed.
    is_gold : bool
        Whether this is the gold standard rather than an annotator's work.
    fields : mapping of str to str
        Values to group documents by.
    """

    where: str
    document: str
    annotator: str
    text: str
    spans: Sequence[DraftSpan]
    tokens: Sequence[Interval] | None = None
    sentences: Sequence[Interval] | None = None
    offsets: str = "codepoints"
    is_words: bool = False
    is_gold: bool = False
    fields: Mapping[str, str] = field(default_factory=dict)


def draft_of_words(
    words: Sequence[str], spans: Iterable[tuple[int, int, str]], *, where: str, document: str,
    annotator: str, sentences: Sequence[Interval] | None = None,
    fields: Mapping[str, str] | None = None,
) -> Draft:  # fmt: skip
    """A draft from words and spans that count words: the words are joined by spaces."""
    ends = np.cumsum([len(word) + 1 for word in words]).tolist()
    tokens = [(end - 1 - len(word), end - 1) for word, end in zip(words, ends, strict=True)]
    return Draft(
        where=where,
        document=document,
        annotator=annotator,
        text=" ".join(words),
        spans=[DraftSpan(tokens[s][0], tokens[e - 1][1], label) for s, e, label in spans],
        tokens=tokens,
        sentences=None
        if sentences is None
        else [(tokens[s][0], tokens[e - 1][1]) for s, e in sentences if s < e],
        is_words=True,
        fields=fields or {},
    )


def tokenized(text: str) -> list[Interval]:
    """Tokens by rule: runs of word characters, and every other visible character.

    Examples
    --------
    >>> [text[s:e] for text in ["Don't stop, Mr. Day!"] for s, e in tokenized(text)]
    ['Don', "'", 't', 'stop', ',', 'Mr', '.', 'Day', '!']
    """
    return [match.span() for match in _TOKEN.finditer(text)]


def code_points(text: str, offsets: Sequence[Interval], where: str) -> list[Interval]:
    """Convert offsets that count UTF-16 units to offsets that count code points."""
    if text.isascii() or max(map(ord, text)) < 0x10000:
        return list(offsets)
    place: dict[int, int] = {}
    unit = 0
    for index, character in enumerate(text):
        place[unit] = index
        unit += 2 if ord(character) >= 0x10000 else 1
    place[unit] = len(text)
    converted = []
    for start, end in offsets:
        # Past the end is found out later, with everything else that is.
        ends = [place.get(x, x if not 0 <= x <= unit else -1) for x in (start, end)]
        if -1 in ends:
            raise SpanError(
                f"{where}: offset {(start, end)[ends.index(-1)]} lies inside a character of two "
                "UTF-16 units; expected offsets between characters (if they count code points, "
                "say offsets='codepoints')"
            )
        converted.append((ends[0], ends[1]))
    return converted


# --- One draft ----------------------------------------------------------------


def _checked(draft: Draft, reading: Reading) -> Draft:
    """Offsets in code points, checked against the text, without white space at the edges."""
    unit = reading.options["offsets"] or draft.offsets
    torn = None if draft.text.isascii() else _SURROGATE.search(draft.text)
    if torn is not None:
        raise FormatError(
            f"{draft.where}: the text holds half of a character ({torn[0]!r}); export it again as "
            "UTF-8"
        )
    for kind, name in (("document", draft.document), ("annotator", draft.annotator)):
        if not name.strip() or name != name.strip():
            raise FormatError(f"{draft.where}: {kind} {name!r} is not a name; expected a plain one")

    def converted(offsets: Sequence[Interval]) -> list[Interval]:
        return (
            list(offsets) if unit == "codepoints" else code_points(draft.text, offsets, draft.where)
        )

    spans = []
    places = converted([(span.start, span.end) for span in draft.spans])
    for span, (start, end) in zip(draft.spans, places, strict=True):
        _check_span(span, start, end, draft, unit)
        if reading.options["whitespace"] == "trim" and not draft.is_words:
            start, end = _trimmed(draft.text, start, end, reading)  # noqa: PLW2901
        if start < end:
            moved = (start, end) != (span.start, span.end)
            spans.append(replace(span, start=start, end=end) if moved else span)
        elif reading.options["zero_length"] == "error":
            raise SpanError(
                f"{_named(span, draft)} is empty; expected at least one character "
                "(zero_length='skip' leaves such spans out)"
            )
        else:
            reading.skipped["empty spans left out"] += 1
    return replace(
        draft,
        spans=spans,
        tokens=None if draft.tokens is None else converted(draft.tokens),
        sentences=None if draft.sentences is None else converted(draft.sentences),
        offsets="codepoints",
    )


def _named(span: DraftSpan, draft: Draft) -> str:
    """Name a span in a message: its place in the file, its offsets there, its label."""
    return f"{span.where or draft.where}: span [{span.start}, {span.end}) {span.label!r}"


def _check_span(span: DraftSpan, start: int, end: int, draft: Draft, unit: str) -> None:
    """Refuse a span that does not lie in the text or is not what the file says it is."""
    if not span.label:
        raise FormatError(f"{_named(span, draft)} has no label; expected a name")
    if not 0 <= start <= end <= len(draft.text):
        raise SpanError(
            f"{_named(span, draft)} does not lie in the text, which has {len(draft.text)} "
            f"characters{_advice(span, draft.text, unit)}"
        )
    found = draft.text[start:end]
    if span.surface is not None and not _same_words(found, span.surface):
        raise SpanError(
            f"{_named(span, draft)} covers {found!r}, but the file stores {span.surface!r}"
            f"{_advice(span, draft.text, unit)}"
        )


def _trimmed(text: str, start: int, end: int, reading: Reading) -> Interval:
    """Leave out white space at the edges; nothing is left of a span that is all white space."""
    words = text[start:end]
    first = start + len(words) - len(words.lstrip())
    last = max(end - len(words) + len(words.rstrip()), first)
    if (first, last) != (start, end):
        reading.skipped["spans trimmed of white space"] += 1
    return first, last


def _same_words(found: str, stored: str) -> bool:
    """Equal but for white space, which formats write differently."""
    return found == stored or found.split() == stored.split()


def _advice(span: DraftSpan, text: str, unit: str) -> str:
    """Say so if the offsets fit when they count the other unit."""
    other = "codepoints" if unit == "utf16" else "utf16"
    start, end = span.start, span.end
    try:
        if other == "utf16":
            ((start, end),) = code_points(text, [(start, end)], "")
    except SpanError:
        start = -1
    fits = 0 <= start <= end <= len(text) and (
        span.surface is None or _same_words(text[start:end], span.surface)
    )
    if fits and max(map(ord, text), default=0) >= 0x10000:
        return f"; it fits if offsets count {_UNIT_NAMES[other]}: say offsets={other!r}"
    return "; check that offsets and text belong together"


_UNIT_NAMES = {"codepoints": "code points", "utf16": "UTF-16 units"}


# --- All drafts ---------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Layout:
    """How a document is cut into texts and positions."""

    text: str
    pieces: list[Interval]
    tokens: list[Interval] | None
    starts: list[int]
    ends: list[int]


def assembled(drafts: Iterable[Draft], reading: Reading, *, unit: str, positions: str) -> Corpus:
    """Put the drafts of all annotators together.

    Parameters
    ----------
    drafts : iterable of Draft
    reading : Reading
        Its counters, notes and signed choices are added to.
    unit, positions : str
        What suits the format, unless the options say otherwise.
    """
    unit = reading.options["unit"] or unit
    positions = reading.options["positions"] or positions
    by_document = matched(
        [_checked(draft, reading) for draft in drafts],
        reading,
        kind="document",
        text_of=attrgetter("text"),
    )
    if not by_document:
        raise FormatError("no annotated document was found; expected at least one")
    columns: dict[str, list[int]] = {name: [] for name in ("text", "annotator", "start", "end")}
    labels: list[str] = []
    lengths: list[int] = []
    names: list[str] = []
    texts: list[str] = []
    token_starts: list[int] = []
    token_ends: list[int] = []
    annotators = list(dict.fromkeys(d.annotator for group in by_document.values() for d in group))
    rank = {name: index for index, name in enumerate(annotators)}
    fields = _fields(by_document)
    for name, group in by_document.items():
        layout = _layout(group, unit, positions, reading)
        first_text = len(lengths)
        for start, end in layout.pieces:
            names.append(name)
            texts.append(layout.text[start:end])
            if layout.tokens is None:
                lengths.append(end - start)
            else:
                low, high = bisect_left(layout.starts, start), bisect_right(layout.ends, end)
                lengths.append(high - low)
                token_starts += [s - start for s in layout.starts[low:high]]
                token_ends += [e - start for e in layout.ends[low:high]]
        for draft in group:
            seen: set[tuple[int, int, int, str]] = set()
            for span in draft.spans:
                piece, start, end = _placed(span, draft, layout, reading)
                key = (piece, start, end, span.label)
                if key in seen:
                    _duplicate(span, draft, reading)
                    continue
                seen.add(key)
                columns["text"].append(first_text + piece)
                columns["annotator"].append(rank[draft.annotator])
                columns["start"].append(start)
                columns["end"].append(end)
                labels.append(span.label)
    corpus = Corpus.from_columns(
        text=columns["text"],
        annotator=[annotators[i] for i in columns["annotator"]],
        start=columns["start"],
        end=columns["end"],
        label=labels,
        lengths=lengths,
        documents=names,
        annotated=[(name, d.annotator) for name, group in by_document.items() for d in group],
        annotators=annotators,
        fields=fields,
        unit=unit,
        positions=positions,
    )
    gold = {d.annotator for group in by_document.values() for d in group if d.is_gold}
    with_tokens = positions == "tokens"
    return replace(
        corpus,
        texts=tuple(texts),
        token_start=np.array(token_starts, dtype=np.int64) if with_tokens else None,
        token_end=np.array(token_ends, dtype=np.int64) if with_tokens else None,
        gold=gold.pop() if gold else None,
    )


class Work(Protocol):
    """What one annotator did with one document, or with one recording."""

    @property
    def where(self) -> str:
        """Its place, for messages."""
        ...

    @property
    def document(self) -> str:
        """The document."""
        ...

    @property
    def annotator(self) -> str:
        """Who did it."""
        ...


W = TypeVar("W", bound=Work)


def matched(
    works: Iterable[W], reading: Reading, *, kind: str, text_of: Callable[[W], str]
) -> dict[str, list[W]]:
    """Group works by document; the first annotator's name of a document stays.

    Parameters
    ----------
    works : iterable of Work
    reading : Reading
    kind : str
        What to call a document in messages.
    text_of : callable
        The text of a work, for ``match="text"``.
    """
    key_of: dict[str | int, str] = {}
    groups: dict[str, list[W]] = {}
    seen: dict[str, int] = {}
    for work in works:
        key: str | int = work.document
        if reading.options["match"] == "text":
            key = text_of(work)
        elif reading.options["match"] == "order":
            key = seen[work.annotator] = seen.get(work.annotator, -1) + 1
        if key not in key_of:
            # Two documents may have one name where it is not the name that matches them.
            taken = work.document in groups
            key_of[key] = f"{work.annotator}/{work.document}" if taken else work.document
        group = groups.setdefault(key_of[key], [])
        twin = next((other for other in group if other.annotator == work.annotator), None)
        if twin is not None and reading.options["repeated"] == "last":
            reading.skipped["annotations replaced by a later one"] += 1
            group.remove(twin)
        elif twin is not None:
            raise FormatError(
                f"{work.where}: {kind} {work.document!r} was annotated by {work.annotator!r} "
                f"before, at {twin.where}; expected it once (repeated='last' takes the last)"
            )
        group.append(work)
    return groups


def _fields(by_document: Mapping[str, list[Draft]]) -> dict[str, list[str]]:
    """Fields that some document has; empty where another lacks them."""
    kinds = dict.fromkeys(
        kind for group in by_document.values() for draft in group for kind in draft.fields
    )
    return {
        kind: [
            next((draft.fields[kind] for draft in group if kind in draft.fields), "")
            for group in by_document.values()
        ]
        for kind in kinds
    }


def _layout(group: list[Draft], unit: str, positions: str, reading: Reading) -> _Layout:
    """Check that all annotators have one text, and cut it."""
    first = group[0]
    for other in group[1:]:
        if other.text != first.text:
            raise MismatchError(_first_difference(first, other))
    sentences = next((draft.sentences for draft in group if draft.sentences is not None), None)
    if unit == "sentence" and sentences is None:
        raise DataError(
            f"{first.where}: document {first.document!r} has no sentences; say unit='document'"
        )
    pieces = list(sentences or []) if unit == "sentence" else [(0, len(first.text))]
    tokens = None
    if positions == "tokens":
        known = [draft for draft in group if draft.tokens is not None]
        for other in known[1:]:
            if list(other.tokens or ()) != list(known[0].tokens or ()):
                raise MismatchError(
                    f"{other.where}: document {other.document!r} has other tokens than at "
                    f"{known[0].where}; expected the same, or say positions='characters'"
                )
        tokens = list(known[0].tokens or ()) if known else tokenized(first.text)
        end_before = 0
        for start, end in tokens:
            if not end_before <= start < end <= len(first.text):
                raise FormatError(
                    f"{first.where}: token [{start}, {end}) of document {first.document!r} does "
                    "not follow the one before it within the text; expected tokens in order"
                )
            end_before = end
        reading.signed["tokens"] = "file" if known else "rule"
        if reading.options["align"] != "widen":
            reading.signed["align"] = reading.options["align"]
    starts, ends = [s for s, _ in tokens or ()], [e for _, e in tokens or ()]
    return _Layout(first.text, pieces, tokens, starts, ends)


def _first_difference(first: Draft, other: Draft) -> str:
    """Show where two texts part."""
    a, b = first.text, other.text
    place = next(
        (i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b))
    )
    begin = max(place - 10, 0)
    return (
        f"{other.where}: the text of document {other.document!r} differs from that at "
        f"{first.where} from character {place} on: {b[begin : place + 10]!r} instead of "
        f"{a[begin : place + 10]!r}; expected the same text for all annotators"
    )


def _placed(
    span: DraftSpan, draft: Draft, layout: _Layout, reading: Reading
) -> tuple[int, int, int]:
    """The text that a span is in, and its positions there."""
    where = _named(span, draft)
    start, end = span.start, span.end
    low = high = 0
    if layout.tokens is not None:
        low, high = bisect_right(layout.ends, start), bisect_left(layout.starts, end)
        if low >= high:
            raise SpanError(f"{where} covers no token; expected at least one")
        cut = layout.starts[low] < start or layout.ends[high - 1] > end
        if cut:
            if reading.options["align"] == "strict":
                words = layout.text[layout.starts[low] : layout.ends[high - 1]]
                raise SpanError(
                    f"{where} cuts a token of {words!r}; expected whole tokens (align='widen' "
                    "widens such spans)"
                )
            reading.skipped["spans widened to whole tokens"] += 1
        start, end = layout.starts[low], layout.ends[high - 1]
    piece = 0
    if len(layout.pieces) > 1 or layout.pieces[0] != (0, len(layout.text)):
        piece = bisect_right(layout.pieces, (start, len(layout.text) + 1)) - 1
    begin, finish = layout.pieces[piece] if piece >= 0 else (0, -1)
    if not begin <= start < end <= finish:
        raise SpanError(
            f"{where} does not lie within one sentence; expected it to, or say unit='document'"
        )
    if layout.tokens is None:
        return piece, start - begin, end - begin
    base = bisect_left(layout.starts, begin)
    return piece, low - base, high - base


def _duplicate(span: DraftSpan, draft: Draft, reading: Reading) -> None:
    """Refuse or count a span that its annotator has marked already."""
    if reading.options["duplicates"] == "error":
        raise SpanError(
            f"{_named(span, draft)} was marked twice by {draft.annotator!r} in document "
            f"{draft.document!r}; expected it once (duplicates='skip' leaves the second out)"
        )
    reading.skipped["spans marked twice, second left out"] += 1
