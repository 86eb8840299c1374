"""Build a corpus of what readers yield, in the same way for every format with texts.

A reader yields a `Draft` for each document and annotator, or `TaggedTexts` for each file.
`assembled` converts and checks the offsets, puts the annotators of a document together, and builds
the corpus.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from itertools import chain, count, groupby
from operator import attrgetter
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from beyondchance.annotations.corpus import Corpus
from beyondchance.annotations.dates import day_of
from beyondchance.annotations.names import coded, if_any, numbered
from beyondchance.checks import is_bytes_as_text
from beyondchance.errors import DataError, FormatError, MismatchError, SpanError
from beyondchance.io.aligning import Evidence, aligned, reference
from beyondchance.io.columns import check_filled
from beyondchance.io.conventions import (
    check_in_tokens,
    count_duplicate,
    emptiness,
    other_words,
    remedy,
)
from beyondchance.io.drafts import Draft, DraftSpan, grouped
from beyondchance.io.identifiers import PLAIN_IDS, plain_ids, written_twice
from beyondchance.io.offsets import (
    Interval,
    code_points,
    out_of_order,
    places_of,
    same_words,
    tokenized,
)
from beyondchance.io.options import Reading
from beyondchance.io.registry import EITHER
from beyondchance.io.tagged import TaggedTexts, by_annotator, corpus_of_tags, with_spans
from beyondchance.io.values import quoting, refusal
from beyondchance.messages import Piece, Text, Use, pieces, quotes
from beyondchance.tallies import WIDENED, left_out, mended, not_read

_Motif = tuple[Interval, ...]
_Place = tuple[int, int, int]
"""A text, and where a span begins and ends in it."""

_RULES = {"words": "rule", "whitespace": "whitespace"}
"""What the signature calls tokens by rule, by the tokeniser."""


# --- One draft ----------------------------------------------------------------


# All annotators of a document share its text.
@lru_cache(maxsize=8)
def _half_of_character(text: str) -> str:
    """Return the first character that UTF-8 cannot hold; nothing if there is none."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        return text[error.start]
    return ""


def _checked(draft: Draft, reading: Reading) -> Draft:
    """Convert offsets to code points, check them, and trim white space at the edges of spans."""
    text = draft.text
    # What the option says is about offsets of files.
    unit = draft.offsets if draft.is_words else reading.options["offsets"] or draft.offsets
    if torn := _half_of_character(text):
        raise refusal(
            draft.where,
            "the text holds half of a character ({})",
            torn,
            remedy="export it again as UTF-8",
        )
    for kind, name in (("document", draft.document), ("annotator", draft.annotator)):
        if not name or name != name.strip():
            raise refusal(
                draft.where,
                kind + " {} is empty or has white space around it",
                name,
                expected="a name",
            )

    def converted(offsets: Sequence[Interval] | None) -> Sequence[Interval] | None:
        return offsets and code_points(text, offsets, draft.where, unit)

    spans = []
    places = converted([(span.start, span.end) for span in draft.spans]) or ()
    for span, (start, end) in zip(draft.spans, places, strict=True):
        _check_span(span, start, end, draft, unit)
        place = (start, end) if draft.is_words else _trimmed(text, start, end, reading)
        if place[0] < place[1]:
            is_same = place == (span.start, span.end)
            spans.append(span if is_same else replace(span, start=place[0], end=place[1]))
        else:
            empty = partial(emptiness, span, draft.where, "character")
            reading.mend("zero_length", left_out("empty spans"), empty)
    if unit == "codepoints":
        return draft if spans == draft.spans else replace(draft, spans=spans)
    return replace(
        draft,
        spans=spans,
        tokens=converted(draft.tokens),
        sentences=converted(draft.sentences),
        offsets="codepoints",
    )


def _refused(
    span: DraftSpan, draft: Draft, problem: str, *values: object, **more: Any
) -> DataError:
    """Build the refusal of a span, at its place in the file as closely as it is known."""
    where = span.where or draft.where
    return refusal(where, "{} " + problem, span.named, *values, **{"kind": SpanError, **more})


