"""Other coefficients of agreement, side by side on the same data."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np

from beyondchance.checks import checked_instance, checked_list, checked_option
from beyondchance.errors import OptionError
from beyondchance.messages import Quote, Text, spoken
from beyondchance.numbers import in_digits
from beyondchance.options import CorpusOptions
from beyondchance.other_coefficients.catalogue import CATALOGUE, value_of
from beyondchance.other_coefficients.coefficient import Coefficient, Task
from beyondchance.other_coefficients.explanations import differences
from beyondchance.results.agreement import Agreement
from beyondchance.results.printed import Named, Printed
from beyondchance.scoring.answers import without_gold
from beyondchance.scoring.data import corpus_of
from beyondchance.scoring.options import settings_of
from beyondchance.settings import Settings

__all__ = ["CATALOGUE", "GAMMAS", "Coefficient", "Coefficients", "coefficients"]

GAMMAS = tuple(name for name, entry in CATALOGUE.items() if entry.is_sampled)
_SHOWN = ("title", "definition", "reference", "parts")
_WORD = re.compile("[a-z]+")
GAMMA_OPTIONS = ("alpha", "beta", "delta", "categories", "precision", "confidence", "samples")


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
        Parameters of gamma: alpha, beta, delta, categories, precision, confidence, samples.
    seed : int or Generator, optional
        Where the random numbers of gamma begin, or a generator.
    progress : callable, optional
        Called with how many samples of gamma are done, and how many there will be.
    scored : mapping of measure to Agreement, optional
        Results of `agreement` on this corpus by this model, which are not computed again.
    names, texts, gold, scheme, ... : optional
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
