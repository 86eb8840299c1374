"""Why coefficients differ on the data at hand, in sentences with numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import isnan, nan

import numpy as np

from beyondchance.annotations.corpus import Corpus
from beyondchance.core.ragged import total
from beyondchance.errors import OverlapError
from beyondchance.messages import Quote, Text
from beyondchance.numbers import in_digits
from beyondchance.other_coefficients.coefficient import Coefficient, Task, UndefinedError
from beyondchance.other_coefficients.sections import (
    compared,
    meetings_by_label,
    meetings_of_sections,
    sections,
    sections_by_label,
)
from beyondchance.results.agreement import Agreement
from beyondchance.types import Ints

ENOUGH = 0.1
"""By how much two coefficients must differ to need an explanation."""
MOST = 5
"""Sentences that a reader will read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What can make coefficients differ; nan where spans overlap and it is not known.

    Attributes
    ----------
    positions : str
        What positions are.
    n_positions, n_texts : int
        Of texts with two annotators or more.
    unmarked : float
        Share of the positions that no annotator marked.
    marked_by_both : float
        Of the positions that one or both of two annotators marked, the share that both did.
    n_units, n_equal, n_near : int
        Spans, one by one, held against those of the same label by another annotator; how
        many have an equal one; how many have not, but overlap one.
    least, most : (str, float)
        The annotators who marked the smallest and the largest share of what they saw.
    """

    positions: str
    n_positions: int
    n_texts: int
    unmarked: float
    marked_by_both: float
    n_units: int
    n_equal: int
    n_near: int
    least: tuple[str, float]
    most: tuple[str, float]


def facts(task: Task) -> Facts:
    """Collect what can make coefficients differ.

    Examples
    --------
    >>> spans = {"anna": [[(0, 2, "X"), (4, 5, "X")]], "ben": [[(0, 1, "X")]]}
    >>> data = facts(Task(corpus=Corpus.from_spans(spans, lengths=[10])))
    >>> data.unmarked, data.marked_by_both
    (0.7, 0.3333333333333333)
    >>> data.n_units, data.n_equal, data.n_near
    (3, 0, 2)
    """
    corpus = compared(task.corpus)
    n_positions = int(corpus.text_length.sum())
    marked = _covered(corpus.span_text, corpus.span_start, corpus.span_end)
    n_units, n_equal, n_near = _near_misses(task)
    habits = sorted(_habits(corpus).items(), key=lambda item: item[1])
    return Facts(
        positions=corpus.positions,
        n_positions=n_positions,
        n_texts=len(corpus.text_length),
        unmarked=1 - marked / n_positions if n_positions else nan,
        marked_by_both=_marked_by_both(task),
        n_units=n_units,
        n_equal=n_equal,
        n_near=n_near,
        least=habits[0],
        most=habits[-1],
    )


def _share(part: float, whole: float) -> float:
    return float(part / whole) if whole else nan


def _covered(text: Ints, start: Ints, end: Ints) -> int:
    """Positions that lie in at least one of the spans."""
    order = np.lexsort((start, text))
    stride = int(end.max(initial=0)) + 1
    begins, ends = (text * stride + start)[order], (text * stride + end)[order]
    reached = np.zeros(len(ends), dtype=np.int64)
    reached[1:] = np.maximum.accumulate(ends)[:-1]
    return int(np.maximum(ends - np.maximum(begins, reached), 0).sum())


def _habits(corpus: Corpus) -> dict[str, float]:
    """Of the positions that each annotator saw, the share that it marked."""
    n_positions = total(corpus.text_document, corpus.text_length, len(corpus.documents))
    of_annotation = n_positions[corpus.annotation_document]
    seen = total(corpus.annotation_annotator, of_annotation, len(corpus.annotators))
    result = {}
    for number, name in enumerate(corpus.annotators):
        mine = np.flatnonzero(corpus.span_annotator == number)
        columns = (corpus.span_text, corpus.span_start, corpus.span_end)
        if seen[number]:
            result[name] = float(_covered(*(column[mine] for column in columns)) / seen[number])
    return result


def _near_misses(task: Task) -> tuple[int, int, int]:
    """Spans held against another annotator's, those with an equal, those with a near one."""
    try:
        parts, met = task.once(sections_by_label), task.once(meetings_by_label)
    except OverlapError:
        return 0, 0, 0
    both = parts.is_unit[met.left] & parts.is_unit[met.right]
    # Every pair of units that meet counts for either of them.
    left = np.concatenate([met.left[both], met.right[both]])
    right = np.concatenate([met.right[both], met.left[both]])
    equal = (parts.start[left] == parts.start[right]) & (parts.end[left] == parts.end[right])
    n_met = len(np.unique(left * len(parts.track_field) + parts.track[right]))
    n_units = int((parts.is_unit * (parts.field_team[parts.field] - 1)).sum())
    return n_units, int(equal.sum()), n_met - int(equal.sum())


