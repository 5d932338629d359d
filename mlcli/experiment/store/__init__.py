"""Answers that are not run again: keys, codec, database and runs."""
