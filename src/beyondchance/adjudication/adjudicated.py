"""A gold standard: what people decided, and what the team's votes give for the rest.

Decisions of several people are compared where two of them decided.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import combinations
from typing import Any

import numpy as np

from beyondchance.adjudication.added import with_annotator
from beyondchance.adjudication.consensus import consensus
from beyondchance.adjudication.decisions import Decision, decisions_in, is_same, together
from beyondchance.adjudication.votes import ENTITIES, MAJORITY, Chosen, in_order, taken
from beyondchance.annotations.corpus import Corpus, check_in_one_piece, only
from beyondchance.checks import checked_instance, checked_option
from beyondchance.core.ragged import distinct, spread
from beyondchance.errors import DataError, OptionError
from beyondchance.io.sources import limited
from beyondchance.messages import Note, Use, given
from beyondchance.results.adding import numbered
from beyondchance.results.agreement import Agreement
from beyondchance.scoring.api import agreement
from beyondchance.scoring.places import KINDS, Places, places_of
from beyondchance.types import Bools, Ints

NAME = "gold"
"""The annotator that a gold standard is, unless it is called otherwise."""
RESTS = ("consensus", "majority", "refuse")
"""What to do where nobody decided."""


@dataclass(frozen=True, eq=False, kw_only=True)
class AdjudicatedCorpus(Corpus):
    """A corpus with a gold standard that people decided on.

    Attributes
    ----------
    decisions : tuple of Decision
        Who decided what.
    rest : {"consensus", "majority", "refuse"}
        What the gold standard has where nobody decided.
    n_places, n_decided : int
        Places where annotators differ, and how many of them a person decided, as a whole.
    n_ties : int
        Entities outside of what was decided that the votes of annotators do not decide.
    """

    decisions: tuple[Decision, ...] = ()
    rest: str = "consensus"
    n_places: int = 0
    n_decided: int = 0
    n_ties: int = 0


def adjudicated(
    corpus: Corpus,
    decisions: Any,
    *,
    rest: str = "consensus",
    ties: str = "keep",
    name: str = NAME,
) -> AdjudicatedCorpus:
    """Build a corpus with a gold standard as one more annotator, from what people decided.

    Where all annotators agree, the gold standard is what they have. Within a stretch that a person
    decided on, it is what was decided.

    Parameters
    ----------
    corpus : Corpus
    decisions : str, path, mapping, or list of these
        Files that the page of `report` saves, or tables of places with their column decision
        filled in, or what files of the page hold. Several people's are put
        together; where they differ they are refused.
    rest : {"consensus", "majority", "refuse"}
        What to take where annotators differ and nobody decided: their consensus, or what more
        than half marked (see `consensus`); or refuse that there is such a place.
    ties : {"keep", "drop"}
        Whether the gold standard has what the votes for the consensus do not decide.
    name : str
        What the gold standard is called.

    Returns
    -------
    AdjudicatedCorpus
        A Corpus whose gold standard it is, with the decisions.

    Raises
    ------
    DataError
        For places that are decided differently, or, if these are refused, not at all; and for
        decisions about other documents.

    Examples
    --------
    >>> spans = {"anna": [[(0, 2, "P")]], "ben": [[(1, 2, "P"), (3, 4, "L")]]}
    >>> corpus = Corpus.from_spans(spans, lengths=[5])
    >>> decided = {"document": "0", "text": 0, "start": 0, "end": 2, "spans": [[1, 2, "P"]]}
    >>> file = {"beyondchance": "decisions", "format": 1, "decisions": [decided]}
    >>> gold = adjudicated(corpus, file | {"unit": "document", "positions": "tokens"})
    >>> gold.spans("0", "gold"), gold.n_places, gold.n_decided, gold.n_ties
    ([Span(start=1, end=2, label='P'), Span(start=3, end=4, label='L')], 2, 1, 1)
    """
    checked_instance(corpus, Corpus, "a Corpus")
    checked_option("rest", rest, RESTS)
    if rest == MAJORITY and ties != "keep":
        expected = ("it with ", Use("rest", "consensus"), " only")
        raise OptionError(*given("ties", ties), expected=expected)
    sources = decisions if isinstance(decisions, list | tuple) else [decisions]
    with limited() as read:
        known = together(decisions_in(source, corpus) for source in sources)
    method = MAJORITY if rest == MAJORITY else ENTITIES
    found = consensus(corpus, method=method, ties=ties, name=name)
    decided = Decided.of(known, corpus)
    places = places_of(corpus, found.members, None)
    differing = places[np.flatnonzero(places.kind != KINDS.index("agree"))]
    _, is_decided = decided.meet(differing)
    if rest == "refuse" and not is_decided.all():
        raise _undecided(differing, is_decided)
    is_touched, is_covered = decided.meet(found.chosen)
    n_cut = int((is_touched & ~is_covered & (found.alike == found.n_members)).sum())
    is_left = ~decided.meet(taken(found.entities.spans, found.entities.is_tie))[0]
    spans = in_order(*map(np.append, taken(found.chosen, ~is_touched), decided.spans))
    whole = with_annotator(corpus, name, spans, found.documents, decided.labels)
    return AdjudicatedCorpus(
        **{item.name: getattr(whole, item.name) for item in fields(Corpus)}
        | {"gold": name, "notes": (*whole.notes, *([_cut_note(n_cut)] if n_cut else []))}
        | {"sources": corpus.sources.union(read)},
        decisions=tuple(known),
        rest=rest,
        n_places=len(differing),
        n_decided=int(is_decided.sum()),
        n_ties=int(is_left.sum()),
    )


@dataclass(frozen=True, eq=False)
class Decided:
    """What was decided about a corpus.

    Attributes
    ----------
    corpus : Corpus
    decisions : tuple of Decision
        In reading order; the stretches of no two overlap.
    text, start, end : arrays of int, shape (decisions,)
        The text of each stretch, and where it begins and ends, all texts lying end to end.
    spans : Chosen
        All that was decided for, in reading order.
    labels : tuple of str
        Those of the corpus, and others that were decided for.
    """

    corpus: Corpus
    decisions: tuple[Decision, ...]
    text: Ints
    start: Ints
    end: Ints
    spans: Chosen
    labels: tuple[str, ...]

    @classmethod
    def of(cls, decisions: Sequence[Decision], corpus: Corpus) -> Decided:
        """Put decisions into columns."""
        first = np.searchsorted(corpus.text_document, np.arange(len(corpus.documents))).tolist()
        begin = dict(zip(corpus.documents, first, strict=True))
        listed = sorted(
            ((begin[x.document] + x.text, x) for x in decisions),
            key=lambda row: (row[0], row[1].start),
        )
        labels = dict.fromkeys(corpus.labels)
        labels |= dict.fromkeys(span.label for _, x in listed for span in x.spans)
        code = numbered(labels)
        spans = [
            (text, code[span.label], span.start, span.end) for text, x in listed for span in x.spans
        ]
        text, start, end = _columns([(text, x.start, x.end) for text, x in listed], 3)
        return cls(
            corpus=corpus,
            decisions=tuple(x for _, x in listed),
            text=text,
            start=corpus.text_begin[text] + start,
            end=corpus.text_begin[text] + end,
            spans=in_order(*_columns(spans, 4)),
            labels=tuple(labels),
        )

    def meet(self, found: Chosen | Places) -> tuple[Bools, Bools]:
        """Find spans or places that share a position with a stretch, and those that lie in one."""
        begin = self.corpus.text_begin[found.text]
        low, high = begin + found.start, begin + found.end
        # The last stretch that begins before the end.
        last = np.searchsorted(self.start, high) - 1
        start, end = (np.append(side, -1)[last] for side in (self.start, self.end))
        return end > low, (start <= low) & (high <= end)


def _columns(rows: Sequence[tuple[int, ...]], width: int) -> Ints:
    return np.array(rows, dtype=np.int64).reshape(-1, width).T


def _cut_note(number: int) -> Note:
    what = (
        "span that all annotators have is" if number == 1 else "spans that all annotators have are"
    )
    return Note(
        f"{number:,} {what} not in the gold standard, because a decision is about a part of it",
        is_caution=True,
    )


def _undecided(places: Places, decided: Bools) -> DataError:
    """Make the error for places that are not decided."""
    left = np.flatnonzero(~decided)
    first = int(left[0])
    where = places.corpus.describe_text(int(places.text[first]))
    return DataError(
        f"{len(left):,} of {len(places):,} places are not decided, the first at "
        f"[{int(places.start[first])}, {int(places.end[first])})",
        where=where,
        expected="a decision for every place where annotators differ",
        remedy=("decide them, or pass ", Use("rest", "consensus")),
    )


@dataclass(frozen=True, eq=False, kw_only=True)
class Deciders:
    """People who decided, as annotators.

    Attributes
    ----------
    corpus : Corpus
        What was decided on.
    names : tuple of str
    pairs : mapping of (str, str) to Compared
        For each two, how far they decided alike.
    differing : tuple of (Decision, Decision)
        What was decided differently.
    """

    corpus: Corpus
    names: tuple[str, ...]
    pairs: Mapping[tuple[str, str], Compared]
    differing: tuple[tuple[Decision, Decision], ...]


@dataclass(frozen=True, eq=False, kw_only=True)
class Compared:
    """What two people decided.

    Attributes
    ----------
    n_places, n_same : int
        Stretches that both decided, and how many of them the same.
    agreement : Agreement, optional
        Of what they decided there; None if there is no such stretch.
    """

    n_places: int
    n_same: int
    agreement: Agreement | None


def compared_decisions(
    corpus: Corpus, files: Sequence[Any], *, measure: str | None = None
) -> Deciders:
    """Compare what people decided, each in a file, where both of two decided.

    Raises
    ------
    OptionError
        For fewer than two files.
    """
    if len(files) < 2:
        raise OptionError("one file of decisions", expected="two to compare")
    check_in_one_piece(corpus)
    listed = [Decided.of(together([decisions_in(source, corpus)]), corpus) for source in files]
    names = _names(listed)
    pairs = {}
    differing: list[tuple[Decision, Decision]] = []
    for (a, one), (b, other) in combinations(zip(names, listed, strict=True), 2):
        # Those of one person do not overlap, so that what one of them meets follow one another.
        first = np.searchsorted(other.end, one.start, side="right")
        own, step = spread(np.searchsorted(other.start, one.end) - first)
        both = [
            (one.decisions[i], other.decisions[j])
            for i, j in zip(own.tolist(), (first[own] + step).tolist(), strict=True)
        ]
        others = [pair for pair in both if not is_same(*pair)]
        result = None
        if both:
            documents = distinct(corpus.text_document[one.text[own]])[0]
            pair = replace(only(corpus, []), gold=None)
            for name, mine, theirs in ((a, one, other), (b, other, one)):
                spans = taken(mine.spans, theirs.meet(mine.spans)[0])
                pair = with_annotator(pair, name, spans, documents, mine.labels)
            result = agreement(pair, measure=measure or "token")
        pairs[a, b] = Compared(n_places=len(both), n_same=len(both) - len(others), agreement=result)
        differing += others
    return Deciders(corpus=corpus, names=names, pairs=pairs, differing=tuple(differing))


def _names(listed: Sequence[Decided]) -> tuple[str, ...]:
    """Return who decided in each file; equal names get a number."""
    names: list[str] = []
    for number, own in enumerate(listed, start=1):
        people = dict.fromkeys(decision.by for decision in own.decisions if decision.by)
        name = ", ".join(people) or f"decisions {number}"
        names.append(name if name not in names else f"{name} ({number})")
    return tuple(names)
