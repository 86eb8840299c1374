"""One module per command: the report of its result."""
