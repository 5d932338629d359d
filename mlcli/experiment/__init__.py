"""Experiments: what is run, how rows are split, what is stored."""
