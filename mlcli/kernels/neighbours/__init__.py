"""Compiled loops of the search for near rows."""
