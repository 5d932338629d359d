"""What trees say of rows that they did not learn from: the error so far, and what shuffling columns adds to it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mlcli.core.tables import Array, Codes, Flags, Rows
from mlcli.engines.trees.structure import LEAF, Trees, only_known_numbers
from mlcli.engines.trees.targets import Targets
from mlcli.tasks.classification import first_of_the_largest

Bits = NDArray[np.uint8]
"""A bit for each row."""


@dataclass(frozen=True, eq=False)
class OutOfBagTrees:
    """Trees, training rows as they are asked about them, and what is true of these."""

    trees: Trees

    cells: Array
    ordered: Flags
    targets: Targets
    by_size: Rows
    """The classes, the one with most training rows first: of equal votes the earlier wins."""

    @cached_property
    def _plain(self) -> bool:
        return only_known_numbers(self.cells, self.ordered)

    def leaves(self, tree: int, outside: Bits) -> tuple[Rows, Codes]:
        """The rows that a tree did not learn from, and the leaf that each comes to."""
        rows = np.flatnonzero(np.unpackbits(outside, count=len(self.cells)))
        if not len(rows):
            return rows, np.empty(0, np.int32)
        return rows, self.trees.part(tree, tree + 1).reached(self.cells, self.ordered, rows, self._plain)[0]

    def losses(self, answers: Array, rows: Rows) -> Array:
        """Whether the class is wrong, or the squared error, of answers (rows × K)."""
        slot, output = self.targets.slot[rows], self.targets.output[rows]
        if self.targets.slots == 1:
            return np.asarray((answers[:, 0] - output) ** 2)
        return np.asarray(self.by_size[first_of_the_largest(answers[:, self.by_size])] != slot, np.float64)

    def worse(self, tree: int, outside: Bits, rng: np.random.Generator) -> Array:
        """By how much a tree's mean loss grows when the cells of a column are dealt out anew among some rows."""
        worse, trees, (rows, leaves) = np.zeros(self.cells.shape[1]), self.trees, self.leaves(tree, outside)
        if not len(rows):
            return worse
        weight, cells, one = self.targets.weight[rows], self.cells[rows], trees.part(tree, tree + 1)
        before = self.losses(trees.value[leaves], rows)
        asked = np.unique(trees.feature[slice(*np.append(trees.roots, len(trees.feature))[tree : tree + 2])])
        for column in asked[asked != LEAF]:
            shuffled = cells.copy()
            shuffled[:, column] = rng.permutation(cells[:, column])
            after = self.losses(trees.value[one.reached(shuffled, self.ordered)[0]], rows)
            worse[column] = weight @ (after - before) / weight.sum()
        return worse

    def curve(self, leaves: Iterable[tuple[Rows, Codes]]) -> Array:
        """Rows of how many trees (1, 2, 5, 10 ... all) and their error, by the leaves of the rows out of each bag.

        NaN while none was out of any.
        """
        answers, voters = np.zeros((len(self.cells), self.targets.slots)), np.zeros(len(self.cells))
        count, found = len(self.trees), []
        shown = {step * 10**power for power in range(9) for step in (1, 2, 5)} | {count}
        for tree, (rows, reached) in enumerate(leaves, 1):
            answers[rows] += self.trees.value[reached]
            voters[rows] += 1.0
            if tree in shown:
                asked = np.flatnonzero(voters)
                losses = self.losses(answers[asked] / voters[asked, None], asked)
                weight = self.targets.weight[asked]
                found.append((tree, weight @ losses / weight.sum() if weight.any() else np.nan))
        curve = np.array(found)
        curve[:, 1] = curve[:, 1] if self.targets.slots > 1 else np.sqrt(curve[:, 1])
        return curve


def voting(trees: Trees, by_size: Rows) -> Trees:
    """The same trees, whose nodes give a whole vote to their largest class."""
    most = by_size[first_of_the_largest(trees.value[:, by_size])]
    return replace(trees, value=np.eye(trees.value.shape[1])[most])
