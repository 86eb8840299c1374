"""One text and one set of tokens for all annotators of a document.

Systems write tokens in their own way: unknown words as ``[UNK]``, quotation marks as two
characters, in lower case, or cut at other places. Where the texts are the same but for that,
spans are moved to the text of the gold standard, or else of the first annotator.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from beyondchance.errors import DataError, MismatchError
from beyondchance.io.drafts import Draft
from beyondchance.io.offsets import Interval
from beyondchance.io.options import Reading
from beyondchance.io.values import quoting, refusal
from beyondchance.messages import Text, Use, pieces

_UNKNOWN = frozenset({"[unk]", "<unk>", "unk", "<unknown>", "[mask]", "\N{REPLACEMENT CHARACTER}"})
"""What tokenisers write for a word that they do not know."""
_LEAST_ALIKE = 0.75
"""The share of words that must be the same, so that texts are those of another annotator."""
_DIGIT = re.compile(r"\d")
_BY_TOKENS = "tokens that differ in spelling, aligned by their number"
_BY_CHARACTERS = "documents with other tokens or white space, aligned by characters"


class Evidence(NamedTuple):
    """How many words of each annotator are those of the texts that stay, in all documents.

    A document of few words may lack evidence, because words are missing that a tokeniser did
    not know; all documents of an annotator together must have enough.

    Attributes
    ----------
    alike, n : Counter
        The words that are the same, and all words.
    refusals : dict
        The error for the first document of an annotator with other spellings.
    """

    alike: Counter[str]
    n: Counter[str]
    refusals: dict[str, DataError]

    def add(self, draft: Draft, alike: int, n: int) -> None:
        """Count the words of a document."""
        self.alike[draft.annotator] += alike
        self.n[draft.annotator] += n

    def check(self) -> None:
        """Refuse annotators whose texts may be others."""
        for annotator, problem in self.refusals.items():
            if self.alike[annotator] < _LEAST_ALIKE * self.n[annotator]:
                raise problem


def aligned(
    group: Sequence[Draft], reading: Reading, evidence: Evidence, *, positions: str
) -> tuple[Draft, list[Draft]]:
    """Find the draft whose text and tokens stay, and move all drafts of the document to them.

    The words that are the same are added to the `evidence`.

    Raises
    ------
    MismatchError
        For texts that differ in more than spelling and white space.
    """
    first = reference(group, reading)
    found = []
    for draft in group:
        is_same_text = draft.text == first.text
        has_other_tokens = positions == "tokens" and _differ(first.tokens, draft.tokens)
        if draft is first or (is_same_text and not has_other_tokens):
            n_words = len(draft.tokens or ())
            evidence.add(draft, n_words, n_words)
            found.append(draft)
            continue
        pairs: list[tuple[str, str]] = []
        if is_same_text:
            moved = replace(draft, tokens=first.tokens)
        elif "".join(draft.text.split()) == "".join(first.text.split()):
            moved = _moved(first, draft, *map(_visible, (first.text, draft.text)))
        elif len(first.tokens or ()) == len(draft.tokens or ()) > 0:
            tokens = first.tokens or (), draft.tokens or ()
            pairs = list(zip(_words(first), _words(draft), strict=True))
            moved = _moved(first, draft, *tokens)
        else:
            raise _difference(first, draft)
        # Punctuation is no evidence.
        words = [pair for pair in pairs if any(map(_is_word, pair))]
        if not draft.is_blank:
            known = [pair for pair in words if _UNKNOWN.isdisjoint(map(str.casefold, pair))]
            if sum(_is_alike(*pair) for pair in known) < _LEAST_ALIKE * len(known):
                raise _difference(first, draft)
            spellings = [pair for pair in pairs if pair[0] != pair[1]]
            n_words = len(words) if pairs else sum(map(_is_word, _words(first)))
            n_unlike = sum(any(map(_is_word, x)) and not _is_alike(*x) for x in spellings)
            evidence.add(draft, n_words - n_unlike, n_words)
            what = _BY_TOKENS if spellings else _BY_CHARACTERS
            refusal = partial(_difference, first, draft, is_mendable=True)
            reading.mend("mismatch", what, refusal, len(spellings) or 1)
            if spellings and draft.annotator not in evidence.refusals:
                evidence.refusals[draft.annotator] = _difference(first, draft)
                shown = (*spellings[0][::-1], draft.document)
                example = "some tokens differ in spelling, such as {} for {} in document {}"
                reading.note(*quoting(example, *shown), who=draft.annotator)
        found.append(moved)
    return first, found


def reference(group: Sequence[Draft], reading: Reading) -> Draft:
    """Find the draft whose text stays: the gold standard's, else the first."""
    if len(group) == 1:
        return group[0]
    known = [draft for draft in group if not draft.is_blank] or group
    is_gold = (draft for draft in known if draft.is_gold or reading.is_reference(draft.annotator))
    return next(is_gold, known[0])


