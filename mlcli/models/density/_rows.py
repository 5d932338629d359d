"""What a density can be fitted to: rows that differ, in columns that vary."""

from __future__ import annotations

import warnings

import numpy as np

from mlcli.core.errors import FitError, MlcliWarning
from mlcli.core.moments import moments
from mlcli.core.names import listed
from mlcli.core.tables import Array, Rows, Table
from mlcli.tasks.unsupervised import UnlabelledRows

SET_BY_FLOOR = (
    "columns follow from each other in the training rows, or outnumber them, and 'floor' sets how dense such rows "
    "are; leave columns out, or try covariance: diagonal"
)
"""What is to be known of a covariance that lies on the floor."""


def spread_of(data: UnlabelledRows) -> tuple[Rows, Array, Array]:
    """The places of the columns that vary, with their means and standard deviations.

    A column of one value would have an infinite density: it is left out, and said. A row alone has none.
    """
    columns = data.table.number_columns
    if not columns:
        raise FitError("there is no column to describe")
    found = moments(data.table.numbers, data.weights)
    varies = np.flatnonzero(found.variance > 0)
    constant = [column.name for column, variance in zip(columns, found.variance, strict=True) if variance == 0]
    if not len(varies):
        raise FitError("the training rows are all equal: a density needs rows that differ")
    if constant:
        text = f"columns with one value in all training rows are left out of the density: {listed(constant)}"
        warnings.warn(text, MlcliWarning, stacklevel=3)
    return varies, found.mean[varies], np.sqrt(found.variance[varies])


def described_part(table: Table, varies: Rows) -> Array:
    """The numbers that a density describes."""
    return table.numbers if len(varies) == table.numbers.shape[1] else table.numbers[:, varies]


def refuse_strange_columns(varies: Rows, columns: int) -> None:
    """Refuse (ValueError) places that are none of so many columns, each once and in order."""
    if varies.ndim != 1 or not np.isin(varies, np.arange(columns)).all() or (np.diff(varies) <= 0).any():
        raise ValueError("a density of columns that are not there")
