"""Methods that put rows into groups."""
