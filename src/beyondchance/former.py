"""Names and options of earlier versions, and what takes their place."""

NAMES = {
    "Totals": "Counts, whose rows are by document or, by Counts.by_unit, by groups of documents",
    "PlacementRange": "Corpus.with_quotes_at",
    "placement_range": "agreement, whose notes give the score with the first and with the last "
    "occurrences of quotes, or Corpus.with_quotes_at",
}
"""Public names, each with what takes its place."""

OPTIONS = {
    "keep_parts": "leave it out: an interrupted run starts anew, and takes seconds for a million "
    "documents; shares of larger files are counted with part and save_counts",
}
"""Options, each with what to do instead."""
