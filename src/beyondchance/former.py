"""Public names of earlier versions, and what takes their place."""

_RETURNED_BY = {
    "adjudicated": "AdjudicatedCorpus",
    "agreement(…).intervals": "Intervals",
    "agreement(…).macro": "MacroAverage",
    "careless_work": "CarelessWork",
    "coefficients": "Coefficient",
    "compare": "Comparison",
    "compare_systems": "Standings",
    "diagnose": "Merge Pattern",
    "disagreements": "Disagreements Places",
    "labelling": "Labelling",
    "null_distribution": "NullDistribution",
    "plan": "Plan",
    "plan_replacement": "ReplacementPlan",
    "report": "Page",
    "trend": "Trend",
}
"""Functions, each with the types of its results that were public."""

NAMES = {
    "Corpus.joined": "read with all files at once, or add what count gives of each corpus",
    "Totals": "Counts, whose rows are by document or, by Counts.by_unit, by groups of documents",
    "PlacementRange": "Corpus.with_quotes_at",
    "placement_range": "agreement, whose notes give the score with the first and with the last "
    "occurrences of quotes, or Corpus.with_quotes_at",
    **{
        name: f"the result of {function}"
        for function, names in _RETURNED_BY.items()
        for name in names.split()
    },
}
"""Public names, each with what takes its place."""
