"""Protocols: how rows are split into what is learned from and what is judged."""
