"""How far a score would move if other documents, or other annotators, had been drawn.

The bootstrap on tables of counts: documents are drawn with replacement, each with all its
texts, pairs and labels, and every score is computed anew from the sums. All levels of a
result share the same resampled documents.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from copy import deepcopy
from functools import partial
from math import ceil, nan
from typing import Any, NamedTuple, TypeVar

import numpy as np

from beyondchance.checks import checked_generator
from beyondchance.core.exact import ExactColumns
from beyondchance.core.ragged import distinct
from beyondchance.core.resampling import (
    DRAWN_AT_A_TIME,
    Distribution,
    blocks,
    bootstrap_weights,
    member_weights,
    resample,
    stacked,
    team_weights,
    totals_of,
)
from beyondchance.errors import OptionError
from beyondchance.messages import Quote, Use
from beyondchance.options import MOST_RESAMPLES, ResamplingOptions, checked_options, declared
from beyondchance.results.printed import Named
from beyondchance.settings import Settings
from beyondchance.types import Floats, Ints

SCORES = ("observed", "chance", "corrected")

METHODS = declared(ResamplingOptions)["method"].choices

_Value = TypeVar("_Value")

_SUMS = 4
"""Columns of sums: matched, expected, size, and rows in which random spans can disagree."""

SUMS_AT_A_TIME = 2**21
"""Sums, of units times levels, held at a time."""


class Resampling(NamedTuple):
    """How to resample, checked (see `resampling_of`).

    Attributes
    ----------
    confidence : float
    method : {"expanded", "bca", "percentile"}
    resamples : int
    seed : int, optional
        What to write into the signature; None if the user passed a generator.
    over : {"documents", "annotators", "both"}
    generator : numpy.random.Generator
    is_tested : bool
        Whether there is a test too, which draws whatever the intervals do.
    """

    confidence: float
    method: str
    resamples: int
    seed: int | None
    over: str
    generator: np.random.Generator
    is_tested: bool = False

    @property
    def draws(self) -> int:
        """Resamples that intervals take: none for ``expanded``, which leaves units out instead."""
        return 0 if self.method == "expanded" else self.resamples


def resampling_of(
    settings: Settings, options: Mapping[str, Any], *, is_tested: bool = False, **fixed: str
) -> Resampling:
    """Check the options for resampling a result with these settings.

    Parameters
    ----------
    settings : Settings
    options : ResamplingOptions
        What the user passed.
    is_tested : bool
        Whether there is a test too.
    **fixed : str
        Options for which the caller allows one value only.

    Raises
    ------
    OptionError
        Naming the option that is wrong, and what was expected.

    Examples
    --------
    >>> found = resampling_of(Settings(), {"seed": 7}, over="documents")
    >>> found.confidence, found.resamples, found.method, found.seed
    (0.95, 9999, 'expanded', 7)
    """
    given = checked_options(ResamplingOptions, {**fixed, **options})
    for name, value in fixed.items():
        if given[name] != value:
            raise OptionError(f"{name} is ", Quote(given[name]), expected=(Quote(value), " here"))
    is_drawn = is_tested or given["method"] != "expanded"
    least = _resamples_for(given["confidence"]) if is_drawn else 0
    if least > MOST_RESAMPLES:
        raise OptionError(
            f"confidence is {given['confidence']!r}, whose tails not even {MOST_RESAMPLES:,} "
            "resamples reach",
            expected=f"{1 - 2 / MOST_RESAMPLES:.7f} at most",
        )
    if given["resamples"] < least:
        raise OptionError(
            f"resamples is {given['resamples']:,}, which do not reach the tails of ",
            Use("confidence", given["confidence"]),
            expected=f"{least:,} or more",
        )
    given["generator"], given["seed"] = checked_rng(given["seed"], settings)
    return Resampling(**given, is_tested=is_tested)


def _resamples_for(confidence: float) -> int:
    """Compute the fewest resamples of which one is expected in either tail, or at its edge.

    Examples
    --------
    >>> [_resamples_for(confidence) for confidence in (0.9, 0.95, 0.99, 0.999)]
    [19, 39, 199, 1999]
    """
    # A hair less, because 1 - 0.9 is a little less than 0.1.
    return ceil(2 / (1 - confidence) * (1 - 1e-9)) - 1


def checked_rng(
    seed: np.random.Generator | int | None, settings: Settings
) -> tuple[np.random.Generator, int | None]:
    """Return a source of randomness, and the seed that gives the same digits again.

    A signature has one seed. Where chance was estimated, it is the seed of the estimates,
    and resamples are drawn with the same one.

    Examples
    --------
    >>> checked_rng(7, Settings())[1]
    7
    >>> checked_rng(None, Settings(measure="iou", theta=0.3, samples=1000, seed=5))[1]
    5
    """
    if isinstance(seed, np.random.Generator):
        return seed, None
    seed = settings.seed if seed is None else seed
    if seed is None:
        seed = int(np.random.SeedSequence().entropy)  # type: ignore[arg-type]
    generator = checked_generator(seed)
    if settings.seed not in (None, seed):
        raise OptionError(
            f"seed is {seed}, and chance was estimated with ",
            Use("seed", settings.seed),
            expected="the same seed for both, because a signature has one",
        )
    return generator, int(seed)


class Levels:
    """The levels that scores are wanted of, numbered one after the other; all rows first.

    Parameters
    ----------
    n_rows : int

    Attributes
    ----------
    members : list of arrays of int, shape (rows,)
        The levels that each row is in; -1 for none.
    complements : range
        The levels of all rows but a few.
    absent : list of arrays of int, shape (rows,)
        Those of the complements that each row is not in; -1 for none.
    """

    def __init__(self, n_rows: int) -> None:
        self.members = [np.zeros(n_rows, dtype=np.int64)]
        self.complements = range(0)
        self.absent: list[Ints] = []
        self._names: list[tuple[str, Any]] = [("overall", "")]

    def __len__(self) -> int:
        return len(self._names)

    def add(
        self,
        kind: str,
        names: Sequence[Any],
        *numbers: Ints,
        only: Collection[Any] | None = None,
        are_complements: bool = False,
    ) -> None:
        """Add levels, or `only` some, with the number of each row among `names`, or -1.

        Complements are all rows but those with the number.
        """
        chosen = set(names if only is None else only)
        kept = [i for i, name in enumerate(names) if name in chosen]
        level = np.full(len(names) + 1, -1)  # the last is that of rows without a number
        level[kept] = len(self) + np.arange(len(kept))
        if are_complements:
            self.complements = range(len(self), len(self) + len(kept))
        rows = self.absent if are_complements else self.members
        rows += [level[number] for number in numbers]
        self._names += [(kind, names[i]) for i in kept]

    def named(self, values: Sequence[_Value]) -> dict[str, dict[Any, _Value]]:
        """Name values, one for each level, by kind and name."""
        found: dict[str, dict[Any, _Value]] = {}
        for (kind, name), value in zip(self._names, values, strict=True):
            found.setdefault(kind, Named())[name] = value
        return found


class Rows(NamedTuple):
    """Rows of counts, each in a document, and in one or several levels such as a label.

    Attributes
    ----------
    n_documents : int
    levels : Levels
    document : array of int, shape (rows,)
    columns : ExactColumns
        Matched, expected, size of both sides together, and rows in which chance has freedom.
    a, b : arrays of int, shape (rows,)
        The annotators.
    """

    n_documents: int
    levels: Levels
    document: Ints
    columns: ExactColumns
    a: Ints
    b: Ints

    def sums(self, unit: Ints, n_units: int, levels: range) -> Floats:
        """Sum the rows of some levels by unit.

        Returns
        -------
        array of float, shape (n_units, len(levels), 4)
            Matched, expected, size, and the number of rows in which chance has freedom.
        """
        columns = self.columns
        n_cells = n_units * len(levels)
        sums = np.zeros((n_cells, columns.digits.shape[1]))
        # Complements hold all rows, less those that are absent. Pieces are whole numbers, so
        # that nothing is lost by the subtraction.
        inside = np.isin(levels, self.levels.complements)
        if inside.any():
            whole = columns.by(unit, n_units)
            sums += (whole[:, None] * inside[:, None]).reshape(sums.shape)
        # One way of being in a level after the other, because rows can be in many.
        for sign, numbers in ((1, self.levels.members), (-1, self.levels.absent)):
            for level in numbers:
                row = np.flatnonzero((level >= levels.start) & (level < levels.stop))
                cell = unit[row] * len(levels) + level[row] - levels.start
                sums += sign * columns.by(cell, n_cells, row)
        return columns.put_together(sums).reshape(n_units, len(levels), _SUMS)

    def present(self) -> tuple[Ints, Floats, Floats]:
        """Sum the rows of each level by the documents that it has.

        Returns
        -------
        level : array of int, shape (cells,)
        sums : array of float, shape (cells, 4)
            Of a level in a document.
        whole : array of float, shape (levels, 4)
        """
        members = [(np.flatnonzero(level >= 0), level) for level in self.levels.members]
        row = np.concatenate([row for row, _ in members])
        level = np.concatenate([level[row] for row, level in members])
        cells, number = distinct(level * self.n_documents + self.document[row])
        put_together = self.columns.put_together
        sums, whole = (
            put_together(self.columns.by(owner, n, row))
            for owner, n in ((number, len(cells)), (level, len(self.levels)))
        )
        return cells // self.n_documents, sums, whole


class Team(NamedTuple):
    """The pairs of annotators that there are.

    Attributes
    ----------
    pair : array of int, shape (rows,)
        The pair of each row.
    left, right : arrays of int, shape (pairs,)
        The members of each pair.
    n_members : int
    """

    pair: Ints
    left: Ints
    right: Ints
    n_members: int

    def without_each(self) -> Floats:
        """Return, for each member, 1 for the pairs that it is not in."""
        member = np.arange(self.n_members)[:, None]
        return np.asarray((self.left != member) & (self.right != member), dtype=np.float64)


def team_of(rows: Rows) -> Team:
    """Number the pairs of annotators of the rows."""
    width = int(rows.b.max(initial=0)) + 1
    pairs, pair = distinct(rows.a * width + rows.b)
    members, number = distinct(np.concatenate([pairs // width, pairs % width]))
    left, right = number.reshape(2, -1)
    return Team(pair, left, right, len(members))


def score_of(sums: Floats, name: str) -> Floats:
    """Compute a score from matched, expected, size and rows with freedom; nan if undefined.

    Examples
    --------
    >>> score_of(np.array([3.0, 1.0, 8.0, 1.0]), "corrected").round(4).item()
    0.6667
    """
    matched, expected, size, free = np.moveaxis(sums, -1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        if name == "observed":
            found = 2 * matched / size
        elif name == "chance":
            found = 2 * expected / size
        elif name == "difficulty":
            found = 1 - 2 * expected / size
        else:
            is_defined = (free > 0) | (matched == 0)
            found = np.where(is_defined, (matched - expected) / (size / 2 - expected), nan)
    return np.where(size > 0, found, nan)


def jackknifed(sums: Floats, score: str = "corrected") -> Floats:
    """Compute a score of all documents, and then without each of them.

    Parameters
    ----------
    sums : array of float, shape (documents, ..., 4)
    score : {"corrected", "observed", "chance"}

    Returns
    -------
    array of float, shape (1 + documents, ...)
    """
    whole = sums.sum(axis=0)
    return score_of(np.concatenate([whole[None], whole - sums]), score)


def resampled(rows: Rows, options: Resampling, team: Team) -> Iterator[tuple[range, Distribution]]:
    """Draw documents, annotators or both; a few levels at a time, all from the same draws.

    Where intervals need no draws there are none, and units are left out only.
    """
    n_documents, n_pairs = rows.n_documents, len(team.left)
    unit, n_units = {
        "documents": (rows.document, n_documents),
        "annotators": (team.pair, n_pairs),
        "both": (rows.document * n_pairs + team.pair, n_documents * n_pairs),
    }[options.over]
    draws, n_levels = options.draws, len(rows.levels)
    most = SUMS_AT_A_TIME // max(n_units, 1), DRAWN_AT_A_TIME // (max(draws, 1) * _SUMS)
    portion = max(min(most), 1)
    for first in range(0, n_levels, portion):
        levels = range(first, min(first + portion, n_levels))
        is_last = levels.stop == n_levels
        rng = options.generator if is_last else deepcopy(options.generator)
        sums = rows.sums(unit, n_units, levels)
        if options.over == "documents":
            draw = partial(bootstrap_weights, n_units, rng=rng)
            yield levels, resample(sums, draw, draws)
        elif options.over == "annotators":
            draw = partial(team_weights, team.n_members, team.left, team.right, rng=rng)
            yield levels, resample(sums, draw, draws, without=team.without_each())
        else:
            table = sums.reshape(n_documents, n_pairs, len(levels), _SUMS)
            yield levels, _both_drawn(table, team, draws, rng)


def _both_drawn(
    table: Floats, team: Team, resamples: int, rng: np.random.Generator
) -> Distribution:
    """Draw documents and annotators, from sums by document and pair."""
    n_documents, n_pairs = table.shape[:2]
    by_pair = totals_of(table)
    whole = by_pair(np.ones((1, n_documents)))[0]
    # Annotators are drawn first and at once, because they are few; pairs are many, and are made
    # in portions.
    members = stacked(
        member_weights(team.n_members, n_pairs, resamples, rng), np.empty(team.n_members)
    )

    def pooled(sums: Floats, pairs: Floats) -> Floats:
        return np.asarray((sums * pairs[..., None, None]).sum(axis=-3))

    drawn, first = [], 0
    for n in blocks(resamples, whole.size, cells=DRAWN_AT_A_TIME):
        times = members[first : first + n]
        sums = stacked(map(by_pair, bootstrap_weights(n_documents, n, rng)), whole)
        drawn.append(pooled(sums, times[:, team.left] * times[:, team.right]))
        first += n
    others = np.stack([pooled(whole, pairs) for pairs in team.without_each()])
    found = whole.sum(axis=0)
    return Distribution(stacked(drawn, found), found, [found - table.sum(axis=1), others])
