"""Compiled random numbers from a state of one whole number: xorshift of 32 bits (Marsaglia 2003)."""

from __future__ import annotations

import numpy as np

from mlcli.core.tables import Rows
from mlcli.kernels.without_counting import compiled


@compiled
def random_below(state: Rows, end: int) -> int:
    """A whole number from 0 to ``end - 1``, all alike; ``state[0]`` must not be 0."""
    x = state[0]
    x ^= (x << 13) & 0xFFFFFFFF
    x ^= x >> 17
    x ^= (x << 5) & 0xFFFFFFFF
    state[0] = x
    drawn: int = (x * end) >> 32
    return drawn


@compiled
def random_share(state: Rows) -> float:
    """A number in [0, 1)."""
    return random_below(state, int(np.int64(1 << 30))) / (1 << 30)
