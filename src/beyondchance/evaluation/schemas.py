"""Counts by the four schemas of MUC and SemEval-2013 task 9.1, as nervaluate has them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from math import nan
from typing import Any

import numpy as np

from beyondchance.annotations.building import MOST_POSITIONS
from beyondchance.annotations.corpus import Corpus
from beyondchance.annotations.names import as_list, distinct_names
from beyondchance.checks import Within, checked_number, checked_option, is_whole
from beyondchance.core.observed import overlapping
from beyondchance.core.ragged import begins_apart, bounds, distinct
from beyondchance.errors import DataError, MismatchError, OptionError, SpanError
from beyondchance.evaluation.rates import SIDES
from beyondchance.messages import Quote
from beyondchance.results.score import Score
from beyondchance.scoring.api import agreement
from beyondchance.scoring.one_to_one import assignment
from beyondchance.types import Bools, Ints

STRICT, EXACT, PARTIAL, ENT_TYPE = ("strict", "exact", "partial", "ent_type")
INCLUSIVE, EXCLUSIVE = ENDS = ("inclusive", "exclusive")
_LISTS = "a list for each text, of tags or of dictionaries with start, end and label"


def schema_scores(
    true: Any,
    predicted: Any,
    labels: Iterable[str] | None = None,
    *,
    lengths: Any = None,
    ends: str = INCLUSIVE,
    min_overlap_percentage: float = 0,
) -> dict[str, dict[str, Any]]:
    """Count correct, incorrect, partial, missed and spurious entities by four schemas.

    =========  ============================================  ==========================
    schema     a pair is correct if                          if they only overlap
    =========  ============================================  ==========================
    strict     boundaries and labels are equal               it is incorrect
    exact      boundaries are equal, whatever the labels     it is incorrect
    partial    boundaries are equal, whatever the labels     it is partial, one half
    ent_type   they overlap and the labels are equal         it is incorrect
    =========  ============================================  ==========================

    Each entity is part of one pair at most. Pairs are chosen such that as many as possible are
    correct and, among these choices, as many as possible overlap; this does not depend on the
    order of the entities. True entities without a pair are missed, predicted ones spurious.

    Parameters
    ----------
    true, predicted : list of lists of str, list of lists of dict, or str
        The tags of each text; or its entities, with ``start``, ``end`` and ``label``; or lines of
        tokens and tags that are separated by tabs, with an empty line between texts.
    labels : iterable of str, optional
        The labels that are looked at; by default all.
    lengths : list of int, optional
        For entities: how many positions each text has. Chance is not known without.
    ends : {"inclusive", "exclusive"}
        For entities: whether the position ``end`` is part of them, as in nervaluate, or the first
        one after them, as in spaCy and Prodigy.
    min_overlap_percentage : float
        How much of the true entity an overlap has to cover; by default any position is enough.

    Returns
    -------
    dict
        ``overall`` has a dictionary for each schema, ``entities`` one for each label, with
        one for each schema, in which only the entities of this label are looked at. They
        hold the counts ``correct``, ``incorrect``, ``partial``, ``missed`` and ``spurious``;
        ``possible`` and ``actual``, the numbers of true and of predicted entities; ``precision``,
        ``recall`` and ``f1``, 0 where they are undefined. For strict and exact also ``chance``, the
        F1 of random entities, and ``corrected``, the F1 beyond it; nan where it is undefined. For
        partial and ent_type there is none.

    Raises
    ------
    DataError
        If the data cannot be used, with where and why.

    Examples
    --------
    A person is found with one word too few, a place with the wrong label.

    >>> true = [["B-PER", "I-PER", "O", "B-LOC", "O"]]
    >>> predicted = [["B-PER", "O", "O", "B-ORG", "O"]]
    >>> scores = schema_scores(true, predicted)["overall"]
    >>> [scores["strict"][name] for name in ("correct", "incorrect", "missed", "f1")]
    [0, 2, 0, 0.0]
    >>> [scores[name]["f1"] for name in ("exact", "partial", "ent_type")]
    [0.5, 0.75, 0.5]
    >>> round(scores["exact"]["corrected"], 4)
    0.375
    """
    least = checked_number("min_overlap_percentage", min_overlap_percentage, Within(0, 100))
    checked_option("ends", ends, ENDS)
    wanted = None if labels is None else _checked_labels(labels)
    corpus, knows_lengths = _corpus(true, predicted, lengths, is_inclusive=ends == INCLUSIVE)
    if wanted is not None:
        corpus = corpus.select(labels=[label for label in corpus.labels if label in wanted])
    overlaps = _overlaps(corpus, least)
    chance = _chance(corpus) if knows_lengths and len(corpus.text_length) else {}
    overall = _scores(corpus, overlaps, np.zeros_like(corpus.span_label), (None,), chance)
    by_label = _scores(corpus, overlaps, corpus.span_label, corpus.labels, chance)
    return {"overall": overall[None], "entities": by_label}


# --- Data ---------------------------------------------------------------------


def _corpus(true: Any, predicted: Any, lengths: Any, *, is_inclusive: bool) -> tuple[Corpus, bool]:
    """Build a corpus from whatever entities are given as; and say if the lengths are known."""
    texts = [_texts(name, side) for name, side in zip(SIDES, (true, predicted), strict=True)]
    n_texts = len(texts[0])
    if len(texts[1]) != n_texts:
        found = f"{n_texts} texts are true, {len(texts[1])} predicted"
        raise MismatchError(found, expected="the same texts in the same order")
    first = next((item for side in texts for text in side for item in text), None)
    if not isinstance(first, Mapping) and (first is not None or lengths is None):
        if lengths is not None:
            raise OptionError("lengths go with entities, not with tags")
        return Corpus.from_tags(dict(zip(SIDES, texts, strict=True))), True
    spans = {
        name: [_marked(text, f"{name}, text {i}", is_inclusive) for i, text in enumerate(side)]
        for name, side in zip(SIDES, texts, strict=True)
    }
    # Where lengths are not known, texts end with their last entity.
    ends = [
        max((end for _, end, _ in chain(*sides)), default=0)
        for sides in zip(*spans.values(), strict=True)
    ]
    known = ends if lengths is None else lengths
    return Corpus.from_spans(spans, lengths=known, duplicates="error"), lengths is not None


def _texts(name: str, side: Any) -> list[Any]:
    """List the texts of one side, each a list."""
    texts = _tags_of_lines(side) if isinstance(side, str) else as_list(side)
    if not isinstance(texts, list | tuple):
        raise DataError(f"{name} is ", Quote(side), expected=_LISTS)
    listed = [as_list(text) for text in texts]
    for number, text in enumerate(listed):
        if not isinstance(text, list | tuple):
            raise DataError("found ", Quote(text), where=f"{name}, text {number}", expected=_LISTS)
    return listed


def _tags_of_lines(lines: str) -> list[list[str]]:
    """Read tags in the style of CoNLL: a token, a tab and a tag on each line."""
    texts: list[list[str]] = [[]]
    for number, line in enumerate(lines.splitlines(), start=1):
        if not line.strip():
            texts += [[]] if texts[-1] else []
            continue
        _, tab, rest = line.partition("\t")
        if not tab:
            where = f"line {number}"
            raise DataError("found ", Quote(line), where=where, expected="a token, a tab and a tag")
        texts[-1].append(rest.partition("\t")[0].strip())
    return texts if texts[-1] else texts[:-1]


def _marked(text: Iterable[Any], where: str, is_inclusive: bool) -> list[tuple[int, int, str]]:
    """Return start, end and label of entities that are dictionaries."""
    found = []
    for place, item in enumerate(text):
        at = f"{where}, entity {place}"
        if not isinstance(item, Mapping) or not {"start", "end", "label"} <= item.keys():
            expected = "a dictionary with start, end and label"
            raise SpanError("found ", Quote(item), where=at, expected=expected)
        start, end, label = item["start"], item["end"], item["label"]
        is_name = isinstance(label, str) and label and label == label.strip()
        if not is_whole(start) or not is_whole(end) or not is_name:
            expected = "whole numbers, and a label without white space at its edges"
            raise SpanError("found ", Quote(item), where=at, expected=expected)
        stop = int(end) + is_inclusive
        if not 0 <= start < stop <= MOST_POSITIONS:
            problem = f"it begins at {start} and ends at {end}"
            expected = f"an end that is not before the start, nor after {MOST_POSITIONS:,}"
            raise SpanError(problem, where=at, expected=expected)
        found.append((int(start), stop, label))
    return found


def _checked_labels(labels: Any) -> list[str]:
    if isinstance(labels, str | bytes) or not isinstance(labels, Iterable):
        raise DataError("labels are ", Quote(labels), expected="a list of strings")
    return distinct_names("label", labels)


# --- Pairs --------------------------------------------------------------------


def _overlaps(corpus: Corpus, least: float) -> tuple[Ints, Ints]:
    """Find the true and the predicted entities that overlap, by number."""
    begin = corpus.text_begin[corpus.span_text]
    start, end = place = np.stack([begin + corpus.span_start, begin + corpus.span_end])
    true, predicted = (np.flatnonzero(corpus.span_annotator == side) for side in (0, 1))
    one, two = overlapping(place[:, true], place[:, predicted])
    one, two = true[one], predicted[two]
    shared = np.minimum(end[one], end[two]) - np.maximum(start[one], start[two])
    enough = shared / (end[one] - start[one]) * 100.0 >= least
    return one[enough], two[enough]


def _pairs(corpus: Corpus, one: Ints, two: Ints) -> dict[str, tuple[Ints, Bools]]:
    """Pair entities by each schema: the true entity, and whether the pair is correct."""
    start, end, label = corpus.span_start, corpus.span_end, corpus.span_label
    has_place = (start[one] == start[two]) & (end[one] == end[two])
    has_label = label[one] == label[two]
    n_overlaps = np.bincount(np.concatenate([one, two]), minlength=1)
    # Most overlap with one other only, and are a pair with it.
    is_alone = (n_overlaps[one] == 1) & (n_overlaps[two] == 1)
    # The others hang together where they overlap, one after the other.
    others = np.flatnonzero(~is_alone)
    sides = np.stack([one[others], two[others]])
    begin = corpus.text_begin[corpus.span_text[sides[0]]]
    low, high = begin + start[sides].min(axis=0), begin + end[sides].max(axis=0)
    order = np.argsort(low, kind="stable")
    heads = np.flatnonzero(begins_apart(low[order], high[order]))
    rows = np.split(others[order], heads[1:]) if len(order) else []

    def paired(is_correct: Bools) -> tuple[Ints, Bools]:
        best = [own[best_pairs(one[own], two[own], is_correct[own])] for own in rows]
        chosen = np.concatenate([np.flatnonzero(is_alone), *best])
        return one[chosen], is_correct[chosen]

    strict, exact, ent_type = map(paired, (has_place & has_label, has_place, has_label))
    return {STRICT: strict, EXACT: exact, PARTIAL: exact, ENT_TYPE: ent_type}


def best_pairs(one: Ints, two: Ints, is_correct: Bools) -> Ints:
    """Choose pairs of entities that overlap, such that each has one partner at most.

    Of all choices, one is made that has the most correct pairs and, among those, the most pairs.
    How many there are does not depend on the order of the entities.

    Examples
    --------
    The second predicted entity is a correct partner, the first is not.

    >>> best_pairs(np.array([0, 0]), np.array([0, 1]), np.array([False, True])).tolist()
    [1]
    """
    if (one == one[0]).all() or (two == two[0]).all():
        return np.asarray(np.argmax(is_correct, keepdims=True))
    (rows, row), (columns, column) = (distinct(side - side.min()) for side in (one, two))
    if len(rows) > len(columns):
        return best_pairs(two, one, is_correct)
    order = np.lexsort((column, row))
    begins, partner = bounds(row[order], len(rows)), column[order]
    # A correct pair counts more than all others together.
    value = 1 + len(one) * is_correct[order]

    def worth(number: int) -> Ints:
        """Return what a row is worth with each column."""
        own, found = slice(*begins[number : number + 2]), np.zeros(len(columns), dtype=np.int64)
        found[partner[own]] = value[own]
        return found

    chosen = assignment(worth, len(rows), len(columns))
    return np.asarray(order[partner == chosen[row[order]]])


# --- Counts and rates ---------------------------------------------------------


def _scores(
    corpus: Corpus,
    overlaps: tuple[Ints, Ints],
    group: Ints,
    names: Sequence[Any],
    chance: Mapping[Any, Mapping[str, Score]],
) -> dict[Any, dict[str, Any]]:
    """Count and rate by each schema the entities of each group, paired with their own group."""
    (one, two), n_groups = overlaps, len(names)
    own = group[one] == group[two]

    def counted(flag: Bools, group: Ints) -> Any:
        """Count by a flag and by group."""
        return np.bincount(flag * n_groups + group, minlength=2 * n_groups).reshape(2, -1).tolist()

    sizes = counted(corpus.span_annotator > 0, group)
    found: dict[Any, dict[str, Any]] = {name: {} for name in names}
    for schema, (true, is_correct) in _pairs(corpus, one[own], two[own]).items():
        columns = zip(names, *counted(is_correct, group[true]), *sizes, strict=True)
        for name, n_other, n_correct, n_true, n_predicted in columns:
            counts = _counts(schema, n_correct, n_other, n_true, n_predicted)
            if schema in (STRICT, EXACT):
                score = chance[name][schema] if chance else None
                counts["chance"] = score.chance if score else nan
                counts["corrected"] = score.corrected if score else nan
            found[name][schema] = counts
    return found


def _counts(
    schema: str, n_correct: int, n_other: int, n_true: int, n_predicted: int
) -> dict[str, Any]:
    """Return the counts and rates of one schema."""
    is_partial = schema == PARTIAL
    n_pairs = n_correct + n_other
    credit = n_correct + 0.5 * n_other if is_partial else n_correct
    precision = credit / n_predicted if n_predicted else 0.0
    recall = credit / n_true if n_true else 0.0
    total = precision + recall
    return {
        "correct": n_correct,
        "incorrect": 0 if is_partial else n_other,
        "partial": n_other if is_partial else 0,
        "missed": n_true - n_pairs,
        "spurious": n_predicted - n_pairs,
        "possible": n_true,
        "actual": n_predicted,
        "precision": precision,
        "recall": recall,
        "f1": 2 * (precision * recall) / total if total else 0.0,
    }


def _chance(corpus: Corpus) -> dict[Any, dict[str, Score]]:
    """Score the schemas whose chance is known: of all, by label."""
    corpus = corpus.rename_labels({})
    strict = agreement(corpus, measure="exact")
    unlabelled = agreement(corpus, measure="exact", scope="unlabelled")
    # Where only one label is looked at, it makes no difference whether labels have to be equal.
    by_label = {label: dict.fromkeys((STRICT, EXACT), it) for label, it in strict.by_label.items()}
    return {None: {STRICT: strict.score, EXACT: unlabelled.score}, **by_label}
