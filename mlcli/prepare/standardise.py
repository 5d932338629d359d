"""Standardise: gives every numeric column mean 0 and standard deviation 1 in training.

Formula:
    (x − μ) / σ with the weighted mean and standard deviation of the training rows.

Assumes:
    Nothing, but a few far-off values set the scale of all others.

Cost:
    Two passes over the numbers.

Choices:
    σ² divides by N unless `ddof` is 1 (the notes print x − μ/σ, without the brackets). A column that is constant
    in training becomes 0 in all rows. Empty cells stay empty.
"""

from __future__ import annotations

import numpy as np

from mlcli.core.abilities import LeaveOneOutTable
from mlcli.core.findings import Explanation
from mlcli.core.moments import moments
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.rows import RowsOfTable
from mlcli.core.tables import Array
from mlcli.prepare._columns import Rescaling, table_by_column


@register(
    "standardise",
    reference="Hastie, Tibshirani & Friedman, The Elements of Statistical Learning, 3.4.1",
    inserted_for="scale",
)
class Standardise(Rescaling):
    """Numbers in standard deviations from their mean."""

    ddof: int = param(0, "delta degrees of freedom: variances are divided by N less this", ge=0, le=1)

    mean_: Array = learned("numbers")
    deviation_: Array = learned("numbers")

    def fit(self, data: RowsOfTable, rng: np.random.Generator) -> None:
        """Take the mean and standard deviation of each numeric column."""
        found = moments(data.table.numbers, data.weights, self.ddof)
        self.mean_, self.deviation_ = found.mean, np.sqrt(found.variance)

    def without_each_row(self, seen: LeaveOneOutTable) -> LeaveOneOutTable | None:
        """Each number in deviations of the other rows."""
        return seen.standardise(self.ddof)

    def scale(self) -> tuple[Array, Array]:
        """The mean and the standard deviation."""
        return self.mean_, self.deviation_

    def explain(self) -> Explanation:
        """The mean and standard deviation of each column."""
        names = ("mean", "standard deviation")
        return table_by_column("Numbers are standardised", names, self.columns_, self.mean_, self.deviation_)
