"""Backward elimination: takes away column after column, each time the one without which a model does best.

Formula:
    S₀ = all columns, S_{m+1} = S_m − {j} with j the column of S_m for which the base fitted to the others has the
    least mean loss (share of errors, squared error) over the inner folds. Without `keep` the S_m with the least
    loss is kept.

Assumes:
    A base that copes with all columns at once. Performs best where most columns are needed; columns that help only
    together are kept together.

Cost:
    d (d + 1) / 2 subsets for d columns where all are tried, each `folds` fits of the base.

Choices:
    Everything happens within the training rows: the rows that are judged take no part. Of equal subsets the
    smaller is kept, of equal columns the first is taken away. The base is the model that stands behind the step,
    unless another is named.
"""

from __future__ import annotations

from typing import ClassVar

from mlcli.core.registry import register
from mlcli.prepare._selecting import Places
from mlcli.prepare.forward_selection import ForwardSelection


@register("backward-elimination", reference="Marill & Green 1963; Kohavi & John 1997, Wrappers")
class BackwardElimination(ForwardSelection):
    """From all columns on, one less each time."""

    move: ClassVar[str] = "taken away"

    def start(self, count: int) -> Places:
        """All columns."""
        return tuple(range(count))

    def neighbours(self, places: Places, count: int) -> list[Places]:
        """One column less, as long as one is left."""
        if len(places) == 1:
            return []
        return [tuple(other for other in places if other != index) for index in places]
