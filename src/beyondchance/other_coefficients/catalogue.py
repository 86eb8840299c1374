"""Every coefficient there is: what it is, where it comes from, and the function for it.

To add a coefficient, write a function of a `Task` and an entry of the same name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from beyondchance.other_coefficients.coefficient import Coefficient, Entry, Function, Task, computed
from beyondchance.other_coefficients.gamma.gamma import GAMMAS
from beyondchance.other_coefficients.tokens import TOKENS, from_score
from beyondchance.other_coefficients.unitizing import FAMILY, alpha_of
from beyondchance.scoring.api import agreement


def _corrected_f1(task: Task) -> Coefficient:
    known = task.scored.get("token")
    result = known or agreement(task.corpus, measure="token", model=task.model)
    by_label = {label: from_score("corrected-f1", one) for label, one in result.by_label.items()}
    return replace(from_score("corrected-f1", result.score), by_label=by_label)


_FAMILY = "Krippendorff, Mathet, Bouvry & Widlöcher (2016), Quality & Quantity 50"
_OF_MARKED = {
    "unannotated": "is left out, and so is all that only one annotator marked",
    "near_misses": "only what is shared counts",
    "length": "stays",
}
_OF_ALIGNED = {
    "parts": "disorder",
    "unannotated": "is not looked at",
    "near_misses": "count by how close they are",
    "length": "tends to a limit",
}
_ALL = (
    Entry(
        name="corrected-f1",
        title="corrected token F1",
        definition="(F1 - chance) / (1 - chance), chance being the F1 of spans placed at random",
        reference="Li, Rosé, Yuan & Zhou (2024), ACL",
        unannotated="is room for random spans, and not agreement",
        length="tends to F1",
    ),
    Entry(
        name="alpha",
        title="Krippendorff's unitizing alpha (2004)",
        definition="1 - D_o / D_e, with squared distances between the boundaries of units",
        reference="Krippendorff (1995), Sociological Methodology 25; (2004), Content Analysis",
        parts="disagreement",
        unannotated="costs nothing, and gives units room to miss each other",
        near_misses="cost the squares of what lies between their boundaries",
        length="tends to a limit",
    ),
    Entry(
        name="mu-alpha",
        title="Krippendorff's u-alpha (2016)",
        definition="1 - D_o / D_e over positions, gap being one more label; units are kept whole",
        reference=f"{_FAMILY}, eq. 5a",
        parts="disagreement",
    ),
    Entry(
        name="bar-u-alpha",
        title="Krippendorff's |u-alpha (2016), marked or not",
        definition="mu-alpha of marked against unmarked, whatever the label",
        reference=_FAMILY,
        parts="disagreement",
    ),
    Entry(
        name="cu-alpha",
        title="Krippendorff's cu-alpha (2016), labels only",
        definition="mu-alpha of labels, on the positions that two annotators both marked",
        reference=_FAMILY,
        parts="disagreement",
        **_OF_MARKED,
    ),
    Entry(
        name="ku-alpha",
        title="Krippendorff's (k)u-alpha (2016), label by label",
        definition="cu-alpha of one label against the others; a value for each label only",
        reference=_FAMILY,
        parts="disagreement",
        **_OF_MARKED,
    ),
    Entry(
        name="gamma",
        title="gamma",
        definition="1 - disorder of the best alignment of units / mean disorder of shuffled ones",
        reference="Mathet, Widlöcher & Métivier (2015), Computational Linguistics 41",
        parts="disorder",
        unannotated="is not looked at, but makes room for shuffling",
        near_misses="credited by boundaries, relative to the lengths of the units",
        length="tends to a limit",
    ),
    Entry(
        name="gamma-cat",
        title="gamma-cat, labels only",
        definition="gamma of the labels of units that are aligned",
        reference="Mathet (2017), Computational Linguistics 43",
        **_OF_ALIGNED,
    ),
    Entry(
        name="gamma-k",
        title="gamma-k, label by label",
        definition="gamma-cat of one label; a value for each label",
        reference="Mathet (2017), Computational Linguistics 43",
        **_OF_ALIGNED,
    ),
    Entry(
        name="kappa",
        title="Cohen's kappa of tokens",
        definition="(P_o - P_e) / (1 - P_e), P_e from how often each annotator uses each label",
        reference="Cohen (1960), Educational and Psychological Measurement 20; Conger (1980)",
    ),
    Entry(
        name="shuffled-f1",
        title="corrected token F1, tokens shuffled (by label: kappa)",
        definition="(F1 - chance) / (1 - chance), chance being the F1 of shuffled tokens",
        reference="Hripcsak & Rothschild (2005), JAMIA 12",
        unannotated="is room for shuffled tokens, and not agreement",
        length="tends to F1",
    ),
    Entry(
        name="pi",
        title="Scott's pi of tokens",
        definition="(P_o - P_e) / (1 - P_e), P_e from how often all annotators use each label",
        reference="Scott (1955), Public Opinion Quarterly 19",
    ),
    Entry(
        name="fleiss",
        title="Fleiss' kappa of tokens",
        definition="pi for teams: every token counts once, by the share of its pairs that agree",
        reference="Fleiss (1971), Psychological Bulletin 76",
    ),
    Entry(
        name="nominal-alpha",
        title="Krippendorff's nominal alpha of tokens",
        definition="1 - D_o / D_e of tokens, none of which is paired with itself",
        reference="Krippendorff (2004), Content Analysis, chapter 11",
    ),
    Entry(
        name="s",
        title="Bennett's S of tokens",
        definition="(P_o - 1/q) / (1 - 1/q) with q labels, none included",
        reference="Bennett, Alpert & Goldstein (1954), Public Opinion Quarterly 18",
        length="tends to 1, whatever was marked",
    ),
    Entry(
        name="ac1",
        title="Gwet's AC1 of tokens",
        definition="(P_o - P_e) / (1 - P_e), P_e the smaller, the rarer labels are",
        reference="Gwet (2008), British Journal of Mathematical and Statistical Psychology 61",
        length="tends to 1, whatever was marked",
    ),
)

CATALOGUE: Mapping[str, Entry] = {entry.name: entry for entry in _ALL}

_FUNCTIONS: Mapping[str, Function] = {
    "corrected-f1": _corrected_f1,
    "alpha": alpha_of,
    **FAMILY,
    **GAMMAS,
    **TOKENS,
}


def value_of(name: str, task: Task) -> Coefficient:
    """The value of a coefficient of the catalogue."""
    return computed(name, _FUNCTIONS[name], task)
