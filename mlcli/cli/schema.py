"""schema: to come."""
