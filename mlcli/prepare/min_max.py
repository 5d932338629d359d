"""Min-max: moves every numeric column to the range from 0 to 1 in training.

Formula:
    (x − min) / (max − min) with the smallest and the largest number of the training rows.

Assumes:
    Nothing, but one far-off value sets the scale of all others.

Cost:
    One pass over the numbers.

Choices:
    0 and 1 are reached in training, and other rows may lie outside (the notes print 0 < x' < 1). A column that is
    constant in training becomes 0 in all rows. Empty cells stay empty.
"""

from __future__ import annotations

import numpy as np

from mlcli.core.findings import Explanation
from mlcli.core.moments import extent, is_constant
from mlcli.core.params import learned
from mlcli.core.registry import register
from mlcli.core.rows import RowsOfTable
from mlcli.core.tables import Array
from mlcli.prepare._columns import Rescaling, table_by_column


@register("min-max", reference="Han, Kamber & Pei, Data Mining: Concepts and Techniques, section 3.5.2")
class MinMax(Rescaling):
    """Numbers as shares of their range."""

    low_: Array = learned("numbers")
    range_: Array = learned("numbers")

    def fit(self, data: RowsOfTable, rng: np.random.Generator) -> None:
        """Take the smallest number and the range of each numeric column."""
        self.low_, high = extent(data.table.numbers, data.weights)
        self.range_ = np.where(is_constant(self.low_, high), 0.0, high - self.low_)

    def scale(self) -> tuple[Array, Array]:
        """The smallest number and the range."""
        return self.low_, self.range_

    def explain(self) -> Explanation:
        """The smallest and the largest number of each column."""
        header, high = ("smallest", "largest"), self.low_ + self.range_
        return table_by_column("Numbers are scaled to 0..1", header, self.columns_, self.low_, high)
