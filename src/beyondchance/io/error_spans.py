"""What formats of errors in translations share: labels, and marks that cover nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from beyondchance.errors import OptionError
from beyondchance.io.offsets import Interval
from beyondchance.io.options import Reading
from beyondchance.messages import given
from beyondchance.tallies import left_out

_FEATURES = ("category", "severity", "category/severity")


@dataclass(frozen=True, slots=True)
class Labels:
    """What the label of an error is: its category, its severity, or both.

    Attributes
    ----------
    parts : tuple of str
        ``category``, ``severity``, or both.
    reading : Reading
    """

    parts: tuple[str, ...]
    reading: Reading

    def of(self, error: Mapping[str, str]) -> str:
        """Return the label of an error; empty if it has none, which is counted."""
        label = "/".join(filter(None, (error[part] for part in self.parts)))
        if not label:
            self.reading.skipped[left_out(f"errors without a {self.parts[0]}")] += 1
        return label


def asked_labels(reading: Reading, default: str) -> Labels:
    """Return the labels that the option ``feature`` asks for."""
    feature = reading.options["feature"] or default
    if feature not in _FEATURES:
        raise OptionError(*given("feature", feature), expected=f"one of: {', '.join(_FEATURES)}")
    return Labels(tuple(feature.split("/")), reading)


def visible(text: str, place: Interval, reading: Reading) -> Interval | None:
    """Return a span that covers something.

    A mark on nothing or on a blank says that words are missing. Blanks count if white space is
    kept.
    """
    words = text[slice(*place)]
    if words.strip() or (words and reading.options["whitespace"] == "keep"):
        return place
    reading.skipped[left_out("marks of nothing but white space")] += 1
    return None
