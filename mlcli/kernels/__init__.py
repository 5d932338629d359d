"""Compiled functions over arrays and scalars; they know no classes."""
