"""Models in files: written, read, and used to predict other data."""
