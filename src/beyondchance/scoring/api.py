"""From annotations to agreement: validate, count, sum."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Unpack

import numpy as np

from beyondchance.annotations.building import CORPUS
from beyondchance.annotations.corpus import Corpus
from beyondchance.annotations.pairs import shared_documents
from beyondchance.core.models import AUTO
from beyondchance.core.ragged import distinct
from beyondchance.errors import NothingSharedError, OptionError
from beyondchance.messages import Note, Piece, Quote, Text, Use, pieces, quotes
from beyondchance.options import ScoredOptions, ScoringOptions, documented
from beyondchance.results.agreement import Agreement
from beyondchance.results.counts import Counts
from beyondchance.results.difficulty import Difficulty
from beyondchance.results.named import Named
from beyondchance.results.ranking import Ranking
from beyondchance.results.score import UNMARKED
from beyondchance.scoring.corpus_wide import BY_FUGACITIES, check_corpus_wide
from beyondchance.scoring.counting import counted
from beyondchance.scoring.data import scored_data
from beyondchance.scoring.marks import (
    Marked,
    check_fit,
    marked,
    nothing_shared,
    placement_note,
)
from beyondchance.scoring.options import Scoring, scoring_of, settings_of
from beyondchance.settings import Settings
from beyondchance.tallies import left_out, mended, not_annotated

_MANY = 0.1
"""The share of texts without freedom from which on they are mentioned."""


@documented(ScoringOptions)
def agreement(data: Any, other: Any = None, **options: Unpack[ScoredOptions]) -> Agreement:
    """How much of the agreement between span annotations is beyond chance.

    Counts are added over texts, labels and pairs of annotators who annotated the
    same document (micro average, as in section 4 of the paper), then

    .. math:: corrected = (observed - chance) / (1 - chance)

    Parameters
    ----------
    data : Corpus, or whatever a corpus can be made of
        The annotations of all annotators, or of the first: a file, lists of tags or spans,
        records, a data set, a data frame, or a mapping of names to these (see `corpus`).
    other : optional
        The annotations of a second annotator, where `data` are those of one.
    gold : str or path, optional
        Compare all annotators with this one only. Without it all are compared with one
        another, and a gold standard that the corpus names is left out where there are two
        other annotators or more.
    {options}
    names, texts, scheme, repair, ... : optional
        How `data` and `other` become a corpus (see `corpus`).

    Returns
    -------
    Agreement

    Raises
    ------
    DataError
        When the annotations cannot be compared, with where and why.
    OptionError
        For an unknown measure, model or scope, or one that does not go with another.

    Notes
    -----
    The measures are ``token`` (positions that both cover), ``exact`` (spans that are equal),
    ``boundary`` (starts and ends that are equal), ``dice`` (spans by the part of them that is
    shared), ``iou`` (spans that share enough, one to one), and any `CustomMeasure`.

    What matches does not depend on the model. The models are ``disjoint`` (random spans do not
    overlap), ``nested`` (they are disjoint or one lies inside the other) and ``overlapping``
    (each is placed on its own). ``auto`` decides for each annotator, text and label: spans that
    lay apart are placed apart, spans inside others inside them, and spans that cross move
    together. The notes of the result say how often.

    The scopes are ``label`` (the spans of each label are placed on their own), ``joint`` (all
    spans of an annotator share the text) and ``unlabelled`` (labels are ignored).

    For ``iou``, the expected match is estimated from random arrangements, with its standard
    error, if theta is below 0.5, under the overlapping model, and where spans of one label cross
    or one has more than theta squared of the length of another that contains it.

    The corrected score is undefined, with a reason, where chance is 1, and where something
    matched but every random arrangement matches as much, as in texts of one position. With unit
    ``corpus`` random spans may be placed in any text; chance is then not known of single documents.

    References
    ----------
    Diya Li, Carolyn Rosé, Ao Yuan and Chunxiao Zhou (2024). Estimating Agreement
    by Chance for Sequence Annotation. ACL.

    Examples
    --------
    One of two tokens is marked by both; a random token would match half the time.

    >>> result = agreement([["B-PER", "O"]], [["B-PER", "O"]])
    >>> result.observed, result.chance, result.corrected
    (1.0, 0.5, 1.0)
    >>> result.by_label["PER"].n_spans
    2

    A tag that breaks its scheme is read as the conlleval script does, and counted.

    >>> agreement([["O", "I-PER"]], [["O", "B-PER"]]).skipped
    {'tags repaired by conlleval': 1}
    """
    given, gold, scoring = scored_data(data, other, options)
    corpus = without_gold(given) if gold is None else given.with_gold(gold)
    signed = {} if given.gold is None else {"gold": given.gold}
    if gold is not None:
        signed = {"gold": gold, "pairs": "gold"}
    counts, settings, skipped, notes = _scored(corpus, scoring_of(scoring), signed=signed)
    if settings.gold in counts.annotators:
        # As side a, so that precision and recall are what they are called.
        others = (name for name in counts.annotators if name != settings.gold)
        counts = counts.ordered((settings.gold, *others))
    return Agreement(counts, settings, skipped, notes)


@documented(ScoringOptions)
def rank(data: Any, other: Any = None, **options: Unpack[ScoredOptions]) -> Ranking:
    """Systems against a gold standard, ranked before and after correction for chance.

    Each system is scored on the documents that it shares with the gold standard. Its score
    does not depend on the other systems.

    Parameters
    ----------
    data, other
        The gold standard and all systems, as in `agreement`.
    gold : str or path, optional
        The annotator who is the gold standard; by default the one that the corpus names, or
        `data` where there is an `other`.
    {options}
    names, texts, scheme, repair, ... : optional
        How `data` becomes a corpus (see `corpus`).

    Returns
    -------
    Ranking

    Examples
    --------
    Both systems find one of two tokens; one marks more than it should.

    >>> corpus = Corpus.from_tags(
    ...     {
    ...         "gold": [["B-PER", "I-PER", "O", "O", "O"]],
    ...         "short": [["B-PER", "O", "O", "O", "O"]],
    ...         "long": [["O", "B-PER", "I-PER", "I-PER", "O"]],
    ...     }
    ... )
    >>> ranking = rank(corpus, gold="gold")
    >>> ranking.ranks("observed"), ranking.ranks("corrected")
    ({'short': 1, 'long': 2}, {'short': 1, 'long': 2})
    >>> ranking.systems["short"].score.precision, ranking.systems["short"].score.recall
    (1.0, 0.5)
    """
    corpus, gold, scoring = scored_data(data, other, options, is_first_gold=True)
    known = corpus.gold if gold is None else gold
    if known is None and other is not None:
        known = corpus.annotators[0]
    if known is None:
        raise OptionError(
            "no gold standard is known",
            remedy=(
                *("name one of the annotators with ", Use("gold", placeholder="NAME"), ": "),
                *quotes(corpus.annotators),
            ),
        )
    names = [name for name in corpus.annotators if name != known]
    if not names:
        raise NothingSharedError(
            "only one annotator found: ",
            Quote(known),
            expected="at least one system besides the gold standard",
        )
    resolved = scoring_of(scoring)
    systems, is_approximate = {}, False
    for name in names:
        pair = replace(corpus.select(annotators=[known, name]), options=corpus.options)
        counts, settings, skipped, said = _scored(pair, resolved, signed={"gold": known})
        is_approximate |= BY_FUGACITIES in said
        systems[name] = Agreement(counts.ordered((known, name)), settings, skipped)
    spans = marked(corpus, resolved.scope)
    notes = _notes(spans, resolved)
    notes += (BY_FUGACITIES,) * is_approximate
    # Of the system that has most texts without freedom.
    worst = max(systems, key=lambda name: systems[name].counts.texts_without_freedom()[0])
    who = "of ", Quote(worst), " against ", Quote(known), ", "
    notes += _freedom_notes(systems[worst].counts, spans, who=who)
    # Chance may have been estimated for some systems only.
    signed = next((s.settings for s in systems.values() if s.settings.samples), settings)
    return Ranking(known, Named(systems), signed, notes, _not_ranked(corpus, known, systems))


@documented(ScoringOptions)
def difficulty(data: Any, other: Any = None, **options: Unpack[ScoredOptions]) -> Difficulty:
    """How hard it is to agree by chance in these texts: 1 minus chance agreement.

    With a gold standard, chance agreement of the gold standard with itself;
    without one, over all ordered pairs of annotators, each with itself included
    (section 3 of the paper). Counts are added over texts and labels.

    Parameters
    ----------
    data, other
        As in `agreement`.
    gold : str or path, optional
        The annotator who is the gold standard; by default the one that the corpus names.
    {options}
    names, texts, scheme, repair, ... : optional
        How `data` becomes a corpus (see `corpus`).

    Returns
    -------
    Difficulty

    Examples
    --------
    One marked token of four: two random ones meet in a quarter of all cases.

    >>> tags = [["B-PER", "O", "O", "O"]]
    >>> difficulty(tags, tags, gold="a").overall
    0.75
    """
    given, gold, scoring = scored_data(data, other, options)
    known = given.gold if gold is None else gold
    signed = {} if known is None else {"gold": known}
    corpus = given
    if known is not None:
        corpus = replace(given.select(annotators=[known]), options=given.options)
    resolved = scoring_of(scoring)
    return Difficulty(*_scored(corpus, resolved, signed=signed, with_self=True))


def _not_ranked(corpus: Corpus, gold: str, systems: Mapping[str, Agreement]) -> dict[str, int]:
    """What was left out: on reading, without a partner to compare with, and without spans."""
    by_gold = corpus.annotation_annotator == corpus.annotators.index(gold)
    with_gold, with_systems = (
        set(corpus.annotation_document[rows].tolist()) for rows in (by_gold, ~by_gold)
    )
    compared = {name for system in systems.values() for name in system.counts.documents}
    marked = {
        system.counts.documents[number]
        for system in systems.values()
        for number in distinct(system.counts.document)[0].tolist()
    }
    found = {
        left_out("documents of the gold standard only", ""): len(with_gold - with_systems),
        left_out("documents without the gold standard", ""): len(with_systems - with_gold),
        UNMARKED: len(compared - marked),
    }
    return {**corpus.skipped, **{what: number for what, number in found.items() if number}}


def without_gold(corpus: Corpus) -> Corpus:
    """Leave out the gold standard, which is not compared as an annotator.

    Where there is one other annotator only, the two are compared.
    """
    others = [name for name in corpus.annotators if name != corpus.gold]
    if corpus.gold is None or len(others) < 2:
        return corpus
    return replace(corpus.select(annotators=others), options=corpus.options)


def _scored(
    corpus: Corpus,
    scoring: Scoring,
    *,
    signed: Mapping[str, str],
    with_self: bool = False,
) -> tuple[Counts, Settings, dict[str, int], tuple[Note, ...]]:
    """Counts of a corpus, how they were made, what was left out, and notes.

    Parameters
    ----------
    corpus : Corpus
    scoring : Scoring
    signed : mapping of str to str
        What the signature says about the pairs compared.
    with_self : bool
        Whether each annotator is also paired with itself.
    """
    gold = corpus.annotators.index(signed["gold"]) if "pairs" in signed else None
    shared = shared_documents(corpus, gold=gold, with_self=with_self)
    compared = shared.compared
    if not compared.any():
        if not len(corpus.documents):
            raise NothingSharedError("the corpus has no documents", expected="at least one")
        who: list[Piece] = ["two annotators"]
        if "gold" in signed:
            who = [Quote(signed["gold"]), " and another annotator"]
        raise nothing_shared(corpus, *who)
    spans = marked(corpus, scoring.scope)
    check_fit(spans, scoring.model)
    if corpus.unit == CORPUS:
        check_corpus_wide(spans, scoring)
    counts, notes = counted(spans, shared, scoring)
    is_estimated = counts.error is not None and bool(counts.error.any())
    settings = settings_of(corpus, **scoring.signature(is_estimated=is_estimated), **signed)
    teams = np.bincount(corpus.annotation_document, minlength=len(corpus.documents))
    skipped: dict[str, int] = {
        left_out("documents with one annotator only", ""): int(
            np.count_nonzero(~compared & (teams == 1))
        ),
        not_annotated("documents without an annotator", ""): int(np.count_nonzero(teams == 0)),
        left_out("documents without the gold standard", ""): int(
            np.count_nonzero(~compared & (teams > 1))
        ),
        # With unit corpus, random spans may be there.
        UNMARKED: 0 if counts.is_corpus_wide else len(counts.documents) - counts.n_marked_documents,
        mended("spans that differ from another in their label alone"): spans.n_merged,
    }
    found = {reason: count for reason, count in skipped.items() if count}
    notes = *_notes(spans, scoring), *notes, *_freedom_notes(counts, spans)
    if corpus.alternatives is not None and not with_self:
        from beyondchance.scoring import joint_placements  # noqa: PLC0415 - for quotes only

        reached = joint_placements.extremes(corpus, shared, scoring, counts)
        notes += joint_placements.placement_notes(reached)
    return counts, settings, {**corpus.skipped, **found}, notes


def _notes(spans: Marked, scoring: Scoring) -> tuple[Note, ...]:
    """What is said about the placement of spans, where it was chosen from them."""
    return (Note(placement_note(spans)),) if scoring.model is AUTO else ()


def _freedom_notes(counts: Counts, spans: Marked, *, who: Text = ()) -> tuple[Note, ...]:
    """What is said where chance has no freedom in many texts."""
    n_fixed, n_texts = counts.texts_without_freedom()
    if n_fixed < _MANY * n_texts or not n_fixed or counts.is_corpus_wide:
        return ()
    by_sentence = spans.corpus.unit == "sentence"
    texts = "sentences" if by_sentence else "texts"
    larger = [Use("unit", "document")] if by_sentence else []
    # Spans that overlap are not placed in any text of a corpus.
    larger += [Use("unit", CORPUS)] if spans.nesting.overlap is None else []
    advice: tuple[Piece, ...] = ()
    if larger:
        one, *others = larger
        units = one, *(piece for other in others for piece in (" or ", other))
        advice = f"; if it should count which {texts} have a span, use ", *units
    why = (
        f"chance has no freedom in {n_fixed:,} of {n_texts:,} {texts}: they have one position, or "
        "only one of two annotators used a label, or one marked everything"
    )
    return (Note((*pieces(who), why, *advice)),)
