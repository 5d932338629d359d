"""Models in files: written, read, and asked about other data."""
