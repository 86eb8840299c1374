"""Who shares which document, and so is compared with whom."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from beyondchance.annotations.corpus import Corpus
from beyondchance.core.ragged import bounds, distinct, largest, spread, widths
from beyondchance.errors import DataError
from beyondchance.messages import Quote, Use
from beyondchance.types import Bools, Ints
from beyondchance.values import internal

MOST_PAIRS = 2**20
"""Pairs that are compared however few annotations there are."""
PARTNERS = 64
"""Pairs for each annotation, on average, beyond which there may be no more than that."""


def every_two(owner: Ints, *, with_self: bool = False) -> tuple[Ints, Ints]:
    """List every two rows of the same owner, the earlier one first.

    Parameters
    ----------
    owner : array of int, shape (rows,)
        The owner of each row, ascending.
    with_self : bool
        Whether each row is also paired with itself.

    Examples
    --------
    Three rows of owner 0 and one of owner 1.

    >>> one, two = every_two(np.array([0, 0, 0, 1]))
    >>> one.tolist(), two.tolist()
    ([0, 0, 1], [1, 2, 2])
    """
    row = np.arange(len(owner))
    end = bounds(owner, largest(owner, -1) + 1)[owner + 1]
    first = row if with_self else row + 1
    one, place = spread(end - first)
    return one, first[one] + place


def every_two_with(owner: Ints, is_one: Bools, *, with_self: bool = False) -> tuple[Ints, Ints]:
    """List every two rows of the same owner of which one is a given row, the earlier one first.

    Parameters
    ----------
    owner : array of int, shape (rows,)
        The owner of each row, ascending.
    is_one : array of bool, shape (rows,)
        The given rows, of which an owner has one at most.
    with_self : bool
        Whether given rows are also paired with themselves.

    Examples
    --------
    >>> one, two = every_two_with(np.array([0, 0, 0, 1]), np.array([False, True, False, False]))
    >>> one.tolist(), two.tolist()
    ([0, 1], [1, 2])
    """
    given = np.full(largest(owner, -1) + 1, -1)
    given[owner[is_one]] = np.flatnonzero(is_one)
    other = np.flatnonzero((~is_one | with_self) & (given[owner] >= 0))
    partner = given[owner[other]]
    return np.minimum(other, partner), np.maximum(other, partner)


def annotation_numbers(corpus: Corpus, text: Ints, annotator: Ints) -> Ints:
    """Find the annotations of texts by annotators, by number in the corpus."""
    n_annotators = max(len(corpus.annotators), 1)
    wanted = corpus.text_document[text] * n_annotators + annotator
    # Where all annotated everything, nothing needs to be searched.
    if len(corpus.annotation_document) == len(corpus.documents) * n_annotators:
        return np.asarray(wanted)
    listed = corpus.annotation_document * n_annotators + corpus.annotation_annotator
    return np.searchsorted(listed, wanted)


@internal
class SharedDocuments:
    """Every document with every two annotators who are compared in it.

    Attributes
    ----------
    corpus : Corpus
    one, two : arrays of int, shape (rows,)
        The two annotations, by their number in the corpus: sorted by document, then by
        annotators.
    """

    corpus: Corpus
    one: Ints
    two: Ints

    @cached_property
    def first(self) -> Ints:
        """Document d has the rows ``first[d]:first[d + 1]``, shape (documents + 1,)."""
        return bounds(self.corpus.annotation_document[self.one], len(self.corpus.documents))

    @cached_property
    def compared(self) -> Bools:
        """Which documents have two annotators who are compared, shape (documents,)."""
        return widths(self.first) > 0

    @property
    def annotators(self) -> Ints:
        """The pairs of annotators who share a document, each once, shape (2, pairs)."""
        n_annotators = max(len(self.corpus.annotators), 1)
        who = self.corpus.annotation_annotator
        code = who[self.one] * n_annotators + who[self.two]
        return np.array(np.divmod(distinct(code)[0], n_annotators))


def shared_documents(
    corpus: Corpus,
    *,
    gold: int | None = None,
    with_self: bool = False,
    support: int | None = None,
) -> SharedDocuments:
    """List who is compared with whom in which document.

    Parameters
    ----------
    corpus : Corpus
    gold : int, optional
        The annotator with whom all others are compared; by default with one another.
    with_self : bool
        Whether each annotator is also paired with itself.
    support : int, optional
        How many have to annotate a document, where its annotators are compared as a team: they
        are not paired, and the first two stand for all.
    """
    document = corpus.annotation_document
    if support is not None:
        first = bounds(document, len(corpus.documents))
        one = first[:-1][widths(first) >= support]
        return SharedDocuments(corpus, one, one + 1)
    if gold is None:
        check_pairs(corpus, document)
        return SharedDocuments(corpus, *every_two(document, with_self=with_self))
    is_gold = corpus.annotation_annotator == gold
    return SharedDocuments(corpus, *every_two_with(document, is_gold, with_self=with_self))


def check_pairs(corpus: Corpus, document: Ints) -> None:
    """Refuse more pairs of annotations of one document than can be kept.

    Parameters
    ----------
    corpus : Corpus
    document : array of int, shape (annotations,)
        The document of each of some annotations.

    Raises
    ------
    DataError
        With the document that most annotated.
    """
    if len(corpus.annotators) <= 2 * PARTNERS:
        return
    team = np.bincount(document, minlength=1)
    n_pairs = int(team @ (team - 1)) // 2
    if n_pairs <= max(MOST_PAIRS, PARTNERS * len(document)):
        return
    largest = int(np.argmax(team))
    raise DataError(
        f"{team[largest]:,} annotators annotated document ",
        Quote(corpus.documents[largest]),
        f", and all documents have {n_pairs:,} pairs of annotators",
        expected=f"at most {MOST_PAIRS:,} pairs, or {PARTNERS} for each annotation",
        remedy=(
            *("compare all with one of them by ", Use("gold", placeholder="NAME")),
            ", or keep some of the annotators",
        ),
    )
