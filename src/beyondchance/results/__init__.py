"""What follows from counts: scores, intervals, rankings."""
