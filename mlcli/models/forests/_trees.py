"""Grown trees behind one another in flat arrays: a child after its parent, and two siblings side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mlcli.core.tables import Array, Flags, Rows

if TYPE_CHECKING:
    from mlcli.kernels.dealing import Settled
    from mlcli.kernels.forest_walks import Wood

LEAF = -1
Ids = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Trees:
    """Of an ordered column, x ≤ ``threshold`` goes to ``left`` and x above to ``left + 1``; of a nominal one, the
    level that ``threshold`` names goes left and the others right. A leaf has ``left`` as its row in ``value``.
    """

    first: Ids
    """Where each tree begins, and the end."""
    feature: Ids
    """The column that a node asks for, or LEAF."""
    threshold: Array
    left: Ids
    missing_left: Flags
    value: Array
    """Leaves × K: class shares, or the mean."""

    def __len__(self) -> int:
        return len(self.first) - 1

    @property
    def leaves(self) -> Flags:
        """Which nodes ask nothing."""
        return np.asarray(self.feature == LEAF)

    @staticmethod
    def one(tree: Settled) -> Trees:
        """A single tree as kernels leave it."""
        first = np.array([0, len(tree.left)], np.int32)
        return Trees(first, tree.feature, tree.threshold, tree.left, tree.missing_left, tree.value)

    @staticmethod
    def joined(trees: Sequence[Trees]) -> Trees:
        """Several trees as one, in order."""
        nodes = np.cumsum([0, *(len(tree.feature) for tree in trees)])
        leaves = np.cumsum([0, *(len(tree.value) for tree in trees)])
        feature, left = (np.concatenate([getattr(tree, name) for tree in trees]) for name in ("feature", "left"))
        steps = np.array([nodes[:-1], leaves[:-1]], np.int32).repeat(np.diff(nodes), axis=1)
        left += np.where(feature == LEAF, steps[1], steps[0])
        return Trees(
            first=nodes.astype(np.int32),
            feature=feature,
            threshold=np.concatenate([tree.threshold for tree in trees]),
            left=left,
            missing_left=np.concatenate([tree.missing_left for tree in trees]),
            value=np.concatenate([tree.value for tree in trees]),
        )

    def depths(self) -> Rows:
        """How many questions lead to each node."""
        depth = np.zeros(len(self.feature), np.intp)
        level = self.first[:-1][~self.leaves[self.first[:-1]]]
        while len(level):
            children = np.r_[self.left[level], self.left[level] + 1]
            depth[children] = np.r_[depth[level], depth[level]] + 1
            level = children[~self.leaves[children]]
        return depth

    @cached_property
    def _packed(self) -> np.ndarray[Any, Any]:
        from mlcli.kernels.forest_walks import NODE

        nodes = np.empty(len(self.feature), NODE)
        for name in ("threshold", "feature", "left"):
            nodes[name] = getattr(self, name)
        return nodes

    def answers(self, cells: Array, ordered: Flags) -> Array:
        """The mean over trees of what their leaves say of each row (n × K) of cells."""
        from mlcli.kernels.forest_walks import BLOCK, add_answers

        said = np.zeros((len(cells), self.value.shape[1]))
        cells = cells if cells.shape[1] else np.zeros((len(cells), 1))  # leaves look at a cell too, in vain
        wood, rows = self.wood(ordered, plain(cells, ordered)), np.arange(len(cells))
        add_answers(wood, self.first[:-1], cells, self.value, rows, np.empty(BLOCK, np.int32), said)
        return said / len(self)

    def wood(self, ordered: Flags, is_plain: bool) -> Wood:
        """The nodes as the compiled walk reads them, for cells of which some columns are ordered."""
        from mlcli.kernels.forest_walks import Wood

        return Wood(self._packed, self.missing_left, ordered, is_plain)

    def arrays(self) -> dict[str, np.ndarray[Any, Any]]:
        """Every array by name: what is saved."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @staticmethod
    def restored(arrays: Mapping[str, Any]) -> Trees:
        """The trees of saved arrays; ValueError if they are not those of trees."""
        if set(arrays) != {field.name for field in fields(Trees)}:
            raise ValueError(f"trees do not have {sorted(arrays)}")
        return Trees(**arrays)

    def check(self, width: int, slots: int) -> None:
        """Refuse (ValueError) what could lead a row astray, given how many columns and values there are."""
        for problem, found in self._problems(width, slots):
            if found:
                raise ValueError(f"the saved forest {problem}")

    def _problems(self, width: int, slots: int) -> Iterator[tuple[str, bool]]:
        """What may be wrong, each only looked for when the ones before are right."""
        nodes = len(self.feature)
        whole = (self.first, self.feature, self.left)
        yield "has indices that are not whole numbers", any(a.dtype != np.int32 or a.ndim != 1 for a in whole)
        per_node = (self.feature, self.threshold, self.left, self.missing_left)
        yield "has arrays of different lengths", any(a.shape != (nodes,) for a in per_node)
        yield "has values of another shape", self.value.ndim != 2 or self.value.shape[1] != slots
        yield "has values that are not numbers", not np.isfinite(self.value).all()
        ends = len(self.first) >= 2 and self.first[0] == 0 and self.first[-1] == nodes
        yield "has no trees, or trees without nodes", not ends or bool((np.diff(self.first) < 1).any())
        outside = (self.feature < LEAF) | (self.feature >= width)
        yield "asks for a column that is not there", bool(outside.any())
        leaves, inner = self.left[self.leaves], np.flatnonzero(~self.leaves)
        yield "has leaves without a value", bool(((leaves < 0) | (leaves >= len(self.value))).any())
        end = np.repeat(self.first[1:], np.diff(self.first))[inner]
        yield "has a child before its parent", bool((self.left[inner] <= inner).any())
        yield "has a child outside its tree", bool((self.left[inner] >= end - 1).any())
        yield "has a threshold that is no number", bool(np.isnan(self.threshold[inner]).any())


def plain(cells: Array, ordered: Flags) -> bool:
    """Whether all columns are ordered and no cell is missing."""
    return bool(ordered.all()) and not np.isnan(cells).any()
