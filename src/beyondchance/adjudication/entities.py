"""Entities that a team found: spans are matched first, then votes decide.

Spans of different annotators are one entity if they overlap by more than a tenth of what either
covers; an annotator has at most one span in an entity. Spans with one label are joined first, by
decreasing overlap; what has no majority then is joined once more, whatever the labels. An entity is
found if more than half of those who annotated the document have it. Its label is the one with most
votes; its edges are those of the version with most votes, of several the one that overlaps the
others most. Braylan & Lease (2021) match and merge in the same spirit.

Entities that overlap are only taken together if an annotator marked both. What cannot be decided
is a tie. Nothing depends on the order of annotators or documents: only spans that overlap, one
after the other, have to do with one another, and these are ordered by their content.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from beyondchance.adjudication.votes import Chosen, Marks, Votes, cells_of, on_lines, taken, voted
from beyondchance.annotations.corpus import Corpus
from beyondchance.annotations.pairs import annotation_numbers
from beyondchance.core.ragged import total
from beyondchance.types import Bools, Floats, Ints

_PRECISE = 10**9
"""Agreement of annotators as whole numbers, whose sums do not depend on their order."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Entities:
    """Entities that at least half of a team found, as columns in reading order.

    Attributes
    ----------
    spans : Chosen
        The version of each that was chosen.
    votes : array of int
        How many members have it, in any version.
    is_tie : array of bool
        Whether votes do not decide if it is one, its label or its edges.
    is_rival : array of bool
        Whether it gives way to another that it overlaps; it is a tie as well.
    of_mark : array of int, shape (marks,)
        The entity of each span of members; -1 for those that fewer than half found.
    """

    spans: Chosen
    votes: Ints
    is_tie: Bools
    is_rival: Bools
    of_mark: Ints


def agreement_with_others(marks: Marks, corpus: Corpus, is_member: Bools) -> Floats:
    """Compute the token F1 of each member with all others of the same documents together.

    0 where there is nothing to compare.
    """
    n = len(corpus.annotators)
    if not len(marks.text):
        return np.zeros(n)
    length = marks.end - marks.start
    n_documents = len(corpus.documents)
    of_document = total(corpus.text_document[marks.text], length, n_documents)
    annotation = annotation_numbers(corpus, marks.text, marks.annotator)
    is_own = is_member[corpus.annotation_annotator]
    own = total(annotation, length, len(is_own))[is_own]
    here, who = corpus.annotation_document[is_own], corpus.annotation_annotator[is_own]
    n_here = np.bincount(here, minlength=n_documents)[here]
    both = (n_here - 2) * own + of_document[here]
    size = total(who, both * (n_here > 1), n)
    cells = cells_of(marks)
    shared = (np.bincount(cells.number) - 1) * (cells.spans.end - cells.spans.start)
    matched = total(cells.annotator, shared[cells.number], n)
    return np.divide(2 * matched, size, out=np.zeros(n), where=size > 0)


def entities_of(marks: Marks, votes: Votes, trust: Floats) -> Entities:
    """Match the spans of a team, and let it vote.

    Parameters
    ----------
    marks : Marks
    votes : Votes
    trust : array of float, shape (annotators,)
        How much each agrees with the others: who is followed in ties.
    """
    versions, number, weight = voted(marks, votes)
    n = len(weight)
    followed = total(number, np.rint(trust * _PRECISE)[marks.annotator], n).astype(np.int64)
    holders: list[set[int]] = [set() for _ in range(n)]
    for version, who in zip(number.tolist(), marks.annotator.tolist(), strict=True):
        holders[version].add(who)
    columns = (versions.start, versions.end, versions.label, weight, followed)
    listed = (*(column.tolist() for column in columns), map(frozenset, holders))
    items = [_Version(*row) for row in zip(range(n), *listed, strict=True)]
    heads = np.flatnonzero(on_lines(versions, versions.text)[1])
    present = votes.present[versions.text].tolist()
    entity = np.full(n, -1)
    rows: list[list[int]] = []
    for low, high in pairwise([*heads.tolist(), n]):
        for members, *decided in _decided(items[low:high], present[low]):
            entity[members] = len(rows)
            rows.append(decided)
    table = np.array(rows, dtype=np.int64).reshape(-1, 4)
    spans = taken(versions, table[:, 0])
    order = np.lexsort((spans.label, -spans.end, spans.start, spans.text))
    _, n_found, is_tie, is_rival = table[order].T
    return Entities(
        spans=taken(spans, order),
        votes=n_found,
        is_tie=is_tie.astype(bool),
        is_rival=is_rival.astype(bool),
        of_mark=np.append(np.argsort(order), -1)[entity[number]],
    )