def _check_span(span: DraftSpan, start: int, end: int, draft: Draft, unit: str) -> None:
    """Refuse a span that does not lie in the text or does not cover the stored words."""
    text = draft.text
    if not span.label or is_bytes_as_text(span.label):
        raise _refused(
            span,
            draft,
            "has no label",
            expected="a name",
            kind=FormatError,
            **({"remedy": "decode the bytes before they are saved"} if span.label else {}),
        )
    if not 0 <= start <= end <= len(text):
        raise _refused(
            span,
            draft,
            f"does not lie in the text, which has {len(text)} characters",
            remedy=remedy([(text, span)], unit),
        )
    if span.surface is not None and not same_words(text[start:end], span.surface):
        raise other_words(
            span.named,
            text[start:end],
            span.surface,
            (span.where or draft.where),
            remedy=remedy([(text, span)], unit),
        )


def _trimmed(text: str, start: int, end: int, reading: Reading) -> Interval:
    """Leave out white space at the edges; nothing is left of a span that is all white space."""
    # Most begin and end with a word: long ones that overlap need not be copied.
    if start < end and not (text[start].isspace() or text[end - 1].isspace()):
        return start, end
    words = text[start:end]
    first = start + len(words) - len(words.lstrip())
    last = max(end - len(words) + len(words.rstrip()), first)
    if (first, last) != (start, end):
        reading.skipped[mended("spans trimmed of white space")] += 1
    return first, last


def _in_order(drafts: list[Draft], reading: Reading) -> list[Draft]:
    """Name documents that have no names after those of other annotators, one by one."""
    is_named = {draft.annotator for draft in drafts if draft.order is None}
    known = {draft.document: draft for draft in reversed(drafts) if draft.annotator in is_named}
    named = list(dict.fromkeys(d.document for d in drafts if d.annotator in is_named))
    unnamed = grouped((d for d in drafts if d.annotator not in is_named), attrgetter("annotator"))
    # The last documents need not be annotated, so that there is no draft of them.
    numbers = {
        who: max(
            reading.lists.get(who, reading.ordered.get(who, 0)),
            *((draft.order or 0) + 1 for draft in own),
        )
        for who, own in unnamed.items()
    }
    refused = partial(
        refusal, expected="as many, because only their order matches them", kind=MismatchError
    )
    if not named and len(set(numbers.values())) > 1:
        name = next((name for name in numbers if name in reading.lists), None)
        other = next((x for x in numbers if name and numbers[x] != numbers[name]), None)
        if name and other:
            who, rest = (other, name) if other in reading.lists else (name, other)
            raise refused(
                unnamed[who][0].where,
                f"{{}} has {numbers[who]} lists, {{}} has {numbers[rest]} texts",
                who,
                rest,
                remedy="give None for a text that was not annotated",
            )
    if not named or not unnamed or reading.options["match"] in {"text", "order"}:
        return drafts
    sizes = [len(known[name].sentences or ()) for name in named]
    found: list[Draft] = []
    for draft in drafts:
        number = numbers.get(draft.annotator)
        if number is None:
            found.append(draft)
        elif number == len(named):
            found.append(replace(draft, document=named[draft.order or 0]))
        elif number != sum(sizes) or not draft.is_words:
            raise refused(
                draft.where,
                f"{number} documents without names, and {len(named)} elsewhere",
                remedy=("add identifiers, or pass ", Use("match", "text")),
            )
    for annotator, own in unnamed.items():
        if numbers[annotator] != len(named):
            # Tags are decoded sentence by sentence, before these are put together.
            found += _as_sentences(with_spans(own, reading), named, sizes)
    reading.note("documents without names are matched to those of the others by their order")
    return found


