"""Counts by the four schemas of MUC and SemEval-2013 task 9.1, as nervaluate has them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from math import nan
from typing import Any, NamedTuple

from beyondchance.annotations.building import Spans
from beyondchance.annotations.corpus import Corpus
from beyondchance.annotations.names import as_list
from beyondchance.checks import Within, checked_number, checked_option, is_whole
from beyondchance.errors import DataError, MismatchError, OptionError, SpanError
from beyondchance.evaluation.correction import SIDES, Corrected, corrected_scores
from beyondchance.evaluation.pairing import Edge, best_pairs
from beyondchance.messages import Quote

STRICT, EXACT, PARTIAL, ENT_TYPE = ("strict", "exact", "partial", "ent_type")
INCLUSIVE, EXCLUSIVE = ENDS = ("inclusive", "exclusive")
_EVERYTHING, _PLACE, _LABEL = slice(0, 4), slice(0, 3), slice(3, 4)
"""What of two entities that overlap has to be equal, so that they are a correct pair."""
_LISTS = "a list for each text, of tags or of dictionaries with start, end and label"


class _Entity(NamedTuple):
    """An entity ``[start, end)`` of a text."""

    text: int
    start: int
    end: int
    label: str


@dataclass(frozen=True, slots=True)
class _Sides:
    """The entities of both sides; and the same as a corpus, where texts have known lengths."""

    true: list[_Entity]
    predicted: list[_Entity]
    corpus: Corpus | None

    def only(self, labels: Collection[str]) -> _Sides:
        """The entities with some of the labels."""
        true, predicted = (
            [entity for entity in side if entity.label in labels]
            for side in (self.true, self.predicted)
        )
        corpus = self.corpus
        if corpus is not None:
            corpus = corpus.select(labels=[label for label in corpus.labels if label in labels])
        return _Sides(true, predicted, corpus)


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
    sides = _sides(true, predicted, lengths, is_inclusive=ends == INCLUSIVE)
    if labels is not None:
        sides = sides.only(_checked_labels(labels))
    overlaps = _overlaps(sides, least)
    chance = _chance(sides.corpus)
    return {
        "overall": _overall(sides, overlaps, chance),
        "entities": _by_label(sides, overlaps, chance),
    }


# --- Data ---------------------------------------------------------------------


def _sides(true: Any, predicted: Any, lengths: Any, *, is_inclusive: bool) -> _Sides:
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
        one, two = (
            _named(name, side, is_inclusive=is_inclusive)
            for name, side in zip(SIDES, texts, strict=True)
        )
        known = None if lengths is None else _checked_lengths(lengths, len(texts[0]))
        return _Sides(one, two, None if known is None else _corpus(one, two, known))
    if lengths is not None:
        raise OptionError("lengths go with entities, not with tags")
    corpus = Corpus.from_tags(dict(zip(SIDES, texts, strict=True)))
    columns = (corpus.span_text, corpus.span_start, corpus.span_end, corpus.span_label)
    rows = list(zip(*(column.tolist() for column in columns), strict=True))
    entities = [_Entity(text, s, e, corpus.labels[label]) for text, s, e, label in rows]
    who = corpus.span_annotator.tolist()
    one, two = (
        [entity for entity, side in zip(entities, who, strict=True) if side == number]
        for number in range(2)
    )
    return _Sides(one, two, corpus)


def _corpus(true: list[_Entity], predicted: list[_Entity], lengths: list[int]) -> Corpus:
    """The entities as a corpus, in which each is marked once."""
    spans: dict[str, Spans] = {}
    for name, side in zip(SIDES, (true, predicted), strict=True):
        texts: list[list[tuple[int, int, str]]] = [[] for _ in lengths]
        for entity in side:
            texts[entity.text].append((entity.start, entity.end, entity.label))
        spans[name] = texts
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


def _named(name: str, texts: Iterable[Iterable[Any]], *, is_inclusive: bool) -> list[_Entity]:
    """Entities that are dictionaries."""
    found = []
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
            if not 0 <= start < stop:
                found_at = f"it begins at {start} and ends at {end}"
                raise SpanError(
                    found_at, where=where, expected="an end that is not before the start"
                )
            found.append(_Entity(number, int(start), stop, label))
    return found


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


def _overlaps(sides: _Sides, least: float) -> list[tuple[int, int]]:
    """The numbers of a true and a predicted entity that overlap, from left to right."""
    both = [
        *((entity, 0, number) for number, entity in enumerate(sides.true)),
        *((entity, 1, number) for number, entity in enumerate(sides.predicted)),
    ]
    both.sort(key=lambda row: (row[0].text, row[0].start))
    going_on: tuple[list[tuple[_Entity, int]], ...] = ([], [])
    found = []
    for entity, side, number in both:
        other = going_on[1 - side]
        other[:] = [
            (one, i) for one, i in other if one.text == entity.text and one.end > entity.start
        ]
        for one, i in other:
            pair = (number, i) if side == 0 else (i, number)
            truth = entity if side == 0 else one
            shared = min(one.end, entity.end) - entity.start
            if (shared / (truth.end - truth.start)) * 100.0 >= least:
                found.append(pair)
        going_on[side].append((entity, number))
    return found


def _pairs(sides: _Sides, overlaps: list[tuple[int, int]]) -> dict[str, list[Edge]]:
    """The pairs of each schema."""
    both = [(i, j, sides.true[i], sides.predicted[j]) for i, j in overlaps]
    strict, exact, ent_type = (
        best_pairs([Edge(i, j, one[part] == two[part]) for i, j, one, two in both])
        for part in (_EVERYTHING, _PLACE, _LABEL)
    )
    return {STRICT: strict, EXACT: exact, PARTIAL: exact, ENT_TYPE: ent_type}


# --- Counts and rates ---------------------------------------------------------


def _overall(
    sides: _Sides, overlaps: list[tuple[int, int]], chance: Mapping[str, Corrected]
) -> dict[str, dict[str, Any]]:
    found = {}
    for schema, pairs in _pairs(sides, overlaps).items():
        n_correct = sum(pair.is_correct for pair in pairs)
        sizes = len(sides.true), len(sides.predicted)
        counts = _counts(schema, n_correct, len(pairs) - n_correct, *sizes)
        found[schema] = counts | _beyond(schema, chance, None)
    return found


def _by_label(
    sides: _Sides, overlaps: list[tuple[int, int]], chance: Mapping[str, Corrected]
) -> dict[str, dict[str, dict[str, Any]]]:
    """The counts of each label, where there are no others."""
    true, predicted = sides.true, sides.predicted
    n_true, n_predicted = (Counter(entity.label for entity in side) for side in (true, predicted))
    own = [(i, j) for i, j in overlaps if true[i].label == predicted[j].label]
    found: dict[str, dict[str, dict[str, Any]]] = {
        label: {} for label in sorted(n_true | n_predicted)
    }
    for schema, pairs in _pairs(sides, own).items():
        correct = Counter(true[pair.true].label for pair in pairs if pair.is_correct)
        every = Counter(true[pair.true].label for pair in pairs)
        for label, schemas in found.items():
            n_other = every[label] - correct[label]
            counts = _counts(schema, correct[label], n_other, n_true[label], n_predicted[label])
            schemas[schema] = counts | _beyond(schema, chance, label)
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
