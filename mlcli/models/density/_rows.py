"""What a density can be fitted to: rows that differ, in columns that vary."""

from __future__ import annotations

import numpy as np

from mlcli.core.errors import FitError
from mlcli.core.moments import moments
from mlcli.core.names import listed
from mlcli.core.tables import Array
from mlcli.core.unlabelled import UnlabelledRows

SET_BY_FLOOR = (
    "columns follow from each other in the training rows, or outnumber them, and 'floor' sets how dense such rows "
    "are; leave columns out, or try covariance: diagonal"
)
"""What is to be known of a covariance that lies on the floor."""


def spread_of(data: UnlabelledRows) -> tuple[Array, Array]:
    """The mean and standard deviation of each column; a column or a row alone has no density, and is refused."""
    columns = data.table.number_columns
    if not columns:
        raise FitError("there is no column to describe")
    found = moments(data.table.numbers, data.weights)
    constant = [column.name for column, variance in zip(columns, found.variance, strict=True) if variance == 0]
    if len(constant) == len(columns):
        raise FitError("the training rows are all equal: a density needs rows that differ")
    if constant:
        what = f"{listed(constant)}: one value in all training rows, where a density would be infinite"
        raise FitError(what, hint="leave such a column out (role: ignore in the sidecar)")
    return found.mean, np.sqrt(found.variance)
