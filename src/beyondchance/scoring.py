"""From annotations to agreement: validate, count, sum."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from beyondchance.arrays import Bools, Ints
from beyondchance.core.lengths import tabulate
from beyondchance.core.matching import SpanGroups
from beyondchance.core.measures import MEASURES
from beyondchance.core.ragged import bounds, distinct, rounded
from beyondchance.errors import (
    DataError,
    NothingSharedError,
    OptionError,
    OverlapError,
    checked_option,
)
from beyondchance.results import Agreement, Counts, Difficulty, Ranking
from beyondchance.settings import Settings
from beyondchance.spans import Corpus, Tags, kept

SCOPES = ("label",)


def agreement(
    data: Corpus | Tags,
    other: Tags | None = None,
    *,
    measure: str = "token",
    model: str = "disjoint",
    scope: str = "label",
    scheme: str | None = None,
    repair: str | None = None,
) -> Agreement:
    """How much of the agreement between span annotations is more than luck.

    A gold standard that the corpus names is left out where there are two annotators or more.
    Counts are added over texts, labels and pairs of annotators who annotated the
    same document (micro average, as in section 4 of the paper), then

    .. math:: corrected = (observed - chance) / (1 - chance)

    Parameters
    ----------
    data : Corpus or list of tag lists
        The annotations of everybody, or the tags of the first annotator.
    other : list of tag lists, optional
        The tags of the second annotator, where `data` are tags.
    measure : {"token", "exact"}
        What matches: positions that both cover, or spans that are equal.
    model : {"disjoint", "overlapping"}
        Whether random spans of one label keep clear of one another.
    scope : {"label"}
        Each label is arranged on its own.
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
        For an unknown measure, model or scope.

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
    corpus = without_gold(given)
    gold = None if corpus is given else given.gold
    settings = _settings(corpus, measure=measure, model=model, scope=scope, gold=gold)
    counts, skipped = _counts(corpus, settings, with_self=False)
    return Agreement(counts, settings, {**corpus.skipped, **skipped})


def rank(
    corpus: Corpus,
    *,
    gold: str | None = None,
    measure: str = "token",
    model: str = "disjoint",
    scope: str = "label",
) -> Ranking:
    """Systems against a gold standard, ranked before and after chance is taken out.

    Each system is scored on the documents that it shares with the gold standard.

    Parameters
    ----------
    corpus : Corpus
        The gold standard and all systems.
    gold : str, optional
        The annotator who is the gold standard; by default the one that the corpus names.
    measure, model, scope
        As in `agreement`.

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
    settings = _settings(corpus, measure=measure, model=model, scope=scope, gold=known)
    systems = {}
    for name in names:
        pair = replace(corpus.select(annotators=[known, name]), options=corpus.options)
        counts, skipped = _counts(pair, settings, with_self=False)
        counted = counts.ordered((known, name))
        systems[name] = Agreement(counted, settings, {**corpus.skipped, **skipped})
    return Ranking(known, systems, settings)


def difficulty(
    data: Corpus | Tags,
    other: Tags | None = None,
    *,
    gold: str | None = None,
    measure: str = "token",
    model: str = "disjoint",
    scope: str = "label",
    scheme: str | None = None,
    repair: str | None = None,
) -> Difficulty:
    """How unlikely luck is in these texts: 1 minus chance agreement.

    With a gold standard, chance agreement of the gold standard with itself;
    without one, over all ordered pairs of annotators, each with itself included
    (section 3 of the paper). Counts are added over texts and labels.

    Parameters
    ----------
    data, other, measure, model, scope, scheme, repair
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
    corpus = _corpus(data, other, scheme=scheme, repair=repair)
    known = corpus.gold if gold is None else corpus.with_gold(gold).gold
    settings = _settings(corpus, measure=measure, model=model, scope=scope, gold=known)
    if known is not None:
        corpus = corpus.select(annotators=[known])
    counts, skipped = _counts(corpus, settings, with_self=True)
    return Difficulty(counts, settings, {**corpus.skipped, **skipped})


def without_gold(corpus: Corpus) -> Corpus:
    """Leave out the gold standard, which is not one more annotator.

    Where it has one annotator beside it, the two are compared.
    """
    others = [name for name in corpus.annotators if name != corpus.gold]
    if corpus.gold is None or len(others) < 2:
        return corpus
    return replace(corpus.select(annotators=others), options=corpus.options)


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


