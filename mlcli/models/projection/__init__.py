"""Methods that show rows in fewer columns."""
