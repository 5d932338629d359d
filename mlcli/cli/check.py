"""check: to come."""