def _settings(
    corpus: Corpus, *, measure: str, model: str, scope: str, gold: str | None = None
) -> Settings:
    rules = MEASURES[checked_option("measure", measure, MEASURES)].rules
    return Settings(
        measure=measure,
        model=checked_option("model", model, rules),
        scope=checked_option("scope", scope, SCOPES),
        unit=corpus.unit,
        positions=corpus.positions,
        gold=gold,
        **corpus.options,  # type: ignore[arg-type]
    )


def _counts(
    corpus: Corpus, settings: Settings, *, with_self: bool
) -> tuple[Counts, dict[str, int]]:
    """Count matches, observed and expected, of every pair in every text.

    Parameters
    ----------
    with_self : bool
        Whether each annotator is also paired with itself, as difficulty asks.
    """
    n_annotators = np.bincount(corpus.annotation_document, minlength=len(corpus.documents))
    compared = n_annotators >= (1 if with_self else 2)
    if not compared.any():
        raise NothingSharedError(_nothing_shared(corpus))

    order, groups, group_text, group_label, group_annotator = _grouped(corpus)
    if settings.model == "disjoint":
        _check_disjoint(corpus, groups, order)
    else:
        _check_distinct(corpus, groups, order)

    cell, a, b, group_a, group_b = _pairs(
        corpus, group_text, group_label, group_annotator, with_self=with_self
    )
    text, label = np.divmod(cell, max(len(corpus.labels), 1))
    measure = MEASURES[settings.measure]
    rule = measure.rules[settings.model]

    table, entry = tabulate(
        corpus.text_length[group_text], groups.owner(), groups.end - groups.start
    )
    both = np.flatnonzero((group_a >= 0) & (group_b >= 0))
    matched = np.zeros(len(cell))
    expected = np.zeros(len(cell))
    certain = np.zeros(len(cell), dtype=bool)
    if len(both):
        matched[both] = rule.matched(groups, group_a[both], group_b[both])
        # Equal problems are solved once, and alike for (a, b) and (b, a).
        left, right = entry[group_a[both]], entry[group_b[both]]
        low, high = np.minimum(left, right), np.maximum(left, right)
        problem, place = distinct(low * len(table) + high)
        i, j = np.divmod(problem, len(table))
        expected[both] = rounded(rule.expected(table, i, j))[place]
        certain[both] = rule.certain(table, i, j)[place]

    def of_group(values: Ints, group: Ints) -> Ints:
        return np.where(group >= 0, values[group], 0) if len(values) else np.zeros_like(group)

    size, n_spans = measure.size(groups), np.diff(groups.first)
    document_number = np.cumsum(compared) - 1
    marked = np.zeros(len(corpus.documents), dtype=bool)
    marked[corpus.text_document[text]] = True
    skipped = {
        "documents with one annotator only": int(np.count_nonzero((n_annotators == 1) & ~compared)),
        "documents without an annotator": int(np.count_nonzero(n_annotators == 0)),
        "documents in which nobody marked anything": int(np.count_nonzero(compared & ~marked)),
    }
    counts = Counts(
        documents=kept(corpus.documents, compared),
        fields={name: kept(values, compared) for name, values in corpus.fields.items()},
        n_texts=len(corpus.text_length),
        labels=corpus.labels,
        annotators=corpus.annotators,
        document=document_number[corpus.text_document[text]],
        text=text,
        label=label,
        a=a,
        b=b,
        matched=matched,
        expected=expected,
        size_a=of_group(size, group_a).astype(np.float64),
        size_b=of_group(size, group_b).astype(np.float64),
        spans_a=of_group(n_spans, group_a),
        spans_b=of_group(n_spans, group_b),
        certain=certain,
    )
    return counts, {reason: count for reason, count in skipped.items() if count}


def _grouped(corpus: Corpus) -> tuple[Ints, SpanGroups, Ints, Ints, Ints]:
    """Put together the spans of one annotator with one label in one text.

    Returns
    -------
    order : array of int
        The corpus's spans in the order of the groups.
    groups : SpanGroups
    text, label, annotator : arrays of int, shape (groups,)
        Sorted by text, then label, then annotator.
    """
    n_labels, n_annotators = max(len(corpus.labels), 1), max(len(corpus.annotators), 1)
    key = (corpus.span_text * n_labels + corpus.span_label) * n_annotators + corpus.span_annotator
    order = _sorted_spans(key, corpus.span_start, corpus.span_end)
    key = key[order]
    begins = np.ones(len(key), dtype=bool)
    begins[1:] = key[1:] != key[:-1]
    groups = SpanGroups(
        first=bounds(np.cumsum(begins) - 1, int(np.count_nonzero(begins))),
        start=corpus.span_start[order],
        end=corpus.span_end[order],
    )
    cell, annotator = np.divmod(key[begins], n_annotators)
    text, label = np.divmod(cell, n_labels)
    return order, groups, text, label, annotator


