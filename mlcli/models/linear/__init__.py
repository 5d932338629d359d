"""Linear models: a datafit, a penalty and a solver over one design."""
