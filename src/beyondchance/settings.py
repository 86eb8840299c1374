"""Everything that moves a digit of a result, and its signature."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from beyondchance.errors import MismatchError, OptionError
from beyondchance.messages import Quote
from beyondchance.options import ReadOptions, ResamplingOptions, ScoringOptions, declared
from beyondchance.version import __version__

_PREFIX = "beyondchance"
_ESCAPES = {"%": "%25", "|": "%7C", ",": "%2C", "\n": "%0A", "\r": "%0D"}
_NAMES = {str: "a string", tuple: "a tuple of strings", bool: "True or False"}


def _signed(group: type) -> dict[str, type]:
    options = declared(group).values()
    return {item.signed_name: item.kind for item in options if item.option.is_signed}


_READ = (
    *("scheme", "repair", "match", "offsets", "predictions", "tokens", "layout", "mismatch"),
    *("marks", "folder", "align", "whitespace", "zero_length", "duplicates", "repeated"),
    *("stored_words", "discontinuous", "empty", "layer", "feature", "spans_key", "grid", "tier"),
    *("length", "ends", "inexact_quotes", "near_quotes", "answers", "missing_quotes"),
)
"""How annotations were read, in the order of signatures, also by options of earlier versions."""

KINDS: Mapping[str, type] = {
    # How it was scored.
    **dict.fromkeys(("measure", "custom"), str),
    "theta": float,
    **dict.fromkeys(("model", "scope", "unit", "positions", "average"), str),
    **_signed(ScoringOptions),
    # How it was read: what the reader detected, what it mended, and the options that were passed.
    **dict.fromkeys(_READ, str),
    **_signed(ReadOptions),
    # What was kept of it, and who was compared.
    **dict.fromkeys(("annotators", "labels", "rename_label", "shuffled"), tuple),
    **dict.fromkeys(("gold", "pairs", "field"), str),
    "gamma": tuple,
    # How sure it is.
    **_signed(ResamplingOptions),
    "groups": int,
    "ties": str,
    "version": str,
}
"""Every name that a signature can have, with the type of its value, in their order."""

_DEFAULTS = {
    "measure": "token",
    "model": "auto",
    "scope": "label",
    "unit": "document",
    "positions": "tokens",
    "average": "micro",
    "version": __version__,
}


class Settings:
    """How a result was computed. ``str(settings)`` is its signature, to cite.

    Attributes are None where they do not apply.

    Attributes
    ----------
    measure, model, scope : str
        What counts as match, how random spans are arranged, and whether the
        labels are arranged one by one. Of `labelling`, the scope is ``split``; of its part
        that scores labels it is ``found``, and the model ``permuted``.
    custom : str, optional
        The name of a measure of one's own, where `measure` is ``custom``.
    theta : float, optional
        The threshold of the measure ``iou``.
    samples, seed : int, optional
        How many random arrangements were drawn, where chance was estimated from them, and
        where the random numbers began, of these and of resamples.
    unit, positions : str
        In what stretch of text spans are shuffled, and what offsets count.
    average : str
        How texts and labels are put together: ``micro`` adds their counts, ``annotation`` adds
        them with pairs weighted by the number of annotators, ``macro-label`` and
        ``macro-document`` average the scores of labels or documents.
    scheme, tokens : str, optional
        How tags were read, and where tokens came from.
    repair, match, ... : optional
        Options of `read` that move a digit, where they were given another value than
        their default.
    annotators, labels : tuple of str, optional
        What the corpus was restricted to.
    rename_label : tuple of str, optional
        Labels that were given another name, as ``OLD=NEW``.
    shuffled : tuple of str, optional
        Which mistakes were made on purpose: kind, magnitude and seed.
    gold : str, optional
        The annotator taken as gold standard.
    pairs : str, optional
        ``gold`` where all were compared with the gold standard only.
    field : str, optional
        What `labelling` compared in the place of labels.
    gamma : tuple of str, optional
        How gamma was computed, where it was: its parameters, as ``name=value``.
    confidence, interval_method, resamples, over : optional
        How intervals were computed: their confidence, by which method, from how many
        resamples of what.
    groups : int, optional
        How many groups of documents intervals are over, where documents are too many.
    ties : str, optional
        How random annotations that agree as much as the observed ones were counted.
    version : str
        Of this package.

    Examples
    --------
    >>> settings = Settings(measure="exact", unit="sentence", version="0.1.0")
    >>> print(settings)
    beyondchance|measure:exact|model:auto|scope:label|unit:sentence|positions:tokens\
