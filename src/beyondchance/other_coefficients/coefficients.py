"""Other coefficients of agreement, side by side on the same data."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan, nan
from typing import Any

import numpy as np

from beyondchance.annotations.corpus import Corpus
from beyondchance.checks import checked_option
from beyondchance.errors import MissingLibraryError, OverlapError
from beyondchance.numbers import in_digits
from beyondchance.other_coefficients.catalogue import CATALOGUE
from beyondchance.other_coefficients.explanations import differences, facts, need_reasons
from beyondchance.other_coefficients.gamma.gamma import gamma as gamma_coefficients
from beyondchance.other_coefficients.sections import compared
from beyondchance.other_coefficients.tokens import TOKENS, token_coefficients
from beyondchance.other_coefficients.unitizing import FAMILY, alpha, family
from beyondchance.other_coefficients.values import Coefficient
from beyondchance.results.agreement import Agreement
from beyondchance.scoring.api import agreement, without_gold
from beyondchance.scoring.marks import fitting_model, marked
from beyondchance.settings import Settings

__all__ = ["CATALOGUE", "Coefficient", "Coefficients", "coefficients"]

GAMMAS = ("gamma", "gamma-cat", "gamma-k")
_LONGEST = 2**31 - 1
"""Positions that a text may have."""
GAMMA_OPTIONS = ("alpha", "beta", "delta", "categories", "precision", "confidence", "samples")


@dataclass(frozen=True, slots=True, kw_only=True)
class Coefficients:
    """Coefficients of one corpus, and why they differ.

    Attributes
    ----------
    values : dict of str to Coefficient
        By name, in the order asked for.
    settings : Settings
        How they were computed; ``str(settings)`` is the signature to cite.
    differences : tuple of str
        If some differ by more than 0.1, what makes the difference on this data.
    """

    values: dict[str, Coefficient]
    settings: Settings
    differences: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain values, with what the catalogue says about each coefficient."""
        return {
            "signature": str(self.settings),
            "coefficients": {
                name: {
                    **found.to_dict(),
                    "title": CATALOGUE[name].title,
                    "definition": CATALOGUE[name].definition,
                    "reference": CATALOGUE[name].reference,
                    "parts": CATALOGUE[name].parts,
                }
                for name, found in self.values.items()
            },
            "differences": list(self.differences),
        }

    def __str__(self) -> str:
        """A table for people, the reasons for what is undefined, and the differences."""
        rows = [("", "value", "observed", "expected", "")]
        for name, found in self.values.items():
            rows.append(_row(name, found, CATALOGUE[name].parts))
            if isnan(found.value):
                rows += [_row(f"  {label}", part, "") for label, part in found.by_label.items()]
        width = max(len(row[0]) for row in rows)
        lines = [
            f"{name:{width}}  {value:>8}  {observed:>8}  {expected:>8}  {parts}".rstrip()
            for name, value, observed, expected, parts in rows
        ]
        by_reason: dict[str, list[str]] = {}
        for name, found in self.values.items():
            if found.reason is not None and not found.by_label:
                by_reason.setdefault(found.reason, []).append(name)
        undefined = [f"undefined: {', '.join(names)}: {why}" for why, names in by_reason.items()]
        paragraphs = ["\n".join(part) for part in (lines, undefined, self.differences) if part]
        return "\n\n".join([*paragraphs, str(self.settings)])


def _row(name: str, found: Coefficient, parts: str) -> tuple[str, str, str, str, str]:
    return name, in_digits(found.value), in_digits(found.observed), in_digits(found.expected), parts