def _as_sentences(drafts: list[Draft], named: list[str], sizes: list[int]) -> Iterator[Draft]:
    """Put drafts of sentences together to the documents that others have of as many."""
    by_order = {draft.order: draft for draft in drafts}
    first = 0
    for name, size in zip(named, sizes, strict=True):
        own = [by_order[i] for i in range(first, first + size) if i in by_order]
        first += size
        if len(own) == size:
            places = places_of([draft.text for draft in own])
            placed = [(draft, begin) for draft, (begin, _) in zip(own, places, strict=True)]
            yield replace(
                own[0],
                document=name,
                text=" ".join(draft.text for draft in own),
                spans=[
                    replace(span, start=span.start + begin, end=span.end + begin)
                    for draft, begin in placed
                    for span in draft.spans
                ],
                tokens=[
                    (start + begin, end + begin)
                    for draft, begin in placed
                    for start, end in draft.tokens or ()
                ],
                sentences=None,
                order=None,
            )
        elif own:
            raise refusal(
                own[0].where,
                "only some sentences of document {} are annotated",
                name,
                expected="all of them or none",
                kind=DataError,
            )


def _with_texts(drafts: list[Draft], reading: Reading) -> list[Draft]:
    """Fill in the reference text of the document for drafts that have offsets only."""
    bare = {id(draft) for draft in drafts if draft.is_blank and draft.tokens is None}
    if not bare:
        return drafts
    groups = grouped((d for d in drafts if id(d) not in bare), attrgetter("document"))
    firsts = {name: reference(group, reading) for name, group in groups.items()}
    return [_with_text(d, firsts, reading) if id(d) in bare else d for d in drafts]


def _with_text(draft: Draft, firsts: Mapping[str, Draft], reading: Reading) -> Draft:
    """Return a draft with the text of another's draft of the document, if there is one."""
    first, name = firsts.get(draft.document), draft.document
    known = None if first is None or first.is_blank else first
    problem = "the text of document {} is not known"
    expected: Text = ()
    remedy: Text = "pass texts="
    if draft.find is not None:
        if known is not None:
            return draft.find(known.text)
        problem = "document {} has no text"
        expected = ("it under 'text', or an id of other files: ", *quotes(firsts, most=3))
        remedy = ("pass ", Use("documents", placeholder="FILE"), " with the texts")
    elif draft.counts_tokens or (first is not None and not draft.spans):
        if first is not None and (first.tokens is not None or not draft.spans):
            return replace(
                draft,
                text=first.text,
                spans=[_of_tokens(span, first.tokens or ()) for span in draft.spans],
                offsets=first.offsets,
                is_words=first.is_words,
                is_blank=first.is_blank,
                tokens=first.tokens,
            )
        problem = "the tokens of document {} are not known"
        remedy = "pass tokens=, or texts= if offsets count characters"
    elif known is not None:
        are_words = known.is_words and known.tokens is not None
        if not are_words or reading.options["positions"] is not None:
            return replace(draft, text=known.text, is_blank=False)
        problem = (
            "nothing says what offsets count in document {}, of which there are tokens and no text"
        )
        remedy = ("pass tokens=, or ", Use("positions", "tokens"), " or 'characters'")
    raise refusal(draft.where, problem, name, expected=expected, remedy=remedy)


def _of_tokens(span: DraftSpan, tokens: Sequence[Interval]) -> DraftSpan:
    """Convert the offsets of a span from tokens to characters."""
    check_in_tokens(span, len(tokens), is_filled=False)
    if span.start == span.end:
        return replace(span, start=0, end=0)  # refused or left out with all that are empty
    return replace(span, start=tokens[span.start][0], end=tokens[span.end - 1][1], surface=None)


_marked = attrgetter("start", "end", "label")


