"""Exact neighbours of rows: distances, search, votes, and the leave-one-out of all rows from one search."""
