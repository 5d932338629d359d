"""data: to come."""
