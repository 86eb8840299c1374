"""Why coefficients differ on the data at hand, in sentences with numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from math import isnan

import numpy as np

from beyondchance.core.ragged import begins_apart, total
from beyondchance.errors import OverlapError
from beyondchance.messages import Quote, Text
from beyondchance.numbers import in_digits
from beyondchance.other_coefficients.coefficient import Coefficient, Task, scored
from beyondchance.other_coefficients.sections import (
    Sections,
    compared,
    sections,
    sections_by_label,
)

ENOUGH = 0.1
"""By how much two coefficients must differ to need an explanation."""
MOST = 5
"""Sentences that a reader will read."""
OURS = "corrected-f1"

Values = Mapping[str, Coefficient]


def differences(task: Task, values: Values) -> tuple[Text, ...]:
    """Explain why coefficients differ, if two of them differ by more than 0.1.

    Parameters
    ----------
    task : Task
    values : mapping of str to Coefficient
        All that are compared, the corrected F1 among them.

    Returns
    -------
    tuple of Text
        The widest difference first; at most five sentences.

    Examples
    --------
    >>> differences(None, {name: Coefficient(name=name, value=0.5) for name in ("s", "pi")})
    ()
    """
    known = {name: one.value for name, one in values.items() if not isnan(one.value)}
    low, high = (chosen(known, key=known.__getitem__, default="") for chosen in (min, max))
    if not known or known[high] - known[low] <= ENOUGH:
        return ()
    first = (
        f"The values differ by up to {known[high] - known[low]:.2f}: {low} is "
        f"{_short(known[low])}, {high} is {_short(known[high])}."
    )
    causes = []
    for names, references, explained in _CAUSES:
        pairs = [(one, two) for one in names for two in references if {one, two} <= known.keys()]
        gaps = [(abs(known[one] - known[two]), one) for one, two in pairs]
        far = list(dict.fromkeys(name for gap, name in gaps if gap > ENOUGH))
        text = explained(task, values, far) if far else ()
        if text:
            causes.append((max(gaps)[0], text))
    ranked = sorted(causes, key=lambda cause: -cause[0])
    return (first, *(text for _, text in ranked[: MOST - 1]))


# --- In words -----------------------------------------------------------------


def _listed(values: Values, names: Iterable[str]) -> str:
    """List names with their values: ``s (0.90) and ac1 (0.93)``."""
    return " and ".join(f"{name} ({_short(values[name].value)})" for name in names)


def _short(value: float) -> str:
    """Write two digits, or four where two would make 0 or 1 of something else.

    >>> _short(0.5), _short(1.0), _short(0.997), _short(-0.004)
    ('0.50', '1.00', '0.9970', '-0.0040')
    """
    text = f"{value:.2f}"
    return in_digits(value) if abs(float(text)) in {0.0, 1.0} and float(text) != value else text


def _percent(share: float) -> str:
    """Write a percentage that is never rounded to 0 or 100 from something else."""
    text = f"{share:.0%}"
    if text == "0%" and share > 0:
        return "less than 1%"
    return "more than 99%" if text == "100%" and share < 1 else text


def _unmarked_text(task: Task, values: Values, far: list[str]) -> Text:
    """Explain that S and AC1 count unmarked text as agreement, and do not correct for it."""
    ours = values[OURS].value
    names = [name for name in ("s", "ac1") if name in values and values[name].value > ours]
    parts = task.once(sections)
    unmarked = unmarked_share(parts)
    if not unmarked or not {*names} & {*far}:
        return ()
    agreed = values[names[0]].observed
    elsewhere = 1 - (1 - agreed) / (1 - unmarked)
    return (
        f"Unannotated text counts as agreement for {_listed(values, names)}: no annotator marked "
        f"{_percent(unmarked)} of the {parts.n_positions:,} {task.corpus.positions}; with those, "
        f"{_percent(agreed)} agree, without them {_percent(elsewhere)}."
    )


def _single_tokens(task: Task, values: Values, far: list[str]) -> Text:
    """Explain that shuffled tokens meet more often, or less often, than random spans."""
    n_positions = task.once(sections).n_positions
    n_texts = len(compared(task.corpus).text_length)
    return (
        f"Single {task.corpus.positions}, shuffled over all {n_positions:,}, reach an F1 of "
        f"{_short(values['shuffled-f1'].expected)} by chance, spans placed at random within texts "
        f"of {n_positions / n_texts:,.0f} on average {_short(values[OURS].expected)}: so "
        f"{_listed(values, far)} and {_listed(values, [OURS])} differ."
    )


def _near_misses(task: Task, values: Values, far: list[str]) -> Text:
    """Explain that alpha and gamma look at how far boundaries lie apart."""
    try:
        n_units, n_equal, n_near = near_misses(task.once(sections_by_label))
    except OverlapError:
        return ()
    if not n_near:
        return ()
    exact = scored(task, "exact")
    as_exact = (
        ""
        if isnan(exact.corrected)
        else f"; the corrected F1 of equal spans, which credits none, is {_short(exact.corrected)}"
    )
    return (
        f"Near misses: of {n_units:,} spans held against another annotator's, {n_equal:,} have an "
        f"equal one and {n_near:,} overlap one of the same label; the distance between boundaries "
        f"is what counts for {_listed(values, far)}{as_exact}."
    )


def _only_what_both_marked(task: Task, values: Values, far: list[str]) -> Text:
    """Explain that cu-alpha asks about labels only."""
    share = share_marked_by_both(task.once(sections))
    if share == 1:
        return ()
    return (
        f"{_listed(values, far)} is about labels only: it looks at {_percent(share)} of the "
        f"{task.corpus.positions} that at least one of two annotators marked, those that both did."
    )


def _unequal_habits(task: Task, values: Values, far: list[str]) -> Text:
    """Explain that kappa lets annotators keep their habits, while pi expects shared ones."""
    marked = marked_shares(task.once(sections))
    least, *_, most = sorted(marked, key=marked.__getitem__)
    names = compared(task.corpus).annotators
    return (
        _listed(values, ["kappa"]),
        " lets each annotator keep its habits, ",
        _listed(values, far[:1]),
        " does not: ",
        Quote(names[least]),
        f" marked {_percent(marked[least])} of the {task.corpus.positions}, ",
        Quote(names[most]),
        f" {_percent(marked[most])}.",
    )


_CAUSES: tuple[tuple[tuple[str, ...], tuple[str, ...], Callable[..., Text]], ...] = (
    (("s", "ac1"), (OURS,), _unmarked_text),
    (("shuffled-f1",), (OURS,), _single_tokens),
    (("alpha", "gamma"), (OURS,), _near_misses),
    (("cu-alpha",), (OURS, "mu-alpha"), _only_what_both_marked),
    (("pi", "fleiss", "nominal-alpha"), ("kappa",), _unequal_habits),
)
"""Coefficients, those from which they differ, and what explains it: nothing, if empty."""


# --- In numbers ---------------------------------------------------------------


def unmarked_share(parts: Sections) -> float:
    """Compute the share of positions that no annotator marked.

    Examples
    --------
    >>> from beyondchance import Corpus
    >>> spans = {"anna": [[(0, 2, "X"), (4, 5, "X")]], "ben": [[(0, 1, "X")]]}
    >>> parts = sections(Task(corpus=Corpus.from_spans(spans, lengths=[10])))
    >>> unmarked_share(parts), share_marked_by_both(parts), near_misses(parts)
    (0.7, 0.3333333333333333, (3, 0, 2))
    """
    units = np.flatnonzero(parts.is_unit)
    stride = int(parts.field_length.max(initial=0)) + 1
    start, end = (parts.field[units] * stride + edge[units] for edge in (parts.start, parts.end))
    order = np.argsort(start, kind="stable")
    start, end = start[order], end[order]
    apart = np.flatnonzero(begins_apart(start, end))
    marked = int((np.maximum.reduceat(end, apart) - start[apart]).sum()) if len(apart) else 0
    return 1 - marked / parts.n_positions


def share_marked_by_both(parts: Sections) -> float:
    """Compute the share of positions marked by one of two annotators that both marked."""
    met = parts.meetings
    one, other = parts.is_unit[met.left], parts.is_unit[met.right]
    return float(met.shared[one & other].sum() / met.shared[one | other].sum())


def near_misses(parts: Sections) -> tuple[int, int, int]:
    """Count spans held against another annotator's, those with an equal, those with a near one."""
    # Every pair of units that meet counts for either of them.
    left, right, _ = parts.meetings_of_units
    equal = (parts.start[left] == parts.start[right]) & (parts.end[left] == parts.end[right])
    n_equal = int(equal.sum())
    n_met = len(np.unique(left * len(parts.track_field) + parts.track[right]))
    n_units = int((parts.is_unit * (parts.field_team[parts.field] - 1)).sum())
    return n_units, n_equal, n_met - n_equal


def marked_shares(parts: Sections) -> dict[int, float]:
    """Compute the share that each annotator, by number, marked of what it saw."""
    annotator = parts.track_annotator[parts.track]
    n_annotators = int(annotator.max()) + 1
    seen = total(annotator, parts.length, n_annotators)
    marked = total(annotator, parts.length * parts.is_unit, n_annotators)
    return {i: float(marked[i] / seen[i]) for i in np.flatnonzero(seen).tolist()}
