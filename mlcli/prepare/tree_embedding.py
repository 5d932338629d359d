"""Tree embedding: says of each row in which leaf of each of some trees it lies, as columns of levels.

Formula:
    Tree t gives the column `tree t`, whose level is the leaf that the row reaches. With 0/1 columns of these, a
    linear method adds up a number for each leaf: that of a forest whose leaves are weighed anew.

Assumes:
    That rows in one leaf are alike. `random` trees know no target: they part rows by chance, dense regions more
    finely, so that rows with many leaves in common are near.

Cost:
    Growing the trees, and `trees` questions of `depth` for each row.

Choices:
    `forest` and `extra-trees` are grown as the methods of these names, `tree` is a single one on all rows and
    columns; they learn the target of the training rows. `random` is grown towards random numbers in the place of
    the target, with one random column at each node (as scikit-learn's RandomTreesEmbedding). A tree has 2^`depth`
    levels, whether all are leaves or not, so that all splits have the same columns.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mlcli.core.errors import FitError
from mlcli.core.findings import Explanation, Lines
from mlcli.core.model import Model, Step
from mlcli.core.params import AnyBut, build, learned, param
from mlcli.core.registry import MODELS, register
from mlcli.core.schema import Column
from mlcli.core.tables import Codes, Rows, Table
from mlcli.engines.content_seeds import draws
from mlcli.engines.ensemble import fitted
from mlcli.engines.trees.structure import Trees, cells_of
from mlcli.tasks.regression import ValuedRows
from mlcli.tasks.supervised import SupervisedRows

GROWN: dict[str, tuple[str, Callable[[int], dict[str, Any]]]] = {
    "random": ("extra-trees", lambda columns: {"features": 1 / max(columns, 1)}),
    "forest": ("random-forest", lambda columns: {}),
    "extra-trees": ("extra-trees", lambda columns: {}),
    "tree": ("random-forest", lambda columns: {"trees": 1, "bootstrap": False, "features": 1.0}),
}
"""The method that grows the trees, and its parameters for so many columns."""


@register("tree-embedding", reference="Geurts, Ernst & Wehenkel 2006; He et al. 2014 (clicks on ads)", revision=5)
class TreeEmbedding(Step):
    """Leaves instead of columns."""

    by: str = param("random", "how the trees are grown", choices=GROWN)
    trees: int = param(
        10,
        "how many trees there are, but for `by: tree`",
        ge=1,
        tune=(5, 50),
        matters_when={"by": AnyBut(("tree",))},
    )
    depth: int = param(3, "the depth of each tree at most", ge=1, le=12, tune=(2, 6))
    beside: bool = param(False, "whether the columns stay beside the leaves")

    model_: Model = learned()

    def fit(self, data: Any, rng: np.random.Generator) -> None:
        """Grow the trees."""
        use, params = GROWN[self.by]
        counted = {"trees": self.trees, "max_depth": self.depth} | params(len(self.columns_))
        self.model_ = fitted(build(MODELS.load(use), counted), self._rows(data.counted(), rng), rng)

    def _rows(self, data: Any, rng: np.random.Generator) -> SupervisedRows:
        """The rows, with random numbers in the place of the target for random trees."""
        if self.by == "random":
            random = draws(data.table, int(rng.integers(2**62)))
            return ValuedRows(table=data.table, rows=data.rows, target=data.target, weight=data.weight, y=random)
        if not hasattr(data, "outputs"):
            raise FitError(f"by: {self.by} learns from a target, and here is none", hint="by: random")
        rows: SupervisedRows = data
        return rows

    def columns_after(self, columns: tuple[Column, ...]) -> tuple[Column, ...]:
        """A column of levels for each tree."""
        levels = tuple(f"leaf {index}" for index in range(1, 2**self.depth + 1))
        count = 1 if self.by == "tree" else self.trees
        made = (Column(f"tree {index}", "nominal", levels) for index in range(1, count + 1))
        return (*(columns if self.beside else ()), *made)

    def transform(self, table: Table) -> Table:
        """The leaves of each row."""
        made = [column for column in self.columns_after(()) if column.coded]
        parts = table.parts() if self.beside else ()
        return Table.of([*parts, *zip(made, self._leaves(table), strict=True)], len(table))

    def _leaves(self, table: Table) -> Codes:
        """The number of the leaf of each row in each tree (trees × n)."""
        trees = self._trees
        before: Rows = np.cumsum(trees.leaves) - trees.leaves
        reached = trees.nodes_of(cells_of(table))
        return np.asarray(before[reached] - before[trees.roots][:, None], np.int32)

    @property
    def _trees(self) -> Trees:
        grown: Any = self.model_.final
        trees: Trees = grown.trees_
        return trees

    def check_learned(self) -> None:
        """As many trees as columns, none with too many leaves."""
        trees = self._trees
        ends = [*trees.roots[1:], len(trees.feature)]
        leaves = [int(trees.leaves[first:end].sum()) for first, end in zip(trees.roots, ends, strict=True)]
        if len(leaves) != len(self.columns_after(())) or max(leaves) > 2**self.depth:
            raise ValueError("trees that do not fit the columns")

    def explain(self) -> Explanation:
        """How many trees and leaves there are."""
        trees = self._trees
        message = f"{len(trees)} trees ({self.by}), {int(trees.leaves.sum())} leaves in all"
        return (Lines("Leaves of trees", (message,)),)