def _one_gold(drafts: list[Draft]) -> list[Draft]:
    """Keep the gold standard once, where several files hold it next to their system."""
    golds = {draft.annotator for draft in drafts if draft.is_gold}
    first: dict[tuple[str, str], Draft] = {}
    found = []
    for draft in drafts:
        if draft.annotator not in golds:
            found.append(draft)
            continue
        known = first.setdefault((draft.annotator, draft.document), draft)
        if known is draft:
            found.append(replace(draft, is_gold=True))
        # What it marks, wherever it is in a file.
        elif known.text != draft.text or [*map(_marked, known.spans)] != [
            *map(_marked, draft.spans)
        ]:
            raise refusal(
                draft.where,
                "the gold standard of document {} differs from that at {}",
                draft.document,
                pieces(known.where),
                expected="the same in all files",
                kind=MismatchError,
            )
    return found


def _by_copies(drafts: list[Draft], reading: Reading) -> Iterator[Draft]:
    """Make the copies that an annotator has of a text the work of several."""
    reading.numbered.clear()  # texts match
    reading.note("copies of a text are read as annotators 1, 2, …, in the order of the file")
    copies: Counter[tuple[str, str]] = Counter()
    keys = [(draft.annotator, draft.text) for draft in drafts]
    several = {annotator for (annotator, _), number in Counter(keys).items() if number > 1}
    for draft, key in zip(drafts, keys, strict=True):
        copies[key] += 1
        is_one = draft.annotator in several
        yield replace(draft, annotator=f"{key[0]} {copies[key]}") if is_one else draft


# --- All drafts ---------------------------------------------------------------


class _Layout(NamedTuple):
    """How a document is cut into texts and positions, and where its tokens come from."""

    text: str
    parts: Sequence[Interval]
    starts: Sequence[int]
    ends: Sequence[int]
    origin: str


def assembled(
    content: Iterable[Draft | TaggedTexts], reading: Reading, *, unit: str, positions: str
) -> Corpus:
    """Put the work of all annotators together.

    Parameters
    ----------
    content : iterable of Draft or TaggedTexts
    reading : Reading
        Its counters, notes and signed choices are added to.
    unit, positions : str
        What suits the format, unless the options say otherwise.
    """
    unit = reading.options["unit"] or unit
    positions = reading.options["positions"] or positions
    listed = list(content)
    tagged = [item for item in listed if isinstance(item, TaggedTexts)]
    if tagged and len(tagged) == len(listed) and positions == "tokens":
        whole = by_annotator(tagged)
        if whole is not None and _are_final(whole, reading):
            return _by_columns(whole, reading, unit)
    drafts = chain.from_iterable(
        item.drafts() if isinstance(item, TaggedTexts) else (item,) for item in listed
    )
    return _by_drafts(drafts, reading, unit=unit, positions=positions)


def _by_columns(given: Sequence[TaggedTexts], reading: Reading, unit: str) -> Corpus:
    """Build a corpus of texts that are the same for all annotators."""
    _sign_tokens({"file"}, "tokens", reading)
    reading.check()
    has_fields = any(map(any, (texts.fields for texts in given)))
    fields = zip(*(texts.fields for texts in given if has_fields), strict=True)
    return corpus_of_tags(given, _fields(fields), unit=unit)


