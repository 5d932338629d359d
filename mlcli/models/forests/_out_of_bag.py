"""What trees say of rows that they did not learn from: the error of the forest so far, and shuffled columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mlcli.core.tables import Array, Codes, Flags, Rows
from mlcli.models.forests._packing import Ids
from mlcli.models.forests._trees import Trees, plain
from mlcli.models.trees._levels import Targets
from mlcli.tasks.classification import first_of_the_largest


@dataclass(frozen=True, eq=False)
class Outside:
    """The rows out of a tree's bag, the leaf of each, and how much worse the tree is with each column shuffled."""

    rows: Ids
    leaves: Codes
    worse: Array


@dataclass(frozen=True, eq=False)
class Truth:
    """Training rows as trees are asked about them, with what is true of them."""

    cells: Array
    ordered: Flags
    targets: Targets
    by_size: Rows
    """The classes, the one with most training rows first: of equal votes the earlier wins."""
    shuffling: bool
    """Whether columns are shuffled."""

    def losses(self, said: Array, rows: Rows) -> Array:
        """Whether the class is wrong, or the squared error, of what is said (rows × K)."""
        slot, output = self.targets.slot[rows], self.targets.output[rows]
        if self.targets.slots == 1:
            return np.asarray((said[:, 0] - output) ** 2)
        return np.asarray(self.by_size[first_of_the_largest(said[:, self.by_size])] != slot, np.float64)

    def judged(self, tree: Trees, rows: Ids, leaves: Codes, rng: np.random.Generator) -> Outside:
        """What a tree says of the rows out of its bag, given their leaves."""
        worse = np.zeros(self.cells.shape[1])
        if self.shuffling and len(rows):
            worse = self._worse(tree, rows.astype(np.intp), leaves, rng)
        return Outside(rows, leaves, worse)

    def _worse(self, tree: Trees, rows: Rows, leaves: Codes, rng: np.random.Generator) -> Array:
        """By how much the mean loss grows when the cells of a column are dealt out anew among the rows."""
        from mlcli.kernels.forest_walks import leaves_with

        wood = tree.wood(self.ordered, plain(self.cells, self.ordered))
        weight, found = self.targets.weight[rows], np.empty(len(rows), np.int32)
        before, worse = self.losses(tree.value[leaves], rows), np.zeros(self.cells.shape[1])
        for feature in np.unique(tree.feature[~tree.leaves]):
            leaves_with(wood, 0, self.cells, rows, feature, rng.permutation(rows), found)
            after = self.losses(tree.value[found], rows)
            worse[feature] = weight @ (after - before) / weight.sum()
        return worse


class Tally:
    """The error, tree after tree, of what the trees so far say of the rows that were out of their bags."""

    def __init__(self, truth: Truth) -> None:
        rows, slots = len(truth.targets.slot), truth.targets.slots
        self._truth = truth
        self._said, self._voters, self._loss = np.zeros((rows, slots)), np.zeros(rows), np.zeros(rows)
        self.curve: list[float] = []
        """NaN while every row was in every bag."""

    def add(self, tree: Trees, outside: Outside) -> None:
        """Count what one more tree says."""
        from mlcli.kernels.out_of_bag import Votes, count

        targets, votes = self._truth.targets, Votes(self._said, self._voters, self._loss)
        count(outside.rows, outside.leaves, tree.value, targets.slot, targets.output, self._truth.by_size, votes)
        weight = targets.weight * (self._voters > 0)
        total = float(weight.sum())
        mean = float(weight @ self._loss) / total if total else np.nan
        self.curve.append(mean if targets.slots > 1 else float(np.sqrt(mean)))
