"""plan: to come."""
