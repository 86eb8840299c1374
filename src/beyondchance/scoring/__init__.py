"""From a corpus to results."""
