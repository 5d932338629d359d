"""Distributions that factor over a graph: discrete factors, exact and approximate inference, structures, questions."""
