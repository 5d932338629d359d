"""Compiled asking of boosted trees: every row walks down each by its bins and adds up the scores of leaves."""

from __future__ import annotations

import numpy as np
from numba import njit

from mlcli.core.tables import Array, Codes
from mlcli.kernels.gradient_histograms import Bytes

LEAF = -1
TOGETHER = 512
"""How many rows ask one tree before the next, so that both stay in the nearest memory."""


@njit(cache=True, nogil=True, error_model="numpy")
def leaf_of(row: Bytes, root: int, column: Codes, left: Codes, sets: Bytes) -> int:
    """The leaf of one row; children are numbered from the root of their tree."""
    node = root
    while left[node] != LEAF:
        code = np.intp(row[column[node]])
        goes_right = 1 - ((np.intp(sets[node, code >> 3]) >> (code & 7)) & 1)
        node = root + left[node] + goes_right
    return node


@njit(cache=True, nogil=True, error_model="numpy")
def add_trees(
    bins: Bytes, roots: Codes, column: Codes, left: Codes, sets: Bytes, score: Array, scores: Array
) -> None:
    """Add to ``scores`` (outputs × rows) what each tree says of each row of bins (n × F); outputs take turns."""
    outputs = len(scores)
    for begin in range(0, len(bins), TOGETHER):
        end = min(begin + TOGETHER, len(bins))
        for tree in range(len(roots)):
            sums = scores[tree % outputs]
            for row in range(begin, end):
                sums[row] += score[leaf_of(bins[row], roots[tree], column, left, sets)]
