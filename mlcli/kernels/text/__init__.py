"""Compiled reading of large files: where cells stand, and which numbers they are."""
