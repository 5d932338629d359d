"""Threshold: clips numbers at a threshold, or splits them into a part above and a part below it.

Formula:
    `below` min(x, T); `above` max(x, T); `parts` two columns, max(x − T, 0) and max(T − x, 0): for T = 0 the
    positive and the negative part. With `parts` a linear method fits a line that bends at T.

Assumes:
    The relation with the target changes at T.

Cost:
    One pass.

Choices:
    Nothing is learned: T is given, in the units that the column has after earlier steps. A column keeps its name,
    except with `parts`, which makes `x above T` and `x below T`. Missing values stay missing, and columns of
    levels stay as they are. For several thresholds at once use the step `waterfall`.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mlcli.core.findings import Explanation, Lines
from mlcli.core.params import param
from mlcli.core.registry import register
from mlcli.core.schema import Column
from mlcli.core.tables import Cells
from mlcli.prepare._columns import ByColumn, ComputeCells, numeric, unchanged


@register("threshold", reference="Friedman 1991, Multivariate adaptive regression splines")
class Threshold(ByColumn):
    """Clip or split numbers at a threshold."""

    at: float = param(0.0, "the threshold")
    keep: str = param("below", "the part of each number that is kept", choices=("below", "above", "parts"))

    def derive(self, column: Column) -> Iterator[tuple[Column, ComputeCells]]:
        """A clipped column, or two columns of parts."""

        def below(cells: Cells) -> Cells:
            return np.asarray(np.minimum(cells, self.at))

        def above(cells: Cells) -> Cells:
            return np.asarray(np.maximum(cells, self.at))

        def excess(cells: Cells) -> Cells:
            return np.asarray(np.maximum(np.subtract(cells, self.at), 0.0))

        def shortfall(cells: Cells) -> Cells:
            return np.asarray(np.maximum(np.subtract(self.at, cells), 0.0))

        if column.coded:
            yield column, unchanged
        elif self.keep == "parts":
            yield Column(f"{column.name} above {self.at:g}", missing=column.missing), excess
            yield Column(f"{column.name} below {self.at:g}", missing=column.missing), shortfall
        else:
            yield Column(column.name, missing=column.missing), below if self.keep == "below" else above

    def explain(self) -> Explanation:
        """The threshold."""
        count = len(numeric(self.columns_))
        return (Lines("Threshold", (f"{self.keep} {self.at:g}, of {count} columns",)),)
