"""Many trees that answer together."""
