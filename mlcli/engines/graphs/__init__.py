"""Distributions that factor over a graph: factors, exact and approximate inference, structures, questions."""
