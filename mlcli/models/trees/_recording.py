"""What came of each level of a growing tree, written down as the columns of the tree."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mlcli.core.tables import Array, Flags, Rows
from mlcli.models.trees._levels import NodeSums
from mlcli.models.trees._presort import Presorted, threshold_between
from mlcli.models.trees._runs import Cuts
from mlcli.models.trees._structure import LEAF, STOPS, Tree

NOTHING_ASKED = {"feature": LEAF, "threshold": np.nan, "left": LEAF, "children": 0, "missing": STOPS, "offset": -1}
"""What stands in the columns of a leaf."""


@dataclass(frozen=True, eq=False)
class Splits:
    """What became of the open nodes of one level: those that ask, what they ask, and the children of all."""

    data: Presorted
    asking: Rows
    """The open nodes that ask; the next three have an entry for each."""
    feature: Rows
    cut: Cuts
    holds_empty: Flags
    """Whether some row's ordered cell is missing."""
    child: Rows
    """Per training row the child it is in now, or -1."""
    parent: Rows
    """Per child the asking node it comes from."""
    branch: Rows
    """Per child the branch that leads to it."""

    def described(self, first_child: int, first_offset: int) -> dict[str, Any]:
        """The columns of a ``Tree`` for the asking nodes, whose children are numbered from ``first_child``."""
        children = np.bincount(self.parent, minlength=len(self.asking))
        left = first_child + np.cumsum(children) - children
        levels = self.data.levels[self.feature]
        return {
            "feature": self.feature,
            "threshold": np.array([self._threshold(node) for node in range(len(self.asking))]),
            "left": left,
            "children": children,
            "missing": np.where(self.holds_empty, np.where(self.cut.missing_left, left, left + 1), STOPS),
            "offset": np.where(levels > 0, first_offset + np.cumsum(levels) - levels, -1),
            "child_of": self._children_of_levels(levels, first_child),
        }

    def _threshold(self, node: int) -> float:
        """Between the two values; NaN for a nominal feature, infinite between the known and the missing."""
        feature, high = self.feature[node], self.cut.high[node]
        if not self.data.ordered[feature]:
            return float("nan")
        values = self.data.values[feature]
        known_above = high < len(values)
        return threshold_between(*values[[self.cut.low[node], high]]) if known_above else float("inf")

    def _children_of_levels(self, levels: Rows, first_child: int) -> Rows:
        """For each nominal node the child of every code; the branch past all levels takes the codes left over."""
        maps = {node: np.full(levels[node] + 1, STOPS) for node in np.flatnonzero(levels)}
        for child, (parent, branch) in enumerate(zip(self.parent, self.branch, strict=True)):
            if parent in maps:
                maps[parent][branch] = first_child + child
        filled = [np.where(codes[:-1] == STOPS, codes[-1], codes[:-1]) for codes in maps.values()]
        return np.concatenate([*filled, np.empty(0, np.intp)])


@dataclass
class Record:
    """The nodes so far, level by level."""

    levels: list[dict[str, Any]] = field(default_factory=list)
    nodes: int = 0
    mapped: int = 0

    @property
    def depth(self) -> int:
        """How many questions lead to the nodes of the next level."""
        return len(self.levels)

    def add(self, known: NodeSums, impurity: Array, opened: Rows, splits: Splits) -> None:
        """Add a level: all its nodes are leaves but those that were opened and ask."""
        count = len(known.weight)
        self.nodes += count
        described = splits.described(self.nodes, self.mapped)
        mapped = described.pop("child_of")
        self.mapped += len(mapped)
        level = {"child_of": mapped, "value": known.mean, "weight": known.weight, "impurity": impurity}
        for name, column in described.items():
            level[name] = np.full(count, NOTHING_ASKED[name], dtype=column.dtype)
            level[name][opened[splits.asking]] = column
        self.levels.append(level)

    def tree(self) -> Tree:
        """All levels as one tree."""
        joined = {name: np.concatenate([level[name] for level in self.levels]) for name in self.levels[0]}
        return Tree(**{name: _compact(array) for name, array in joined.items()})


def _compact(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return array.astype(np.int32) if array.dtype.kind == "i" else np.ascontiguousarray(array)
