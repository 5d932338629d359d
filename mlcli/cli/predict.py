"""predict: to come."""