def _sorted_spans(key: Ints, start: Ints, end: Ints) -> Ints:
    """Order spans by key, start and end."""
    stride = int(end.max(initial=0)) + 1
    if int(key.max(initial=0)) < 2**62 // stride**2:
        return np.argsort((key * stride + start) * stride + end, kind="stable")
    return np.lexsort((end, start, key))


def _pairs(
    corpus: Corpus, text: Ints, label: Ints, annotator: Ints, *, with_self: bool
) -> tuple[Ints, Ints, Ints, Ints, Ints]:
    """Pair the annotators of each text and label in which somebody marked something.

    The cost follows the pairs that share a document, not all pairs there are.

    Returns
    -------
    cell : array of int, shape (rows,)
        ``text * labels + label``, ascending.
    a, b : arrays of int
        Annotators; ``a < b``, or ``a <= b`` with each paired with itself.
    group_a, group_b : arrays of int
        Their groups of spans; -1 where one marked nothing.
    """
    n_annotators = max(len(corpus.annotators), 1)
    cells, cell_of_group = distinct(text * max(len(corpus.labels), 1) + label)
    document = corpus.text_document[cells // max(len(corpus.labels), 1)]
    first = bounds(corpus.annotation_document, len(corpus.documents))
    team = np.diff(first)[document]
    listed = corpus.annotation_document * n_annotators + corpus.annotation_annotator
    slot = (
        np.searchsorted(listed, corpus.text_document[text] * n_annotators + annotator)
        - first[corpus.text_document[text]]
    )
    parts = []
    for size in distinct(team)[0].tolist():
        here = np.flatnonzero(team == size)
        number = np.full(len(cells), -1)
        number[here] = np.arange(len(here))
        group = np.full((len(here), size), -1)
        mine = np.flatnonzero(number[cell_of_group] >= 0)
        group[number[cell_of_group[mine]], slot[mine]] = mine
        who = corpus.annotation_annotator[first[document[here]][:, None] + np.arange(size)]
        left, right = np.triu_indices(size, 0 if with_self else 1)
        rows = [np.repeat(cells[here], len(left))]
        rows += [column[:, side].reshape(-1) for column in (who, group) for side in (left, right)]
        marked = np.flatnonzero((rows[3] >= 0) | (rows[4] >= 0))
        parts.append([column[marked] for column in rows])
    if not parts:
        parts = [[np.zeros(0, dtype=np.int64)] * 5]
    joined = [np.concatenate(columns) for columns in zip(*parts, strict=True)]
    order = np.argsort(joined[0], kind="stable")
    cell, a, b, group_a, group_b = (column[order] for column in joined)
    return cell, a, b, group_a, group_b


def _check_disjoint(corpus: Corpus, groups: SpanGroups, order: Ints) -> None:
    """Refuse spans of one annotator and label that overlap."""
    clash = _neighbours(groups, groups.start[1:] < groups.end[:-1])
    if clash is not None:
        other = corpus.span(int(order[clash + 1]))
        raise OverlapError(
            f"{corpus.describe_span(int(order[clash]))} overlaps [{other.start}, {other.end}) "
            f"{other.label!r}; model 'disjoint' expects spans of one label by one annotator not to "
            "overlap: correct them, or use model='overlapping'"
        )


def _check_distinct(corpus: Corpus, groups: SpanGroups, order: Ints) -> None:
    """Refuse a span that one annotator marked twice with one label."""
    same = (groups.start[1:] == groups.start[:-1]) & (groups.end[1:] == groups.end[:-1])
    twin = _neighbours(groups, same)
    if twin is not None:
        raise OverlapError(
            f"{corpus.describe_span(int(order[twin]))} was marked twice; expected each span once: "
            "remove the duplicate"
        )


def _neighbours(groups: SpanGroups, wrong: Bools) -> int | None:
    """The first span of a group for which, with the next one, something is wrong."""
    owner = groups.owner()
    found = np.flatnonzero(wrong & (owner[1:] == owner[:-1]))
    return int(found[0]) if len(found) else None


def _nothing_shared(corpus: Corpus) -> str:
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
    return (
        f"no document was annotated by two annotators ({found}); expected documents in common: "
        "check that all use the same document names, or read them with match='text' or 'order'"
    )
