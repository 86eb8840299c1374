"""Counts by the four schemas of MUC and SemEval-2013 task 9.1, as nervaluate has them."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf, nan
from typing import Any, NamedTuple

import numpy as np

from beyondchance.annotations.building import MOST_POSITIONS
from beyondchance.annotations.corpus import Corpus
from beyondchance.annotations.names import as_list, distinct_names, numbered
from beyondchance.checks import Within, checked_number, checked_option, is_whole
from beyondchance.core.nesting import in_order
from beyondchance.core.observed import SpanGroups, intersecting
from beyondchance.core.ragged import bounds
from beyondchance.errors import DataError, MismatchError, OptionError, SpanError
from beyondchance.evaluation.rates import SIDES
from beyondchance.messages import Quote
from beyondchance.results.score import Score
from beyondchance.scoring.api import agreement
from beyondchance.types import Bools, Ints

STRICT, EXACT, PARTIAL, ENT_TYPE = ("strict", "exact", "partial", "ent_type")
INCLUSIVE, EXCLUSIVE = ENDS = ("inclusive", "exclusive")
_LISTS = "a list for each text, of tags or of dictionaries with start, end and label"


@dataclass(frozen=True, slots=True)
class _Entities:
    """The entities of both sides; and the same as a corpus, where texts have known lengths.

    Attributes
    ----------
    groups : SpanGroups
        The true entities of each text, then the predicted ones of each text.
    label : array of int, shape (entities,)
    labels : tuple of str
    corpus : Corpus, optional
    """

    groups: SpanGroups
    label: Ints
    labels: tuple[str, ...]
    corpus: Corpus | None


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
    entities = _entities_of(true, predicted, lengths, wanted, is_inclusive=ends == INCLUSIVE)
    overlaps = _overlaps(entities, least)
    chance = _chance(entities.corpus)
    overall = _scores(entities, overlaps, np.zeros_like(entities.label), (None,), chance)
    by_label = _scores(entities, overlaps, entities.label, entities.labels, chance)
    return {"overall": overall[None], "entities": by_label}


# --- Data ---------------------------------------------------------------------


def _entities_of(
    true: Any,
    predicted: Any,
    lengths: Any,
    labels: Collection[str] | None,
    *,
    is_inclusive: bool,
) -> _Entities:
    """Collect the entities of both sides, of some labels, from whatever they are given as."""
    texts = [_texts(name, side) for name, side in zip(SIDES, (true, predicted), strict=True)]
    n_texts = len(texts[0])
    if len(texts[1]) != n_texts:
        found = f"{n_texts} texts are true, {len(texts[1])} predicted"
        raise MismatchError(found, expected="the same texts in the same order")
    first = next((item for side in texts for text in side for item in text), None)
    if isinstance(first, Mapping) or (first is None and lengths is not None):
        spans = {
            name: [_marked(text, f"{name}, text {i}", is_inclusive) for i, text in enumerate(side)]
            for name, side in zip(SIDES, texts, strict=True)
        }
        corpus = None
        if lengths is not None:
            corpus = _selected(Corpus.from_spans(spans, lengths=lengths), labels)
        rows = [
            (side, number, *mark)
            for side, marks_of_texts in enumerate(spans.values())
            for number, marks in enumerate(marks_of_texts)
            for mark in marks
            if labels is None or mark[2] in labels
        ]
        names = tuple(sorted({row[-1] for row in rows}))
        label = numbered([row[-1] for row in rows], names)
        columns = np.array([row[:-1] for row in rows], dtype=np.int64).reshape(-1, 4).T
        return _grouped(n_texts, columns, label, names, corpus)
    if lengths is not None:
        raise OptionError("lengths go with entities, not with tags")
    corpus = _selected(Corpus.from_tags(dict(zip(SIDES, texts, strict=True))), labels)
    places = corpus.span_annotator, corpus.span_text, corpus.span_start, corpus.span_end
    return _grouped(n_texts, places, corpus.span_label, corpus.labels, corpus)


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


def _selected(corpus: Corpus, labels: Collection[str] | None) -> Corpus:
    if labels is None:
        return corpus
    return corpus.select(labels=[label for label in corpus.labels if label in labels])


def _grouped(
    n_texts: int,
    places: Iterable[Ints],
    label: Ints,
    labels: tuple[str, ...],
    corpus: Corpus | None,
) -> _Entities:
    """Sort entities, of which side, text, start and end are given, into groups."""
    side, text, start, end = places
    group = side * n_texts + text
    order = in_order(group, start, end)
    groups = SpanGroups(bounds(group, 2 * n_texts), start[order], end[order])
    return _Entities(groups, label[order], labels, corpus)


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
        if not is_whole(start) or not is_whole(end) or not isinstance(label, str):
            expected = "whole numbers and a label that is a string"
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


def _overlaps(entities: _Entities, least: float) -> tuple[Ints, Ints]:
    """Find the true and the predicted entities that overlap, by number."""
    groups = entities.groups
    text = np.arange(len(groups) // 2)
    _, one, two = intersecting(groups, text, text + len(text))
    start, end = groups.start, groups.end
    shared = np.minimum(end[one], end[two]) - np.maximum(start[one], start[two])
    enough = shared / (end[one] - start[one]) * 100.0 >= least
    return one[enough], two[enough]


def _pairs(entities: _Entities, one: Ints, two: Ints) -> dict[str, tuple[Ints, Bools]]:
    """Pair entities by each schema: the true entity, and whether the pair is correct."""
    start, end = entities.groups.start, entities.groups.end
    has_place = (start[one] == start[two]) & (end[one] == end[two])
    has_label = entities.label[one] == entities.label[two]
    n_overlaps = np.bincount(np.concatenate([one, two]), minlength=1)
    # Most overlap with one other only, and are a pair with it.
    is_alone = (n_overlaps[one] == 1) & (n_overlaps[two] == 1)
    others = (~is_alone).nonzero()[0]
    edges = list(zip(one[others].tolist(), two[others].tolist(), strict=True))

    def paired(is_correct: Bools) -> tuple[Ints, Bools]:
        flags = is_correct[others].tolist()
        best = best_pairs([Edge(*edge, flag) for edge, flag in zip(edges, flags, strict=True)])
        true, _, correct = np.array(best, dtype=np.int64).reshape(-1, 3).T
        return np.append(one[is_alone], true), np.append(is_correct[is_alone], correct > 0)

    strict, exact, ent_type = map(paired, (has_place & has_label, has_place, has_label))
    return {STRICT: strict, EXACT: exact, PARTIAL: exact, ENT_TYPE: ent_type}


# --- Counts and rates ---------------------------------------------------------


def _scores(
    entities: _Entities,
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

    groups = entities.groups
    sizes = counted(groups.owner() >= len(groups) // 2, group)
    found: dict[Any, dict[str, Any]] = {name: {} for name in names}
    for schema, (true, is_correct) in _pairs(entities, one[own], two[own]).items():
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


def _chance(corpus: Corpus | None) -> dict[Any, dict[str, Score]]:
    """Score the schemas whose chance is known, if texts have known lengths: of all, by label."""
    if corpus is None or not len(corpus.text_length):
        return {}
    strict = agreement(corpus, measure="exact")
    unlabelled = agreement(corpus, measure="exact", scope="unlabelled")
    # Where only one label is looked at, it makes no difference whether labels have to be equal.
    by_label = {label: dict.fromkeys((STRICT, EXACT), it) for label, it in strict.by_label.items()}
    return {None: {STRICT: strict.score, EXACT: unlabelled.score}, **by_label}


class Edge(NamedTuple):
    """Two entities that overlap, by their numbers, and whether they are a correct pair."""

    true: int
    predicted: int
    is_correct: bool


def best_pairs(edges: Sequence[Edge]) -> list[Edge]:
    """Pair entities that overlap, each with one partner at most.

    Of all ways to pair them, one is taken that has the most correct pairs and, among those, the
    most pairs. How many there are does not depend on the order of the entities.

    Predicted entities join one after the other. Each may take a partner from another one, which
    may take its partner from the next, or stay alone: of all such paths, the one is followed that
    gains most, so that the pairs are the best of the entities that have joined.

    Examples
    --------
    The second predicted entity is a correct partner, the first is not.

    >>> best_pairs([Edge(0, 0, is_correct=False), Edge(0, 1, is_correct=True)])
    [Edge(true=0, predicted=1, is_correct=True)]
    """
    of_predicted: _Edges = defaultdict(list)
    for edge in edges:
        # A correct pair counts more than all others together.
        of_predicted[edge.predicted].append((len(edges) * edge.is_correct + 1, edge))
    by_true: dict[int, tuple[int, Edge]] = {}
    by_predicted: dict[int, Edge] = {}
    for first in of_predicted:
        true, came_by = _best_path(first, of_predicted, by_true)
        if true in by_true:
            del by_predicted[by_true[true][1].predicted]
        # Change partners along the path, from its end to its beginning.
        while true is not None:
            by_true[true] = came_by[true]
            edge = came_by[true][1]
            former = by_predicted.get(edge.predicted)
            by_predicted[edge.predicted] = edge
            true = former.true if former else None
    return list(by_predicted.values())


_Edges = dict[int, list[tuple[int, Edge]]]
"""The edges of each predicted entity, with how much they count as a pair."""


def _best_path(
    first: int, of_predicted: _Edges, by_true: Mapping[int, tuple[int, Edge]]
) -> tuple[int | None, dict[int, tuple[int, Edge]]]:
    """Return the true entity at which the best path ends, and how each one was reached."""
    best, last = 0, None
    gain: dict[int, int] = {}
    came_by: dict[int, tuple[int, Edge]] = {}
    waiting = deque([(first, 0)])
    # An entity that joins gains no more than its best pair counts.
    while waiting and best < max(of_predicted[first])[0]:
        number, before = waiting.popleft()
        for weight, edge in of_predicted[number]:
            gained = before + weight
            if gained <= gain.get(edge.true, -inf):
                continue
            gain[edge.true], came_by[edge.true] = gained, (weight, edge)
            taken, old = by_true.get(edge.true, (0, None))
            if gained - taken > best:
                best, last = gained - taken, edge.true
            if old and gained - taken + max(of_predicted[old.predicted])[0] > best:
                waiting.append((old.predicted, gained - taken))
    return last, came_by
