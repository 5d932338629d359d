"""Random projection: replaces the columns by random linear combinations, which roughly preserve distances.

Formula:
    z = R x / √k with k rows of random numbers: `gaussian` N(0, 1); `sparse` √s times +1, 0, −1 with probabilities
    1/2s, 1 − 1/s, 1/2s and s = √p (Li, Hastie & Church). For n rows, k ≥ 4 ln n / (ε²/2 − ε³/3) preserves all
    squared distances within a factor of 1 ± ε with high probability (Johnson & Lindenstrauss).

Assumes:
    Many columns on one scale, and a method that depends on distances only. Nothing is learned from the rows.

Cost:
    Rows × columns × components.

Choices:
    The number of components does not depend on the rows, and may exceed the number of columns. The random numbers
    depend on the seed alone.
"""

from __future__ import annotations

import numpy as np

from mlcli.core.findings import Explanation, Lines
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.rows import RowsOfTable
from mlcli.core.tables import Array, Table
from mlcli.engines.principal_components import column_by_column
from mlcli.prepare._columns import Projection


@register("random-projection", reference="Johnson & Lindenstrauss 1984; Achlioptas 2003; Li, Hastie & Church 2006")
class RandomProjection(Projection):
    """Replace the columns by random linear combinations."""

    components: int = param(10, "number of random combinations", ge=1, tune=(2, 50))
    by: str = param("gaussian", "distribution of the random numbers", choices=("gaussian", "sparse"))

    directions_: Array = learned("columns", "components")

    def fit(self, data: RowsOfTable, rng: np.random.Generator) -> None:
        """Draw the random numbers."""
        shape = (len(self.columns_), self.components)
        if self.by == "gaussian":
            directions = rng.normal(size=shape)
        else:
            s = np.sqrt(max(len(self.columns_), 1))
            signs = rng.choice((-1.0, 1.0), size=shape)
            directions = np.sqrt(s) * signs * (rng.random(shape) < 1 / s)
        self.directions_ = directions / np.sqrt(self.components)

    def project(self, table: Table) -> Array:
        """The random combinations of the columns."""
        return column_by_column(table.numbers, self.directions_)

    def explain(self) -> Explanation:
        """The number of combinations."""
        message = f"{self.components} random sums ({self.by}) of {len(self.columns_)} columns"
        return (Lines("Random projection", (message,)),)
