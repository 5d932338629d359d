"""Methods that look at no column, or at one: what every other method has to beat."""
