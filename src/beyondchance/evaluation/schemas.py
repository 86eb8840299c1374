"""Counts by the four schemas of MUC and SemEval-2013 task 9.1, as nervaluate has them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import nan
from typing import Any

import numpy as np

from beyondchance.annotations.building import MOST_POSITIONS
from beyondchance.annotations.corpus import Corpus
from beyondchance.annotations.names import as_list, sorted_names
from beyondchance.annotations.tags import coded_tags
from beyondchance.checks import Within, checked_number, checked_option, is_whole
from beyondchance.core.nesting import in_order
from beyondchance.core.observed import SpanGroups, intersecting
from beyondchance.core.ragged import bounds
from beyondchance.errors import DataError, MismatchError, OptionError, SpanError
from beyondchance.evaluation.correction import SIDES, Corrected, corrected_scores
from beyondchance.evaluation.pairing import Edge, best_pairs
from beyondchance.messages import Quote
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

    @property
    def is_predicted(self) -> Bools:
        """Which of them are predicted."""
        return self.groups.owner() >= len(self.groups) // 2

    def sizes(self) -> Ints:
        """How many true and predicted entities each label has, shape (2, labels)."""
        code = self.is_predicted * len(self.labels) + self.label
        return np.bincount(code, minlength=2 * len(self.labels)).reshape(2, -1)

    def only(self, labels: Collection[str]) -> _Entities:
        """The entities with some of the labels."""
        keep = np.array([name in labels for name in self.labels], dtype=bool)[self.label]
        first = np.concatenate([[0], keep.cumsum()])[self.groups.first]
        groups = SpanGroups(first, self.groups.start[keep], self.groups.end[keep])
        corpus = self.corpus
        if corpus is not None:
            corpus = corpus.select(labels=[label for label in corpus.labels if label in labels])
        return _Entities(groups, self.label[keep], self.labels, corpus)


def schema_scores(
    true: Any,
    predicted: Any,
    labels: Iterable[str] | None = None,
    *,
    lengths: Any = None,
    ends: str = INCLUSIVE,
    min_overlap_percentage: float = 0,
) -> dict[str, dict[str, Any]]:
    """Entities that are correct, incorrect, partial, missed or spurious, by four schemas.

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
    entities = _entities_of(true, predicted, lengths, is_inclusive=ends == INCLUSIVE)
    if labels is not None:
        entities = entities.only(_checked_labels(labels))
    overlaps = _overlaps(entities, least)
    chance = _chance(entities.corpus)
    return {
        "overall": _overall(entities, overlaps, chance),
        "entities": _by_label(entities, overlaps, chance),
    }


# --- Data ---------------------------------------------------------------------


def _entities_of(true: Any, predicted: Any, lengths: Any, *, is_inclusive: bool) -> _Entities:
    """The entities of both sides, from whatever they are given as."""
    given = [
        _tags_of_lines(side) if isinstance(side, str) else as_list(side)
        for side in (true, predicted)
    ]
    for name, side in zip(SIDES, given, strict=True):
        if not isinstance(side, list | tuple):
            raise DataError(f"{name} is ", Quote(side), expected=_LISTS)
    texts = [[as_list(text) for text in side] for side in given]
    for name, side in zip(SIDES, texts, strict=True):
        for number, text in enumerate(side):
            if not isinstance(text, list | tuple):
                raise DataError(
                    "found ", Quote(text), where=f"{name}, text {number}", expected=_LISTS
                )
    if len(texts[0]) != len(texts[1]):
        found = f"{len(texts[0])} texts are true, {len(texts[1])} predicted"
        raise MismatchError(found, expected="the same texts in the same order")
    first = next((item for side in texts for text in side for item in text), None)
    if isinstance(first, Mapping) or (first is None and lengths is not None):
        rows = [
            (number, *row)
            for number, (name, side) in enumerate(zip(SIDES, texts, strict=True))
            for row in _named(name, side, is_inclusive=is_inclusive)
        ]
        known = None if lengths is None else _checked_lengths(lengths, len(texts[0]))
        corpus = None if known is None else _corpus(rows, known)
        label, known_labels = coded_tags(row[-1] for row in rows)
        names, label = sorted_names(tuple(known_labels), label)
        columns = np.array([row[:-1] for row in rows], dtype=np.int64).reshape(-1, 4).T
        return _grouped(len(texts[0]), columns, label, names, corpus)
    if lengths is not None:
        raise OptionError("lengths go with entities, not with tags")
    corpus = Corpus.from_tags(dict(zip(SIDES, texts, strict=True)))
    places = corpus.span_annotator, corpus.span_text, corpus.span_start, corpus.span_end
    return _grouped(len(texts[0]), places, corpus.span_label, corpus.labels, corpus)


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


def _corpus(rows: Iterable[tuple[int, int, int, int, str]], lengths: list[int]) -> Corpus:
    """Entities as a corpus, in which each is marked once."""
    spans: dict[str, list[list[Any]]] = {name: [[] for _ in lengths] for name in SIDES}
    for side, text, *entity in rows:
        spans[SIDES[side]][text].append(tuple(entity))
    return Corpus.from_spans(spans, lengths=lengths)


def _tags_of_lines(lines: str) -> list[list[str]]:
    """The tags of a text in the style of CoNLL: a token, a tab and a tag on each line."""
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


