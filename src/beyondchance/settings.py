"""Everything that moves a digit of a result, and its signature."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

from beyondchance.errors import OptionError
from beyondchance.version import __version__

_PREFIX = "beyondchance"
_LISTS = ("annotators", "labels", "rename_label", "gamma")
_NUMBERS: Mapping[str, type[int | float]] = {"theta": float, "samples": int, "seed": int}
_ESCAPES = {"%": "%25", "|": "%7C", ",": "%2C", "\n": "%0A", "\r": "%0D"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How a result was computed. ``str(settings)`` is its signature, to cite.

    Attributes
    ----------
    measure, model, scope : str
        What counts as match, how random spans are arranged, and whether the
        labels are arranged one by one.
    custom : str, optional
        The name of a measure of one's own, where `measure` is ``custom``.
    theta : float, optional
        The threshold of the measure ``iou``.
    samples, seed : int, optional
        How many random arrangements were drawn, where chance was estimated from them, and
        where the random numbers began.
    unit, positions : str
        In what stretch of text spans are shuffled, and what offsets count.
    average : str
        How texts and labels are put together: ``micro`` adds their counts.
    scheme, repair : str, optional
        How tag sequences were read.
    match, offsets, predictions, tokens, align, whitespace : str, optional
        How files were read, where a choice was made.
    zero_length, duplicates, repeated, discontinuous, empty : str, optional
        The same.
    layer, feature, spans_key, grid, tier, length : str, optional
        The same.
    annotators, labels : tuple of str, optional
        What the corpus was restricted to.
    rename_label : tuple of str, optional
        Labels that were given another name, as ``OLD=NEW``.
    gold : str, optional
        The annotator taken as gold standard.
    pairs : str, optional
        ``gold`` where everybody was compared with the gold standard only.
    gamma : tuple of str, optional
        How gamma was computed, where it was: its parameters, as ``name=value``.
    confidence, interval_method, resamples, over : str, optional
        How intervals were computed: how sure they are, by which method, how often what was
        drawn again. Where the random numbers began is `seed` here too.
    ties : str, optional
        How random annotations that agree as much as the observed ones were counted.
    version : str
        Of this package.

    Examples
    --------
    >>> settings = Settings(measure="exact", unit="sentence", version="0.1.0")
    >>> print(settings)
    beyondchance|measure:exact|model:disjoint|scope:label|unit:sentence|positions:tokens\
|average:micro|version:0.1.0
    >>> Settings.parse(str(settings)) == settings
    True
    """

    measure: str = "token"
    custom: str | None = None
    theta: float | None = None
    model: str = "disjoint"
    scope: str = "label"
    unit: str = "document"
    positions: str = "tokens"
    average: str = "micro"
    samples: int | None = None
    seed: int | None = None
    scheme: str | None = None
    repair: str | None = None
    match: str | None = None
    offsets: str | None = None
    predictions: str | None = None
    tokens: str | None = None
    align: str | None = None
    whitespace: str | None = None
    zero_length: str | None = None
    duplicates: str | None = None
    repeated: str | None = None
    discontinuous: str | None = None
    empty: str | None = None
    layer: str | None = None
    feature: str | None = None
    spans_key: str | None = None
    grid: str | None = None
    tier: str | None = None
    length: str | None = None
    annotators: tuple[str, ...] | None = None
    labels: tuple[str, ...] | None = None
    rename_label: tuple[str, ...] | None = None
    gold: str | None = None
    pairs: str | None = None
    gamma: tuple[str, ...] | None = None
    confidence: str | None = None
    interval_method: str | None = None
    resamples: str | None = None
    over: str | None = None
    ties: str | None = None
    version: str = __version__

    def __post_init__(self) -> None:
        for item in fields(self):
            value, kind = getattr(self, item.name), "a string"
            if item.name in _NUMBERS:
                kind = "a number"
                is_right = type(value) is _NUMBERS[item.name]
            elif item.name in _LISTS:
                kind = "a tuple of strings"
                is_right = isinstance(value, tuple) and all(isinstance(part, str) for part in value)
            else:
                is_right = isinstance(value, str)
            if value is not None and not is_right:
                raise OptionError(f"setting {item.name!r} is {value!r}; expected {kind}")

    def __str__(self) -> str:
        parts = [_PREFIX]
        for name in (item.name for item in fields(self)):
            value = getattr(self, name)
            if value is not None:
                items = value if name in _LISTS else (str(value),)
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
            raise OptionError(f"signature is {signature!r}; expected a string")
        prefix, *parts = signature.strip("\r\n").split("|")
        known = {item.name for item in fields(cls)}
        if prefix != _PREFIX:
            raise OptionError(f"signature {signature!r} does not begin with {_PREFIX!r}")
        values: dict[str, str | float | tuple[str, ...]] = {}
        for part in parts:
            name, colon, value = part.partition(":")
            if not colon or name not in known or name in values:
                raise OptionError(
                    f"signature part {part!r} is not NAME:VALUE with a name, once each, from "
                    f"{', '.join(item.name for item in fields(cls))}"
                )
            if name in _NUMBERS:
                try:
                    values[name] = _NUMBERS[name](value)
                except ValueError:
                    raise OptionError(
                        f"signature part {part!r} holds no number; expected one after {name!r}"
                    ) from None
            elif name in _LISTS:
                values[name] = tuple(map(_unescaped, value.split(","))) if value else ()
            else:
                values[name] = _unescaped(value)
        return cls(**values)  # type: ignore[arg-type]


def _escaped(value: str) -> str:
    return "".join(_ESCAPES.get(character, character) for character in value)


def _unescaped(value: str) -> str:
    for character, escape in reversed(_ESCAPES.items()):
        value = value.replace(escape, character)
    return value
