"""Weight, mean and scatter of every class: all that normal distributions need to know of the rows."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mlcli.core.blocks import less_row
from mlcli.core.errors import MlcliWarning
from mlcli.core.moments import is_constant
from mlcli.core.tables import Array, Codes, Flags
from mlcli.engines.sums_before import Sums

MANY_ROWS = 500
"""So many rows for each column are gone through in blocks."""


@dataclass(frozen=True, eq=False)
class ClassSums:
    """Of the K classes: ``weight`` (K), ``mean`` (K × p, from some centre), ``scatter`` about it (K × p × p)."""

    weight: Array
    mean: Array
    scatter: Array
    varies: Flags
    """Which columns vary within some class."""

    @classmethod
    def of(cls, sums: Sequence[Sums], centre: Array) -> ClassSums:
        """The sums of the rows of each class, whose columns are told from ``centre``."""
        low, high = np.array([one.low for one in sums]), np.array([one.high for one in sums])
        return cls(
            np.array([one.weight for one in sums]),
            np.array([one.mean for one in sums]),
            np.array([one.scatter for one in sums]),
            ~np.all(is_constant(low + centre, high + centre), axis=0),
        )

    @cached_property
    def present(self) -> Flags:
        """The classes that have rows."""
        return self.weight > 0

    @cached_property
    def centre(self) -> Array:
        """The mean of all rows."""
        middle: Array = self.weight @ self.mean / self.weight.sum()
        return middle

    @cached_property
    def shared(self) -> Array:
        """The scatter about the means of the classes."""
        within: Array = self.scatter.sum(axis=0)
        return within

    def freedom(self, ddof: int) -> float:
        """What the shared scatter is divided by."""
        return float(self.weight.sum()) - ddof * int(self.present.sum())


def rows_by_class(
    columns: Array, y: Codes, weight: Array | None, classes: int, centre: Array | None = None
) -> list[Sums]:
    """The sums of the rows of each class, whose columns are told from ``centre`` if there is one."""
    found = []
    for k in range(classes):
        rows = np.flatnonzero(y == k)
        if centre is not None and len(rows) > MANY_ROWS * columns.shape[1]:
            found.append(Sums.of_many(columns, weight, rows, centre))
            continue
        taken = columns[rows]
        told = taken if centre is None else less_row(taken, centre, taken)
        found.append(Sums.of(told, None if weight is None else weight[rows], told))
    return found


def possible_ddof(sums: ClassSums, ddof: int) -> int:
    """``ddof``, or 0 with a warning where rows weigh so little that nothing would be left to divide by."""
    if sums.freedom(ddof) > 0 or not sums.varies.any():
        return ddof
    text = f"the rows weigh too little for covariances with ddof {ddof}: ddof 0 is taken"
    warnings.warn(text, MlcliWarning, stacklevel=2)
    return 0
