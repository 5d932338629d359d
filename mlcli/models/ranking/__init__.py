"""Methods that put the rows of a group in order."""
