"""Other coefficients of agreement, side by side on the same data, and why they differ."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from math import isnan, nan
from typing import Any, Unpack

import numpy as np

from beyondchance.checks import checked_instance, checked_list, checked_option
from beyondchance.core.ragged import begins_apart
from beyondchance.errors import OptionError, OverlapError
from beyondchance.messages import Quote, Text, spoken
from beyondchance.numbers import in_digits
from beyondchance.options import CorpusOptions, documented
from beyondchance.other_coefficients.coefficient import UNDEFINED, Coefficient, Entry, Task, scored
from beyondchance.other_coefficients.gamma import gammas
from beyondchance.other_coefficients.sections import (
    Sections,
    sections,
    sections_by_label,
)
from beyondchance.other_coefficients.tokens import from_score, token_coefficients
from beyondchance.other_coefficients.unitizing import alpha, on_all_positions, on_marked_positions
from beyondchance.results.agreement import Agreement
from beyondchance.results.printed import Named, Printed
from beyondchance.scoring.answers import settings_of, without_gold
from beyondchance.scoring.data import corpus_of
from beyondchance.settings import Settings


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


GAMMAS = tuple(name for name, entry in CATALOGUE.items() if entry.is_sampled)
_SHOWN = ("title", "definition", "reference", "parts")
_WORD = re.compile("[a-z]+")
GAMMA_OPTIONS = ("alpha", "beta", "delta", "precision", "confidence", "samples")


@dataclass(frozen=True, slots=True, kw_only=True)
class Coefficients(Printed):
    """Coefficients of one corpus, and why they differ.

    Attributes
    ----------
    values : dict of str to Coefficient
        By name, in the order asked for.
    settings : Settings
        How they were computed; ``str(settings)`` is the signature to cite.
    explanations : tuple of Text
        If some differ by more than 0.1, what makes the difference on this data, in pieces.
    """

    values: dict[str, Coefficient]
    settings: Settings
    explanations: tuple[Text, ...] = ()

    @property
    def differences(self) -> tuple[str, ...]:
        """The explanations as sentences."""
        return tuple(map(spoken, self.explanations))

    def by_reason(self) -> dict[str, list[str]]:
        """List the reasons why values are undefined, each with its coefficients."""
        names: dict[str, list[str]] = {}
        for name, one in self.values.items():
            if one.reason is not None and not one.by_label:
                names.setdefault(one.reason, []).append(name)
        return names

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, with what the catalogue says about each coefficient."""
        return {
            "signature": str(self.settings),
            "coefficients": {
                name: {
                    **one.to_dict(),
                    **{key: getattr(CATALOGUE[name], key) for key in _SHOWN},
                }
                for name, one in self.values.items()
            },
            "differences": list(self.differences),
        }

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={in_digits(one.value)}" for name, one in self.values.items())
        return f"Coefficients({values})"

    def __getitem__(self, name: str) -> Coefficient:
        return self.values[name]


@documented()
def coefficients(
    data: Any,
    *others: Any,
    which: str | Collection[str] = "all",
    model: str = "auto",
    gamma: Mapping[str, Any] | None = None,
    seed: int | np.random.Generator | None = None,
    progress: Callable[[int, int], object] | None = None,
    scored: Mapping[str, Agreement] | None = None,
    **options: Unpack[CorpusOptions],
) -> Coefficients:
    """Compute all coefficients on the same annotations, side by side.

    A gold standard that the corpus names is left out where there are two annotators or more.
    What cannot be computed is undefined, with the reason, and the rest is still there: where
    spans overlap, where too little is marked, and gamma where scipy is not installed.

    Parameters
    ----------
    data, *others
        A Corpus, or whatever a corpus can be made of, as in `agreement`.
    which : "all" or list of str
        Names of `CATALOGUE`.
    model : str
        Of the corrected F1, as in `agreement`.
    gamma : mapping of str to object, optional
        Parameters of gamma: alpha, beta, delta, precision, confidence, samples.
    seed : int or Generator, optional
        Where the random numbers of gamma begin, or a generator.
    progress : callable, optional
        Called with how many samples of gamma are done, and how many there will be.
    scored : mapping of measure to Agreement, optional
        Results of `agreement` on this corpus by this model, which are not computed again.
    {others} : optional
        How these become a corpus (see `corpus`).

    Returns
    -------
    Coefficients

    Raises
    ------
    NothingSharedError
        When no document was annotated by two annotators.
    OptionError
        For an unknown name, model or parameter.

    Examples
    --------
    Anna marks the first two of four positions, Ben the first.

    >>> from beyondchance import Corpus
    >>> spans = {"anna": [[(0, 2, "X")]], "ben": [[(0, 1, "X")]]}
    >>> corpus = Corpus.from_spans(spans, lengths=[4])
    >>> coefficients(corpus, which=["corrected-f1", "kappa", "s", "cu-alpha"])
    Coefficients(corrected-f1=0.5000, kappa=0.5000, s=0.5000, cu-alpha=-)
    >>> coefficients(corpus, which="cu-alpha")["cu-alpha"].reason
    'where annotators marked the same positions, no text has two labels to confuse'
    """
    given = corpus_of(data, others, options)
    asked = CATALOGUE if which == "all" else checked_list("which", which)
    wanted = list(dict.fromkeys(map(_checked_name, asked)))
    expected = "a mapping of parameters"
    for option in checked_instance(gamma or {}, Mapping, expected):  # type: ignore[type-abstract]
        checked_option("parameter of gamma", option, GAMMA_OPTIONS)
    corpus = without_gold(given)
    settings = settings_of(corpus, model=model, gold=None if corpus is given else given.gold)

    task = Task(
        corpus=corpus,
        model=model,
        gamma=gamma or {},
        seed=seed,
        progress=progress,
        scored=scored or {},
    )
    # The corrected F1 is compared with the others, whether it was asked for or not.
    f1 = value_of("corrected-f1", task)
    values = {name: value_of(name, task) for name in wanted}
    parameters = next((one.settings for one in values.values() if one.settings), None)
    if parameters is not None:
        listed = tuple(f"{name}={value}" for name, value in parameters.items())
        settings = settings.replaced(gamma=listed)
    return Coefficients(
        values=Named(values),
        settings=settings,
        explanations=differences(task, {**values, "corrected-f1": f1}),
    )


def _checked_name(name: str) -> str:
    """Return the name of a coefficient; answer another one with those whose titles have its words.

    Raises
    ------
    OptionError
    """
    words = set(_WORD.findall(str(name).lower()))
    meant = [x for x, one in CATALOGUE.items() if words <= {*_WORD.findall(one.title.lower())}]
    if name not in CATALOGUE and words and meant:
        remedy = f"did you mean {' or '.join(meant)}?"
        raise OptionError("unknown coefficient ", Quote(name, is_given=True), remedy=remedy)
    return checked_option("coefficient", name, CATALOGUE)


ENOUGH = 0.1
"""By how much two coefficients must differ to need an explanation."""
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
        The widest difference first.

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
    return (first, *(text for _, text in ranked))


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


_CAUSES: tuple[tuple[tuple[str, ...], tuple[str, ...], Callable[..., Text]], ...] = (
    (("s", "ac1"), (OURS,), _unmarked_text),
    (("alpha", "gamma"), (OURS,), _near_misses),
    (("cu-alpha",), (OURS, "mu-alpha"), _only_what_both_marked),
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
