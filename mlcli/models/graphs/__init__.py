"""Models whose distribution is a product of factors over a graph of columns."""
