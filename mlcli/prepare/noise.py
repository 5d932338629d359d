"""Noise: adds copies of the training rows with noise in their numbers, so that models become robust to it.

Formula:
    x + ε with ε normal, of mean 0 and `size` times the standard deviation of the column, drawn for each cell of
    each copy.

Assumes:
    A small change of a number does not change the class or value.

Cost:
    A fit to 1 + `copies` times as many rows.

Choices:
    Only training rows are copied; test rows stay as they are. `columns` chooses the numbers that get noise.
    `copies: 0` adds the noise to the rows themselves. Copies have the weight of their row. Missing values and
    levels do not change.
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np

from mlcli.core.findings import Explanation
from mlcli.core.moments import moments
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.rows import RowsOfTable
from mlcli.core.tables import Array
from mlcli.engines.content_seeds import order_of_content
from mlcli.prepare._columns import RowStep, table_by_column
from mlcli.tasks.supervised import SupervisedRows


@register("noise", reference="Bishop 1995, Training with noise is equivalent to Tikhonov regularization")
class Noise(RowStep):
    """Noisy copies of training rows."""

    for_columns: ClassVar[bool] = True

    size: float = param(0.1, "the standard deviation of the noise, in those of the column", gt=0, tune=(0.01, 0.5))
    copies: int = param(1, "how many noisy copies of each row are added; 0: the rows themselves are noisy", ge=0)

    deviation_: Array = learned()

    def fit(self, data: RowsOfTable, rng: np.random.Generator) -> None:
        """Take the standard deviation of each column."""
        self.deviation_ = np.sqrt(moments(data.table.numbers, data.weights).variance)

    def changed(self, data: SupervisedRows, rng: np.random.Generator) -> SupervisedRows:
        """The rows, and noisy copies of them."""
        data = data.take(order_of_content(data))
        seen = {column.name for column in self.columns_}
        noisy = np.flatnonzero([column.name in seen for column in data.table.number_columns])
        indices = np.tile(np.arange(len(data)), max(1, 1 + self.copies))
        is_noisy = np.arange(len(indices)) >= (len(data) if self.copies else 0)
        extended = data.take(indices)
        numbers = extended.table.numbers.copy()
        added = rng.normal(0.0, 1.0, (int(is_noisy.sum()), len(noisy))) * (self.size * self.deviation_)
        numbers[np.ix_(is_noisy, noisy)] += added
        return extended.with_table(replace(extended.table, numbers=numbers))

    def explain(self) -> Explanation:
        """The noise of each column."""
        names = ("standard deviation of the noise",)
        return table_by_column("Noise in training", names, self.columns_, self.size * self.deviation_)
