"""How much of the agreement between span annotations is more than luck.

The names below are the public interface; they are loaded when first used, so
that importing the package costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from beyondchance.version import __version__

if TYPE_CHECKING:
    from beyondchance.aligning import Disagreements, disagreements
    from beyondchance.chance import (
        coverage,
        expected_match,
        sample_arrangements,
        start_probabilities,
    )
    from beyondchance.choices import CustomMeasure
    from beyondchance.comparison import Coefficient, Coefficients, coefficients
    from beyondchance.contrasts import Comparison, Standings, compare, compare_systems
    from beyondchance.demo import example
    from beyondchance.errors import (
        BeyondChanceError,
        DataError,
        FormatError,
        LengthsError,
        MismatchError,
        MissingLibraryError,
        NothingSharedError,
        OptionError,
        OverlapError,
        SpanError,
        TagError,
    )
    from beyondchance.io import read
    from beyondchance.io.writing import write
    from beyondchance.null import NullDistribution, match_variance, null_distribution
    from beyondchance.planning import Plan, plan
    from beyondchance.publishing import Page, report
    from beyondchance.results import Agreement, Counts, Difficulty, Ranking, Score
    from beyondchance.scoring import agreement, difficulty, rank
    from beyondchance.settings import Settings
    from beyondchance.spans import Corpus, Span
    from beyondchance.uncertainty import ConfidenceInterval, Intervals

__all__ = [
    "Agreement",
    "BeyondChanceError",
    "Coefficient",
    "Coefficients",
    "Comparison",
    "ConfidenceInterval",
    "Corpus",
    "Counts",
    "CustomMeasure",
    "DataError",
    "Difficulty",
    "Disagreements",
    "FormatError",
    "Intervals",
    "LengthsError",
    "MismatchError",
    "MissingLibraryError",
    "NothingSharedError",
    "NullDistribution",
    "OptionError",
    "OverlapError",
    "Page",
    "Plan",
    "Ranking",
    "Score",
    "Settings",
    "Span",
    "SpanError",
    "Standings",
    "TagError",
    "__version__",
    "agreement",
    "coefficients",
    "compare",
    "compare_systems",
    "coverage",
    "difficulty",
    "disagreements",
    "example",
    "expected_match",
    "match_variance",
    "null_distribution",
    "plan",
    "rank",
    "read",
    "report",
    "sample_arrangements",
    "start_probabilities",
    "write",
]

_HOMES = {
    "aligning": ("Disagreements", "disagreements"),
    "chance": ("coverage", "expected_match", "sample_arrangements", "start_probabilities"),
    "choices": ("CustomMeasure",),
    "comparison": ("Coefficient", "Coefficients", "coefficients"),
    "contrasts": ("Comparison", "Standings", "compare", "compare_systems"),
    "demo": ("example",),
    "errors": (
        "BeyondChanceError",
        "DataError",
        "FormatError",
        "LengthsError",
        "MismatchError",
        "MissingLibraryError",
        "NothingSharedError",
        "OptionError",
        "OverlapError",
        "SpanError",
        "TagError",
    ),
    "io": ("read",),
    "io.writing": ("write",),
    "null": ("NullDistribution", "match_variance", "null_distribution"),
    "planning": ("Plan", "plan"),
    "publishing": ("Page", "report"),
    "results": ("Agreement", "Counts", "Difficulty", "Ranking", "Score"),
    "scoring": ("agreement", "difficulty", "rank"),
    "settings": ("Settings",),
    "spans": ("Corpus", "Span"),
    "uncertainty": ("ConfidenceInterval", "Intervals"),
}


def __getattr__(name: str) -> object:
    for module, names in _HOMES.items():
        if name in names:
            value = getattr(import_module(f"beyondchance.{module}"), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module 'beyondchance' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
