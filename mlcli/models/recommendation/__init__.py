"""Methods that predict what users would give to items."""
