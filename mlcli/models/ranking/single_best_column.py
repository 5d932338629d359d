"""Single best column: orders rows by the one column that orders the training groups best.

Formula:
    s(x) = x_j or −x_j, for the column j and the direction with the largest share of training pairs in order:
    Σ w_a w_b ([s_a > s_b] + ½ [s_a = s_b]) / Σ w_a w_b over all pairs of one group with a more relevant than b.

Assumes:
    One column is enough: the cheapest first, the nearest first. It is to rankings what one-r is to classes. A
    method that does not beat it has learned nothing from the other columns.

Cost:
    rows × log₂(rows) for each column and binary digit of the relevance.

Choices:
    Pairs with equal values count half. Of equally good columns the first is used, and the largest value goes
    first if both directions are equally good. Each level of a nominal column is a column of zeros and ones.
"""

from __future__ import annotations

import numpy as np

from mlcli.core import ROUNDING, findings
from mlcli.core.errors import FitError
from mlcli.core.moments import share_in_order
from mlcli.core.params import learned
from mlcli.core.registry import register
from mlcli.core.schema import Accepts
from mlcli.core.tables import Array, Table
from mlcli.tasks.ranking import GroupedRows, Ranker

DIRECTIONS = {1: "largest first", -1: "smallest first"}


@register("single-best-column", reference="Holte 1993, for classes: very simple rules perform well")
class SingleBestColumn(Ranker):
    """One column, upwards or downwards."""

    place_: int = learned()
    direction_: int = learned()
    right_: Array = learned("columns")
    """The share of training pairs that each column puts in the right order, upwards."""

    accepts = Accepts(weights=True)

    def fit(self, data: GroupedRows, rng: np.random.Generator) -> None:
        """Try every column; one that orders pairs wrongly most often is as good, turned round."""
        if not data.table.numbers.shape[1]:
            raise FitError("single-best-column needs at least one column")
        shares = [
            share_in_order(data.relevance, data.group, cells, data.weights) for cells in data.table.numbers.T
        ]
        self.right_ = np.array(shares)
        either_way = np.maximum(self.right_, 1 - self.right_)
        self.place_ = int(np.argmax(either_way >= either_way.max() - ROUNDING))
        self.direction_ = 1 if self.right_[self.place_] >= 0.5 - ROUNDING else -1

    def score_rows(self, table: Table) -> Array:
        """The column, or its negative."""
        return np.asarray(self.direction_ * table.numbers[:, self.place_])

    def check_learned(self) -> None:
        """One of the columns, and a direction."""
        if self.direction_ not in DIRECTIONS or self.place_ not in range(len(self.columns_)):
            raise ValueError("a column that is not there")

    def explain(self) -> findings.Explanation:
        """The column, and how well every column does, the better way round."""
        name = self.columns_[self.place_].name
        rows = [
            (column.name, DIRECTIONS[1 if right >= 0.5 else -1], float(max(right, 1 - right)))
            for column, right in zip(self.columns_, self.right_, strict=True)
        ]
        rows.sort(key=lambda row: -row[2])
        note = "Share of the training pairs that the column puts in the right order; equal values count half."
        return (
            findings.Lines("Best column", (f"{name}, {DIRECTIONS[self.direction_]}",)),
            findings.Table("Each column alone", ("column", "order", "pairs in order"), tuple(rows), note=note),
        )