def _named(
    name: str, texts: Iterable[Iterable[Any]], *, is_inclusive: bool
) -> Iterator[tuple[int, int, int, str]]:
    """Text, start, end and label of entities that are dictionaries."""
    for number, text in enumerate(texts):
        for place, item in enumerate(text):
            where = f"{name}, text {number}, entity {place}"
            if not isinstance(item, Mapping) or not {"start", "end", "label"} <= item.keys():
                expected = "a dictionary with start, end and label"
                raise SpanError("found ", Quote(item), where=where, expected=expected)
            start, end, label = item["start"], item["end"], item["label"]
            if not is_whole(start) or not is_whole(end) or not isinstance(label, str):
                expected = "whole numbers and a label that is a string"
                raise SpanError("found ", Quote(item), where=where, expected=expected)
            stop = int(end) + is_inclusive
            if not 0 <= start < stop <= MOST_POSITIONS:
                found_at = f"it begins at {start} and ends at {end}"
                expected = f"an end that is not before the start, nor after {MOST_POSITIONS:,}"
                raise SpanError(found_at, where=where, expected=expected)
            yield number, int(start), stop, label


def _checked_lengths(lengths: Any, n_texts: int) -> list[int]:
    listed = as_list(lengths)
    if not isinstance(listed, list | tuple) or not all(is_whole(n) and n >= 0 for n in listed):
        raise DataError("lengths are ", Quote(lengths), expected="a whole number for each text")
    if len(listed) != n_texts:
        raise MismatchError(f"{len(listed)} lengths for {n_texts} texts", expected="one for each")
    return [int(n) for n in listed]


def _checked_labels(labels: Any) -> set[str]:
    listed = as_list(labels) if not isinstance(labels, str | bytes) else None
    if not isinstance(listed, list | tuple | set | frozenset | dict) or not all(
        isinstance(label, str) for label in listed
    ):
        raise DataError("labels are ", Quote(labels), expected="a list of strings")
    return set(listed)


# --- Pairs --------------------------------------------------------------------


def _overlaps(entities: _Entities, least: float) -> tuple[Ints, Ints]:
    """The numbers of true and of predicted entities that overlap."""
    groups = entities.groups
    text = np.arange(len(groups) // 2)
    _, one, two = intersecting(groups, text, text + len(text))
    start, end = groups.start, groups.end
    shared = np.minimum(end[one], end[two]) - np.maximum(start[one], start[two])
    enough = shared / (end[one] - start[one]) * 100.0 >= least
    return one[enough], two[enough]


def _pairs(entities: _Entities, one: Ints, two: Ints) -> dict[str, tuple[Ints, Bools]]:
    """The pairs of each schema: the true entity, and whether the pair is correct."""
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


def _overall(
    entities: _Entities, overlaps: tuple[Ints, Ints], chance: Mapping[str, Corrected]
) -> dict[str, dict[str, Any]]:
    sizes = entities.sizes().sum(axis=1).tolist()
    found = {}
    for schema, (_, is_correct) in _pairs(entities, *overlaps).items():
        n_correct = int(is_correct.sum())
        counts = _counts(schema, n_correct, len(is_correct) - n_correct, *sizes)
        found[schema] = counts | _beyond(schema, chance, None)
    return found


def _by_label(
    entities: _Entities, overlaps: tuple[Ints, Ints], chance: Mapping[str, Corrected]
) -> dict[str, dict[str, dict[str, Any]]]:
    """The counts of each label, where there are no others."""
    label, sizes, (one, two) = entities.label, entities.sizes(), overlaps
    own = label[one] == label[two]
    used = np.flatnonzero(sizes.any(axis=0)).tolist()
    found: dict[str, dict[str, dict[str, Any]]] = {entities.labels[i]: {} for i in used}
    for schema, (true, is_correct) in _pairs(entities, one[own], two[own]).items():
        n_labels = len(entities.labels)
        code = is_correct * n_labels + label[true]
        n_other, n_correct = np.bincount(code, minlength=2 * n_labels).reshape(2, -1).tolist()
        for i in used:
            counts = _counts(schema, n_correct[i], n_other[i], *sizes[:, i].tolist())
            name = entities.labels[i]
            found[name][schema] = counts | _beyond(schema, chance, name)
    return found


def _counts(
    schema: str, n_correct: int, n_other: int, n_true: int, n_predicted: int
) -> dict[str, Any]:
    """Counts and rates of one schema."""
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


def _chance(corpus: Corpus | None) -> dict[str, Corrected]:
    """Scores of schemas whose chance is known, if texts have known lengths."""
    if corpus is None or not len(corpus.text_length):
        return {}
    strict = corrected_scores(corpus)
    unlabelled = corrected_scores(corpus, scope="unlabelled")
    # Where only one label is looked at, it makes no difference whether labels have to be equal.
    return {STRICT: strict, EXACT: Corrected(unlabelled.overall, strict.by_label)}


def _beyond(schema: str, chance: Mapping[str, Corrected], label: str | None) -> dict[str, float]:
    if schema not in (STRICT, EXACT):
        return {}
    if schema not in chance:
        return {"chance": nan, "corrected": nan}
    found = chance[schema]
    score = found.overall if label is None else found.by_label[label]
    return {"chance": score.chance, "corrected": score.corrected}
