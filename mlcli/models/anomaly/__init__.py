"""Methods that score how odd a row is."""
