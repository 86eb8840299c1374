"""One module per format that can be read."""
