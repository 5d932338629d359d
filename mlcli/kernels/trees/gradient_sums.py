"""Compiled histograms of gradients: what the rows of a node add up to in every bin of every column.

Sums are whole numbers (fixed point), so that they are the same in any order of rows, and a sibling is exactly its
parent less the other child. Every bin holds two: the gradient, and in one word the weight (high bits) and the
hessian (low bits) of its rows. Columns lie in blocks of four beside each other, to read a row once per block.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from mlcli.core.rooms import Room
from mlcli.core.tables import Array, Rows
from mlcli.kernels.without_counting import compiled

Bytes = NDArray[np.uint8]
Whole = NDArray[np.int64]

BLOCK = 4
"""How many columns lie beside each other."""
BINS = 256
"""How many bins a column may have, that of its missing cells included."""
PER_COLUMN = 2 * BINS
"""How many sums a column has."""


@compiled
def fix_points(gradient: Array, hessian: Array, weight: Array, scales: Array, shift: int, fixed: Whole) -> None:
    """Fill ``fixed`` (rows × 2) with the nearest whole numbers of units; the weight stands ``shift`` bits up."""
    for i in range(len(gradient)):
        fixed[i, 0] = np.int64(math.floor(gradient[i] * scales[0] + 0.5))
        heavy = np.int64(math.floor(weight[i] * scales[2] + 0.5))
        fixed[i, 1] = (heavy << shift) + np.int64(math.floor(hessian[i] * scales[1] + 0.5))


@compiled
def add_rows(blocks: Bytes, rows: NDArray[np.uint32], fixed: Whole, beside: Whole, sums: Whole) -> None:
    """Add some rows to the sums of one node; ``beside`` is room for their gradients in the order of ``rows``."""
    for i in range(len(rows)):
        beside[i, 0] = fixed[rows[i], 0]
        beside[i, 1] = fixed[rows[i], 1]
    for b in range(len(blocks)):
        block, own = blocks[b], sums[b * BLOCK : (b + 1) * BLOCK]
        for i in range(len(rows)):
            row, first, second = rows[i], beside[i, 0], beside[i, 1]
            for j in range(BLOCK):
                at = 2 * np.intp(block[row, j])
                own[j, at] += first
                own[j, at + 1] += second


@compiled
def clear(sums: Whole, bins: Rows) -> None:
    """Set to 0 what the columns, each with so many bins, may hold."""
    for column in range(len(bins)):
        sums[column, : 2 * bins[column]] = 0


@compiled
def subtract(sums: Whole, child: Whole, bins: Rows) -> None:
    """Take one child from the sums of its parent, which leaves the other."""
    for column in range(len(bins)):
        own, other = sums[column], child[column]
        for k in range(2 * bins[column]):
            own[k] -= other[k]


def in_blocks(columns: Bytes) -> Bytes:
    """Binned columns (F × n) as blocks (⌈F/4⌉ × n × 4); columns of zeros fill up the last one."""
    width, rows = columns.shape
    count = -(-width // BLOCK)
    blocks = Room(count * rows, BLOCK, np.uint8).cells.reshape(count, rows, BLOCK)
    blocks[-1:, :, width - count * BLOCK :] = 0
    for j, column in enumerate(columns):
        blocks[j // BLOCK, :, j % BLOCK] = column
    return blocks