|average:micro|version:0.1.0
    >>> Settings.parse(str(settings)) == settings
    True
    >>> settings.replaced(seed=7).seed
    7
    """

    __slots__ = ("_values",)

    def __init__(self, **values: Any) -> None:
        given = {**_DEFAULTS, **values}
        for name, value in given.items():
            if name not in KINDS:
                raise OptionError("unknown setting ", Quote(name), expected=", ".join(KINDS))
            if value is not None and not _is_right(value, KINDS[name]):
                right = _NAMES.get(KINDS[name], "a number")
                raise OptionError("setting ", Quote(name), " is ", Quote(value), expected=right)
        ordered = filter(given.__contains__, KINDS)
        kept = {name: given[name] for name in ordered if given[name] is not None}
        object.__setattr__(self, "_values", kept)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"settings do not change; use replaced({name}=...)")

    def __getattr__(self, name: str) -> Any:
        if name not in KINDS:
            raise AttributeError(f"settings have no {name!r}")
        return self._values.get(name)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *KINDS]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Settings):
            return NotImplemented
        return self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash(str(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(Settings, **self._values), ()

    def __repr__(self) -> str:
        return f"Settings({', '.join(f'{k}={v!r}' for k, v in self.to_dict().items())})"

    def to_dict(self) -> dict[str, Any]:
        """Return the settings that apply, by name."""
        return dict(self._values)

    def replaced(self, **values: Any) -> Settings:
        """Return the settings with other values for some; None takes one away."""
        return Settings(**{**dict.fromkeys(_DEFAULTS), **self._values, **values})

    def __str__(self) -> str:
        parts = [_PREFIX]
        for name, value in self._values.items():
            items = value if isinstance(value, tuple) else (str(value),)
            parts.append(f"{name}:{','.join(map(_escaped, items))}")
        return "|".join(parts)

    @classmethod
    def parse(cls, signature: str) -> Settings:
        """Read a signature back.

        Raises
        ------
        OptionError
            If it is not a signature of this package.
        """
        if not isinstance(signature, str):
            raise OptionError("signature is ", Quote(signature), expected="a string")
        prefix, *parts = signature.strip("\r\n").split("|")
        if prefix != _PREFIX:
            raise OptionError("signature ", Quote(signature), f" does not begin with {_PREFIX!r}")
        values: dict[str, Any] = {}
        for part in parts:
            name, colon, value = part.partition(":")
            if not colon or name not in KINDS or name in values:
                wrong = f" is not NAME:VALUE with a name, once each, from {', '.join(KINDS)}"
                raise OptionError("signature part ", Quote(part), wrong)
            try:
                values[name] = _PARSERS[KINDS[name]](value)
            except (ValueError, KeyError):
                raise OptionError(
                    "signature part ",
                    Quote(part),
                    " holds no number",
                    expected=f"one after {name!r}",
                ) from None
        return cls(**values)


def _is_right(value: object, kind: type) -> bool:
    if kind is tuple:
        return isinstance(value, tuple) and all(isinstance(part, str) for part in value)
    return isinstance(value, str) if kind is str else type(value) is kind


def _escaped(value: str) -> str:
    return "".join(_ESCAPES.get(character, character) for character in value)


def _unescaped(value: str) -> str:
    for character, escape in reversed(_ESCAPES.items()):
        value = value.replace(escape, character)
    return value


def _names(value: str) -> tuple[str, ...]:
    return tuple(map(_unescaped, value.split(","))) if value else ()


_TRUTH = {"True": True, "False": False}
_PARSERS: Mapping[type, Any]
_PARSERS = {str: _unescaped, int: int, float: float, bool: _TRUTH.__getitem__, tuple: _names}


def added_settings(parts: Sequence[Settings]) -> Settings:
    """Add up the settings of parts; what was mended in some of them is signed for all.

    Raises
    ------
    MismatchError
        If parts were made in different ways.
    """
    merged: dict[str, Any] = {}
    # Some may have tokens in their files, and others by rule.
    origins = {one for part in parts for one in (part.tokens or "").split("+") if one}
    tokens = {"tokens": "+".join(sorted(origins))} if origins else {}
    for part in parts:
        for name, value in {**part.to_dict(), **tokens}.items():
            if merged.setdefault(name, value) != value:
                raise MismatchError(
                    f"counts differ in how they were made: {name} is ",
                    *(Quote(merged[name]), " and ", Quote(value)),
                    expected="the same, to add them",
                )
    return Settings(**merged)
