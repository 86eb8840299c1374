r"""Krippendorff's coefficients for units on a continuum.

Two generations. `alpha` is the coefficient of 1995 and 2004, which compares the
boundaries of units, label by label. The four of 2016 compare positions and distinguish
marking, labelling and single labels.

None of the sources defines how to pool several texts. Here a text counts by its length,
whatever the number of its annotators:

.. math:: \alpha = 1 - \frac{\sum_d L_d D_{o,d}}{\sum_d L_d D_{e,d}}

Texts are never put end to end, which would merge their gaps and pair their units.

In the coefficients of 2016, c and k run over the labels and :math:`\varphi`, the gap. In a text
of L positions with m annotators, :math:`\ell_{ck}` are the positions to which one annotator gave c
and another k, :math:`\ell_{..} = mL`, and :math:`\varepsilon_{ck}` those expected:

.. math::
    \ell_{ck} &= \frac{1}{m - 1} \sum_{i \ne j} |c_i \cap k_j| \\
    \varepsilon_{ck} &= \ell_{..}
        \frac{\ell_{c.} \ell_{.k} - [c = k] Q_c}{\ell_{..}^2 - \sum Q}

where :math:`Q_c` adds the squares of the lengths of the units of c, which cannot meet
themselves, and gap positions one by one. Then

mu-alpha, :math:`{}_u\alpha`
    :math:`1 - (\ell_{..} - \sum \ell_{cc}) / (\ell_{..} - \sum \varepsilon_{cc})`:
    marking and labels at once.
bar-u-alpha, :math:`{}_{|u}\alpha`
    :math:`1 - (\ell_{\varphi.} - \ell_{\varphi\varphi}) /
    (\varepsilon_{\varphi.} - \varepsilon_{\varphi\varphi})`:
    whether a position is marked at all.
cu-alpha, :math:`{}_{cu}\alpha`
    As mu-alpha, but only where both marked something (:math:`\ell^*`), with
    :math:`Q^*_c = \frac{1}{m - 1} \sum_u \sum_j |u \cap units_j|^2`: labels only.
    For three and more annotators this takes the others one by one, not their union.
ku-alpha, :math:`{}_{(k)u}\alpha`
    :math:`1 - \frac{\varepsilon^*_{.k}}{\ell^*_{.k}} \cdot
    \frac{\ell^*_{.k} - \ell^*_{kk}}{\varepsilon^*_{.k} - \varepsilon^*_{kk}}`:
    one label among the others. By label only.

:math:`\ell` and :math:`\varepsilon` of several texts are added, divided by m so that a
text counts by its length.

Klaus Krippendorff, Yann Mathet, Stéphane Bouvry and Antoine Widlöcher (2016). On the
reliability of unitizing textual continua: further developments. Quality & Quantity
50, equations 5 and following.
"""

from __future__ import annotations

from dataclasses import replace
from math import fsum, nan

import numpy as np

from beyondchance.core.ragged import bounds, distinct, total
from beyondchance.other_coefficients.coefficient import (
    NOTHING_MARKED,
    Coefficient,
    Task,
    UndefinedError,
    from_disagreement,
)
from beyondchance.other_coefficients.sections import (
    GAP,
    Sections,
    compared,
    sections,
    sections_by_label,
)
from beyondchance.types import Floats, Ints

ONLY_BY_LABEL = "it has one value for each label, and none for all of them"
ONE_LABEL = "where annotators marked the same positions, no text has two labels to confuse"
NO_COINCIDENCE = "no position was marked by two annotators"
TOO_FEW = (
    "too few annotators marked the same positions; the coincidences expected there would be "
    "infinite or negative"
)


# --- 2004 ---------------------------------------------------------------------


