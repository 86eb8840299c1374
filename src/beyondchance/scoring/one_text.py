"""What random annotators do in one text: the public face of the mathematics."""

from __future__ import annotations

from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike

from beyondchance.checks import (
    checked_generator,
    checked_option,
    checked_share,
    checked_whole,
    is_whole,
)
from beyondchance.core.lengths import table_of
from beyondchance.core.models import MODELS, Model
from beyondchance.core.overlapping import level_profiles
from beyondchance.core.placement import coverage_profiles, item_profiles
from beyondchance.core.ragged import distinct
from beyondchance.core.random_places import (
    coverage_of,
    layers_in,
    layers_of,
    sets_of,
    spans_of,
    start_profiles,
    whole_lines,
)
from beyondchance.core.span_trees import FREE, Forest, Nodes, Structure, forest, nested_structure
from beyondchance.errors import LengthsError, OptionError
from beyondchance.messages import Quote
from beyondchance.options import ScoringOptions
from beyondchance.scoring.options import scoring_of
from beyondchance.types import Floats, Ints
from beyondchance.values import internal

METHODS = ("exact", "uniform")
_MOST = 2**40
"""Positions that a text may have; sums over a million spans of them fit into 64 bits."""


@internal
class _Text:
    """The spans of one annotation: the model, text size, lengths, parents and depths."""

    model: Model
    n: int
    lengths: Ints
    parents: Ints
    depth: Ints

    def structure(self) -> Structure:
        """Build the structure of its spans, which are one group."""
        line = np.zeros_like(self.lengths)
        return nested_structure(line, self.lengths, line, parent=self.parents, depth=self.depth)


def start_probabilities(
    n: int,
    lengths: ArrayLike,
    *,
    model: str = "disjoint",
    parents: ArrayLike | None = None,
    method: str = "exact",
    alpha: float = 0.99,
) -> list[Floats]:
    r"""Compute the probability that each span starts at each place, by chance.

    All arrangements of the spans in a text of `n` positions are equally likely:
    Equation 1 of the paper for the disjoint model, Proposition 5 for the
    overlapping one. Under the nested model that holds for the outermost spans in
    the text, and for the spans inside each span.

    Parameters
    ----------
    n : int
        Positions of the text.
    lengths : array of int, shape (k,)
        Lengths of the spans.
    model : {"disjoint", "nested", "overlapping"}
        How random spans may be placed relative to each other; see `agreement`.
    parents : array of int, shape (k,), optional
        For the nested model: which of the spans each span lies in, by its place in
        `lengths`; -1 for the text. By default none lies in another.
    method : {"exact", "uniform"}
        ``uniform`` is the paper's approximation: every place of span i is taken
        to be equally likely if :math:`(n - a + k)/(n - a_i + 1) > \alpha`, with
        a the total length; other spans are treated exactly.
    alpha : float
        The threshold of the approximation.

    Returns
    -------
    list of k arrays
        For each span, in the order given, the probabilities of its
        ``n - length + 1`` places. They are read-only: spans that have them in
        common share one array.

    Examples
    --------
    Of two spans, of 1 and 2 tokens, in three tokens: one is first or the other.

    >>> start_probabilities(3, [1, 2])
    [array([0.5, 0. , 0.5]), array([0.5, 0.5])]

    A span of 1 inside a span of 2: it is first there or second.

    >>> start_probabilities(3, [1, 2], model="nested", parents=[1, -1])
    [array([0.25, 0.5 , 0.25]), array([0.5, 0.5])]
    """
    text = validated_text(n, lengths, model, parents)
    checked_option("method", method, METHODS)
    if text.model.has_parents:
        if method == "uniform":
            raise OptionError(f"method 'uniform' goes with model 'disjoint', not with {model!r}")
        probabilities, index = _nested_probabilities(text)
    else:
        size, (kinds, index) = text.n, np.unique(text.lengths, return_inverse=True)
        places = size - kinds + 1
        uniform = np.full(len(kinds), text.model.is_independent)
        if method == "uniform" and not text.model.is_independent:
            # The paper's criterion: the highest probability is close to the uniform one.
            share = checked_share("alpha", alpha)
            uniform = (size - text.lengths.sum() + len(text.lengths)) / places > share
        exact = kinds[~uniform]
        profiles = item_profiles(table_of(size, text.lengths), np.zeros_like(exact), exact)
        expanded = map(profiles.expand, range(len(exact)))
        probabilities = [
            np.full(number, 1 / number) if is_uniform else next(expanded)
            for number, is_uniform in zip(places.tolist(), uniform.tolist(), strict=True)
        ]
    for column in probabilities:
        column.flags.writeable = False
    return [probabilities[i] for i in index.tolist()]


