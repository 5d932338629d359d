"""Tree embedding: replaces the columns by the leaves that a row reaches in several trees, as nominal columns.

Formula:
    Tree t gives the column `tree t`, whose level is the leaf that the row reaches. On the 0/1 columns of these
    levels a linear method learns a new value for each leaf of the forest.

Assumes:
    Rows in the same leaf are similar. `random` trees do not use the target: they split rows at random, dense
    regions more finely, so that rows that share many leaves are near each other.

Cost:
    Growing the trees, and `trees` × `depth` comparisons for each row.

Choices:
    `forest` and `extra-trees` are grown like the methods of these names, `tree` is a single one on all rows and
    columns; they learn from the target of the training rows. `random` is grown on random numbers instead of the
    target, with one random column at each node (like scikit-learn's RandomTreesEmbedding). A tree has 2^`depth`
    levels, whether or not all are leaves, so that all splits have the same columns.
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
from mlcli.core.rows import RowsOfTable
from mlcli.core.schema import Column
from mlcli.core.tables import Codes, Rows, Table
from mlcli.engines.content_seeds import draws
from mlcli.engines.ensemble import fitted
from mlcli.engines.trees.structure import Trees, cells_of
from mlcli.tasks.supervised import SupervisedRows, ValuedRows

GROWERS: dict[str, tuple[str, Callable[[int], dict[str, object]]]] = {
    "random": ("extra-trees", lambda columns: {"features": 1 / max(columns, 1)}),
    "forest": ("random-forest", lambda columns: {}),
    "extra-trees": ("extra-trees", lambda columns: {}),
    "tree": ("random-forest", lambda columns: {"trees": 1, "bootstrap": False, "features": 1.0}),
}
"""The method that grows the trees, and its parameters for a number of columns."""


@register("tree-embedding", reference="Geurts, Ernst & Wehenkel 2006; He et al. 2014 (clicks on ads)", revision=5)
class TreeEmbedding(Step):
    """Replace the columns by leaves of trees."""

    by: str = param("random", "how the trees are grown", choices=GROWERS)
    trees: int = param(
        10,
        "number of trees, except with `by: tree`",
        ge=1,
        tune=(5, 50),
        matters_when={"by": AnyBut(("tree",))},
    )
    depth: int = param(3, "largest depth of each tree", ge=1, le=12, tune=(2, 6))
    beside: bool = param(False, "whether the columns are kept beside the leaves")

    model_: Model = learned()

    def fit(self, data: RowsOfTable, rng: np.random.Generator) -> None:
        """Grow the trees."""
        method, method_params = GROWERS[self.by]
        params: dict[str, object] = {"trees": self.trees, "max_depth": self.depth} | method_params(
            len(self.columns_)
        )
        rows = data.counted()
        if self.by == "random":
            random = draws(rows.table, int(rng.integers(2**62)))
            rows = ValuedRows(table=rows.table, rows=rows.rows, target=rows.target, weight=rows.weight, y=random)
        elif not isinstance(rows, SupervisedRows):
            raise FitError(f"by: {self.by} learns from a target, and here is none", hint="by: random")
        self.model_ = fitted(build(MODELS.load(method), params), rows, rng)

    def columns_after(self, columns: tuple[Column, ...]) -> tuple[Column, ...]:
        """A column of levels for each tree."""
        levels = tuple(f"leaf {index}" for index in range(1, 2**self.depth + 1))
        count = 1 if self.by == "tree" else self.trees
        leaves = (Column(f"tree {index}", "nominal", levels) for index in range(1, count + 1))
        return (*(columns if self.beside else ()), *leaves)

    def transform(self, table: Table) -> Table:
        """The leaves of each row."""
        trees = self._trees
        leaves_before: Rows = np.cumsum(trees.leaves) - trees.leaves
        nodes = trees.nodes_of(cells_of(table))
        # Leaves are numbered from 0 in each tree (trees × rows).
        codes: Codes = np.asarray(leaves_before[nodes] - leaves_before[trees.roots][:, None], np.int32)
        kept = table.parts() if self.beside else ()
        return Table.of([*kept, *zip(self.columns_after(()), codes, strict=True)], len(table))

    @property
    def _trees(self) -> Trees:
        grown: Any = self.model_.final
        trees: Trees = grown.trees_
        return trees

    def check_learned(self) -> None:
        """A tree for each column, none with too many leaves."""
        trees = self._trees
        ends = [*trees.roots[1:], len(trees.feature)]
        leaves = [int(trees.leaves[first:end].sum()) for first, end in zip(trees.roots, ends, strict=True)]
        if len(leaves) != len(self.columns_after(())) or max(leaves) > 2**self.depth:
            raise ValueError("the trees of tree-embedding do not match its columns")

    def explain(self) -> Explanation:
        """The number of trees and leaves."""
        trees = self._trees
        message = f"{len(trees)} trees ({self.by}), {int(trees.leaves.sum())} leaves in all"
        return (Lines("Leaves of trees", (message,)),)
