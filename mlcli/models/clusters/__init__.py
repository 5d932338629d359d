"""Methods that put rows into clusters."""
