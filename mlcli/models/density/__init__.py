"""Methods that describe the distribution that rows were drawn from."""
