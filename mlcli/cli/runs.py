"""runs: to come."""