def alpha(task: Task) -> dict[str, Coefficient]:
    r"""Compute Krippendorff's unitizing :math:`\alpha`, in the form of 2004.

    Label by label. A text has L positions and m annotators; b is the length of a
    unit, g that of a gap, N the number of units of all annotators together. Two units
    that intersect differ by :math:`(s - t)^2 + (e - f)^2`, the squares of what lies
    between their starts and between their ends; a unit that lies completely in a gap of the
    other annotator differs by :math:`b^2`; all else by 0. Then

    .. math::
        D_o &= \frac{\sum_{i \ne j} \sum \delta^2}{m (m - 1) L^2} \\
        D_e &= \frac{2}{L} \cdot \frac{\sum_{units} \left[ (N - 1)(2b^3 - 3b^2 + b) / 3
               + b^2 \sum_{g \ge b} (g - b + 1) \right]}{m L (m L - 1) - \sum b (b - 1)}

    The expected part lets every unit slide over every other unit and through every gap.
    Disagreements of labels are added, those of texts weighted by length.

    Parameters
    ----------
    task : Task

    Returns
    -------
    dict of str to Coefficient
        `observed` and `expected` are disagreements. With a value for each label.

    Raises
    ------
    OverlapError
        When spans of one label by one annotator overlap.

    References
    ----------
    Klaus Krippendorff (1995). On the reliability of unitizing continuous data.
    Sociological Methodology 25. (2004). Content Analysis, second edition, chapter 11.

    Examples
    --------
    Both mark one unit, [0, 2) and [0, 1), in three positions. The ends differ by 1, so
    that D_o is 2 * 1 / (2 * 1 * 9). The units b = 2 and b = 1 have (2 - 1) * 6 / 3 = 2 and
    0 for sliding over each other, and 4 * (2 - 2 + 1) and 1 * (1 + 2) for the gaps of 1 and 2
    positions; D_e is 2 / 3 * (2 + 4 + 3) / (6 * 5 - 2).

    >>> from beyondchance import Corpus
    >>> spans = {"anna": [[(0, 2, "X")]], "ben": [[(0, 1, "X")]]}
    >>> found = alpha(Task(corpus=Corpus.from_spans(spans, lengths=[3])))["alpha"]
    >>> found.observed == 1 / 9, round(found.expected, 6) == round(2 / 3 * 9 / 28, 6)
    (True, True)
    >>> round(found.value, 4)
    0.4815
    """
    parts = task.once(sections_by_label)
    # Lengths are integers; squares and cubes of them may not fit into 64 bits, so they are
    # floats. Only positive terms are added, which loses nothing.
    observed = _squared_differences(parts)
    expected = _squared_differences_of_sliding(parts)

    def pooled(fields: Ints) -> Coefficient:
        """Add up the fields of some labels; those without a unit hold no disagreement."""
        return from_disagreement(
            fsum(observed[fields]) / parts.n_positions,
            fsum(expected[fields]) / parts.n_positions,
            why=(
                "all annotators marked every position as a unit of its own: nothing else could "
                "be expected"
                if len(fields)
                else NOTHING_MARKED
            ),
        )

    by_label = {
        name: pooled(np.flatnonzero(parts.field_label == label))
        for label, name in enumerate(task.corpus.labels)
    }
    return {"alpha": replace(pooled(np.arange(len(parts.field_text))), by_label=by_label)}


def _squared_differences(parts: Sections) -> Floats:
    """Compute L times the observed disagreement of each field."""
    met = parts.meetings
    left, right = met.left, met.right
    one, other = parts.is_unit[left], parts.is_unit[right]
    between_starts = (parts.start[left] - parts.start[right]).astype(np.float64)
    between_ends = (parts.end[left] - parts.end[right]).astype(np.float64)
    # A unit that lies in a gap shares all of its positions with it.
    lies_in_gap = (one != other) & (met.shared == parts.length[np.where(one, left, right)])
    difference = np.where(
        one & other,
        between_starts**2 + between_ends**2,
        np.where(lies_in_gap, met.shared.astype(np.float64) ** 2, 0.0),
    )
    m, length = parts.sizes
    both_ways = 2 * total(parts.field[left], difference, len(m))
    return both_ways / (m * (m - 1) * length)


def _squared_differences_of_sliding(parts: Sections) -> Floats:
    """Compute L times the expected disagreement of each field."""
    n_fields = len(parts.field_text)
    units, gaps = np.flatnonzero(parts.is_unit), np.flatnonzero(~parts.is_unit)
    field, length = parts.field[units], parts.length[units]

    # Places for a unit in the gaps of its field: those at least as long, sorted, with sums.
    stride = int(parts.field_length.max(initial=0)) + 1
    by_length = np.sort(parts.field[gaps] * stride + parts.length[gaps])
    gap_field, gap_length = np.divmod(by_length, stride)
    sum_before = np.concatenate([[0], np.cumsum(gap_length)])
    lowest = np.searchsorted(by_length, field * stride + length)
    highest = bounds(gap_field, n_fields)[field + 1]
    places = sum_before[highest] - sum_before[lowest] - (highest - lowest) * (length - 1)

    b = length.astype(np.float64)
    others = np.bincount(field, minlength=n_fields)[field] - 1.0
    sliding = others * b * (b - 1) * (2 * b - 1) / 3 + b * b * places
    m, n = parts.sizes
    pairs = m * n * (m * n - 1) - total(field, b * (b - 1), n_fields)
    return 2 * total(field, sliding, n_fields) / pairs


# --- 2016 ---------------------------------------------------------------------


