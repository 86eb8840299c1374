"""The choices that a reader can be given, by one set of words for all formats."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, fields
from os import PathLike

from beyondchance.annotations.corpus import UNITS
from beyondchance.annotations.tags import REPAIRS, SCHEMES
from beyondchance.errors import OptionError, checked_option


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadOptions:
    """How to read annotations. Every format takes those that concern it.

    Attributes
    ----------
    unit, positions : str, optional
        ``sentence`` or ``document``; ``tokens`` or ``characters``. By default what
        suits the format.
    gold : str or path, optional
        The annotator who is the gold standard, and so not one more annotator; or the
        file that holds it.
    match : {"id", "text", "order"}
        How documents of different annotators find each other.
    whitespace : {"trim", "keep"}
        White space at the edges of a span.
    align : {"widen", "strict"}
        A span that cuts a token is widened to it, or refused.
    offsets : {"codepoints", "utf16"}, optional
        What offsets count, where the file departs from its format.
    zero_length, duplicates : {"error", "skip"}
        Spans without a position, and spans marked twice by one annotator.
    repeated : {"error", "last"}
        A document that one annotator annotated twice.
    scheme : str, optional
        The scheme of tags; detected by default.
    repair : {"none", "conlleval", "discard"}
        What to do with tag sequences that break their scheme.
    token_column, tag_column : str, optional
        Columns, by number from 1 on or by name; several tag columns are separated
        by commas.
    discontinuous : {"error", "split", "join"}
        Spans of several fragments.
    empty : {"annotated", "missing"}
        What an empty annotation file says.
    predictions : bool
        Whether predictions of models count as annotators.
    spans_key : str, optional
        The span group to read instead of the entities.
    layer, feature : str, optional
        The annotation type, and the feature that holds the label.
    documents : str, optional
        A second table with one row for each document.
    length : int, optional
        Positions of every document, where a table does not say.
    grid : str, optional
        The length of a position where offsets are times, such as ``10ms``.
    tier : {"annotator", "label", "file"}
        Where offsets are times: tiers are annotators; or files are annotators and tiers
        labels; or files are annotators and labels are what is written in the tiers.
    """

    unit: str | None = None
    positions: str | None = None
    gold: str | PathLike[str] | None = None
    match: str = "id"
    whitespace: str = "trim"
    align: str = "widen"
    offsets: str | None = None
    zero_length: str = "error"
    duplicates: str = "error"
    repeated: str = "error"
    scheme: str | None = None
    repair: str = "none"
    token_column: str | None = None
    tag_column: str | None = None
    discontinuous: str = "error"
    empty: str = "annotated"
    predictions: bool = False
    spans_key: str | None = None
    layer: str | None = None
    feature: str | None = None
    documents: str | None = None
    length: int | None = None
    grid: str | None = None
    tier: str = "annotator"

    def __post_init__(self) -> None:
        for name, valid in CHOICES.items():
            value = getattr(self, name)
            if value is not None:
                checked_option(name, value, valid)
        if self.length is not None and (type(self.length) is not int or self.length < 0):
            raise OptionError(f"length is {self.length!r}; expected a number of positions")
        if not isinstance(self.predictions, bool):
            raise OptionError(f"predictions is {self.predictions!r}; expected True or False")

    def changed(self) -> list[str]:
        """The options that were given another value than their default."""
        return [item.name for item in fields(self) if getattr(self, item.name) != item.default]


CHOICES = {
    "unit": UNITS,
    "positions": ("tokens", "characters"),
    "match": ("id", "text", "order"),
    "whitespace": ("trim", "keep"),
    "align": ("widen", "strict"),
    "offsets": ("codepoints", "utf16"),
    "zero_length": ("error", "skip"),
    "duplicates": ("error", "skip"),
    "repeated": ("error", "last"),
    "scheme": tuple(SCHEMES),
    "repair": REPAIRS,
    "discontinuous": ("error", "split", "join"),
    "empty": ("annotated", "missing"),
    "tier": ("annotator", "label", "file"),
}

EVERYWHERE = frozenset({"gold", "match", "duplicates", "repeated"})
"""Options that every format takes."""
CHARACTERS = EVERYWHERE | {"unit", "positions", "whitespace", "align", "offsets", "zero_length"}
"""Options that every format with character offsets takes."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What one call of `read` was asked for, and what it met on the way.

    Attributes
    ----------
    options : ReadOptions
    skipped : Counter
        What was ignored, left out or changed, and how often.
    notes : list of str
        What was found out, for people.
    signed : dict
        Choices that move a digit, for the signature.
    numbered : dict
        How many texts an annotator has, where only their numbers tell them apart.
    """

    options: ReadOptions
    skipped: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)
    signed: dict[str, str] = field(default_factory=dict)
    numbered: dict[str, int] = field(default_factory=dict)
