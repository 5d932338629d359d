"""Regression tests of repaired faults, one file each, named after the fault."""