def _marked_by_both(task: Task) -> float:
    try:
        parts, met = task.once(sections), task.once(meetings_of_sections)
    except (OverlapError, UndefinedError):
        return nan
    one, other = parts.is_unit[met.left], parts.is_unit[met.right]
    return _share(met.shared[one & other].sum(), met.shared[one | other].sum())


# --- In words -----------------------------------------------------------------


def need_explanations(values: Values) -> bool:
    """Whether two of the coefficients differ by more than 0.1.

    Examples
    --------
    >>> need_explanations({name: Coefficient(name=name, value=0.5) for name in ("s", "pi")})
    False
    """
    known = [one.value for one in values.values() if not isnan(one.value)]
    return len(known) > 1 and max(known) - min(known) > ENOUGH


def differences(
    values: Values,
    *,
    data: Facts,
    exact: Agreement | None,
) -> tuple[Text, ...]:
    """What makes the coefficients of one corpus differ, where they differ enough.

    Parameters
    ----------
    values : mapping of str to Coefficient
        All that are compared, the corrected F1 among them.
    data : Facts
    exact : Agreement, optional
        On equal spans.

    Returns
    -------
    tuple of Text
        The widest difference first; at most five sentences.
    """
    known = {name: one.value for name, one in values.items() if not isnan(one.value)}
    low, high = min(known, key=known.__getitem__), max(known, key=known.__getitem__)
    first = (
        f"The values differ by up to {known[high] - known[low]:.2f}: {low} is "
        f"{_short(known[low])}, {high} is {_short(known[high])}."
    )
    causes = [
        _unmarked_text(values, known, data),
        _single_tokens(values, known, data),
        _near_misses_credited(known, data, exact),
        _only_what_both_marked(known, data),
        _unequal_habits(known, data),
    ]
    ranked = sorted((cause for cause in causes if cause is not None), key=lambda one: -one[0])
    return (first, *(sentence for _, sentence in ranked[: MOST - 1]))


Values = Mapping[str, Coefficient]
Known = Mapping[str, float]
Cause = tuple[float, Text] | None
"""How much of a difference is explained, and the sentence."""


def _gap(known: Known, names: Iterable[str], reference: str) -> float:
    """The widest difference between some coefficients and another; 0 where none is known."""
    if reference not in known:
        return 0.0
    return max((abs(known[name] - known[reference]) for name in names if name in known), default=0)


def _listed(known: Known, names: Iterable[str]) -> str:
    """Names with their values: ``s (0.90) and ac1 (0.93)``."""
    return " and ".join(f"{name} ({_short(known[name])})" for name in names if name in known)


def _short(value: float) -> str:
    """Two digits, or four where two would make 0 or 1 of something else.

    >>> _short(0.5), _short(1.0), _short(0.997), _short(-0.004)
    ('0.50', '1.00', '0.9970', '-0.0040')
    """
    text = f"{value:.2f}"
    return in_digits(value) if abs(float(text)) in {0.0, 1.0} and float(text) != value else text


