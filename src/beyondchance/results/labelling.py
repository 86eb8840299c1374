"""Agreement in two parts: finding spans, and labelling what both found."""

from __future__ import annotations

from dataclasses import dataclass

from beyondchance.numbers import in_digits
from beyondchance.results.agreement import Agreement
from beyondchance.results.printed import Printed
from beyondchance.settings import Settings


@dataclass(frozen=True, eq=False)
class Labelling(Printed):
    """How well annotators agree on where spans are, and on the labels of what both found.

    Attributes
    ----------
    finding : Agreement
        Of the spans, whatever their labels (scope ``unlabelled``).
    labelling : Agreement
        Of the labels at the places that both marked; its chance is that of permuted labels.
        It has a score for each label, document, pair and annotator, and intervals, as any
        other agreement.
    settings : Settings
        How both were computed; ``str(settings)`` is the signature to cite.
    """

    finding: Agreement
    labelling: Agreement
    settings: Settings

    def __repr__(self) -> str:
        parts = [
            f"{name}={in_digits(part.corrected)}"
            for name, part in (("finding", self.finding), ("labelling", self.labelling))
        ]
        return f"Labelling({', '.join(parts)})"
