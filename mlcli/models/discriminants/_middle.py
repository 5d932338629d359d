"""A number near those of each column: told from there, a column that lies far from 0 keeps its digits."""

from __future__ import annotations

import numpy as np

from mlcli.core.tables import Array

LOOKED_AT = 99
"""The median of so many rows is not moved by a few far-off cells, and costs nothing."""


def middle(numbers: Array) -> Array:
    """The median of some of the rows, of two in the middle the larger."""
    if not len(numbers):
        return np.zeros(numbers.shape[1])
    some = numbers[:: -(-len(numbers) // LOOKED_AT)]
    half = len(some) // 2
    return np.asarray(np.partition(some, half, axis=0)[half])
