"""Exact neighbours of rows: distances, search and neighbourhoods."""
