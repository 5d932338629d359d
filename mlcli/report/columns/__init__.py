"""Columns of text that verbs write as CSV."""
