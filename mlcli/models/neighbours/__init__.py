"""Methods that answer from the training rows nearest to a row."""
