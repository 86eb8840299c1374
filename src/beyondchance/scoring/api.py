"""From annotations to agreement: validate, count, sum."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from beyondchance.annotations.corpus import Corpus, Tags
from beyondchance.checks import checked_option
from beyondchance.core.ragged import distinct
from beyondchance.errors import DataError, NothingSharedError, OptionError
from beyondchance.options import CustomMeasure
from beyondchance.results.agreement import Agreement
from beyondchance.results.counts import Counts
from beyondchance.results.difficulty import Difficulty
from beyondchance.results.ranking import Ranking
from beyondchance.scoring.counting import compared_documents, counted
from beyondchance.scoring.marks import checked_nesting, fitting_model, marked
from beyondchance.scoring.options import MODELS, SCOPES, Chosen, chosen_measure
from beyondchance.settings import Settings


def agreement(
    data: Corpus | Tags,
    other: Tags | None = None,
    *,
    measure: str | CustomMeasure = "token",
    model: str = "auto",
    scope: str = "label",
    gold: str | None = None,
    theta: float | None = None,
    samples: int | None = None,
    seed: int | None = None,
    scheme: str | None = None,
    repair: str | None = None,
) -> Agreement:
    """How much of the agreement between span annotations is more than luck.

    Counts are added over texts, labels and pairs of annotators who annotated the
    same document (micro average, as in section 4 of the paper), then

    .. math:: corrected = (observed - chance) / (1 - chance)

    Parameters
    ----------
    data : Corpus or list of tag lists
        The annotations of everybody, or the tags of the first annotator.
    other : list of tag lists, optional
        The tags of the second annotator, where `data` are tags.
    measure : {"token", "exact", "boundary", "dice", "iou"} or CustomMeasure
        What matches: positions that both cover; spans that are equal; starts and ends
        that are equal; spans by the part of them that is shared; spans that share enough,
        one to one.
    model : {"auto", "disjoint", "nested", "overlapping"}
        How random spans lie to one another: apart; apart or one inside the other;
        anyhow. ``auto`` takes the first of these that fits all annotations, and the
        result says which and why.
    scope : {"label", "joint", "unlabelled"}
        Whether each label is arranged on its own, or all spans of an annotator share
        the text; ``unlabelled`` looks at spans only.
    gold : str, optional
        Compare everybody with this annotator only. Without it all are compared with one
        another, and a gold standard that the corpus names is left out where there are two
        annotators or more.
    theta : float, optional
        For ``iou``: spans match if more than this share of what they cover together is
        common to both; 0.5 by default. Below that, or under the overlapping model, the
        expected match is estimated from random arrangements, with its standard error.
    samples, seed : int, optional
        How many random arrangements that takes for each text (1000), and where the random
        numbers begin (0).
    scheme, repair : str, optional
        How tag lists are read (see `Corpus.from_tags`).

    Returns
    -------
    Agreement

    Raises
    ------
    DataError
        When the annotations cannot be compared, with where and why.
    OptionError
        For an unknown measure, model or scope, or one that does not go with another.

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
    """
    given = _corpus(data, other, scheme=scheme, repair=repair)
    chosen = chosen_measure(measure, theta=theta, samples=samples, seed=seed)
    corpus = without_gold(given) if gold is None else given.with_gold(gold)
    signed = {} if corpus is given else {"gold": str(given.gold)}
    if gold is not None:
        signed = {"gold": gold, "pairs": "gold"}
    found = _scored(given, corpus, chosen, model=model, scope=scope, signed=signed, with_self=False)
    return Agreement(*found)


def rank(
    corpus: Corpus,
    *,
    gold: str | None = None,
    measure: str | CustomMeasure = "token",
    model: str = "auto",
    scope: str = "label",
    theta: float | None = None,
    samples: int | None = None,
    seed: int | None = None,
) -> Ranking:
    """Systems against a gold standard, ranked before and after chance is taken out.

    Each system is scored on the documents that it shares with the gold standard.

    Parameters
    ----------
    corpus : Corpus
        The gold standard and all systems.
    gold : str, optional
        The annotator who is the gold standard; by default the one that the corpus names.
    measure, model, scope, theta, samples, seed
        As in `agreement`; one model fits all systems.

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
    if not isinstance(corpus, Corpus):
        raise DataError(f"found one {type(corpus).__name__}; expected a Corpus")
    known = corpus.gold if gold is None else corpus.with_gold(gold).gold
    if known is None:
        raise OptionError(
            "no gold standard is known; say which annotator it is with gold=NAME: "
            f"{', '.join(map(repr, corpus.annotators[:10]))}"
        )
    names = [name for name in corpus.annotators if name != known]
    if not names:
        raise NothingSharedError(
            f"only one annotator found: {known}; expected at least one system beside it"
        )
    chosen = chosen_measure(measure, theta=theta, samples=samples, seed=seed)
    checked_option("scope", scope, SCOPES)
    why = ""
    if model == "auto":
        model, why = fitting_model(marked(corpus, scope))
    systems = {}
    for name in names:
        pair = replace(corpus.select(annotators=[known, name]), options=corpus.options)
        counts, settings, skipped, _ = _scored(
            pair, pair, chosen, model=model, scope=scope, signed={"gold": known}, with_self=False
        )
        systems[name] = Agreement(counts.ordered((known, name)), settings, skipped)
    return Ranking(known, systems, settings, _chosen(model, why))


