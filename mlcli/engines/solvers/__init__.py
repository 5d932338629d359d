"""Solvers: ways to the minimum of a loss plus a penalty, each of which says what it needs of the two."""
