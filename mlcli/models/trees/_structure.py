"""A grown tree as flat arrays: one entry per node, parents before children, siblings side by side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mlcli.core.tables import Array, Flags, Rows

LEAF = -1
STOPS = -1
"""In place of a child: rows that no branch fits stop at the node, whose own value answers them."""

Ids = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Tree:
    """Of an ordered feature, x ≤ ``threshold`` goes to ``left``, x above to ``left + 1``, no x to ``missing``.

    Of a nominal feature, the child of code c is ``child_of[offset + c]``.
    """

    feature: Ids
    """The feature that a node asks for, or LEAF."""
    threshold: Array
    """NaN where the node does not ask for an ordered feature; infinite where it asks whether a number is known."""
    left: Ids
    """The first child."""
    children: Ids
    """How many there are."""
    missing: Ids
    offset: Ids
    child_of: Ids
    value: Array
    """Nodes × K: class shares, or the mean."""
    weight: Array
    impurity: Array

    @cached_property
    def leaves(self) -> Flags:
        """Which nodes ask nothing."""
        leaves: Flags = self.feature == LEAF
        return leaves

    @property
    def asks_threshold(self) -> Flags:
        """Which nodes ask for an ordered feature."""
        return ~np.isnan(self.threshold)

    @property
    def parent(self) -> Rows:
        """The parent of each node; the root is its own."""
        inner = np.flatnonzero(~self.leaves)
        parents: Rows = np.r_[0, np.repeat(inner, self.children[inner])].astype(np.intp)
        return parents

    def depths(self) -> Rows:
        """How many questions lead to each node."""
        depth, parent = np.zeros(len(self.feature), np.intp), self.parent
        for node in range(1, len(depth)):
            depth[node] = depth[parent[node]] + 1
        return depth

    def arrays(self) -> dict[str, np.ndarray[Any, Any]]:
        """Every array by name: what is saved."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @staticmethod
    def restored(arrays: Mapping[str, Any]) -> Tree:
        """The tree of saved arrays; ValueError if they are not those of a tree."""
        if set(arrays) != {field.name for field in fields(Tree)}:
            raise ValueError(f"a tree does not have {sorted(arrays)}")
        return Tree(**arrays)

    def check(self, levels: Rows, slots: int) -> None:
        """Refuse (ValueError) what could lead a row astray, given ``levels`` as ``level_counts`` has them."""
        for problem, found in self._problems(levels, slots):
            if found:
                raise ValueError(f"the saved tree {problem}")

    def _problems(self, levels: Rows, slots: int) -> Any:
        """What may be wrong, each only looked for when the ones before are right."""
        nodes = len(self.feature)
        yield "has no nodes", nodes == 0
        per_node = (self.feature, self.threshold, self.left, self.children, self.missing, self.offset)
        yield (
            "has arrays of different lengths",
            any(a.shape != (nodes,) for a in (*per_node, self.weight, self.impurity)),
        )
        yield "has values of another shape", self.value.shape != (nodes, slots)
        whole = (self.feature, self.left, self.children, self.missing, self.offset, self.child_of)
        yield "has indices that are not whole numbers", any(a.dtype.kind != "i" or a.ndim != 1 for a in whole)
        yield "has values that are not numbers", not np.isfinite(self.value).all()
        yield "asks for a feature that is not there", _outside(self.feature, LEAF, len(levels))
        inner = np.flatnonzero(~self.leaves)
        left, count = self.left[inner].astype(np.int64), self.children[inner].astype(np.int64)
        yield "has a question without branches", (count < 2).any()
        first = 1 + np.r_[0, np.cumsum(count)]
        yield "has children out of order", not np.array_equal(left, first[:-1]) or first[-1] != nodes
        yield "has a child before its parent", (left <= inner).any()
        nominal = levels[self.feature[inner]] > 0
        yield "mixes thresholds and levels", not np.array_equal(~nominal, self.asks_threshold[inner])
        yield "has a threshold with other than two branches", (count[~nominal] != 2).any()
        astray = self.missing[inner]
        yield (
            "sends missing cells astray",
            ((astray != STOPS) & ((astray < left) | (astray >= left + count))).any(),
        )
        yield "sends levels astray", self._levels_astray(inner[nominal], levels)

    def _levels_astray(self, asking: Rows, levels: Rows) -> bool:
        """Whether a code of a nominal question leads anywhere but to a child of the node that asks."""
        for node in asking:
            start, stop = int(self.offset[node]), int(self.offset[node]) + int(levels[self.feature[node]])
            if start < 0 or stop > len(self.child_of):
                return True
            reached = self.child_of[start:stop]
            low, high = int(self.left[node]), int(self.left[node]) + int(self.children[node])
            if ((reached != STOPS) & ((reached < low) | (reached >= high))).any():
                return True
        return False


def _outside(values: Ids, low: int, end: int) -> bool:
    return bool(((values < low) | (values >= end)).any())
