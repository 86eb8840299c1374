"""What was annotated: the corpus, its columns and how it is built."""
