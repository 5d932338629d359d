"""What may be wrong with a dataset, or with how a model does on it, and what repairs that."""