def coefficients(
    corpus: Corpus,
    names: str | Sequence[str] = "all",
    *,
    model: str = "auto",
    gamma: Mapping[str, Any] | None = None,
    rng: np.random.Generator | int | None = None,
    progress: Callable[[int, int], object] | None = None,
    scored: Mapping[str, Agreement] | None = None,
) -> Coefficients:
    """Every coefficient on the same annotations, side by side.

    A gold standard that the corpus names is left out where there are two annotators or more.
    What cannot be computed is undefined, with the reason, and the rest is still there: where
    spans overlap, where too little is marked, and gamma where scipy is not installed.

    Parameters
    ----------
    corpus : Corpus
    names : "all" or list of str
        Which ones: names of `CATALOGUE`.
    model : str
        Of the corrected F1, as in `agreement`.
    gamma : mapping of str to object, optional
        Parameters of gamma: alpha, beta, delta, categories, precision, confidence, samples.
    rng : Generator or int, optional
        Randomness for gamma, or a seed.
    progress : callable, optional
        Called with how many samples of gamma are done, and how many there will be.
    scored : mapping of measure to Agreement, optional
        Results of `agreement` on this corpus by this model; these are not computed again.

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

    >>> spans = {"anna": [[(0, 2, "X")]], "ben": [[(0, 1, "X")]]}
    >>> corpus = Corpus.from_spans(spans, lengths=[4])
    >>> print(coefficients(corpus, ["corrected-f1", "kappa", "s", "cu-alpha"]))
                     value  observed  expected
    corrected-f1    0.5000    0.6667    0.3333  agreement
    kappa           0.5000    0.7500    0.5000  agreement
    s               0.5000    0.7500    0.5000  agreement
    cu-alpha             -    0.0000    0.0000  disagreement
    <BLANKLINE>
    undefined: cu-alpha: where annotators marked the same positions, no text has two labels \
to confuse
    <BLANKLINE>
    beyondchance|measure:token|model:disjoint|scope:label|unit:document|positions:tokens\
|average:micro|version:0.1.0
    """
    asked = list(CATALOGUE) if names == "all" else [names] if isinstance(names, str) else names
    wanted = list(dict.fromkeys(checked_option("coefficient", name, CATALOGUE) for name in asked))
    for option in gamma or {}:
        checked_option("parameter of gamma", option, GAMMA_OPTIONS)
    given, corpus = corpus, without_gold(corpus)
    if model == "auto":
        model, _ = fitting_model(marked(given, "label"))
    settings = Settings(
        model=model,
        unit=corpus.unit,
        positions=corpus.positions,
        gold=None if corpus is given else given.gold,
        **corpus.options,
    )

    known = scored or {}
    values = _exact(corpus, {*wanted, "corrected-f1"}, model=model, token=known.get("token"))
    if not set(wanted).isdisjoint(GAMMAS):
        values |= _sampled(corpus, gamma or {}, rng, progress)
        parameters = values["gamma"].settings.items()
        settings = settings.replaced(
            gamma=tuple(f"{name}={value}" for name, value in parameters) or None
        )
    chosen = {name: values[name] for name in wanted}
    # The corrected F1 is compared with the others, whether it was asked for or not.
    compared_with = {**chosen, "corrected-f1": values["corrected-f1"]}
    reasons: tuple[str, ...] = ()
    if need_reasons(compared_with):
        reasons = _reasons(corpus, compared_with, model=model, exact=known.get("exact"))
    return Coefficients(values=chosen, settings=settings, differences=reasons)


def _reasons(
    corpus: Corpus, known: Mapping[str, Coefficient], *, model: str, exact: Agreement | None
) -> tuple[str, ...]:
    """Why the coefficients differ; what they would be in longer texts is part of it."""
    shared = compared(corpus)
    fits = int(shared.text_length.max(initial=0)) <= _LONGEST // 2
    longer = replace(shared, text_length=shared.text_length * 2)
    return differences(
        known,
        found=facts(shared),
        longer=_exact(longer, known.keys(), model=model) if fits else {},
        exact=exact or _agreement_or_reason(shared, measure="exact", model=model)[0],
    )


def _exact(
    corpus: Corpus, wanted: Collection[str], *, model: str, token: Agreement | None = None
) -> dict[str, Coefficient]:
    """Those of the coefficients that are not sampled."""
    values: dict[str, Coefficient] = {}
    if "corrected-f1" in wanted:
        values["corrected-f1"] = _corrected_f1(corpus, token, model=model)
    if "alpha" in wanted:
        try:
            values["alpha"] = alpha(corpus)
        except OverlapError as error:
            values["alpha"] = Coefficient(name="alpha", value=nan, reason=str(error))
    for names, compute in ((FAMILY, family), (TOKENS, token_coefficients)):
        if not set(wanted).isdisjoint(names):
            values |= compute(corpus)
    return values


def _sampled(
    corpus: Corpus,
    options: Mapping[str, Any],
    rng: np.random.Generator | int | None,
    progress: Callable[[int, int], object] | None,
) -> dict[str, Coefficient]:
    """Gamma and its relatives; undefined where scipy is missing."""
    try:
        return gamma_coefficients(corpus, **options, rng=rng, progress=progress)
    except MissingLibraryError as error:
        return {name: Coefficient(name=name, value=nan, reason=str(error)) for name in GAMMAS}


def _corrected_f1(corpus: Corpus, result: Agreement | None, *, model: str) -> Coefficient:
    reason = None
    if result is None:
        result, reason = _agreement_or_reason(corpus, measure="token", model=model)
    if result is None:
        return Coefficient(name="corrected-f1", value=nan, reason=reason)
    scores = {"": result.score, **result.by_label}
    whole, *labels = (
        Coefficient(
            name="corrected-f1",
            value=score.corrected,
            observed=score.observed,
            expected=score.chance,
            reason=score.reason,
        )
        for score in scores.values()
    )
    return replace(whole, by_label=dict(zip(result.by_label, labels, strict=True)))


def _agreement_or_reason(
    corpus: Corpus, *, measure: str, model: str
) -> tuple[Agreement | None, str | None]:
    """The agreement, or why spans that overlap do not allow it."""
    try:
        return agreement(corpus, measure=measure, model=model), None
    except OverlapError as error:
        return None, str(error)
