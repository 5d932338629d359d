"""Sums over rows without each row in turn, and systems of equations, many at a time."""
