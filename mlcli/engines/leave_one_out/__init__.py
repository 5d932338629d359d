"""Predictions of each row by all others, in one computation for each method."""
