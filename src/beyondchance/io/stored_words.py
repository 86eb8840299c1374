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
from beyondchance.io.offsets import UNITS, code_points
from beyondchance.io.options import Reading
from beyondchance.io.values import quoting
from beyondchance.messages import Text, Use

Marked = tuple[str, str, list[DraftSpan]]
"""The place of a text in its file, the text, and its spans."""

_MOST_LOOKED_FOR = 100


def fitted(marked: Sequence[Marked], reading: Reading, *, file: str) -> list[list[DraftSpan]]:
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
    ends = reading.options["ends"]
    if ends is None and reading.options["offsets"] != "utf16" and _are_inclusive(marked):
        ends = reading.signed["ends"] = "inclusive"
        note = "the end of a span is its last character, as the words stored with spans show"
        reading.note(note, where=file)
        n_spans = sum(len(spans) for *_, spans in marked)
        reading.skipped["spans whose end was inclusive, made one longer"] += n_spans
    if ends == "inclusive":
        marked = [
            (where, text, [replace(span, end=span.end + 1) for span in spans])
            for where, text, spans in marked
        ]
    _check(marked, reading)
    return [[_without_words(span) for span in spans] for *_, spans in marked]


def _without_words(span: DraftSpan) -> DraftSpan:
    # There can be millions, and `replace` takes five times as long.
    return DraftSpan(span.start, span.end, span.label, where=span.where)


def _are_inclusive(marked: Sequence[Marked]) -> bool:
    """Whether all stored words fit only if the end is included."""
    stored = [(text, span) for _, text, spans in marked for span in _with_words(spans)]
    return bool(stored) and all(
        _fits(text, span.start, span.end + 1, span) and not _fits(text, span.start, span.end, span)
        for text, span in stored
    )


def _fits(text: str, start: int, end: int, span: DraftSpan) -> bool:
    return 0 <= start <= end <= len(text) and text[start:end] == span.surface


def _check(marked: Sequence[Marked], reading: Reading) -> None:
    """Count the spans whose words differ from the text; refuse offsets that do not fit."""
    n_stored = 0
    different: list[tuple[str, DraftSpan, str]] = []
    for where, text, spans in marked:
        stored = _with_words(spans)
        n_stored += len(stored)
        places = [(span.start, span.end) for span in stored]
        if reading.options["offsets"] == "utf16":
            places = code_points(text, places, where)
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
            remedy=_remedy([(text, span) for text, span, _ in elsewhere], reading),
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


def _remedy(spans: list[tuple[str, DraftSpan]], reading: Reading) -> Text:
    """What makes spans fit whose words are elsewhere in the text, if that is known."""
    if reading.options["offsets"] != "utf16" and all(_fits_in_utf16(*item) for item in spans):
        return f"they fit if offsets count {UNITS['utf16']}: pass ", Use("offsets", "utf16")
    if all(_fits(text, span.start, span.end + 1, span) for text, span in spans):
        return "these fit if ends are inclusive: pass ", Use("ends", "inclusive")
    return "check that offsets and text belong together"


def _fits_in_utf16(text: str, span: DraftSpan) -> bool:
    try:
        ((start, end),) = code_points(text, [(span.start, span.end)], "")
    except SpanError:
        return False
    return _fits(text, start, end, span)
