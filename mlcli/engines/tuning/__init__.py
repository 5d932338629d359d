"""Choosing among configurations of a model by inner splits of its training rows."""
