"""Checks of a dataset, before any model has learned from it."""
