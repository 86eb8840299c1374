"""The public functions that score: their options and documentation.

What they do is in `asked`, which is loaded with the first call: to import a function takes little
longer than to import NumPy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

import beyondchance.scoring.options  # noqa: F401 - enters the names of measures and models
from beyondchance.options import CountingOptions, ScoredOptions, ScoringOptions, documented

if TYPE_CHECKING:
    from beyondchance.results.agreement import Agreement
    from beyondchance.results.counts import Counts
    from beyondchance.results.difficulty import Difficulty
    from beyondchance.results.ranking import Ranking

# ruff: noqa: PLC0415


@documented(ScoringOptions, CountingOptions)
def agreement(data: Any, *others: Any, **options: Unpack[ScoredOptions]) -> Agreement:
    """Compute how much of the agreement between span annotations is beyond chance.

    Counts are added over texts, labels and pairs of annotators who annotated the
    same document (micro average, as in section 4 of the paper), then

    .. math:: corrected = (observed - chance) / (1 - chance)

    Parameters
    ----------
    data : Corpus, or whatever a corpus can be made of
        The annotations of all annotators, or of the first: a file, lists of tags or spans,
        records, a data set, a data frame, or a mapping of names to these (see `corpus`). Or what
        `count` gave for them: tables of counts, which are added.
    *others : optional
        The annotations of further annotators, where `data` are those of one.
    gold : str or path, optional
        Compare all annotators with this one only. Without it all are compared with one
        another, and a gold standard that the corpus names is left out where there are two
        other annotators or more.
    {options}
    executor : optional
        What counts parts of files in the place of processes here: a client of Dask, a pool, or
        whatever has a method ``map``.
    progress : callable, optional
        Called with how many parts are counted, and how many there are.
    {others} : optional
        How these become a corpus (see `corpus`).

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
    together. The notes of the result say how often, if any are inside others or cross.

    By ``token`` and ``exact``, the parts of a discontinuous span move together; other spans that
    are placed with it must be apart from it or around it.

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
    from beyondchance.scoring.asked import asked

    result: Agreement = asked("agreement", data, others, options)
    return result


@documented(ScoringOptions)
def rank(data: Any, *others: Any, **options: Unpack[ScoredOptions]) -> Ranking:
    """Rank systems against a gold standard, before and after correction for chance.

    Each system is scored on the documents that it shares with the gold standard. Its score
    does not depend on the other systems.

    Parameters
    ----------
    data, *others
        The gold standard and all systems, as in `agreement`. Or a mapping of systems to tables of
        counts (see `count`), each of one system and the gold standard.
    gold : str or path, optional
        The annotator who is the gold standard; by default the one that the corpus names, or
        `data` where there are `others`.
    {options}
    {others} : optional
        How these become a corpus (see `corpus`), and how large files are counted (see `agreement`).

    Returns
    -------
    Ranking

    Examples
    --------
    Both systems find one of two tokens; one marks more than it should.

    >>> from beyondchance import Corpus
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
    from beyondchance.scoring.asked import asked

    result: Ranking = asked("rank", data, others, options)
    return result


@documented(ScoringOptions)
def difficulty(data: Any, *others: Any, **options: Unpack[ScoredOptions]) -> Difficulty:
    """Compute how hard it is to agree by chance in these texts: 1 minus chance agreement.

    With a gold standard, chance agreement of the gold standard with itself;
    without one, over all ordered pairs of annotators, each with itself included
    (section 3 of the paper). Counts are added over texts and labels.

    Parameters
    ----------
    data, *others
        As in `agreement`; tables of counts are those that `count` makes for difficulty.
    gold : str or path, optional
        The annotator who is the gold standard; by default the one that the corpus names.
    {options}
    {others} : optional
        How these become a corpus (see `corpus`), and how large files are counted (see `agreement`).

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
    from beyondchance.scoring.asked import asked

    result: Difficulty = asked("difficulty", data, others, options)
    return result


@documented(ScoringOptions)
def count(
    data: Any, *others: Any, command: str = "agreement", **options: Unpack[ScoredOptions]
) -> Counts:
    """Count matches, observed and expected, of some documents; counts of others can be added.

    Where an engine has the documents, such as Spark, Ray or Dask, it counts batches of them, and
    carries the counts as tables of Arrow (`Counts.to_arrow`). `agreement`, `rank` and
    `difficulty` take counts, and give the same digits as for all documents at once.

    Parameters
    ----------
    data, *others
        As in `agreement`. All annotators of a document are in the same batch.
    command : {"agreement", "difficulty"}
        What is counted: pairs of annotators, or for difficulty each with itself too.
    gold : str or path, optional
        Compare all annotators with this one only.
    {options}
    {others} : optional
        How these become a corpus (see `corpus`), and how large files are counted (see `agreement`).

    Returns
    -------
    Counts

    Examples
    --------
    >>> from beyondchance import Corpus
    >>> corpus = Corpus.from_tags({"a": [["B-P", "O"]] * 4, "b": [["B-P", "O"], ["O", "B-P"]] * 2})
    >>> batches = [corpus.select(documents=corpus.documents[i::2]) for i in range(2)]
    >>> agreement(*map(count, batches)).corrected == agreement(corpus).corrected
    True
    """
    from beyondchance.scoring.asked import counts_of

    return counts_of(command, data, others, options)