def _nested_probabilities(text: _Text) -> tuple[list[Floats], Ints]:
    """Return the start probabilities of spans inside spans, and which of them each span has."""
    each = np.arange(len(text.lengths))
    if not len(each):
        return [], each
    sets, number = sets_of(np.array([text.n]), text.structure()._replace(group=each), spans_of)
    used, index = distinct(sets.place[sets.first[number]])
    profiles = start_profiles(sets, used)
    return [profiles.expand(i) for i in range(len(used))], index


def coverage(
    n: int,
    lengths: ArrayLike,
    *,
    model: str = "disjoint",
    parents: ArrayLike | None = None,
    layer: int = 1,
    method: str = "exact",
    alpha: float = 0.99,
) -> Floats:
    """Compute the probability that each position is annotated, by chance.

    Parameters
    ----------
    n, lengths, model, parents, method, alpha
        As in `start_probabilities`.
    layer : int
        How many spans at least contain the position: 1 for any. Under the nested model
        these are the layers, from the outermost inwards. The layers add up to the number
        of spans that contain a position on average.

    Returns
    -------
    array of float, shape (n,)

    Examples
    --------
    A two-token span in three tokens always covers the middle one.

    >>> coverage(3, [2])
    array([0.5, 1. , 0.5])

    A span of one token inside it covers each of the two as often as the other.

    >>> coverage(3, [2, 1], model="nested", parents=[-1, 0], layer=2)
    array([0.25, 0.5 , 0.25])
    """
    text = validated_text(n, lengths, model, parents)
    wanted = checked_whole("layer", layer, least=1, error=LengthsError)
    size, spans = text.n, text.lengths
    independent = text.model.is_independent
    if checked_option("method", method, METHODS) == "uniform" and not independent:
        steps = np.zeros(size + 1)
        starts = start_probabilities(size, spans, model=model, method=method, alpha=alpha)
        for length, places in zip(spans.tolist(), starts, strict=True):
            steps[: size - length + 1] += places
            steps[length:] -= places
        return np.cumsum(steps[:-1]) if wanted == 1 else np.zeros(size)
    if independent and len(spans):
        profiles, n_levels = level_profiles(table_of(size, spans))
        return profiles.expand(wanted - 1) if wanted <= n_levels[0] else np.zeros(size)
    if wanted > text.depth.max(initial=0):
        return np.zeros(size)
    if not text.model.has_parents:
        return coverage_profiles(table_of(size, spans), np.array([0])).expand(0)
    sets, _ = sets_of(np.array([size]), text.structure(), layers_of)
    return coverage_of(sets, layers_in(sets), np.array([wanted - 1])).profiles.expand(0)


