"""The tables of the paper, computed again, and every place where we differ from it.

Li, Rosé, Yuan & Zhou (2024), Estimating Agreement by Chance for Sequence Annotation, ACL.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from beyondchance.annotations.corpus import Corpus
from beyondchance.other_coefficients.coefficient import Task
from beyondchance.other_coefficients.coefficients import value_of

_Spans = tuple[tuple[int, int], ...]

COLUMNS = ("ObsF1", "ChanceF1", "CorrF1", "ObsD", "ExpD", "Alpha", "ObsmuD", "ExpmuD", "muAlpha")
"""The columns of the tables, in the order printed."""


@dataclass(frozen=True, slots=True)
class Case:
    """One simulation: what two annotators marked in one text, and what is printed for it."""

    simulation: int
    case: str
    length: int
    spans: tuple[_Spans, _Spans]
    printed: Mapping[str, float]

    @property
    def table(self) -> str:
        """The name of the table."""
        return f"Sim{self.simulation}"

    @property
    def title(self) -> str:
        """The simulation and the number of its table."""
        return f"simulation {self.simulation} (table {2 * self.simulation + 1})"


@dataclass(frozen=True, slots=True)
class Deviation:
    """A printed number that does not follow from its definition."""

    table: str
    where: str
    case: str
    column: str
    printed: str
    defined: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reproduced:
    """One case with the printed and the computed numbers.

    Attributes
    ----------
    case : Case
    ours : mapping of column to float
    notes : mapping of column to str
        Why a number differs from the printed one, where it does.
    unexplained : tuple of str
        Columns that differ for no known reason.
    """

    case: Case
    ours: Mapping[str, float]
    notes: Mapping[str, str] = field(default_factory=dict)
    unexplained: tuple[str, ...] = ()


_SHORT: tuple[_Spans, _Spans] = (((3, 5), (8, 11), (14, 18)), ((2, 5), (8, 12), (14, 19)))
_LONG: tuple[_Spans, _Spans] = (((6, 15),), ((4, 16),))
_FIVE: _Spans = ((0, 3), (5, 8), (10, 13), (15, 18), (20, 23))
_LAST: _Spans = ((25, 41),)


def _printed(*numbers: float) -> dict[str, float]:
    return dict(zip(COLUMNS, numbers, strict=True))


_SHORT_20 = _printed(0.8571, 0.5335, 0.6938, 0.0075, 0.0537, 0.8602, 0.15, 0.5313, 0.7177)
_SHORT_30 = _printed(0.8571, 0.3544, 0.7787, 0.0033, 0.0366, 0.9090, 0.1, 0.4704, 0.7874)
_LONG_20 = _printed(0.8571, 0.6455, 0.5970, 0.0125, 0.1047, 0.8806, 0.15, 0.5885, 0.7451)
_ONE_20 = _printed(0.8571, 0.1830, 0.8251, 0.0025, 0.0388, 0.9356, 0.05, 0.2996, 0.8331)
_FIVE_41 = _printed(0.6522, 0.5013, 0.3026, 0.1523, 0.2154, 0.2931, 0.3902, 0.5222, 0.2527)
_LAST_41 = _printed(0.6808, 0.5437, 0.3005, 0.0268, 0.2881, 0.9071, 0.3659, 0.5365, 0.3181)

CASES = (
    Case(1, "A", 20, _SHORT, _SHORT_20),
    Case(1, "B", 30, _SHORT, _SHORT_30),
    Case(2, "A", 20, _SHORT, _SHORT_20),
    Case(2, "B", 20, _LONG, _LONG_20),
    Case(3, "A", 20, (((8, 11),), ((8, 12),)), _ONE_20),
    Case(3, "B", 20, _LONG, _LONG_20),
    Case(4, "Annotator1", 41, (_FIVE + _LAST, _FIVE), _FIVE_41),
    Case(4, "Annotator2", 41, (_FIVE + _LAST, _LAST), _LAST_41),
)
"""The simulations of section 3; tables 3, 5, 7 and 9."""


_GAP = "the ten appended zeros are treated as a gap of their own instead of prolonging the last one"
DEVIATIONS = tuple(
    Deviation(table, where, case, column, *numbers)
    for (table, where, case), cells in {
        ("Sim4", "Table 9, annotator 2", "Annotator2"): {
            "ObsF1": (".6808", ".680851 (= 32/47)", "truncated, not rounded"),
            "CorrF1": (".3005", ".300555", "truncated, not rounded"),
        },
        ("Sim1", "Table 3, case B", "B"): {
            "ExpD": (".0366", ".041107", _GAP),
            "Alpha": (".9090", ".918910", "follows from ExpD"),
        },
    }.items()
    for column, numbers in cells.items()
)
"""Every printed number that does not follow from its definition; no other may differ."""


def reproduce() -> tuple[Reproduced, ...]:
    """Compute the simulations of the paper again.

    Examples
    --------
    >>> first = reproduce()[0]
    >>> first.case.title, first.case.case, round(first.ours["CorrF1"], 4)
    ('simulation 1 (table 3)', 'A', 0.6938)
    """
    return tuple(_reproduced(case) for case in CASES)


def _reproduced(case: Case) -> Reproduced:
    spans = {
        name: [[(start, end, "X") for start, end in marked]]
        for name, marked in zip("ab", case.spans, strict=True)
    }
    corpus = Corpus.from_spans(spans, lengths=[case.length])
    found = [value_of(name, Task(corpus=corpus)) for name in ("corrected-f1", "alpha", "mu-alpha")]
    numbers = [number for one in found for number in (one.observed, one.expected, one.value)]
    ours = dict(zip(COLUMNS, numbers, strict=True))
    known = {
        item.column: item.why
        for item in DEVIATIONS
        if (item.table, item.case) == (case.table, case.case)
    }
    differs = [name for name in ours if f"{ours[name]:.4f}" != f"{case.printed[name]:.4f}"]
    return Reproduced(
        case=case,
        ours=ours,
        notes={name: known[name] for name in differs if name in known},
        unexplained=tuple(name for name in differs if name not in known),
    )
