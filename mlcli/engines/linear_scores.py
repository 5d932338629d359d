"""The linear answers to rows: a level at a centre, plus coefficients times the way from there."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mlcli.core.blocks import less_row
from mlcli.core.rooms import blocks_of
from mlcli.core.schema import Column
from mlcli.core.tables import Array

INTERCEPT = "(intercept)"
"""What the answer at the origin is called among the columns."""
NEAR = 32.0
"""A centre that counts no more than so many units in the answer may be taken off at the end without loss."""


def linear_scores(
    numbers: Array, centre: Array, coefficients: Array, level: Array | float, unit: Array | float
) -> Array:
    """The answers (rows, or rows × outputs); ``unit`` is a size of them whose last digit is rounding."""
    if (np.abs(coefficients) @ np.abs(centre) <= NEAR * np.asarray(unit)).all():
        return np.asarray(numbers @ coefficients.T + (level - coefficients @ centre))
    blocks = blocks_of(*numbers.shape) or [slice(0)]
    return np.concatenate([less_row(numbers[some], centre) @ coefficients.T + level for some in blocks])


def terms(
    columns: Sequence[Column], coefficients: Array, centre: Array, level: Array | float, intercept: bool
) -> list[tuple[str, Array]]:
    """Every coefficient (one per output) with its column's name; first the intercept, the answer at the origin."""
    named = [(column.name, values) for column, values in zip(columns, coefficients.T, strict=True)]
    return [(INTERCEPT, level - coefficients @ centre), *named] if intercept else named
