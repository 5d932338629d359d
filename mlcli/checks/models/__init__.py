"""Checks of a model that was judged."""
