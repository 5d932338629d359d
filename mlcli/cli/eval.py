"""eval: to come."""
