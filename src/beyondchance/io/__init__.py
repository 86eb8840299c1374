"""Files and frames to a corpus, and back."""
