"""One module per command: what its result has to say."""
