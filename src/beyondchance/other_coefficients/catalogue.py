"""Every coefficient there is: what it is, where it comes from, and the function for it.

To add a coefficient, write a function of a `Task` and an entry.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import nan

from beyondchance.other_coefficients.coefficient import UNDEFINED, Coefficient, Entry, Task, scored
from beyondchance.other_coefficients.gamma.gamma import gammas
from beyondchance.other_coefficients.tokens import from_score, token_coefficients
from beyondchance.other_coefficients.unitizing import alpha, on_all_positions, on_marked_positions


def _corrected_f1(task: Task) -> dict[str, Coefficient]:
    result = scored(task, "token")
    return {"corrected-f1": from_score(result.score, result.by_label)}


_FAMILY = "Krippendorff, Mathet, Bouvry & Widlöcher (2016), Quality & Quantity 50"
_GROUPS = {
    (_corrected_f1, "agreement"): {
        "corrected-f1": (
            "corrected token F1",
            "(F1 - chance) / (1 - chance), chance being the F1 of spans placed at random",
            "Li, Rosé, Yuan & Zhou (2024), ACL",
        ),
    },
    (alpha, "disagreement"): {
        "alpha": (
            "Krippendorff's unitizing alpha (2004)",
            "1 - D_o / D_e, with squared distances between the boundaries of units",
            "Krippendorff (1995), Sociological Methodology 25; (2004), Content Analysis",
        ),
    },
    (on_all_positions, "disagreement"): {
        "mu-alpha": (
            "Krippendorff's u-alpha (2016)",
            "1 - D_o / D_e over positions, gap being one more label; units are kept whole",
            f"{_FAMILY}, eq. 5a",
        ),
        "bar-u-alpha": (
            "Krippendorff's |u-alpha (2016), marked or not",
            "mu-alpha of marked against unmarked, whatever the label",
            _FAMILY,
        ),
    },
    (on_marked_positions, "disagreement"): {
        "cu-alpha": (
            "Krippendorff's cu-alpha (2016), labels only",
            "mu-alpha of labels, on the positions that two annotators both marked",
            _FAMILY,
        ),
        "ku-alpha": (
            "Krippendorff's (k)u-alpha (2016), label by label",
            "cu-alpha of one label against the others; a value for each label only",
            _FAMILY,
        ),
    },
    (gammas, "disorder"): {
        "gamma": (
            "gamma",
            "1 - disorder of the best alignment of units / mean disorder of shuffled ones",
            "Mathet, Widlöcher & Métivier (2015), Computational Linguistics 41",
        ),
        "gamma-cat": (
            "gamma-cat, labels only",
            "gamma of the labels of units that are aligned",
            "Mathet (2017), Computational Linguistics 43",
        ),
        "gamma-k": (
            "gamma-k, label by label",
            "gamma-cat of one label; a value for each label",
            "Mathet (2017), Computational Linguistics 43",
        ),
    },
    (token_coefficients, "agreement"): {
        "kappa": (
            "Cohen's kappa of tokens",
            "(P_o - P_e) / (1 - P_e), P_e from how often each annotator uses each label",
            "Cohen (1960), Educational and Psychological Measurement 20; Conger (1980)",
        ),
        "shuffled-f1": (
            "corrected token F1, tokens shuffled (by label: kappa)",
            "(F1 - chance) / (1 - chance), chance being the F1 of shuffled tokens",
            "Hripcsak & Rothschild (2005), JAMIA 12",
        ),
        "pi": (
            "Scott's pi of tokens",
            "(P_o - P_e) / (1 - P_e), P_e from how often all annotators use each label",
            "Scott (1955), Public Opinion Quarterly 19",
        ),
        "fleiss": (
            "Fleiss' kappa of tokens",
            "pi for teams: every token counts once, by the share of its pairs that agree",
            "Fleiss (1971), Psychological Bulletin 76",
        ),
        "nominal-alpha": (
            "Krippendorff's nominal alpha of tokens",
            "1 - D_o / D_e of tokens, none of which is paired with itself",
            "Krippendorff (2004), Content Analysis, chapter 11",
        ),
        "s": (
            "Bennett's S of tokens",
            "(P_o - 1/q) / (1 - 1/q) with q labels, none included",
            "Bennett, Alpert & Goldstein (1954), Public Opinion Quarterly 18",
        ),
        "ac1": (
            "Gwet's AC1 of tokens",
            "(P_o - P_e) / (1 - P_e), P_e the smaller, the rarer labels are",
            "Gwet (2008), British Journal of Mathematical and Statistical Psychology 61",
        ),
    },
}
"""What computes coefficients, and what their parts are; by name the title in the literature, the
definition in one line and the reference."""

CATALOGUE: Mapping[str, Entry] = {
    name: Entry(name, *words, parts, compute)
    for (compute, parts), group in _GROUPS.items()
    for name, words in group.items()
}


def value_of(name: str, task: Task) -> Coefficient:
    """Compute a coefficient; undefined, with the reason, where it cannot be computed."""
    try:
        found = task.once(CATALOGUE[name].compute)[name]
    except UNDEFINED as error:
        found = Coefficient(value=nan, why=error.text)
    by_label = {label: replace(part, name=name) for label, part in found.by_label.items()}
    return replace(found, name=name, by_label=by_label)
