"""The linear answers to rows: a level at a centre, plus coefficients times the way from there."""

from __future__ import annotations

import numpy as np

from mlcli.core.blocks import less_row
from mlcli.core.tables import Array
from mlcli.models.linear._standard import blocks, times_columns

NEAR = 32.0
"""A centre that counts no more than so many units in the answer may be taken off at the end without loss."""


def scores(numbers: Array, centre: Array, coefficients: Array, level: Array | float, unit: Array | float) -> Array:
    """The answers (rows, or rows × outputs); ``unit`` is a size of them whose last digit is rounding."""
    lines, levels = np.atleast_2d(coefficients), np.atleast_1d(level)
    near = bool((np.abs(lines) @ np.abs(centre) <= NEAR * np.atleast_1d(unit)).all())
    found = np.empty((len(lines), len(numbers)))
    for rows, block in blocks(numbers):
        found[:, rows] = times_columns(lines, block if near else less_row(block, centre))
    found += (levels - lines @ centre if near else levels)[:, None]
    return found.T.reshape(len(numbers), *np.shape(coefficients)[:-1])
