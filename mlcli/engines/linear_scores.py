"""The linear answers to rows: a level at a centre, plus coefficients times the way from there."""

from __future__ import annotations

import numpy as np

from mlcli.core.blocks import less_row
from mlcli.core.tables import Array

NEAR = 32.0
"""A centre that counts no more than so many units in the answer may be taken off at the end without loss."""


def linear_scores(
    numbers: Array, centre: Array, coefficients: Array, level: Array | float, unit: Array | float
) -> Array:
    """The answers (rows, or rows × outputs); ``unit`` is a size of them whose last digit is rounding."""
    if (np.abs(coefficients) @ np.abs(centre) <= NEAR * np.asarray(unit)).all():
        return np.asarray(numbers @ coefficients.T + (level - coefficients @ centre))
    return np.asarray(less_row(numbers, centre) @ coefficients.T + level)
