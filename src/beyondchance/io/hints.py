"""Tell what a corpus shows of mistakes that can be read without complaint."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from beyondchance.annotations.corpus import Corpus
from beyondchance.messages import Piece, Use, quotes


def hints(corpus: Corpus) -> Iterator[tuple[Piece, ...]]:
    """Yield a sentence for each mistake that may have been made before reading."""
    if alike := list(_alike_labels(corpus)):
        yield "each may be one label under two names: ", *quotes(alike)
    n_tags = (corpus.span_end - corpus.span_start).sum()
    is_tagged = len(corpus.labels) >= 20 and corpus.positions == "tokens"
    if is_tagged and 10 * n_tags > 9 * len(corpus.annotators) * corpus.text_length.sum():
        yield (f"{len(corpus.labels)} labels mark nearly all tokens: words read as tags?",)
    n_repaired = corpus.skipped.get(f"tags repaired by {corpus.options.get('repair')}", 0)
    if 20 * n_repaired > n_tags:
        found = f"{n_repaired} of {n_tags} tags break their scheme: another may be meant, see "
        yield found, Use("scheme", is_name=True)


def _alike_labels(corpus: Corpus) -> Iterator[str]:
    """Yield pairs that differ in case, or in little more if no annotator uses both."""
    # Of more labels some are alike, and so are words that were spoken.
    if len(corpus.labels) > 50 or corpus.positions == "frames":
        return
    folded = [(label.casefold(), label) for label in corpus.labels]
    for (name, one), (other_name, other) in combinations(folded, 2):
        are_equal = name == other_name
        if are_equal or (_are_alike(name, other_name) and not _has_both(corpus, one, other)):
            yield f"{one}/{other}"


def _has_both(corpus: Corpus, *labels: str) -> bool:
    """Return whether an annotator uses both labels."""
    numbers = map(corpus.labels.index, labels)
    users = (corpus.span_annotator[corpus.span_label == number] for number in numbers)
    return len(np.intersect1d(*users)) > 0


def _are_alike(one: str, other: str) -> bool:
    """Return whether one is the beginning of the other, or a letter is another or missing.

    Examples
    --------
    >>> _are_alike("per", "person"), _are_alike("insult", "insullt"), _are_alike("insult", "insolt")
    (True, True, True)
    >>> _are_alike("date", "rate"), _are_alike("level1", "level2"), _are_alike("loc", "loc-city")
    (False, False, False)
    """
    short, long = (one, other) if len(one) <= len(other) else (other, one)
    n_same = next((i for i, sign in enumerate(short) if sign != long[i]), len(short))
    before, after = short[n_same:], long[n_same:]
    # Many short labels differ in one letter.
    if not before:
        return len(short) > 2 and after.isalpha()
    return len(short) > 4 and after[0].isalpha() and after[1:] in (before, before[1:])
