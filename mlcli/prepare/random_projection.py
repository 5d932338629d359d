"""Random projection: replaces the columns by random sums of them, which keeps distances roughly as they are.

Formula:
    z = R x / √k with k rows of random numbers: `gaussian` N(0, 1); `sparse` √s times +1, 0, −1 with chances 1/2s,
    1 − 1/s, 1/2s and s = √p (Li, Hastie & Church). For n rows, k ≥ 4 ln n / (ε²/2 − ε³/3) keeps all squared
    distances within a share ε of what they were, with high probability (Johnson & Lindenstrauss).

Assumes:
    Many columns, and that distances are what matters. Columns of one scale: nothing is learned from the rows.

Cost:
    Rows × columns × components.

Choices:
    How many components there are does not depend on the rows. There may be more of them than columns. The random
    numbers follow from the seed alone.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mlcli.core.findings import Explanation, Lines
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.rows import RowsOfTable
from mlcli.core.tables import Array, Table
from mlcli.engines.principal_components import column_by_column
from mlcli.prepare._columns import Projection


def gaussian(shape: tuple[int, int], rng: np.random.Generator) -> Array:
    """Normal numbers."""
    return rng.normal(size=shape)


def sparse(shape: tuple[int, int], rng: np.random.Generator) -> Array:
    """Mostly zeros."""
    s = np.sqrt(max(shape[0], 1))
    signs = rng.choice((-1.0, 1.0), size=shape)
    return np.asarray(np.sqrt(s) * signs * (rng.random(shape) < 1 / s))


Draw = Callable[[tuple[int, int], np.random.Generator], Array]
DRAWN: dict[str, Draw] = {"gaussian": gaussian, "sparse": sparse}


@register("random-projection", reference="Johnson & Lindenstrauss 1984; Achlioptas 2003; Li, Hastie & Church 2006")
class RandomProjection(Projection):
    """Random sums instead of columns."""

    components: int = param(10, "how many random sums there are", ge=1, tune=(2, 50))
    by: str = param("gaussian", "what the random numbers are", choices=DRAWN)

    directions_: Array = learned("columns", "components")

    def fit(self, data: RowsOfTable, rng: np.random.Generator) -> None:
        """Draw the random numbers."""
        shape = (len(self.columns_), self.components)
        self.directions_ = DRAWN[self.by](shape, rng) / np.sqrt(self.components)

    def places(self, table: Table) -> Array:
        """The table in random directions."""
        return column_by_column(table.numbers, self.directions_)

    def explain(self) -> Explanation:
        """How many there are."""
        message = f"{self.components} random sums ({self.by}) of {len(self.columns_)} columns"
        return (Lines("Random projection", (message,)),)
