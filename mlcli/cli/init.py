"""init: to come."""
