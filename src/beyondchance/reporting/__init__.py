"""Results to strings; nothing here computes a score."""
