"""What readers of formats with texts yield: the work of one annotator on one document.

Offsets stand as they do in the file; `beyondchance.io.assembling` converts and checks them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

from beyondchance.errors import FormatError
from beyondchance.io.offsets import Interval, places_of
from beyondchance.messages import Piece, Quote, Text, Use

K = TypeVar("K")
T = TypeVar("T")

MOST_ASSUMED = 10**5
"""Documents times annotators that may be assumed, whatever is given."""
_MOST_FOR_EACH = 10
"""How many more for each document, row or span that is given."""


@dataclass(frozen=True, slots=True)
class DraftSpan:
    """A span as it stands in a file.

    Attributes
    ----------
    start, end : int
        Half-open, in the unit of its draft.
    label : str
    surface : str, optional
        The words that the file stores next to the offsets, to check them by.
    where : Text
        Its place in the file, such as ``anna.ann:3``, if closer than the draft's.
    elsewhere : tuple of (start, end)
        Where a quote without offsets is with the first, and with the last, occurrences of its
        words, if it may be at either.
    id : str
        What the file calls it; empty if it has no name.
    whole : object, optional
        Of a part of a discontinuous span, what all its parts have in common.
    fields : mapping of str to str, optional
        What the file says of it besides its label, by name.
    """

    start: int
    end: int
    label: str
    surface: str | None = None
    where: Text | None = None
    elsewhere: tuple[Interval, ...] = ()
    id: str = ""
    whole: object = None
    fields: Mapping[str, str] | None = None

    @property
    def named(self) -> tuple[Piece, ...]:
        """Return the span in a message: its offsets in the file, and its label."""
        swapped = " (start and end swapped?)" if self.start > self.end else ""
        return f"span [{self.start}, {self.end}) ", Quote(self.label), swapped


class Mention(NamedTuple):
    """A quote in a file.

    Attributes
    ----------
    words, label : str
    numbers : tuple of int
        Of these, two may be its offsets.
    has_offsets : bool
        Whether some of them are called so.
    """

    words: str
    label: str
    numbers: tuple[int, ...] = ()
    has_offsets: bool = False


class Tags(NamedTuple):
    """The tags of a draft that are still to be decoded.

    Attributes
    ----------
    tags : list of str or None
        One for each token; None where it is not scored.
    file : str
        What a note on the scheme is about.
    kind : str
        What messages call a token.
    layer : str
        The layer, where an annotator has several: their drafts follow one another.
    """

    tags: list[str | None]
    file: str
    kind: str = "token"
    layer: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """The work of one annotator on one document, as it stands in a file.

    Attributes
    ----------
    where : Text
        Its place, for messages: ``export.jsonl:12``.
    document, annotator : str
    text : str
        The characters.
    spans : sequence of DraftSpan
    tokens, sentences : sequence of (start, end), optional
        Where the file has them.
    offsets : {"codepoints", "utf16", "bytes"}
        What the offsets of spans, tokens and sentences count.
    is_words : bool
        Whether the offsets are those of words and not of the file, so that they count code points
        whatever those of files count, and no white space is to be trimmed.
    is_gold : bool
        Whether this is the gold standard rather than the work of an annotator.
    is_blank : bool
        Whether the text is not known: it is another's, or the tokens are mere places.
    order : int, optional
        Where documents have no names of their own, the place of this one among them.
    is_assumed : bool
        Whether the file does not say that the annotator saw the document: it is assumed, because
        others' spans are there.
    tagged : Tags, optional
        Tags that stand for the spans. Which of them are scored, and what scheme they have, depends
        on those of other annotators.
    counts_tokens : bool
        Of spans without a text: whether offsets count the tokens that another has.
    fields : mapping of str to str
        Values to group documents by.
    date : object
        When it was made, or else changed last, as the file has it (see `day_of`).
    missing : sequence of Mention
        Quotes that are not in the text, or not as often.
    find : callable, optional
        Of quotes without a text: makes the draft with the text that another has.
    """

    where: Text
    document: str
    annotator: str
    text: str
    spans: Sequence[DraftSpan]
    tokens: Sequence[Interval] | None = None
    sentences: Sequence[Interval] | None = None
    offsets: str = "codepoints"
    is_words: bool = False
    is_gold: bool = False
    is_blank: bool = False
    order: int | None = None
    is_assumed: bool = False
    tagged: Tags | None = None
    counts_tokens: bool = False
    fields: Mapping[str, str] = field(default_factory=dict)
    date: object = None
    missing: Sequence[Mention] = ()
    find: Callable[[str], Draft] | None = None


def check_everybody(n_documents: int, n_annotators: int, n_given: int, where: Text) -> None:
    """Refuse to take everybody for an annotator of every document, if few of them did anything.

    The work of all on everything is kept, so that it must not be much more than what is given.
    """
    if n_documents * n_annotators > MOST_ASSUMED + _MOST_FOR_EACH * n_given:
        missing = Use("empty", "missing")
        raise FormatError(
            f"{n_documents:,} documents and {n_annotators:,} annotators",
            where=where,
            expected="fewer",
            remedy=("pass ", missing, " if not every annotator annotated every document"),
        )


def draft_of_words(
    words: Sequence[str],
    spans: Iterable[tuple[int, int, str]],
    *,
    sentences: Sequence[Interval] | None = None,
    **known: Any,
) -> Draft:
    """Make a draft of words, joined by spaces, and spans that count words.

    `sentences` count words too; what else is `known` of the draft goes by its attributes.
    """
    tokens = places_of(words)
    return Draft(
        text=" ".join(words),
        spans=[DraftSpan(tokens[s][0], tokens[e - 1][1], label) for s, e, label in spans],
        tokens=tokens,
        sentences=sentences and [(tokens[s][0], tokens[e - 1][1]) for s, e in sentences if s < e],
        is_words=True,
        **known,
    )


def draft_of_sentences(
    sentences: Iterable[Sequence[str]],
    marks: Iterable[Iterable[tuple[int, int, str]]],
    **known: Any,
) -> Draft:
    """Make a draft of the words of each sentence, and spans that count the words of theirs."""
    words: list[str] = []
    bounds: list[Interval] = []
    spans: list[tuple[int, int, str]] = []
    for sentence, marked in zip(sentences, marks, strict=True):
        base = len(words)
        words += sentence
        bounds.append((base, len(words)))
        spans += [(base + start, base + end, label) for start, end, label in marked]
    return draft_of_words(words, spans, sentences=bounds, **known)


def grouped(items: Iterable[T], key: Callable[[T], K]) -> dict[K, list[T]]:
    """Group items by a key, in the order in which the keys occur."""
    groups: dict[K, list[T]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups
