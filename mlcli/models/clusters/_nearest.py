"""The nearest centre of each row, how far it is, and how far the next one is."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mlcli.core.tables import Array, Codes

TIE = 64 * np.finfo(np.float64).eps
"""Squared distances that differ by less than this share of the largest squared length are equal."""
BLOCK_CELLS = 2_000_000
"""Distances that are held at once, so that memory grows with the rows alone."""


class Nearest(NamedTuple):
    """One entry per row; the next centre is infinitely far where there is only one."""

    group: Codes
    own: Array
    """Distance to the nearest centre."""
    next: Array
    """Distance to the nearest of the others."""


def squared_lengths(X: Array) -> Array:
    """|x|² of each row."""
    return np.asarray(np.einsum("ij,ij->i", X, X))


def nearest(X: Array, centres: Array, lengths: Array, tie: float = TIE) -> Nearest:
    """The centre nearest to each row; of equally near ones the first. ``lengths`` are |x|² of each row."""
    step = max(1, BLOCK_CELLS // len(centres))
    if len(X) <= step:
        return _nearest(X, centres, lengths, tie)
    starts = range(0, len(X), step)
    blocks = [_nearest(X[at : at + step], centres, lengths[at : at + step], tie) for at in starts]
    return Nearest(*map(np.concatenate, zip(*blocks, strict=True)))


def squared_distances(X: Array, centres: Array, lengths: Array) -> Array:
    """|c|² − 2 c·x + |x|², one row per centre."""
    squared = (-2.0 * centres) @ X.T
    squared += squared_lengths(centres)[:, None]
    squared += lengths
    return squared


def _nearest(X: Array, centres: Array, lengths: Array, tie: float) -> Nearest:
    squared = squared_distances(X, centres, lengths)
    margin = tie * (lengths + squared_lengths(centres).max())
    group, own, further = np.zeros(len(X), np.int32), squared[0], np.full(len(X), np.inf)
    for place in range(1, len(centres)):
        candidate = squared[place]
        closer = candidate < own - margin
        further = np.minimum(further, np.where(closer, own, candidate))
        own = np.where(closer, candidate, own)
        group[closer] = place
    return Nearest(group, np.sqrt(np.maximum(own, 0.0)), np.sqrt(np.maximum(further, 0.0)))
