"""Log: takes the logarithm of numbers, so that factors become differences and long tails become short.

Formula:
    log(x + k) with the natural logarithm; k is given, or for each column 0 where all its training numbers are
    positive, else 1 − min x, so that the smallest becomes log 1 = 0.

Assumes:
    Numbers of one sign, skewed to the right: prices, counts, durations.

Cost:
    One pass.

Choices:
    x + k must be positive in training: a given k that is too small is refused. A later number below the smallest
    of training is replaced by that one, since its logarithm may not exist. Missing values stay missing, and
    columns of levels stay as they are.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mlcli.core.errors import FitError
from mlcli.core.findings import Explanation
from mlcli.core.model import Step
from mlcli.core.moments import extent
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.rows import RowsOfTable
from mlcli.core.tables import Array, Table
from mlcli.prepare._columns import table_by_column


@register("log", reference="Tukey 1957, On the comparative anatomy of transformations")
class Log(Step):
    """Logarithms of numbers."""

    k: float | None = param(None, "what is added before; none: enough for every training number to be positive")

    shift_: Array = learned("numbers")
    smallest_: Array = learned("numbers")
    """The smallest training number of each column."""

    def fit(self, data: RowsOfTable, rng: np.random.Generator) -> None:
        """Find what is added to each column."""
        self.smallest_, _ = extent(data.table.numbers, data.weights)
        learned_shift = np.where(self.smallest_ > 0, 0.0, 1.0 - self.smallest_)
        self.shift_ = learned_shift if self.k is None else np.full_like(learned_shift, self.k)
        for column, low, k in zip(data.table.number_columns, self.smallest_, self.shift_, strict=True):
            if low + k <= 0:
                what = f"log(x + {k:g}) of '{column.name}', which goes down to {low:g}, does not exist"
                raise FitError(what, hint=f"k above {-low:g}, or none")

    def transform(self, table: Table) -> Table:
        """The table with logarithms in the place of numbers."""
        with np.errstate(invalid="ignore"):
            positive = np.maximum(table.numbers, self.smallest_) + self.shift_
        return replace(table, numbers=np.log(positive))

    def inverse(self, table: Table, rng: np.random.Generator) -> Table:
        """The numbers whose logarithms these are."""
        return replace(table, columns=self.columns_, numbers=np.exp(table.numbers) - self.shift_)

    def check_learned(self) -> None:
        """Logarithms that exist."""
        if not (self.smallest_ + self.shift_ > 0).all():
            raise ValueError("the step log has learned shifts that leave numbers without a logarithm")

    def explain(self) -> Explanation:
        """What was added to each column."""
        names = ("k", "smallest in training")
        return table_by_column("Logarithms", names, self.columns_, self.shift_, self.smallest_)
