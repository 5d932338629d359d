"""Compiled loops of pictures of rows."""