def _percent(share: float) -> str:
    """A percentage that is never rounded to 0 or 100 from something else."""
    text = f"{share:.0%}"
    if text == "0%" and share > 0:
        return "less than 1%"
    return "more than 99%" if text == "100%" and share < 1 else text


def _unmarked_text(values: Values, known: Known, data: Facts) -> Cause:
    """S and AC1 count unmarked text as agreement, and do not correct for it."""
    reference = known.get("corrected-f1", nan)
    names = [name for name in ("s", "ac1") if known.get(name, nan) > reference]
    gap = _gap(known, names, "corrected-f1")
    if gap <= ENOUGH or not data.unmarked > 0:
        return None
    agreed = values[names[0]].observed
    elsewhere = 1 - (1 - agreed) / (1 - data.unmarked)
    return gap, (
        f"Unannotated text counts as agreement for {_listed(known, names)}: no annotator marked "
        f"{_percent(data.unmarked)} of the {data.n_positions:,} {data.positions}; with those, "
        f"{_percent(agreed)} agree, without them {_percent(elsewhere)}."
    )


def _single_tokens(values: Values, known: Known, data: Facts) -> Cause:
    """Shuffled tokens meet more often, or less often, than spans placed at random."""
    gap = _gap(known, ["shuffled-f1"], "corrected-f1")
    if gap <= ENOUGH:
        return None
    return gap, (
        f"Single {data.positions}, shuffled over all {data.n_positions:,}, reach an F1 of "
        f"{_short(values['shuffled-f1'].expected)} by chance, spans placed at random within texts "
        f"of {data.n_positions / data.n_texts:,.0f} on average "
        f"{_short(values['corrected-f1'].expected)}: so {_listed(known, ['shuffled-f1'])} and "
        f"{_listed(known, ['corrected-f1'])} differ."
    )


def _near_misses_credited(known: Known, data: Facts, exact: Agreement | None) -> Cause:
    """Alpha and gamma look at how far boundaries lie apart."""
    names = [name for name in ("alpha", "gamma") if _gap(known, [name], "corrected-f1") > ENOUGH]
    if not names or not data.n_near:
        return None
    as_exact = (
        f"; the corrected F1 of equal spans, which credits none, is {_short(exact.corrected)}"
        if exact is not None and not isnan(exact.corrected)
        else ""
    )
    return _gap(known, names, "corrected-f1"), (
        f"Near misses: of {data.n_units:,} spans held against another annotator's, "
        f"{data.n_equal:,} have an equal one and {data.n_near:,} overlap one of the same label; "
        f"the distance between boundaries is what counts for {_listed(known, names)}{as_exact}."
    )


def _only_what_both_marked(known: Known, data: Facts) -> Cause:
    """cu-alpha asks about labels only."""
    gap = max(_gap(known, ["cu-alpha"], name) for name in ("corrected-f1", "mu-alpha"))
    if gap <= ENOUGH or not data.marked_by_both < 1:
        return None
    return gap, (
        f"{_listed(known, ['cu-alpha'])} is about labels only: it looks at "
        f"{_percent(data.marked_by_both)} of the {data.positions} that at least one of two "
        "annotators marked, those that both did."
    )


def _unequal_habits(known: Known, data: Facts) -> Cause:
    """Kappa expects annotators to keep their habits, pi that they share them."""
    far = [
        name for name in ("pi", "fleiss", "nominal-alpha") if _gap(known, [name], "kappa") > ENOUGH
    ]
    if not far:
        return None
    (least, few), (most, many) = data.least, data.most
    return _gap(known, far, "kappa"), (
        _listed(known, ["kappa"]),
        " lets each annotator keep its habits, ",
        _listed(known, far[:1]),
        " does not: ",
        Quote(least),
        f" marked {_percent(few)} of the {data.positions}, ",
        Quote(most),
        f" {_percent(many)}.",
    )
