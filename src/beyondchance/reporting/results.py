"""What every result prints: the report of the command that makes such results."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from beyondchance.reporting.blocks import Report
from beyondchance.reporting.outputs.json import plain, spoken_data
from beyondchance.reporting.rendering import rendered
from beyondchance.reporting.sentences import condensed
from beyondchance.results.printed import Printed

_COLUMNS = 80
"""Columns that text has in Python."""

_REPORTS: Mapping[str, str] = {
    "Agreement": "commands.agree.report_of_agreement",
    "Coefficients": "commands.coefficients.report_of_coefficients",
    "CarelessWork": "commands.careless.report_of_careless",
    "Consensus": "commands.consensus.report_of_consensus",
    "Comparison": "commands.rank.report_of_comparison",
    "ConfidenceInterval": "commands.intervals.report_of_interval",
    "Diagnosis": "commands.diagnose.diagnose_report",
    "Difficulty": "commands.difficulty.difficulty_report",
    "Disagreements": "commands.disagreements.report_of_disagreements",
    "Intervals": "commands.intervals.report_of_intervals",
    "Labelling": "commands.agree.report_of_labelling",
    "MacroAverage": "commands.agree.report_of_average",
    "NullDistribution": "commands.agree.report_of_null",
    "Places": "commands.places.report_of_places",
    "Plan": "commands.plan.report_of_plan",
    "Ranking": "commands.rank.report_of_ranking",
    "Replacement": "commands.replace.report_of_replacement",
    "ReplacementPlan": "commands.replace.report_of_replacement_plan",
    "Score": "commands.agree.report_of_score",
    "Standings": "commands.rank.report_of_standings",
    "Trend": "commands.agree.report_of_trend",
}
"""The function that makes the report of each kind of result; loaded when one is printed."""


def report_of(result: Printed) -> Report:
    """Return the report of a result."""
    name = next(kind.__name__ for kind in type(result).__mro__ if kind.__name__ in _REPORTS)
    module, _, function = _REPORTS[name].rpartition(".")
    make: Callable[[Any], Report]
    make = getattr(import_module(f"beyondchance.reporting.{module}"), function)
    return make(result)


def printed(result: Printed, output: str) -> str:
    """Write a result in one of the outputs for people; notes come before the signature."""
    report = report_of(result)
    return rendered(report, output, said=condensed(report.notes), width=_COLUMNS).rstrip("\n")


def plain_data(result: Printed) -> dict[str, Any]:
    """Return a result as in JSON."""
    data: dict[str, Any] = plain(spoken_data(report_of(result)))
    return data


def plain_rows(result: Printed) -> list[dict[str, Any]]:
    """Return a result as the rows of CSV."""
    return [plain(row) for row in report_of(result).rows]
