"""Public names of earlier versions, and what takes their place."""

NAMES = {
    "Corpus.joined": "read with all files at once, or add what count gives of each corpus",
    "Totals": "Counts, whose rows are by document or, by Counts.by_unit, by groups of documents",
    "PlacementRange": "Corpus.with_quotes_at",
    "placement_range": "agreement, whose notes give the score with the first and with the last "
    "occurrences of quotes, or Corpus.with_quotes_at",
}
"""Public names, each with what takes its place."""
