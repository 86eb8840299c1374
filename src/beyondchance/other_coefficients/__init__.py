"""Other coefficients of agreement, on the same annotations."""