def _differ(one: Sequence[Interval] | None, other: Sequence[Interval] | None) -> bool:
    return one is not None and other is not None and one != other and list(one) != list(other)


def _moved(first: Draft, draft: Draft, to: Sequence[Interval], own: Sequence[Interval]) -> Draft:
    """Move a draft to the text and tokens of another, of which as many parts are the same."""
    starts, ends = [start for start, _ in own], [end for _, end in own]

    def place(start: int, end: int) -> Interval:
        low, high = bisect_right(ends, start), bisect_left(starts, end)
        return (to[low][0], to[high - 1][1]) if low < high else (0, 0)

    spans = []
    for span in draft.spans:
        start, end = place(span.start, span.end)
        elsewhere = tuple(place(*one) for one in span.elsewhere)
        spans.append(replace(span, start=start, end=end, elsewhere=elsewhere))
    return replace(draft, text=first.text, spans=spans, tokens=first.tokens, sentences=None)


def _words(draft: Draft) -> list[str]:
    return [draft.text[start:end] for start, end in draft.tokens or ()]


def _visible(text: str) -> list[Interval]:
    """Return the places of the characters that are no white space."""
    return [(place, place + 1) for place, sign in enumerate(text) if not sign.isspace()]


def _is_word(spelling: str) -> bool:
    """Return whether a spelling of a token has a letter or a digit."""
    return any(map(str.isalnum, spelling))


def _is_alike(one: str, other: str) -> bool:
    """Return whether two words differ at most in case and in digits written as 0.

    Placeholders for unknown words are never alike: they are no evidence.

    Examples
    --------
    >>> _is_alike("Ada", "ada"), _is_alike("1815", "0000")
    (True, True)
    >>> _is_alike("Ada", "Bo"), _is_alike("B12", "B13"), _is_alike("Ada", "[UNK]")
    (False, False, False)
    """
    low, high = one.casefold(), other.casefold()
    if low == high:
        return low not in _UNKNOWN
    return low == _DIGIT.sub("0", high) or high == _DIGIT.sub("0", low)


def _difference(first: Draft, other: Draft, *, is_mendable: bool = False) -> DataError:
    """Build the refusal of two annotators with different texts, which shows where these part."""
    a, b = first.text, other.text
    refused = partial(refusal, other.where, kind=MismatchError)
    documents: tuple[object, ...] = (other.document, pieces(first.where))
    mend: Text = (Use("strict", "-mismatch"), " aligns them") if is_mendable else ()
    if first.is_blank or other.is_blank:
        known, own = len(first.tokens or ()), len(other.tokens or ())
        problem = f"document {{}} has {own} tags here and {known} tokens at {{}}"
        return refused(problem, *documents, expected="one tag for each token")
    if a == b:
        problem, expected = "document {} has other tokens than at {}", "the same tokens"
        mend = mend or ("or pass ", Use("positions", "characters"))
    else:
        pairs = enumerate(zip(a, b, strict=False))
        place = next((i for i, (x, y) in pairs if x != y), min(len(a), len(b)))
        around = slice(max(place - 10, 0), place + 10)
        documents = (*documents, b[around], a[around])
        problem = "the text of document {} differs from that at {} "
        problem += f"from character {place} on: {{}} instead of {{}}"
        expected = "the same text"
    return refused(problem, *documents, expected=f"{expected} for all annotators", remedy=mend)
