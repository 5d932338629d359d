"""What trees say of rows that they did not learn from: the error so far, and what shuffling columns adds to it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from mlcli.core.tables import Array, Codes, Flags, Rows
from mlcli.engines.trees.structure import Trees, only_known_numbers
from mlcli.engines.trees.targets import Packed, Targets, in_units, packed
from mlcli.tasks.classification import first_of_the_largest


@dataclass(frozen=True, eq=False)
class OutOfBag:
    """Training rows as trees are asked about them, with what is true of them, and votes so far."""

    cells: Array
    ordered: Flags
    targets: Targets
    by_size: Rows
    """The classes, the one with most training rows first: of equal votes the earlier wins."""
    curve: list[float] = field(default_factory=list)
    """The error tree after tree; NaN while every row was in every bag."""
    _votes: list[Array] = field(default_factory=list)

    @cached_property
    def everything(self) -> Packed:
        """All rows with their weights."""
        return packed(self.targets, *in_units(self.targets.weight))

    @cached_property
    def _plain(self) -> bool:
        return only_known_numbers(self.cells, self.ordered)

    def leaves(self, tree: Trees, rows: Rows) -> Codes:
        """The leaf that each of some rows comes to."""
        leaves: Codes = tree.reached(self.cells, self.ordered, rows, self._plain)[0]
        return leaves

    def voting(self, tree: Trees) -> Trees:
        """The same tree, whose nodes give a whole vote to their largest class."""
        most = self.by_size[first_of_the_largest(tree.value[:, self.by_size])]
        return replace(tree, value=np.eye(tree.value.shape[1])[most])

    def losses(self, said: Array, rows: Rows) -> Array:
        """Whether the class is wrong, or the squared error, of what is said (rows × K)."""
        slot, output = self.targets.slot[rows], self.targets.output[rows]
        if self.targets.slots == 1:
            return np.asarray((said[:, 0] - output) ** 2)
        return np.asarray(self.by_size[first_of_the_largest(said[:, self.by_size])] != slot, np.float64)

    def worse(self, tree: Trees, rows: Rows, leaves: Codes, rng: np.random.Generator) -> Array:
        """By how much the mean loss grows when the cells of a column are dealt out anew among some rows."""
        worse = np.zeros(self.cells.shape[1])
        if not len(rows):
            return worse
        weight, cells = self.targets.weight[rows], self.cells[rows]
        before = self.losses(tree.value[leaves], rows)
        for column in np.unique(tree.feature[~tree.leaves]):
            shuffled = cells.copy()
            shuffled[:, column] = rng.permutation(cells[:, column])
            after = self.losses(tree.value[tree.reached(shuffled, self.ordered)[0]], rows)
            worse[column] = weight @ (after - before) / weight.sum()
        return worse

    def add(self, tree: Trees, rows: Rows, leaves: Codes) -> None:
        """Count what one more tree says of the rows out of its bag."""
        from mlcli.kernels.trees.walking import Votes, count_votes

        targets = self.targets
        if not self._votes:
            rows_in_all = len(targets.slot)
            self._votes.extend([np.zeros((rows_in_all, targets.slots)), *np.zeros((2, rows_in_all))])
        votes = Votes(*self._votes)
        count_votes(rows, leaves, tree.value, targets.slot, targets.output, self.by_size, votes)
        weight = targets.weight * (votes.voters > 0)
        total = float(weight.sum())
        mean = float(weight @ votes.loss) / total if total else np.nan
        self.curve.append(mean if targets.slots > 1 else float(np.sqrt(mean)))
