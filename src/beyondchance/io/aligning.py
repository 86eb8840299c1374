"""One text and one set of tokens for all annotators of a document.

Systems write tokens in their own way: unknown words as ``[UNK]``, quotation marks as two
characters, in lower case, or cut at other places. Where the texts are the same but for that,
spans are moved to the text of the gold standard, or else of the first annotator.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import accumulate
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
    by_tokens = positions == "tokens"
    found = []
    for draft in group:
        has_other_tokens = by_tokens and _differ(first.tokens, draft.tokens)
        if draft is first or (draft.text == first.text and not has_other_tokens):
            n_words = len(draft.tokens or ())
            evidence.add(draft, n_words, n_words)
            found.append(draft)
            continue
        moved, spellings = _moved(first, draft)
        if moved is None:
            raise _difference(first, draft)
        if not draft.is_blank:
            evidence.add(draft, *_words_alike(first, spellings))
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


def _moved(first: Draft, draft: Draft) -> tuple[Draft | None, list[tuple[str, str]]]:
    """Move a draft to the text of another, and list the tokens that are spelled differently.

    Return None for the draft if it is not known which characters are the same.
    """
    if draft.text == first.text:
        return replace(draft, tokens=first.tokens), []
    if "".join(draft.text.split()) == "".join(first.text.split()):
        return _placed(first, draft, _by_characters(first.text, draft.text)), []
    if first.tokens is None or draft.tokens is None or len(first.tokens) != len(draft.tokens):
        return None, []
    words = [[part.text[s:e] for s, e in part.tokens or ()] for part in (first, draft)]
    pairs = list(zip(*words, strict=True))
    if not draft.is_blank and not _are_alike(pairs):
        return None, []
    starts, ends = [s for s, _ in draft.tokens], [e for _, e in draft.tokens]
    tokens = first.tokens

    def place(start: int, end: int) -> Interval:
        low, high = bisect_right(ends, start), bisect_left(starts, end)
        return (tokens[low][0], tokens[high - 1][1]) if low < high else (0, 0)

    return _placed(first, draft, place), [pair for pair in pairs if pair[0] != pair[1]]


def _are_alike(pairs: Sequence[tuple[str, str]]) -> bool:
    """Return whether enough of the known words are the same; punctuation is not counted."""
    words = [pair for pair in pairs if _is_word(*pair) and not any(map(_is_unknown, pair))]
    alike = sum(_is_alike(*pair) for pair in words)
    return alike >= _LEAST_ALIKE * len(words)


def _words_alike(first: Draft, spellings: Sequence[tuple[str, str]]) -> tuple[int, int]:
    """Count the words that are alike, spelled differently or not, and count all words."""
    n = sum(_is_word(first.text[start:end]) for start, end in first.tokens or ())
    n += sum(_is_word(*pair) and not _is_word(pair[0]) for pair in spellings)
    unlike = sum(_is_word(*pair) and not _is_alike(*pair) for pair in spellings)
    return n - unlike, n


def _is_word(*spellings: str) -> bool:
    """Return whether a spelling of a token has a letter or a digit: punctuation is no evidence."""
    return any(any(map(str.isalnum, spelling)) for spelling in spellings)


def _is_unknown(word: str) -> bool:
    """Return whether a word is what a tokeniser writes for words that it does not know."""
    return word.casefold() in _UNKNOWN


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


def _by_characters(text: str, other: str) -> Callable[[int, int], Interval]:
    """Build a function from offsets in `other` to `text`, which differs in white space only."""
    visible = [place for place, character in enumerate(text) if not character.isspace()]
    before = [0, *accumulate(not character.isspace() for character in other)]

    def place(start: int, end: int) -> Interval:
        first, last = before[start], before[end]
        return (visible[first], visible[last - 1] + 1) if first < last else (0, 0)

    return place


def _placed(first: Draft, draft: Draft, place: Callable[[int, int], Interval]) -> Draft:
    """Return a draft with the text and tokens of `first`, and its spans moved by `place`."""
    spans = []
    for span in draft.spans:
        start, end = place(span.start, span.end)
        elsewhere = tuple(place(*one) for one in span.elsewhere)
        spans.append(replace(span, start=start, end=end, elsewhere=elsewhere))
    return replace(draft, text=first.text, spans=spans, tokens=first.tokens, sentences=None)


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
