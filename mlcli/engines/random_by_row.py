"""Random answers that belong to the number of a row and a seed: cells, and rows with equal cells, play no part."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, field
from typing import Self

import numpy as np

from mlcli.core.model import Model
from mlcli.core.params import learned
from mlcli.core.tables import Array, Rows, Table
from mlcli.engines.random_by_content import draws


@dataclass(kw_only=True, eq=False)
class RandomByRow(Model):
    """A baseline that draws its answers by row number, or by cells where rows have no numbers."""

    seed_: int = learned()
    row_numbers: Rows | None = field(init=False, default=None, repr=False, compare=False)

    def for_rows(self, rows: Rows) -> Self:
        """A copy that knows the numbers of the rows that it is asked about."""
        asked = copy(self)
        asked.row_numbers = rows
        return asked

    def draws(self, table: Table) -> Array:
        """A number in [0, 1) for each row."""
        if self.row_numbers is None or len(self.row_numbers) != len(table):
            return draws(table, self.seed_)
        stream = np.random.default_rng(self.seed_).random(int(self.row_numbers.max(initial=0)) + 1)
        return np.asarray(stream[self.row_numbers])
