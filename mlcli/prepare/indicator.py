"""Indicator: replaces each number by 1 if it is above a threshold, else by 0.

Formula:
    z = 1 where x > T, else 0.

Assumes:
    Only the side of T matters.

Cost:
    One pass.

Choices:
    Without `at` T is the median of the training rows, so that about half of them are on each side. A column keeps
    its name. Missing values stay missing, and columns of levels stay as they are.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mlcli.core.findings import Explanation
from mlcli.core.model import Step
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.rows import RowsOfTable
from mlcli.core.tables import Array, Table
from mlcli.prepare._columns import table_by_column
from mlcli.prepare.discretise import boundaries, equal_frequency


@register("indicator", reference="Suits 1957, Use of dummy variables in regression equations")
class Indicator(Step):
    """Compare numbers with a threshold."""

    at: float | None = param(None, "the threshold; none: the median of each column in training")

    thresholds_: Array = learned("numbers")

    def fit(self, data: RowsOfTable, rng: np.random.Generator) -> None:
        """Find the threshold of each column."""
        columns = data.table.numbers.T
        medians = [boundaries(equal_frequency, cells, data.weights, 2)[0] for cells in columns]
        self.thresholds_ = np.array(medians if self.at is None else [self.at] * len(columns), np.float64)

    def transform(self, table: Table) -> Table:
        """The table with 1 and 0 instead of numbers."""
        above = np.asarray(table.numbers > self.thresholds_, np.float64)
        return replace(table, numbers=np.where(np.isnan(table.numbers), np.nan, above))

    def explain(self) -> Explanation:
        """The threshold of each column."""
        return table_by_column("1 above, 0 up to a threshold", ("threshold",), self.columns_, self.thresholds_)
