"""Random order: puts the rows of a group in an order that means nothing.

Formula:
    s(x) is drawn uniformly from [0, 1), by a hash of the cells of x and a seed.

Assumes:
    Nothing. On average half of all pairs are in the right order, and Kendall's tau is 0.

Cost:
    One hash per row.

Choices:
    Rows with equal cells get equal scores, and no score depends on the other rows or on their order.
"""

from __future__ import annotations

import numpy as np

from mlcli.core.accepts import Accepts
from mlcli.core.findings import Explanation, Lines
from mlcli.core.params import learned
from mlcli.core.registry import register
from mlcli.core.tables import Array, Table
from mlcli.engines.random_by_content import draws
from mlcli.tasks.ranking import GroupedRows, Ranker


@register("random-order", reference="Kendall 1938, A new measure of rank correlation: the null distribution")
class RandomOrder(Ranker):
    """A shuffle to compare with."""

    seed_: int = learned()

    accepts = Accepts(nominal=True, missing=True, weights=True)

    def fit(self, data: GroupedRows, rng: np.random.Generator) -> None:
        """Draw the seed."""
        self.seed_ = int(rng.integers(2**62))

    def score_rows(self, table: Table) -> Array:
        """A draw for each row, the same for the same cells."""
        return draws(table, self.seed_)

    def explain(self) -> Explanation:
        """That there is nothing to explain."""
        return (Lines("Random order", ("scores that mean nothing",)),)