def _by_drafts(drafts: Iterable[Draft], reading: Reading, *, unit: str, positions: str) -> Corpus:
    """Match and align the work of annotators on each document, and build a corpus."""
    given = _with_texts(with_spans(_in_order(list(drafts), reading), reading), reading)
    checked = [_checked(draft, reading) for draft in _one_gold(given)]
    by_document = matched(
        _by_copies(checked, reading) if reading.options["repeated"] == "annotators" else checked,
        reading,
        kind="document",
        text_of=attrgetter("text"),
    )
    if not by_document:
        raise FormatError("no annotated document was found", expected="at least one")
    evidence = Evidence(Counter(), Counter(), {})
    groups = {
        name: aligned(works, reading, evidence, positions=positions)
        for name, works in by_document.items()
    }
    unit = _unit_of(unit, ((first, *group) for first, group in groups.values()))
    with_tokens = positions == "tokens"
    spans: list[tuple[_Place, str, _Motif, str]] = []
    listed: list[DraftSpan] = []
    lengths: list[int] = []
    names: list[str] = []
    texts: list[str] = []
    tokens: list[Interval] = []
    origins: set[str] = set()
    elsewhere: dict[int, list[_Place]] = {}
    for name, (first, group) in groups.items():
        layout = _layout(first, group, reading, unit=unit, positions=positions)
        origins.add(layout.origin)
        first_text = len(lengths)
        for start, end in layout.parts:
            names.append(name)
            texts.append(layout.text[start:end])
            inside = slice(bisect_left(layout.starts, start), bisect_right(layout.ends, end))
            lengths.append(inside.stop - inside.start)
            if with_tokens:
                pairs = zip(layout.starts[inside], layout.ends[inside], strict=True)
                tokens += [(s - start, e - start) for s, e in pairs]
        for draft in group:
            seen: dict[tuple[_Place, _Motif, str], int] = {}
            for span, place, motif in _placed(draft, layout, reading, first_text):
                number = seen.setdefault((place, motif, span.label), len(spans))
                if number < len(spans):
                    twice = twice_by(draft.annotator, draft.document)
                    count_duplicate(reading, span.where or draft.where, *span.named, *twice)
                    continue
                listed.append(span)
                spans.append((place, draft.annotator, motif, span.label))
                if span.elsewhere:
                    elsewhere[number] = [
                        _if_placed(other, place, layout, reading, first_text)
                        for other in span.elsewhere
                    ]
    evidence.check()
    _sign_tokens(origins, positions, reading, n_spans=len(spans))
    reading.check()
    columns: Iterable[Any] = zip(*spans, strict=True) if spans else ((),) * 4
    places, annotator, motif, label = columns
    text, starts, ends = zip(*places, strict=True) if spans else ((),) * 3
    drafted = [(name, draft) for name, (_, group) in groups.items() for draft in group]
    corpus = Corpus.from_columns(
        text=text,
        annotator=annotator,
        start=starts,
        end=ends,
        label=label,
        lengths=lengths,
        documents=names,
        annotated=[(name, draft.annotator) for name, draft in drafted],
        annotators=list(dict.fromkeys(draft.annotator for _, draft in drafted)),
        fields=_fields([draft.fields for draft in group] for _, group in groups.values()),
        unit=unit,
        positions=positions,
    )
    token_start, token_end = np.array(tokens, dtype=np.int64).reshape(-1, 2).T
    others = [elsewhere.get(number, (own, own)) for number, own in enumerate(places) if elsewhere]
    found = replace(
        corpus,
        **_motifs(motif),
        span_id=if_any(span.id for span in listed),
        span_fields=if_any(span.fields for span in listed),
        texts=None if all(draft.is_blank for _, draft in drafted) else tuple(texts),
        token_start=token_start if with_tokens else None,
        token_end=token_end if with_tokens else None,
        elsewhere=np.array(others).transpose(1, 2, 0) if others else None,
        gold=next((draft.annotator for _, draft in drafted if draft.is_gold), None),
    )
    found = with_dates(found, {(x, own.annotator): own.date for x, own in drafted}, reading)
    return _with_missing(found, drafted, reading)


def with_dates(corpus: Corpus, dates: Mapping[tuple[str, str], object], reading: Reading) -> Corpus:
    """Add the day of each annotation, where documents and annotators have dates."""
    columns = corpus.annotation_document.tolist(), corpus.annotation_annotator.tolist()
    names = ((corpus.documents[d], corpus.annotators[a]) for d, a in zip(*columns, strict=True))
    given = [*map(dates.get, names)] if dates else []
    if not any(given):
        return corpus
    days = np.array([*map(day_of, given)], dtype=np.int64)
    n_lost = sum(map(bool, given)) - int(np.count_nonzero(days))
    reading.skipped[not_read("dates in unknown forms")] += n_lost
    return replace(corpus, annotation_date=days)


