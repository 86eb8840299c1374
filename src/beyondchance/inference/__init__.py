"""From results to tests and plans."""
