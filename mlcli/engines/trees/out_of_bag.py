"""What trees say of rows that they did not learn from: the error so far, and what shuffling columns adds to it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mlcli.core.tables import Array, Codes, Rows
from mlcli.engines.trees.cells import Cells
from mlcli.engines.trees.structure import LEAF, Trees

Bits = NDArray[np.uint8]
"""A bit for each row."""


@dataclass(frozen=True, eq=False)
class OutOfBagTrees:
    """Trees of a model that knows its classes, and the training rows as they are asked about them."""

    model: Any
    trees: Trees
    cells: Cells
    data: Any
    """What else is known of the rows."""

    def leaves(self, tree: int, outside: Bits) -> tuple[Rows, Codes]:
        """The rows that a tree did not learn from, and the leaf that each comes to."""
        rows = np.flatnonzero(np.unpackbits(outside, count=len(self.cells)))
        return rows, self.trees.part(tree, tree + 1).reached(self.cells, rows)[0]

    def added_losses(self, tree: int, outside: Bits, rng: np.random.Generator) -> Array:
        """By how much a tree's mean loss grows when the cells of a column are dealt out anew among some rows."""
        added, (rows, leaves) = np.zeros(len(self.cells.levels)), self.leaves(tree, outside)
        if not len(rows):
            return added
        own, data, values = self.trees.part(tree, tree + 1), self.data.take(rows), self.cells.values[rows]
        before = data.task.losses(self.model, data, own.value[leaves])
        asked = own.feature[slice(*np.append(self.trees.roots, len(own.feature))[tree : tree + 2])]
        for column in np.unique(asked[asked != LEAF]):
            shuffled = values.copy()
            shuffled[:, column] = rng.permutation(values[:, column])
            reached = own.reached(Cells(shuffled, self.cells.levels))[0]
            after = data.task.losses(self.model, data, own.value[reached])
            added[column] = data.weights @ (after - before) / data.weights.sum()
        return added

    def curve(self, leaves: Iterable[tuple[Rows, Codes]]) -> Array:
        """Rows of how many trees (1, 2, 5, 10 ... all) and their error, by the leaves of the rows out of each bag.

        NaN while none was out of any.
        """
        outputs, count, results = self.trees.value.shape[1], len(self.trees), []
        answers, voters = np.zeros((len(self.cells), outputs)), np.zeros(len(self.cells))
        shown = {step * 10**power for power in range(9) for step in (1, 2, 5)} | {count}
        for tree, (rows, reached) in enumerate(leaves, 1):
            answers[rows] += self.trees.value[reached]
            voters[rows] += 1.0
            if tree in shown:
                asked = np.flatnonzero(voters)
                data = self.data.take(asked)
                losses = data.task.losses(self.model, data, answers[asked] / voters[asked, None])
                results.append((tree, data.weights @ losses / data.weights.sum() if len(asked) else np.nan))
        curve = np.array(results)
        curve[:, 1] = curve[:, 1] if outputs > 1 else np.sqrt(curve[:, 1])
        return curve
