"""train: to come."""
