"""Compiled loops over ratings of users and items."""
