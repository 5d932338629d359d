"""Threshold: lets numbers count on one side of a threshold only, or on each side with a column of its own.

Formula:
    `below` min(x, T); `above` max(x, T); `parts` two columns, max(x − T, 0) and max(T − x, 0): for T = 0 the
    positive and the negative part, with which a linear method draws a line that bends at T.

Assumes:
    That something changes at T.

Cost:
    One pass.

Choices:
    Nothing is learned: T is given, in the units that the column has at this place. A column keeps its name, but
    for `parts`, which makes `x above T` and `x below T`. Empty cells stay empty, levels as they are. Several
    thresholds at once are the step `waterfall`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from mlcli.core.findings import Explanation, Lines
from mlcli.core.params import param
from mlcli.core.registry import register
from mlcli.core.schema import Column
from mlcli.prepare._columns import ByColumn, Make, as_they_are, numeric

KEPT: dict[str, dict[str, Callable[[float], Make]]] = {
    "below": {"": lambda at: lambda x: np.minimum(x, at)},
    "above": {"": lambda at: lambda x: np.maximum(x, at)},
    "parts": {
        " above {at:g}": lambda at: lambda x: np.maximum(x - at, 0.0),
        " below {at:g}": lambda at: lambda x: np.maximum(at - x, 0.0),
    },
}
"""By choice, what each column becomes, with what is added to its name."""


@register("threshold", reference="Friedman 1991, Multivariate adaptive regression splines")
class Threshold(ByColumn):
    """Numbers on the sides of a threshold."""

    at: float = param(0.0, "the threshold")
    keep: str = param("below", "what is kept of each number", choices=KEPT)

    def after(self, column: Column) -> Iterator[tuple[Column, Make]]:
        """The same column, or two for a number."""
        if column.coded:
            yield column, as_they_are
            return
        for added, part in KEPT[self.keep].items():
            yield Column(column.name + added.format(at=self.at), missing=column.missing), part(self.at)

    def explain(self) -> Explanation:
        """The threshold."""
        count = len(numeric(self.columns_))
        return (Lines("Threshold", (f"{self.keep} {self.at:g}, of {count} columns",)),)