def _with_missing(corpus: Corpus, drafted: Sequence[tuple[str, Draft]], reading: Reading) -> Corpus:
    """Add quotes that are not in the texts, unless these are left out, and say how many."""
    rows = [(name, draft.annotator, quote) for name, draft in drafted for quote in draft.missing]
    if not rows:
        return corpus
    documents, annotators, missing = zip(*rows, strict=True)
    who = numbered(annotators, corpus.annotators)
    is_counted = reading.options["missing_quotes"] == "count"
    fate = "count as wrong" if is_counted else "were left out"
    sides = (np.bincount(x, minlength=len(corpus.annotators)) for x in (who, corpus.span_annotator))
    for name, n, n_found in zip(corpus.annotators, *sides, strict=True):
        if n:
            said = (
                f"{n:,} of {n + n_found:,} quotes do not occur in their texts so often, and {fate}"
            )
            reading.note(said, who=name)
    if not is_counted:
        return corpus
    words = [quote.words.strip() for quote in missing]
    units = (
        [tokenized(x, reading.tokeniser) for x in words] if corpus.token_end is not None else words
    )
    labels, code = coded("label", [*corpus.labels, *(quote.label for quote in missing)])
    old, new = np.split(code, [len(corpus.labels)])
    return replace(
        corpus,
        labels=labels,
        span_label=old[corpus.span_label],
        missing_text=np.searchsorted(corpus.text_document, numbered(documents, corpus.documents)),
        missing_annotator=who,
        missing_label=new,
        missing_length=np.maximum([len(unit) for unit in units], 1),
    )


def _are_final(given: Sequence[TaggedTexts], reading: Reading) -> bool:
    """Return whether nothing has to be matched or refused."""
    names = (*given[0].names, *(texts.annotator for texts in given))
    labels = {label for texts in given for label in texts.spans.labels}
    return (
        reading.options["match"] != "text"
        and all(name and name == name.strip() for name in names)
        and not any(not label or is_bytes_as_text(label) for label in labels)
    )


def _unit_of(unit: str, by_document: Iterable[Sequence[Draft]]) -> str:
    """Return what a text is, which may depend on whether all documents have sentences."""
    if unit != EITHER:
        return unit
    # Annotators whose sentences differ are compared by document.
    known = ({tuple(x.sentences) for x in group if x.sentences} for group in by_document)
    return "sentence" if all(len(own) == 1 for own in known) else "document"


def _sign_tokens(origins: set[str], positions: str, reading: Reading, n_spans: int = 0) -> None:
    """Sign where tokens come from, and say where those asked for have no use, or are cut often."""
    if positions != "tokens":
        return
    reading.signed["tokens"] = "+".join(sorted(origins))
    if reading.tokeniser == "whitespace" and origins == {"file"}:
        reading.note(Use("positions", "whitespace"), " was not used: the files have tokens")
    n_widened = reading.skipped[WIDENED]
    if 50 * n_widened > n_spans:
        found = f"{n_widened:,} of {n_spans:,} spans cut tokens and count as covering them; "
        reading.note(found, Use("positions", "characters"), " scores characters")


class Work(Protocol):
    """The work of one annotator on one document, or on one recording."""

    @property
    def where(self) -> Text:
        """Its place, for messages."""

    @property
    def document(self) -> str:
        """The document."""

    @property
    def annotator(self) -> str:
        """The annotator."""


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
    listed = list(works)
    plain = _plain_ids(listed, reading)
    key_of: dict[str | int, str] = {}
    groups: dict[str, dict[str, W]] = {}
    seen: dict[str, int] = {}
    for work in listed:
        document = plain.get(work.document, work.document)
        key: str | int = document
        if reading.options["match"] == "text":
            key = text_of(work)
        elif reading.options["match"] == "order":
            key = seen[work.annotator] = seen.get(work.annotator, -1) + 1
        if key not in key_of:
            # Two documents may have one name where it is not the name that matches them.
            names = chain([document, f"{work.annotator}/{document}"], _numbered(work, document))
            key_of[key] = next(name for name in names if name not in groups)
        group = groups.setdefault(key_of[key], {})
        if work.annotator in group and getattr(work, "is_assumed", False):
            continue
        twin = group.pop(work.annotator, None)
        if getattr(twin, "is_assumed", False):
            twin = None
        if twin is not None and getattr(twin, "text", "") != getattr(work, "text", ""):
            remedy = ("match them by ", Use("match", "text"), " or ", Use("match", "order"))
            raise other_text(work.document, twin.where, work.where, remedy, kind)
        if twin is not None:
            what = "annotations replaced by a later one"
            reading.mend("repeated", what, partial(again, twin, work, kind))
        group[work.annotator] = work
    return {name: list(group.values()) for name, group in groups.items()}


