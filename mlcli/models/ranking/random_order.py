"""Random order: puts the rows of a group in an order that means nothing.

Formula:
    s(x) is drawn uniformly from [0, 1), by the number of the row and a seed.

Assumes:
    Nothing. On average half of all pairs are in the right order, and Kendall's tau is 0.

Cost:
    One draw per row.

Choices:
    The score of a row depends neither on its cells nor on the other rows.
"""

from __future__ import annotations

import numpy as np

from mlcli.core.findings import Explanation, Lines
from mlcli.core.registry import register
from mlcli.core.schema import Accepts
from mlcli.core.tables import Array, Table
from mlcli.engines.content_seeds import RandomByRow
from mlcli.tasks.ranking import GroupedRows, Ranker


@register(
    "random-order",
    reference="Kendall 1938, A new measure of rank correlation: the null distribution",
    revision=2,
)
class RandomOrder(RandomByRow, Ranker):
    """A shuffle to compare with."""

    accepts = Accepts(nominal=True, missing=True, weights=True)

    def fit(self, data: GroupedRows, rng: np.random.Generator) -> None:
        """Draw the seed."""
        self.seed_ = int(rng.integers(2**62))

    def score_rows(self, table: Table) -> Array:
        """A draw for each row."""
        return self.draws(table)

    def explain(self) -> Explanation:
        """That there is nothing to explain."""
        return (Lines("Random order", ("scores that mean nothing",)),)
