"""Checks of a scored model."""
