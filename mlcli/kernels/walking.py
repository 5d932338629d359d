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
def prepare(roots: Codes, left: Codes, right: Codes, questions: Codes) -> None:
    """Fill the node that is right of each, itself for a leaf, and how many questions a tree asks at most."""
    depth = np.zeros(len(left), np.int32)
    for tree in range(len(roots)):
        root, end = roots[tree], roots[tree + 1] if tree + 1 < len(roots) else len(left)
        questions[tree] = 0
        for node in range(root, end):
            right[node] = node
            if left[node] != LEAF:
                right[node] = root + left[node] + 1
                depth[right[node]] = depth[right[node] - 1] = depth[node] + 1
            questions[tree] = max(questions[tree], depth[node])


@njit(cache=True, nogil=True, error_model="numpy")
def add_trees(
    bins: Bytes, roots: Codes, column: Codes, left: Codes, sets: Bytes, score: Array, scores: Array
) -> None:
    """Add to ``scores`` (outputs × rows) what each tree says of each row of bins (n × F); outputs take turns.

    Rows walk in step, as often as the longest way takes: no set of a leaf has a bin in it, so who has arrived
    stays there, and nothing has to be guessed ahead.
    """
    right, questions = np.empty(len(left), np.int32), np.empty(len(roots), np.int32)
    prepare(roots, left, right, questions)
    at = np.empty(TOGETHER, np.int32)
    for begin in range(0, len(bins), TOGETHER):
        some = bins[begin : begin + TOGETHER]
        for tree in range(len(roots)):
            at[:] = roots[tree]
            for _ in range(questions[tree]):
                for row in range(len(some)):
                    node = at[row]
                    code = np.intp(some[row, column[node]])
                    at[row] = right[node] - ((np.intp(sets[node, code >> 3]) >> (code & 7)) & 1)
            sums = scores[tree % len(scores)]
            for row in range(len(some)):
                sums[begin + row] += score[at[row]]
