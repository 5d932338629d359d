"""Compiled loops over sequences."""
