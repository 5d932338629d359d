"""Backward elimination: removes one column after another, each time the one without which a model does best.

Formula:
    S₀ = all columns, S_{m+1} = S_m − {j} with j the column of S_m for which the base fitted to the others has the
    smallest mean loss (error rate, squared error) over the inner folds. Without `keep` the S_m with the smallest
    loss is kept.

Assumes:
    A base that can be fitted with all columns. Works best if most columns are needed; columns that help only in
    combination are kept together.

Cost:
    d (d + 1) / 2 subsets for d columns if all are tried, each `folds` fits of the base.

Choices:
    Only training rows are used. Of equal subsets the smaller is kept, of equal columns the first is removed. The
    base is the model behind the step, unless another is given.
"""

from __future__ import annotations

from typing import ClassVar

from mlcli.core.registry import register
from mlcli.prepare._selecting import Places
from mlcli.prepare.forward_selection import ForwardSelection


@register("backward-elimination", reference="Marill & Green 1963; Kohavi & John 1997, Wrappers")
class BackwardElimination(ForwardSelection):
    """Start with all columns, and remove one at a time."""

    move: ClassVar[str] = "taken away"

    def start(self, count: int) -> Places:
        """All columns."""
        return tuple(range(count))

    def neighbours(self, places: Places, count: int) -> list[Places]:
        """The subsets with one column less; none if only one column is left."""
        if len(places) == 1:
            return []
        return [tuple(other for other in places if other != index) for index in places]