def on_all_positions(task: Task) -> dict[str, Coefficient]:
    r"""Compute mu-alpha and bar-u-alpha, as disagreements in shares of the positions.

    Examples
    --------
    Both mark one unit, [0, 2) and [0, 1), in three positions: one of three positions
    differs, and 2 * 3 * 3 / (36 - (4 + 1 + 3)) are expected to.

    >>> from beyondchance import Corpus
    >>> spans = {"anna": [[(0, 2, "X")]], "ben": [[(0, 1, "X")]]}
    >>> task = Task(corpus=Corpus.from_spans(spans, lengths=[3]))
    >>> found = on_all_positions(task)["mu-alpha"]
    >>> found.observed == 1 / 3, round(found.expected, 6) == round(18 / 28, 6)
    (True, True)
    >>> round(found.value, 4)
    0.4815
    """
    parts = task.once(sections)
    met, n_fields = parts.meetings, len(parts.field_text)
    m, length = parts.sizes
    one, other = parts.label[met.left], parts.label[met.right]
    share = 2 * met.shared / (m * (m - 1))[parts.field[met.left]]

    # The expected disagreement is a sum of l_c (l.. - l_c): of positive terms, and zero only
    # where there is one label. Products of two totals may exceed 64 bits: they are floats.
    field, label, group = _by_label(parts.field, parts.label)
    held = total(group, parts.length, len(field))
    everything = m * length
    alone = np.where(parts.is_unit, parts.length.astype(np.float64) ** 2, parts.length)
    pairs = everything**2 - total(parts.field, alone, n_fields)
    different = (length / pairs)[field] * held * (everything[field] - held)

    def pooled(found: Floats, by_chance: Floats, reason: str) -> Coefficient:
        why = f"{reason}: nothing else could be expected" if parts.is_unit.any() else NOTHING_MARKED
        observed, expected = (fsum(part) / parts.n_positions for part in (found, by_chance))
        return from_disagreement(observed, expected, why=why)

    return {
        "mu-alpha": pooled(
            share[one != other], different, "every text has one label, or none, throughout"
        ),
        "bar-u-alpha": pooled(
            share[(one == GAP) != (other == GAP)],
            2 * different[label == GAP],
            "every text is marked throughout or not at all",
        ),
    }


def on_marked_positions(task: Task) -> dict[str, Coefficient]:
    """Compute cu-alpha and ku-alpha, in whole numbers as long as possible.

    All that is called l* above is a whole number divided by m - 1.
    """
    corpus, parts = task.corpus, task.once(sections)
    n_fields = len(parts.field_text)
    unit, partner, shared = parts.meetings_of_units
    alike = parts.label[unit] == parts.label[partner]

    # What each unit shares with all units of one other annotator, and its square.
    code = unit * len(parts.track_field) + parts.track[partner]
    met_by, meeting = distinct(code)
    with_other = total(meeting, shared, len(met_by))
    of_unit = met_by // max(len(parts.track_field), 1)

    field, label, group = _by_label(parts.field[of_unit], parts.label[of_unit])
    held = total(group, with_other, len(field))
    squares = total(group, with_other**2, len(field))
    everything = total(field, held, n_fields)
    n_labels = np.bincount(field, minlength=n_fields)
    others = parts.field_team - 1.0
    pairs = everything**2 - others * total(field, squares, n_fields)

    impossible = np.flatnonzero((n_labels > 1) & (pairs <= 0))
    if len(impossible):
        text = int(parts.field_text[impossible[0]])
        raise UndefinedError(TOO_FEW, where=compared(corpus).describe_text(text))

    # With one label only, nothing but that label is expected, whatever `pairs` is.
    weight = 1 / (others * parts.field_team)
    only = n_labels[field] == 1
    room = np.where(only, 1.0, pairs[field])
    of_other = np.where(only, 0.0, held * (everything[field] - held) / room)
    of_any = np.where(only, 1.0, (everything[field] * held - others[field] * squares) / room)
    different = (weight * everything)[field] * of_other
    expected = (weight * everything)[field] * of_any
    present = weight[field] * held
    missed = (weight[parts.field[unit]] * shared)[~alike]

    def of_label(number: int) -> Coefficient:
        mine = label == number
        here, by_chance = fsum(present[mine]), fsum(expected[mine])
        if here == 0 or by_chance <= 0:
            why = NO_COINCIDENCE if here == 0 else TOO_FEW
            return Coefficient(value=nan, why=why)
        return from_disagreement(
            fsum(missed[parts.label[unit[~alike]] == number]) / here,
            fsum(different[mine]) / by_chance,
            why=ONE_LABEL,
        )

    by_label = {name: of_label(number) for number, name in enumerate(corpus.labels)}
    in_common = fsum(present)
    of_all = Coefficient(value=nan, why=NO_COINCIDENCE)
    if in_common:
        parts_of_all = (fsum(part) / in_common for part in (missed, different))
        of_all = from_disagreement(*parts_of_all, why=ONE_LABEL)
    one_by_one = Coefficient(value=nan, why=ONLY_BY_LABEL, by_label=by_label)
    return {"cu-alpha": of_all, "ku-alpha": one_by_one}


def _by_label(field: Ints, label: Ints) -> tuple[Ints, Ints, Ints]:
    """List the pairs of field and label that occur, and the number of each entry's pair."""
    stride = int(label.max(initial=GAP)) + 2
    codes, group = distinct(field * stride + label - GAP)
    fields, labels = np.divmod(codes, stride)
    return fields, labels + GAP, group
