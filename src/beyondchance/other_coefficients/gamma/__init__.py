"""Gamma (Mathet et al. 2015) and its parts."""