class _Version(NamedTuple):
    """A span with a label, and those who marked it.

    Attributes
    ----------
    number, start, end, label : int
        Numbers and labels are in the order of their content.
    weight, trust : int
        The votes that it has, and how much those who have it agree with the others.
    holders : frozenset of int
        Those who have it.
    """

    number: int
    start: int
    end: int
    label: int
    weight: int
    trust: int
    holders: frozenset[int]


def _shared(one: _Version, other: _Version) -> float:
    """Compute the share of what either covers that both cover."""
    both = min(one.end, other.end) - max(one.start, other.start)
    return max(both, 0) / (one.end - one.start + other.end - other.start - both)


def _join(
    clusters: Iterable[list[_Version]], pairs: Iterable[tuple[_Version, _Version]]
) -> list[list[_Version]]:
    """Join the clusters of pairs of versions, unless an annotator has spans in both."""
    home = {x.number: cluster for cluster in clusters for x in cluster}
    for x, y in pairs:
        one, other = home.get(x.number), home.get(y.number)
        if one is None or other is None or one is other:
            continue
        if all(a.holders.isdisjoint(b.holders) for a in one for b in other):
            one += other
            home.update((z.number, one) for z in other)
    return list({id(cluster): cluster for cluster in home.values()}.values())


def _weight(versions: Iterable[_Version]) -> int:
    return sum(x.weight for x in versions)


def _decided(
    items: Sequence[_Version], present: int
) -> Iterator[tuple[list[int], int, int, bool, bool]]:
    """Decide about the entities of a place, those first of which most is certain.

    Yields the versions of each, the one chosen, how many found it, and whether it is a tie or a
    rival.
    """
    pairs = []
    for i, x in enumerate(items):
        for y in items[i + 1 :]:
            if y.start >= x.end:
                break
            pairs += [(-_shared(x, y), x, y)] * (_shared(x, y) > 0.1)
    ordered = [(x, y) for _, x, y in sorted(pairs)]
    alike = _join([[x] for x in items], [(x, y) for x, y in ordered if x.label == y.label])
    sure = [x for x in alike if 2 * _weight(x) > present]
    others = _join([x for x in alike if 2 * _weight(x) <= present], ordered)

    def rank(members: list[_Version]) -> tuple[bool, bool, int, _Version]:
        is_alike = any(2 * x.weight > present for x in members)
        return not is_alike, members not in sure, -_weight(members), min(members)

    before: list[_Version] = []
    for members in sorted(sure + [x for x in others if 2 * _weight(x) >= present], key=rank):
        version, is_tie, is_rival = _vote(sorted(members), before)
        before += [] if is_rival else [version]
        is_tie |= is_rival or 2 * _weight(members) == present
        n_found = sum(len(x.holders) for x in members)
        yield [x.number for x in members], version.number, n_found, is_tie, is_rival


def _vote(members: Sequence[_Version], before: Sequence[_Version]) -> tuple[_Version, bool, bool]:
    """Choose the label and the edges: the version, whether it is a tie, whether it gives way."""
    votes, trust, weight = Counter[int](), Counter[int](), _weight(members)
    for x in members:
        votes[x.label] += x.weight
        trust[x.label] += x.trust
    label = max(votes, key=lambda x: (votes[x], trust[x], -x))
    is_tie = [*votes.values()].count(votes[label]) > 1
    known = [x for x in members if x.label == label]
    free = [
        x
        for x in known
        if not any(
            x.start < y.end and y.start < x.end and not x.holders & y.holders for y in before
        )
    ]
    among = free or known

    def worth(x: _Version) -> tuple[int, float]:
        return x.weight, round(sum(y.weight * _shared(x, y) for y in members) / weight, 12)

    best = max(map(worth, among))
    same = [x for x in among if worth(x) == best]
    chosen = min(same, key=lambda x: (-x.trust, x.start - x.end, x.start))
    met = _weight(x for x in members if _shared(x, chosen))
    is_tie |= len(same) > 1 or len(free) < len(known) or 2 * met <= weight
    return chosen, is_tie, not free
