"""Pictures: rows placed so that what is near stays near; only rows that were fitted have a place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mlcli.core.accepts import Accepts
from mlcli.core.findings import Explanation, Lines
from mlcli.core.moments import means
from mlcli.core.params import learned, param
from mlcli.core.tables import Array, Rows, Table
from mlcli.engines.centres import squared_differences
from mlcli.engines.content_seeds import marks_of, places_of
from mlcli.tasks.projection import Projector
from mlcli.tasks.unsupervised import UnlabelledRows

DECIMALS = 9
"""Cells that agree to so many decimals of their spread are equal."""
BLOCK = 2**22
"""How many distances are held at once."""


@dataclass(kw_only=True, eq=False)
class TransductiveProjector(Projector):
    """Rows with a place each; what a row looks like from there is the mean of the rows that are nearest to it."""

    transductive: ClassVar[bool] = True
    for_new_rows: ClassVar[str] = "pca places new rows"

    neighbours: int = param(
        5, "from how many rows around its place a row is reconstructed, to judge the places", ge=1
    )

    places_: Array = learned("rows", "dimensions")
    rows_: Array = learned("rows", "numbers")
    """The training rows, in an order that follows from their cells."""
    marks_: Array = learned("rows", 2)
    """By what each row is known again."""
    goodness_of_fit_: str = learned()
    """How well it went."""

    accepts = Accepts(prefers_scaled=True)

    def fit(self, data: UnlabelledRows, rng: np.random.Generator) -> None:
        """Place every row."""
        X = data.table.numbers
        alike = in_decimals(X)
        order = np.lexsort(alike.T) if X.shape[1] else np.arange(len(X))
        self.marks_, self.rows_ = marks_of(data.table)[order], X[order]
        self.places_, self.goodness_of_fit_ = self.placed(self.rows_)

    def placed(self, X: Array) -> tuple[Array, str]:
        """The place of each row, and how well it went."""
        raise TypeError(f"{type(self).__name__} does not say where rows are placed")

    def project(self, table: Table) -> Array:
        """The places of rows, which must be among those that were fitted."""
        return np.asarray(self.places_[self._found(table)])

    def reconstruct(self, table: Table) -> Array:
        """The mean of the other rows that are nearest to its place."""
        found = self._found(table)
        count = min(self.neighbours, len(self.rows_) - 1)
        if count < 1:
            return np.asarray(self.rows_[found])
        step = max(1, BLOCK // len(self.rows_))
        blocks = (found[start : start + step] for start in range(0, len(found), step))
        made = [self.rows_[self._nearest(block, count)].mean(axis=1) for block in blocks]
        return np.concatenate(made) if made else np.empty((0, self.rows_.shape[1]))

    def _nearest(self, found: Rows, count: int) -> Rows:
        """The other rows that are nearest to some rows in the picture."""
        apart = squared_differences(self.places_[found], self.places_)
        apart[np.arange(len(found)), found] = np.inf
        return np.argsort(apart, axis=1, kind="stable")[:, :count]

    def _found(self, table: Table) -> Rows:
        return places_of(table, self.marks_, self.id, self.for_new_rows)

    def middle(self) -> Array:
        """The mean row."""
        return means(self.rows_, np.ones(len(self.rows_)))

    def explain(self) -> Explanation:
        """How well it went."""
        return (Lines("Goodness of fit", (self.goodness_of_fit_,)),)


def in_decimals(X: Array) -> Array:
    """Rows in units of their spread, equal where they differ in the last digits only."""
    unit = float(X.std()) if X.size else 0.0
    return np.asarray(np.round(X / (unit or 1.0), DECIMALS) + 0.0)
