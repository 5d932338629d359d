"""run: to come."""