def _numbered(work: Work, document: str) -> Iterator[str]:
    return (f"{work.annotator}/{document}/{number}" for number in count(2))


def other_text(
    document: str, first: Text, where: Text, remedy: Text, kind: str = "document"
) -> FormatError:
    """Return the refusal of two texts with one name; the other one is at `first`."""
    found = quoting(kind + " {} has another text at {}", document, pieces(first))
    expected = "different identifiers for different texts"
    return FormatError(*found, where=where, expected=expected, remedy=remedy)


def again(twin: Work, work: Work, kind: str) -> DataError:
    """Build the refusal of a document that an annotator has twice."""
    return refusal(
        work.where,
        kind + " {} was annotated by {} before, at {}",
        *(work.document, work.annotator, pieces(twin.where)),
        expected="it once",
        remedy=(Use("repeated", "last"), " takes the last"),
    )


def _plain_ids(works: Sequence[Work], reading: Reading) -> dict[str, str]:
    """Find the documents whose names differ from others only as 1.0 differs from 1."""
    if not reading.knows_plain_ids:
        return {}
    by_annotator: dict[str, set[str]] = {}
    for work in works:
        by_annotator.setdefault(work.annotator, set()).add(work.document)
    names = dict.fromkeys(work.document for work in works)
    plain = plain_ids(names, distinct=by_annotator.values())
    if plain:
        reading.mend("match", PLAIN_IDS, partial(written_twice, "document", plain), len(plain))
    return {} if reading.refuses("match") else plain


def _fields(by_document: Iterable[Sequence[Mapping[str, str]]]) -> dict[str, list[str]]:
    """Merge the fields that annotators have of each document; empty where one lacks them."""
    merged: list[dict[str, str]] = []
    for group in by_document:
        own: dict[str, str] = {}
        # Annotators mostly share one mapping; the first who has a field says what it is.
        for fields in {id(fields): fields for fields in group}.values():
            for kind, value in fields.items():
                own.setdefault(kind, value)
        merged.append(own)
    kinds = dict.fromkeys(kind for own in merged for kind in own)
    check_filled(len(kinds), len(merged), sum(map(len, merged)))
    return {kind: [own.get(kind, "") for own in merged] for kind in kinds}


def _layout(
    first: Draft, group: list[Draft], reading: Reading, *, unit: str, positions: str
) -> _Layout:
    """Cut the text of a document, which is that of the first of its drafts."""
    ordered, text = (first, *group), first.text
    sentences = next((draft.sentences for draft in ordered if draft.sentences is not None), None)
    if unit == "sentence" and sentences is None:
        raise refusal(
            first.where,
            "document {} has no sentences",
            first.document,
            remedy=("pass ", Use("unit", "document")),
            kind=DataError,
        )
    parts = list(sentences or []) if unit == "sentence" else [(0, len(text))]
    edges = [0, *chain.from_iterable(parts), len(text)]
    if not parts or edges != sorted(edges):
        raise refusal(
            first.where,
            "the sentences of document {} do not follow one another within its text",
            first.document,
            expected="sentences in order",
        )
    if positions != "tokens":
        return _Layout(text, parts, range(len(text)), range(1, len(text) + 1), "")
    known = next((draft.tokens for draft in ordered if draft.tokens is not None), None)
    rule = reading.tokeniser
    tokens = tokenized(text, rule) if known is None else known
    odd = out_of_order(tokens, len(text))
    if odd is not None:
        raise refusal(
            first.where,
            f"token [{odd[0]}, {odd[1]}) "
            "of document {} does not follow the one before it within the text",
            first.document,
            expected="tokens in order",
        )
    if reading.refuses("cut_tokens"):
        reading.signed["align"] = "strict"
    starts, ends = [start for start, _ in tokens], [end for _, end in tokens]
    return _Layout(text, parts, starts, ends, _RULES[rule] if known is None else "file")


