"""Methods that learn from rows with and without a class."""