def expected_match(
    n: int,
    lengths_a: ArrayLike,
    lengths_b: ArrayLike,
    *,
    parents_a: ArrayLike | None = None,
    parents_b: ArrayLike | None = None,
    **scoring: Unpack[ScoringOptions],
) -> float:
    """Compute the match that two random annotators with these spans reach on average.

    Parameters
    ----------
    n : int
        Positions of the text.
    lengths_a, lengths_b : array of int
        Lengths of the spans of either annotator.
    parents_a, parents_b : array of int, optional
        For the nested model, as in `start_probabilities`.
    measure, model, theta, samples, seed : optional
        As in `agreement`; the model is ``disjoint`` by default, and there is no ``auto``, because
        lengths do not say how spans lie. All spans have one label, so that there is no scope.

    Returns
    -------
    float
        Chance agreement (F1) is twice this, divided by the two sizes.

    Examples
    --------
    The case A of the paper's first simulation: chance F1 is .5335.

    >>> round(2 * expected_match(20, [2, 3, 4], [3, 4, 5]) / (9 + 12), 4)
    0.5335

    Two spans of one token in four: they start together, and end, in one case of four.

    >>> expected_match(4, [1], [1], measure="boundary")
    0.5
    """
    if "scope" in scoring:
        raise OptionError("scope does not apply to one text", remedy="all spans have one label")
    model = checked_option("model", scoring.pop("model", "disjoint"), MODELS)
    resolved = scoring_of({**scoring, "model": model})
    a, b = (
        validated_text(n, lengths, model, parents)
        for lengths, parents in ((lengths_a, parents_a), (lengths_b, parents_b))
    )
    measure = resolved.measure
    if not len(a.lengths) or not len(b.lengths):
        return 0.0
    expect = measure.overlapping if a.model.is_independent else measure.on_lines
    if parents_a is None and parents_b is None:
        # No span lies in another: lengths are all there is.
        has_form = measure.adds_up
        table = table_of(a.n, a.lengths, b.lengths)
        runs = np.stack([table.length, table.count], axis=1).tolist()
        sides = sorted(((runs[: table.first[1]], 0), (runs[table.first[1] :], 1)))
        sets, number = whole_lines(table), np.array([side for _, side in sides])
    else:
        both = _both(a, b)
        has_form = measure.has_form is None or bool(measure.has_form(both).all())
        sets, number = sets_of(np.full(2, a.n), both, measure.members_of)
        number = np.sort(number)
    if expect is not None and has_form:
        # In an order that does not depend on who comes first.
        i, j = number[:, None]
        return float(np.atleast_2d(expect(sets, i, j))[0, 0])
    if measure.estimate is None:
        raise OptionError(
            f"measure {measure.name!r} is not defined for spans that overlap: {measure.why_refused}"
        )
    return measure.estimate(a.n, _forest(a), _forest(b), a.model).mean


def _both(a: _Text, b: _Text) -> Structure:
    """Build the structure of the spans of two annotations; each is a group."""
    owner = np.repeat([0, 1], [len(a.lengths), len(b.lengths)])
    inner = np.where(b.parents < 0, -1, b.parents + len(a.lengths))
    return nested_structure(
        owner,
        np.concatenate([a.lengths, b.lengths]),
        owner,
        parent=np.concatenate([a.parents, inner]),
        depth=np.concatenate([a.depth, b.depth]),
    )


def _forest(text: _Text) -> Forest:
    """Build trees of the spans of a text."""
    order = np.argsort(text.depth, kind="stable").tolist()
    columns = text.parents.tolist(), text.lengths.tolist()
    return forest({i: (columns[0][i], columns[1][i], 1, FREE) for i in order})


