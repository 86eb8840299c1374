"""What offsets count, as the words show that files store next to them.

Some files are made by programs that include the last character of a span, count another
unit, or store words that are not quite those of the text. All spans of a file are looked at
together, because a single one cannot tell a slip from a habit.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import lru_cache, partial

from beyondchance.errors import SpanError
from beyondchance.io.drafts import DraftSpan
from beyondchance.io.offsets import UNITS, Interval, code_points, words_at
from beyondchance.io.options import Reading
from beyondchance.io.values import refusal
from beyondchance.messages import Piece, Quote, Text, Use
from beyondchance.tallies import mended, unsure

OTHER_WORDS = unsure("spans whose stored words differ from the text")
"""What to count spans under whose stored words are not those of the text."""
IGNORING = (Use("strict", "-stored_words"), " reads the span by its offsets")
OF_TOKENS = "check that offsets count tokens, and that the end is exclusive"
BELONG_TOGETHER = "check that offsets and text belong together"

SpansOfText = tuple[Text, str, list[DraftSpan]]
"""The place of a text in its file, the text, and its spans."""

_MOST_LOOKED_FOR = 100


def other_words(
    named: Sequence[Piece],
    covered: str,
    stored: str | None,
    where: Text | None,
    *more: str,
    remedy: Text = IGNORING,
) -> SpanError:
    """Return the refusal of a span whose stored words are not those of the text."""
    return SpanError(
        *(*named, " covers ", Quote(covered), ", but the file stores ", Quote(stored), *more),
        where=where or "",
        expected="the words of the text",
        remedy=remedy,
    )


def fits(
    text: str,
    places: Iterable[Interval],
    stored: str | None,
    unit: str,
    key: Callable[[str], object] = str.split,
) -> bool:
    """Return whether stored words are at their places in a text, in one piece or in several.

    What `key` makes of them is compared, by default words without white space between them.
    Without stored words, the places have to lie in the text.

    Examples
    --------
    >>> fits("é Ada  Holt", [(3, 6), (8, 12)], "Ada Holt", "bytes")
    True
    """
    words = words_at(text, unit)
    found = [words(start, end) for start, end in places]
    if None in found:
        return False
    return stored is None or key(" ".join(map(str, found))) == key(stored)


def bare(words: str) -> str:
    r"""Return words without white space, which some programs leave out or change.

    Examples
    --------
    >>> bare("Ada\n Holt ")
    'AdaHolt'
    """
    return "".join(words.split())


def remedy(marked: Iterable[tuple[str, DraftSpan]], unit: str, *, has_ends: bool = False) -> Text:
    """Return what makes spans fit their texts, if that is known.

    Parameters
    ----------
    marked : iterable of (str, DraftSpan)
        Texts with the spans that do not fit.
    unit : str
        What offsets are taken to count.
    has_ends : bool
        Whether ends may be inclusive.
    """
    spans = list(marked)
    has_words = any(span.surface is not None for _, span in spans)

    def fit(other: str, n_more: int = 0) -> bool:
        return all(fits(text, [(s.start, s.end + n_more)], s.surface, other) for text, s in spans)

    for other in UNITS:
        # Nearly anything lies in a text that is counted in bytes.
        if other != unit and (has_words or other != "bytes") and fit(other):
            return f"fits if offsets count {UNITS[other]}: pass ", Use("offsets", other)
    if has_ends and fit(unit, 1):
        return "fits if ends are inclusive: pass ", _inclusive(unit)
    return BELONG_TOGETHER


def _inclusive(unit: str) -> Use:
    """Return the option by which ends are inclusive, and offsets count what they did."""
    return Use("offsets", "inclusive" if unit == "codepoints" else f"{unit},inclusive")


def check_unit(text: str, spans: Iterable[DraftSpan], where: Text, remedy: Text) -> None:
    """Refuse spans after characters such as emoji, where it is not known what offsets count."""
    first = _first_wide(text)
    span = next((span for span in spans if span.end > first >= 0), None)
    if span is not None:
        raise refusal(
            where,
            f"{{}} is after character {first}, which counts once or twice",
            span.named,
            expected="to know what offsets count",
            remedy=remedy,
        )


def check_in_tokens(
    span: DraftSpan, n_tokens: int, remedy: Text = OF_TOKENS, *, is_filled: bool = True
) -> None:
    """Refuse a span that does not lie in its tokens, or has none although it is filled."""
    if not 0 <= span.start <= span.end - is_filled <= n_tokens - is_filled:
        raise refusal(
            span.where or "",
            f"{{}} does not lie in the text, which has {n_tokens} tokens",
            span.named,
            remedy=remedy,
            kind=SpanError,
        )


def emptiness(span: DraftSpan, where: Text = (), counted: str = "position") -> SpanError:
    """Build the refusal of a span that covers nothing."""
    return SpanError(
        *(*span.named, " is empty"),
        where=span.where or where,
        expected=f"at least one {counted}",
        remedy=(
            *(Use("zero_length", "skip"), " leaves such spans out; if ends are included, see "),
            Use("offsets", is_name=True),
        ),
    )


def count_duplicate(reading: Reading, where: Text, *found: Piece, number: int = 1) -> None:
    """Count spans that were marked already, or refuse the first, of which something was found."""
    mend = (Use("strict", "-duplicates"), " leaves the second out")
    problem = partial(SpanError, *found, where=where, expected="it once", remedy=mend)
    reading.mend("duplicates", "spans marked twice, second left out", problem, number)


# All annotators of a document share its text.
@lru_cache(maxsize=8)
def _first_wide(text: str) -> int:
    """Return the first character that takes two units of UTF-16; -1 if there is none."""
    if max(text, default="") <= "\uffff":
        return -1
    return next(place for place, character in enumerate(text) if character > "\uffff")


def fitted(
    marked: Sequence[SpansOfText], reading: Reading, *, file: str, ends: str | None = None
) -> list[list[DraftSpan]]:
    """Return the spans of each text, half-open, checked by the words stored with them.

    Ends are inclusive if ``offsets`` says so, or if all stored words do. Words that differ
    from the text are counted. If most of them are in the text, but elsewhere, the offsets
    do not fit, and the file is refused.

    Parameters
    ----------
    marked : sequence of (str, str, list of DraftSpan)
        The texts of a file with their places and spans.
    reading : Reading
        Its counters, notes and signed choices are added to.
    file : str
        For notes.
    ends : {"inclusive"}, optional
        Of a format whose ends are.
    """
    ends, unit = reading.ends or ends, reading.options["offsets"] or "codepoints"
    if ends is None and _are_inclusive(marked, unit):
        if reading.is_strict:
            raise SpanError(
                "all words stored with spans show that the end is the last character",
                where=file,
                expected="the end after it",
                remedy=("pass ", _inclusive(unit)),
            )
        ends = reading.signed["ends"] = "inclusive"
        note = "the end of a span is its last character, as the words stored with spans show"
        reading.note(note, where=file)
        n_spans = sum(len(spans) for *_, spans in marked)
        reading.skipped[mended("spans whose end was inclusive, made one longer")] += n_spans
    if ends == "inclusive":
        marked = [
            (where, text, [replace(span, end=span.end + 1) for span in spans])
            for where, text, spans in marked
        ]
    check_words(marked, reading)
    # There can be millions, and `replace` takes five times as long.
    return [
        [DraftSpan(s.start, s.end, s.label, where=s.where, id=s.id, fields=s.fields) for s in spans]
        for *_, spans in marked
    ]


def _are_inclusive(marked: Sequence[SpansOfText], unit: str) -> bool:
    """Return whether all stored words fit only if the end is included."""
    fitting = (
        words(span.start, span.end + 1) == span.surface != words(span.start, span.end)
        for _, text, spans in marked
        for words in [words_at(text, unit)]
        for span in _with_words(spans)
    )
    return next(fitting, False) and all(fitting)


def check_words(marked: Sequence[SpansOfText], reading: Reading) -> None:
    """Count the spans whose words differ from the text; refuse offsets that do not fit."""
    n_stored, unit = 0, reading.options["offsets"] or "codepoints"
    different: list[tuple[str, DraftSpan, str]] = []
    for where, text, spans in marked:
        stored = _with_words(spans)
        n_stored += len(stored)
        places = code_points(text, [(span.start, span.end) for span in stored], where, unit)
        for span, (start, end) in zip(stored, places, strict=True):
            covered = text[max(start, 0) : max(end, 0)]
            if covered != span.surface and _plain(covered) != _plain(span.surface or ""):
                different.append((text, span, covered))
    # To look for all of them in long texts could take long, and a few tell enough.
    tried = different[:_MOST_LOOKED_FOR]
    elsewhere = [item for item in tried if str(item[1].surface) in item[0]]
    if 2 * len(different) > n_stored and 2 * len(elsewhere) > len(tried):
        _, span, covered = elsewhere[0]
        raise other_words(
            span.named,
            covered,
            span.surface,
            span.where,
            f", and so {len(different)} of {n_stored} spans differ from their words",
            remedy=remedy(((text, span) for text, span, _ in elsewhere), unit, has_ends=True),
        )
    if different:
        _, span, covered = different[0]
        refusal = partial(other_words, span.named, covered, span.surface, span.where)
        reading.mend("stored_words", OTHER_WORDS, refusal, len(different))


def _with_words(spans: list[DraftSpan]) -> list[DraftSpan]:
    return [span for span in spans if span.surface is not None]


def _plain(words: str) -> str:
    """Return words without case, accents and white space, which models and tools change."""
    signs = unicodedata.normalize("NFKD", bare(words)).casefold()
    return "".join(sign for sign in signs if not unicodedata.combining(sign))