def difficulty(
    data: Corpus | Tags,
    other: Tags | None = None,
    *,
    gold: str | None = None,
    measure: str | CustomMeasure = "token",
    model: str = "auto",
    scope: str = "label",
    theta: float | None = None,
    samples: int | None = None,
    seed: int | None = None,
    scheme: str | None = None,
    repair: str | None = None,
) -> Difficulty:
    """How unlikely luck is in these texts: 1 minus chance agreement.

    With a gold standard, chance agreement of the gold standard with itself;
    without one, over all ordered pairs of annotators, each with itself included
    (section 3 of the paper). Counts are added over texts and labels.

    Parameters
    ----------
    data, other, measure, model, scope, theta, samples, seed, scheme, repair
        As in `agreement`.
    gold : str, optional
        The annotator who is the gold standard; by default the one that the corpus names.

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
    given = _corpus(data, other, scheme=scheme, repair=repair)
    chosen = chosen_measure(measure, theta=theta, samples=samples, seed=seed)
    known = given.gold if gold is None else given.with_gold(gold).gold
    signed = {} if known is None else {"gold": known}
    corpus = given
    if known is not None:
        corpus = replace(given.select(annotators=[known]), options=given.options)
    found = _scored(given, corpus, chosen, model=model, scope=scope, signed=signed, with_self=True)
    return Difficulty(*found)


def without_gold(corpus: Corpus) -> Corpus:
    """Leave out the gold standard, which is not one more annotator.

    Where it has one annotator beside it, the two are compared.
    """
    others = [name for name in corpus.annotators if name != corpus.gold]
    if corpus.gold is None or len(others) < 2:
        return corpus
    return replace(corpus.select(annotators=others), options=corpus.options)


def _scored(
    given: Corpus,
    corpus: Corpus,
    chosen: Chosen,
    *,
    model: str,
    scope: str,
    signed: Mapping[str, str],
    with_self: bool,
) -> tuple[Counts, Settings, dict[str, int], tuple[str, ...]]:
    """Counts of a corpus, how they were made, what was left out, and what is to be said.

    Parameters
    ----------
    given, corpus : Corpus
        The annotations that the model has to fit, and those of them that are scored.
    signed : mapping of str to str
        What the signature says about the pairs compared.
    with_self : bool
        Whether each annotator is also paired with itself.
    """
    checked_option("model", model, ("auto", *MODELS))
    checked_option("scope", scope, SCOPES)
    gold = corpus.annotators.index(signed["gold"]) if "pairs" in signed else None
    compared = compared_documents(corpus, gold=gold, with_self=with_self)
    if not compared.any():
        raise NothingSharedError(_nothing_shared(corpus, signed.get("gold")))
    spans = marked(corpus, scope)
    why = ""
    if model == "auto":
        model, why = fitting_model(spans if corpus is given else marked(given, scope))
    rule = chosen.rule(model, why=why)
    from_elsewhere: dict[str, Any] = {**chosen.settings(rule), **signed, **corpus.options}
    settings = Settings(
        model=model, scope=scope, unit=corpus.unit, positions=corpus.positions, **from_elsewhere
    )
    counts = counted(
        spans,
        checked_nesting(spans, model),
        chosen.measure,
        rule,
        overlapping=model == "overlapping",
        gold=gold,
        with_self=with_self,
    )
    teams = np.bincount(corpus.annotation_document, minlength=len(corpus.documents))
    skipped = {
        "documents with one annotator only": int(np.count_nonzero(~compared & (teams == 1))),
        "documents without an annotator": int(np.count_nonzero(teams == 0)),
        "documents without the gold standard": int(np.count_nonzero(~compared & (teams > 1))),
        "documents in which nobody marked anything": len(counts.documents)
        - len(distinct(counts.document)[0]),
        "spans that differ from another in their label alone": spans.n_merged,
    }
    left_out = {reason: count for reason, count in skipped.items() if count}
    return counts, settings, {**corpus.skipped, **left_out}, _chosen(model, why)


def _chosen(model: str, why: str) -> tuple[str, ...]:
    """What is to be said of a model that nobody asked for."""
    return (f"model {model!r}: {why}",) if why else ()


def _corpus(
    data: Corpus | Tags, other: Tags | None, *, scheme: str | None, repair: str | None
) -> Corpus:
    """Accept a corpus, or two lists of tag lists."""
    if isinstance(data, Corpus):
        if other is not None or scheme is not None or repair is not None:
            raise OptionError(
                "a second annotation, scheme and repair go with lists of tags; "
                "a Corpus already holds everybody"
            )
        return data
    if isinstance(data, Mapping):
        raise DataError(
            "found a mapping; expected a Corpus, or two lists of tag lists: build a Corpus with "
            "Corpus.from_tags or Corpus.from_spans"
        )
    if other is None:
        raise DataError(
            f"found one {type(data).__name__}; expected a Corpus, or two lists of tag lists"
        )
    return Corpus.from_tags(
        {"a": data, "b": other},
        scheme="IOB2" if scheme is None else scheme,
        repair="none" if repair is None else repair,
    )


def _nothing_shared(corpus: Corpus, gold: str | None) -> str:
    if not len(corpus.documents):
        return "the corpus has no documents; expected at least one"
    counts = np.bincount(corpus.annotation_annotator, minlength=len(corpus.annotators))
    if not counts.any():
        return "no document was annotated by anybody; expected at least one"
    if np.count_nonzero(counts) == 1:
        return (
            f"only one annotator found: {corpus.annotators[int(np.argmax(counts))]}; "
            "expected at least two who annotated the same document"
        )
    found = ", ".join(
        f"{name!r} annotated {count}"
        for name, count in zip(corpus.annotators[:10], counts.tolist(), strict=False)
    )
    who = "two annotators" if gold is None else f"{gold!r} and somebody else"
    return (
        f"no document was annotated by {who} ({found}); expected documents in common: "
        "check that all use the same document names, or read them with match='text' or 'order'"
    )
