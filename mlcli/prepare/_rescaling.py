"""Numbers moved and stretched column by column: what the scaling steps have in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from mlcli.core import findings
from mlcli.core.schema import Column
from mlcli.core.step import Step
from mlcli.core.tables import Array, Table


@dataclass(kw_only=True, eq=False)
class Rescaling(Step):
    """(x − origin) / unit in each numeric column, 0 where the unit is 0; empty cells stay empty."""

    def scale(self) -> tuple[Array, Array]:
        """The origin and the unit of each numeric column."""
        raise TypeError(f"{type(self).__name__} does not say what it measures by")

    def transform(self, table: Table) -> Table:
        """The table with numbers on one scale."""
        origin, unit = self.scale()
        varies = unit > 0
        # A cell times 0 is 0, and an empty one stays empty.
        return replace(table, numbers=(table.numbers - origin) / np.where(varies, unit, 1.0) * varies)

    def inverse(self, table: Table) -> Table:
        """The table in the units of the file; a column without a unit has its one value."""
        origin, unit = self.scale()
        return replace(table, columns=self.columns_, numbers=table.numbers * unit + origin)

    def log_stretch(self) -> float:
        """Every column that varies is divided by its unit."""
        _, unit = self.scale()
        return float(-np.log(unit[unit > 0]).sum())


def scale_table(
    title: str, names: tuple[str, ...], columns: Sequence[Column], *learned: Array
) -> findings.Explanation:
    """A few numbers for each numeric column."""
    numeric = (column.name for column in columns if not column.coded)
    rows = tuple(zip(numeric, *(array.tolist() for array in learned), strict=True))
    return (findings.Table(title, ("column", *names), rows),) if rows else ()
