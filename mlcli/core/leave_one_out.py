"""How steps take part in leave-one-out without a fit for each row (``abilities.LeaveOneOut``)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from mlcli.core.tables import Array, Flags, Table

if TYPE_CHECKING:
    from mlcli.core.step import Step

LOST = 1e-4
"""A row that leaves less than this share of the squares of a column behind takes too many digits with it."""


@dataclass(frozen=True, eq=False)
class LeaveOneOutTable:
    """A complete table behind steps that learn from all rows but one, whichever that is.

    Levels and 0/1 columns do not depend on the row left out. Other numbers do if they are standardised.
    """

    table: Table
    standardised: Flags
    """The number columns that are divided by their deviation without the row."""
    redundant: Flags
    """The number columns that follow from others: the first 0/1 column of each set that adds up to 1."""
    ddof: int = 0
    """What the divisor of the variance is less than the number of rows."""

    @classmethod
    def behind(cls, table: Table, steps: Sequence[Step]) -> LeaveOneOutTable | None:
        """The table behind these steps; None where only fits without each row can tell."""
        none = np.zeros(table.numbers.shape[1], bool)
        seen: LeaveOneOutTable | None = cls(table, none, none)
        for step in steps:
            if seen is not None:
                seen = step.without_each_row(seen)
        return seen

    def standardise(self, ddof: int) -> LeaveOneOutTable | None:
        """All numbers standardised; None if some are already."""
        every = np.ones(len(self.standardised), bool)
        return None if self.standardised.any() else replace(self, standardised=every, ddof=ddof)

    def units(self) -> Array:
        """What each number is divided by where its row is left out (n × columns); 1 if it is not standardised.

        Infinite in a constant column; NaN in a column that hardly varies without the row.
        """
        units = np.ones(self.table.numbers.shape)
        X = centred(self.table.numbers[:, self.standardised])
        n, squares = len(X), X**2
        whole = squares.sum(axis=0)
        left = np.maximum(whole - n / (n - 1) * squares, 0.0)
        deviations = np.sqrt(left / (n - 1 - self.ddof))
        deviations[left <= LOST * whole] = np.nan
        deviations[:, np.ptp(self.table.numbers[:, self.standardised], axis=0) == 0] = np.inf
        units[:, self.standardised] = deviations
        return units


def is_complete(table: Table) -> bool:
    """Whether no cell is empty, nor may be."""
    return not (
        any(column.missing for column in table.columns) or np.isnan(table.numbers).any() or (table.codes < 0).any()
    )


def centred(numbers: Array) -> Array:
    """Columns less their means, twice, so that the rounding of a large mean goes as well."""
    once = numbers - numbers.mean(axis=0)
    return np.asarray(once - once.mean(axis=0))
