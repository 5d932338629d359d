"""Networks of layers that learn classes and values."""