def sample_arrangements(
    n: int,
    lengths: ArrayLike,
    *,
    size: int,
    model: str = "disjoint",
    parents: ArrayLike | None = None,
    seed: np.random.Generator | int | None = None,
) -> Ints:
    """Draw random annotations, every arrangement equally likely.

    Parameters
    ----------
    n : int
        Positions of the text.
    lengths : array of int, shape (k,)
        Lengths of the spans.
    size : int
        How many arrangements to draw.
    model : {"disjoint", "nested", "overlapping"}
        How random spans may be placed relative to each other; see `agreement`.
    parents : array of int, shape (k,), optional
        For the nested model, as in `start_probabilities`.
    seed : int or numpy.random.Generator, optional
        Where random numbers begin, or a generator.

    Returns
    -------
    array of int, shape (size, k)
        The starts of the spans, in the order of `lengths`.

    Notes
    -----
    For the disjoint model the spans and the free positions are items in random
    order, of which only the places of the spans are drawn. The cost does not
    depend on `n`. Spans inside a span are drawn in the same way in there.

    Examples
    --------
    Spans of 2 and 3 fill five positions in one order or in the other.

    >>> starts = sample_arrangements(5, [2, 3], size=100, seed=1)
    >>> sorted(set(map(tuple, starts.tolist())))
    [(0, 2), (3, 0)]
    """
    text = validated_text(n, lengths, model, parents)
    draws = _whole_number(size, "size")
    # A span is drawn after the one around it.
    order = np.argsort(text.depth, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    parent = text.parents[order]
    parent = np.where(parent >= 0, rank[parent], -1)
    nodes = Nodes(text.lengths[order], parent, np.full_like(order, FREE))
    return text.model.draw(text.n, nodes, draws, checked_generator(seed))[:, rank]


def validated_text(
    n: int, lengths: ArrayLike, model: str, parents: ArrayLike | None = None
) -> _Text:
    """Check that the spans are positive integers, and fit the text and each other."""
    chosen = MODELS[checked_option("model", model, MODELS)]
    size = _whole_number(n, "n")
    spans = _integers(lengths, "lengths", "a list of lengths", least=1)
    if parents is None:
        # No span lies in another: views of one number each.
        inside, depth = (np.broadcast_to(np.int64(number), len(spans)) for number in (-1, 1))
    elif chosen.has_parents:
        inside = _integers(parents, "parents", "a list with one for each span", least=-1)
        depth = _depths(inside, len(spans))
    else:
        takers = [repr(other.name) for other in MODELS.values() if other.has_parents]
        raise OptionError(f"parents go with model {' or '.join(takers)}, not with {model!r}")
    if chosen.is_independent:
        _check_room("a span of length", int(spans.max(initial=0)), "text", size)
    elif parents is None:
        _check_room("spans of total length", int(spans.sum()), "text", size)
    else:
        for parent in np.unique(inside).tolist():
            where, room = ("text", size) if parent < 0 else ("span", int(spans[parent]))
            _check_room("spans of total length", int(spans[inside == parent].sum()), where, room)
    return _Text(chosen, size, spans, inside, depth)


def _check_room(what: str, needed: int, where: str, room: int) -> None:
    """Refuse spans that do not fit the text, or the span they lie in."""
    if needed > room:
        found = f"{what} {needed} cannot be placed in a {where} of {room} positions"
        raise LengthsError(found, expected=f"no more than the {where} holds")


def _depths(parents: Ints, n_spans: int) -> Ints:
    """Compute how deep each span lies, from 1 on."""
    if len(parents) != n_spans:
        found = f"{len(parents)} parents for {n_spans} spans"
        raise LengthsError(found, expected="one for each span")
    if n_spans and parents.max() >= n_spans:
        found = f"parents contain {parents.max()}"
        raise LengthsError(found, expected=f"numbers from -1 to {n_spans - 1}")
    depth = np.ones(n_spans, dtype=np.int64)
    around = parents
    for _ in range(n_spans):
        if not np.any(around >= 0):
            return depth
        depth += around >= 0
        around = np.where(around >= 0, parents[around], -1)
    raise LengthsError("parents form a circle", expected="every span to end up in the text")


def _integers(values: ArrayLike, name: str, wanted: str, *, least: int) -> Ints:
    """Check a list of integers from `least` on."""
    kind = "positive integers" if least > 0 else f"integers from {least} on"
    try:
        column = np.asarray(values)
    except ValueError:
        raise LengthsError(f"{name} are nested unevenly", expected=wanted) from None
    if column.ndim != 1:
        raise LengthsError(f"{name} have {column.ndim} dimensions", expected=wanted)
    if column.size == 0:
        return np.zeros(0, dtype=np.int64)
    if column.dtype.kind not in "iu":
        given = values.tolist() if isinstance(values, np.ndarray) else list(values)  # type: ignore[arg-type]
        strange = [Quote(value) for value in given if not is_whole(value)]
        problem = strange[0] if strange else "integers beyond 64 bits"
        raise LengthsError(f"{name} contain ", problem, expected=kind)
    low, high = column.min(), column.max()
    if low < least or high > _MOST:
        extreme = low if low < least else high
        raise LengthsError(f"{name} contain {extreme}", expected=f"{kind} up to {_MOST:,}")
    return column.astype(np.int64)


def _whole_number(value: int, name: str) -> int:
    """Check a number of positions or draws."""
    return checked_whole(name, value, most=_MOST, error=LengthsError)
