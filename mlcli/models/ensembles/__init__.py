"""Methods that answer by many models of another method."""
