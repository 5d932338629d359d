"""Methods that tag the rows of sequences."""
