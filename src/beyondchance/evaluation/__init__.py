"""A system against a gold standard, by the names and rules that the field is used to."""
