"""Rows in blocks whose cells fit a cache: what is done to a table step by step is then read from memory once."""

from __future__ import annotations

from collections.abc import Iterator

CELLS = 16_384
LEAST_ROWS = 16


def row_blocks(rows: int, columns: int) -> Iterator[slice]:
    """The rows of a table, some at a time, in order."""
    size = max(LEAST_ROWS, CELLS // max(1, columns))
    for start in range(0, rows, size):
        yield slice(start, start + size)
