"""A gold standard: what people decided, and what the team's votes give for the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from beyondchance.adjudication.added import with_annotator
from beyondchance.adjudication.consensus import consensus
from beyondchance.adjudication.decisions import Decision, decisions_in, together
from beyondchance.adjudication.votes import ENTITIES, MAJORITY, Chosen, in_order
from beyondchance.annotations.corpus import Corpus
from beyondchance.checks import checked_instance, checked_option
from beyondchance.errors import DataError, OptionError
from beyondchance.messages import Note, Use, given
from beyondchance.scoring.places import KINDS, Places, places_of
from beyondchance.types import Bools, Ints

NAME = "gold"
"""The annotator that a gold standard is, unless it is called otherwise."""
RESTS = ("consensus", "majority", "refuse")
"""What to do where nobody decided."""
_METHODS = {"consensus": ENTITIES, "majority": MAJORITY, "refuse": ENTITIES}


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
        Files that the page of `report` saves, or what they hold. Several people's are put
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
    known = together(decisions_in(source, corpus) for source in sources)
    found = consensus(corpus, method=_METHODS[rest], ties=ties, name=name)
    text = texts_of(known, corpus)
    stretches = Stretches.of(known, text)
    places = places_of(corpus, found.members, None)
    differing = places[np.flatnonzero(places.kind != KINDS.index("agree"))]
    decided = stretches.cover(differing.text, differing.start, differing.end)
    if rest == "refuse" and not decided.all():
        raise _undecided(differing, decided)
    is_touched = stretches.touch(*_columns(found.corpus, found.span))
    own = found.span[~is_touched]
    is_cut = is_touched & ~stretches.cover(*_columns(found.corpus, found.span))
    n_cut = int(np.count_nonzero(is_cut & (found.alike == found.n_members)))
    tied = Chosen(*(column[found.entities.is_tie] for column in found.entities.spans))
    is_left = ~stretches.touch(tied.text, tied.start, tied.end)
    spans, labels = _gold(found.corpus, own, known, text)
    documents = found.corpus.annotation_document[
        found.corpus.annotation_annotator == len(corpus.annotators)
    ]
    whole = with_annotator(corpus, name, spans, documents, labels)
    return AdjudicatedCorpus(
        **{item.name: getattr(whole, item.name) for item in fields(Corpus)}
        | {"gold": name, "notes": (*whole.notes, *([_cut_note(n_cut)] if n_cut else []))},
        decisions=tuple(known),
        rest=rest,
        n_places=len(differing),
        n_decided=int(np.count_nonzero(decided)),
        n_ties=int(np.count_nonzero(is_left)),
    )


def _columns(corpus: Corpus, span: Ints) -> tuple[Ints, Ints, Ints]:
    return corpus.span_text[span], corpus.span_start[span], corpus.span_end[span]


@dataclass(frozen=True, eq=False)
class Stretches:
    """Stretches that were decided on, in reading order; none overlaps another."""

    text: Ints
    start: Ints
    end: Ints

    @classmethod
    def of(cls, decisions: Sequence[Decision], text: Sequence[int]) -> Stretches:
        """Those of decisions about these texts."""
        ends = ((x.start, x.end) for x in decisions)
        rows = sorted((number, *own) for number, own in zip(text, ends, strict=True))
        return cls(*np.array(rows, dtype=np.int64).reshape(-1, 3).T)

    def touch(self, text: Ints, start: Ints, end: Ints) -> Bools:
        """Which of some stretches have a position in common with one of these."""
        if not len(self.text):
            return np.zeros(len(text), dtype=bool)
        width = max(int(self.end.max()), int(end.max(initial=0))) + 1
        begins, ends = (self.text * width + side for side in (self.start, self.end))
        # The last that begins before the stretch ends: it is the one that ends last.
        last = np.searchsorted(begins, text * width + end) - 1
        return np.asarray((last >= 0) & (ends[last] > text * width + start))

    def cover(self, text: Ints, start: Ints, end: Ints) -> Bools:
        """Which of some stretches lie in one of these."""
        if not len(self.text):
            return np.zeros(len(text), dtype=bool)
        width = max(int(self.end.max()), int(end.max(initial=0))) + 1
        begins, ends = (self.text * width + side for side in (self.start, self.end))
        last = np.searchsorted(begins, text * width + start, side="right") - 1
        return np.asarray((last >= 0) & (ends[last] >= text * width + end))


def texts_of(decisions: Sequence[Decision], corpus: Corpus) -> list[int]:
    """The number of the text of each decision in the corpus."""
    first = np.searchsorted(corpus.text_document, np.arange(len(corpus.documents))).tolist()
    begin = dict(zip(corpus.documents, first, strict=True))
    return [begin[decision.document] + decision.text for decision in decisions]


def spans_in(
    decisions: Sequence[Decision], text: Sequence[int], known: tuple[str, ...]
) -> tuple[Chosen, tuple[str, ...]]:
    """Return the spans of decisions about these texts in reading order, and all labels."""
    rows = [
        (number, span.start, span.end, span.label)
        for number, decision in zip(text, decisions, strict=True)
        for span in decision.spans
    ]
    labels = tuple(dict.fromkeys((*known, *(label for *_, label in rows))))
    code = {label: number for number, label in enumerate(labels)}
    decided = np.array([(t, code[x], i, j) for t, i, j, x in rows], dtype=np.int64).reshape(-1, 4)
    return in_order(*decided.T), labels


def _gold(
    corpus: Corpus, own: Ints, decisions: Sequence[Decision], text: Sequence[int]
) -> tuple[Chosen, tuple[str, ...]]:
    """Some spans of the corpus and those that were decided on, in reading order; and the labels."""
    decided, labels = spans_in(decisions, text, corpus.labels)
    columns = (corpus.span_text, corpus.span_label, corpus.span_start, corpus.span_end)
    both = zip((column[own] for column in columns), decided, strict=True)
    return in_order(*map(np.concatenate, both)), labels


def _cut_note(number: int) -> Note:
    what = (
        "span that all annotators have is" if number == 1 else "spans that all annotators have are"
    )
    return Note(
        f"{number:,} {what} not in the gold standard, because a decision is about a part of it",
        is_caution=True,
    )


def _undecided(places: Places, decided: Bools) -> DataError:
    """The refusal of places that nobody decided."""
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
