"""Winsorise: clips extreme numbers to quantiles of the training rows.

Formula:
    x → min(max(x, a), b) with a the value that a share `low` of the training weight lies below, and b the value
    that a share `high` lies above.

Assumes:
    Extreme numbers are errors, or matter no more than large ones.

Cost:
    A sort per column.

Choices:
    A share of 0 leaves that side as it is. The limits are learned from the training rows and hold for all rows. If
    a share falls between two rows, their midpoint is the limit. Missing values stay missing.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mlcli.core.findings import Explanation
from mlcli.core.model import Step
from mlcli.core.moments import quantiles
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.rows import RowsOfTable
from mlcli.core.tables import Array, Table
from mlcli.prepare._columns import table_by_column


@register("winsorise", reference="Dixon 1960, Simplified estimation from censored normal samples")
class Winsorise(Step):
    """Clip numbers to quantiles."""

    low: float = param(0.05, "the share of small numbers that move up", ge=0, lt=0.5)
    high: float = param(0.05, "the share of large numbers that move down", ge=0, lt=0.5)

    least_: Array = learned("numbers")
    most_: Array = learned("numbers")

    def fit(self, data: RowsOfTable, rng: np.random.Generator) -> None:
        """Find the edges of each column."""
        columns = data.table.numbers.T
        self.least_, self.most_ = np.full(len(columns), -np.inf), np.full(len(columns), np.inf)
        for index, cells in enumerate(columns):
            known = ~np.isnan(cells) & (data.weights > 0)
            if known.any():
                shares = np.array([self.low, 1 - self.high])
                least, most = quantiles(cells[known], data.weights[known], shares)
                self.least_[index] = least if self.low else -np.inf
                self.most_[index] = most if self.high else np.inf

    def transform(self, table: Table) -> Table:
        """The table with numbers between the edges."""
        return replace(table, numbers=np.clip(table.numbers, self.least_, self.most_))

    def check_learned(self) -> None:
        """Edges in their order."""
        if (self.least_ > self.most_).any():
            raise ValueError("a lower limit of winsorise is above the upper limit")

    def explain(self) -> Explanation:
        """The edges of each column."""
        edges = (np.where(np.isfinite(edge), edge, np.nan) for edge in (self.least_, self.most_))
        return table_by_column("Limits of winsorised numbers", ("least", "most"), self.columns_, *edges)
