"""Protocols: how rows are split into training and test rows."""
