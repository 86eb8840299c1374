"""Words that a file stores next to the offsets of spans: what they say of the offsets.

Some files are made by programs that include the last character of a span, count another
unit, or store words that are not quite those of the text. All spans of a file are looked at
together, because a single one cannot tell a slip from a habit.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from beyondchance.errors import SpanError
from beyondchance.io.drafts import OTHER_WORDS, DraftSpan, other_words
from beyondchance.io.offsets import UNITS, code_points, words_at
from beyondchance.io.options import Reading
from beyondchance.io.values import quoting
from beyondchance.messages import Text, Use
from beyondchance.tallies import mended

SpansOfText = tuple[str, str, list[DraftSpan]]
"""The place of a text in its file, the text, and its spans."""

_MOST_LOOKED_FOR = 100


def fitted(marked: Sequence[SpansOfText], reading: Reading, *, file: str) -> list[list[DraftSpan]]:
    """The spans of each text, half-open, checked by the words stored with them.

    Ends are inclusive if ``ends`` says so, or if all stored words do. Words that differ
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
    """
    ends, unit = reading.options["ends"], reading.options["offsets"] or "codepoints"
    if ends is None and _are_inclusive(marked, unit):
        if reading.is_strict:
            raise SpanError(
                "all words stored with spans show that the end is the last character",
                where=file,
                expected="the end after it",
                remedy=("pass ", Use("ends", "inclusive")),
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
    return [[_without_words(span) for span in spans] for *_, spans in marked]


def _without_words(span: DraftSpan) -> DraftSpan:
    # There can be millions, and `replace` takes five times as long.
    return DraftSpan(span.start, span.end, span.label, where=span.where, id=span.id)


def _are_inclusive(marked: Sequence[SpansOfText], unit: str) -> bool:
    """Whether all stored words fit only if the end is included."""
    has_words = False
    for _, text, spans in marked:
        words = words_at(text, unit)
        for span in _with_words(spans):
            has_words = True
            if words(span.start, span.end + 1) != span.surface:
                return False
            if words(span.start, span.end) == span.surface:
                return False
    return has_words


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
        raise SpanError(
            *span.named,
            *quoting(" covers {}, but the file stores {}", covered, span.surface),
            f", and so {len(different)} of {n_stored} spans differ from their words",
            where=span.where or "",
            remedy=_remedy([(text, span) for text, span, _ in elsewhere], unit),
        )
    if different:
        _, span, covered = different[0]
        refusal = partial(other_words, span.named, covered, span.surface or "", span.where or "")
        reading.mend("stored_words", OTHER_WORDS, refusal, len(different))


def _with_words(spans: list[DraftSpan]) -> list[DraftSpan]:
    return [span for span in spans if span.surface is not None]


def _plain(words: str) -> str:
    """Words without case, accents and white space, which models and tools change."""
    signs = unicodedata.normalize("NFKD", "".join(words.split())).casefold()
    return "".join(sign for sign in signs if not unicodedata.combining(sign))


def _remedy(spans: list[tuple[str, DraftSpan]], unit: str) -> Text:
    """What makes spans fit whose words are elsewhere in the text, if that is known."""

    def fit(unit: str, n_more: int = 0) -> bool:
        return all(
            words_at(text, unit)(span.start, span.end + n_more) == span.surface
            for text, span in spans
        )

    other = next((other for other in UNITS if other != unit and fit(other)), None)
    if other is not None:
        return f"they fit if offsets count {UNITS[other]}: pass ", Use("offsets", other)
    if fit(unit, 1):
        return "these fit if ends are inclusive: pass ", Use("ends", "inclusive")
    return "check that offsets and text belong together"
