"""How much of the agreement between span annotations is more than luck.

The names below are the public interface; they are loaded when first used, so
that importing the package costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from beyondchance.former import NAMES
from beyondchance.version import __version__ as __version__

if TYPE_CHECKING:
    from beyondchance.adjudication.adjudicated import adjudicated as adjudicated
    from beyondchance.adjudication.consensus import Consensus as Consensus, consensus as consensus
    from beyondchance.annotations.corpus import Corpus as Corpus, Span as Span
    from beyondchance.diagnosis.diagnose import diagnose as diagnose
    from beyondchance.diagnosis.diagnosis import Diagnosis as Diagnosis
    from beyondchance.errors import (
        BeyondChanceError as BeyondChanceError,
        DataError as DataError,
        FormatError as FormatError,
        LengthsError as LengthsError,
        ListsError as ListsError,
        MismatchError as MismatchError,
        MissingLibraryError as MissingLibraryError,
        NothingSharedError as NothingSharedError,
        OptionError as OptionError,
        OverlapError as OverlapError,
        SpanError as SpanError,
        TagError as TagError,
        UnknownNameError as UnknownNameError,
    )
    from beyondchance.evaluation.trainer import compute_metrics as compute_metrics
    from beyondchance.inference.careless import careless_work as careless_work
    from beyondchance.inference.compare import compare as compare
    from beyondchance.inference.null import (
        match_variance as match_variance,
        null_distribution as null_distribution,
    )
    from beyondchance.inference.plan import (
        plan as plan,
        plan_replacement as plan_replacement,
    )
    from beyondchance.inference.replacement import (
        Replacement as Replacement,
        replacement as replacement,
    )
    from beyondchance.inference.standings import compare_systems as compare_systems
    from beyondchance.inference.trend import trend as trend
    from beyondchance.io.door import corpus as corpus
    from beyondchance.io.example import example as example
    from beyondchance.io.reading import read as read
    from beyondchance.io.scanning import Scan as Scan, scan as scan
    from beyondchance.io.writing import write as write
    from beyondchance.options import CustomMeasure as CustomMeasure
    from beyondchance.other_coefficients.coefficients import (
        Coefficients as Coefficients,
        coefficients as coefficients,
    )
    from beyondchance.page.report import report as report
    from beyondchance.results.agreement import Agreement as Agreement
    from beyondchance.results.counts import Counts as Counts
    from beyondchance.results.difficulty import Difficulty as Difficulty
    from beyondchance.results.intervals import ConfidenceInterval as ConfidenceInterval
    from beyondchance.results.ranking import Ranking as Ranking
    from beyondchance.results.score import Score as Score
    from beyondchance.scoring.api import (
        agreement as agreement,
        count as count,
        difficulty as difficulty,
        rank as rank,
    )
    from beyondchance.scoring.disagreements import disagreements as disagreements
    from beyondchance.scoring.labelling import labelling as labelling
    from beyondchance.scoring.one_text import (
        coverage as coverage,
        expected_match as expected_match,
        sample_arrangements as sample_arrangements,
        start_probabilities as start_probabilities,
    )
    from beyondchance.scoring.shuffling import shuffled as shuffled
    from beyondchance.settings import Settings as Settings

_HOMES = {
    "adjudication.adjudicated": "adjudicated",
    "adjudication.consensus": "Consensus consensus",
    "annotations.corpus": "Corpus Span",
    "diagnosis.diagnose": "diagnose",
    "diagnosis.diagnosis": "Diagnosis",
    "errors": "BeyondChanceError DataError FormatError LengthsError ListsError MismatchError "
    "MissingLibraryError NothingSharedError OptionError OverlapError SpanError TagError "
    "UnknownNameError",
    "evaluation.trainer": "compute_metrics",
    "inference.careless": "careless_work",
    "inference.compare": "compare",
    "inference.null": "match_variance null_distribution",
    "inference.plan": "plan plan_replacement",
    "inference.replacement": "Replacement replacement",
    "inference.standings": "compare_systems",
    "inference.trend": "trend",
    "io.door": "corpus",
    "io.example": "example",
    "io.reading": "read",
    "io.scanning": "Scan scan",
    "io.writing": "write",
    "options": "CustomMeasure",
    "other_coefficients.coefficients": "Coefficients coefficients",
    "page.report": "report",
    "results.agreement": "Agreement",
    "results.counts": "Counts",
    "results.difficulty": "Difficulty",
    "results.intervals": "ConfidenceInterval",
    "results.ranking": "Ranking",
    "results.score": "Score",
    "scoring.api": "agreement count difficulty rank",
    "scoring.disagreements": "disagreements",
    "scoring.labelling": "labelling",
    "scoring.one_text": "coverage expected_match sample_arrangements start_probabilities",
    "scoring.shuffling": "shuffled",
    "settings": "Settings",
    "version": "__version__",
}
"""Where each public name lives; type checkers read the same from the imports above."""
_HOME = {name: module for module, names in _HOMES.items() for name in names.split()}

__all__ = [name for name in sorted(_HOME)]  # noqa: C416 - a list, as linters expect


def __getattr__(name: str) -> object:
    if name not in _HOME:
        instead = f"; use {NAMES[name]}" if name in NAMES else ""
        raise AttributeError(f"module 'beyondchance' has no attribute {name!r}{instead}")
    value = getattr(import_module(f"beyondchance.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)