def _placed(
    draft: Draft, layout: _Layout, reading: Reading, first_text: int
) -> Iterator[tuple[DraftSpan, _Place, _Motif]]:
    """Yield a part of each span, and the place and the motif of all of it.

    What is widened is counted.
    """
    for _, parts in groupby(draft.spans, lambda span: id(span.whole or span)):
        places: list[_Place] = []
        for span in parts:
            found, words = _position(span.start, span.end, layout)
            if words is None:
                raise _refused(span, draft, "covers no token", expected="at least one")
            if words and reading.refuses("cut_tokens"):
                raise _refused(
                    span,
                    draft,
                    "cuts a token of {}",
                    words,
                    expected="whole tokens",
                    remedy=(Use("strict", is_name=True), " without cut_tokens widens such spans"),
                )
            if words:
                reading.skipped[WIDENED] += 1
            if found is None or (places and found[0] != places[0][0]):
                raise _refused(
                    span,
                    draft,
                    "does not lie within one sentence",
                    remedy=("correct it, or pass ", Use("unit", "document")),
                )
            places.append(found)
        (text, first, last), *others = sorted(places)
        motif = [(0, last - first)]
        for _, start, end in others:
            if start > last:
                motif.append((start - first, end - first))
            else:  # whole tokens side by side, or the same
                motif[-1] = motif[-1][0], max(last, end) - first
            last = first + motif[-1][1]
        yield span, (first_text + text, first, last), tuple(motif) if motif[1:] else ()


def _motifs(found: Iterable[_Motif]) -> dict[str, Any]:
    """Return the columns of a corpus that say which parts its spans have, if some have several."""
    motifs = sorted({(), *found})
    if len(motifs) == 1:
        return {}
    number = {motif: i for i, motif in enumerate(motifs)}
    return {"span_motif": np.array([number[motif] for motif in found]), "motifs": tuple(motifs)}


def _position(start: int, end: int, layout: _Layout) -> tuple[_Place | None, str | None]:
    """Find the text that a stretch is in, and its positions there, widened to whole tokens.

    Returns
    -------
    place : tuple of int, optional
        None if it has no token, or does not lie within one text.
    words : str, optional
        Those of its tokens, if it has a part of one; None if it has no token.
    """
    # From the first to the last token with which it shares a character.
    low, high = bisect_right(layout.ends, start), bisect_left(layout.starts, end)
    if low >= high:
        return None, None
    first, last = layout.starts[low], layout.ends[high - 1]
    words = layout.text[first:last] if first < start or last > end else ""
    part = bisect_right(layout.parts, (first, len(layout.text) + 1)) - 1
    begin, finish = layout.parts[part] if part >= 0 else (0, -1)
    if not begin <= first < last <= finish:
        return None, words
    base = bisect_left(layout.starts, begin)
    return (part, low - base, high - base), words


def _if_placed(
    other: Interval, own: _Place, layout: _Layout, reading: Reading, first_text: int
) -> _Place:
    """Return the text and the positions of another place of a span; its own if it has none."""
    found, words = _position(*other, layout)
    if found is None or (words and reading.refuses("cut_tokens")):
        return own
    return first_text + found[0], found[1], found[2]


def twice_by(annotator: str, document: str) -> tuple[Piece, ...]:
    """Build the end of a message about a span that its annotator has marked already."""
    return quoting(" was marked twice by {} in document {}", annotator, document)
