"""What makes a split good, how columns compete, and where a tree ends, as compiled loops are told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


class Criterion(NamedTuple):
    """How impure a node is; a split is as good as the impurity it takes away."""

    code: int
    """What the compiled search calls it."""
    of_shares: bool
    """Whether outputs must be shares of classes."""


CRITERIA = {
    "gini": Criterion(0, True),
    "entropy": Criterion(1, True),
    "misclassification": Criterion(2, True),
    "squared-error": Criterion(0, False),
}


class Algorithm(NamedTuple):
    """One way to grow a tree."""

    criterion: str
    """Its own."""
    each_level: bool = True
    """Whether every level has a branch, or one is split from the rest."""
    by_ratio: bool = False
    """Whether columns compete by gain over split information."""


ALGORITHMS = {
    "cart": Algorithm("gini", each_level=False),
    "id3": Algorithm("entropy"),
    "c45": Algorithm("entropy", by_ratio=True),
}
GATES = ("mean-gain", "none")
"""What a split must gain to compete by ratio."""
NEARLY = 1 - 1e-9
"""Summed weights reach a limit when they come this close."""


@dataclass(frozen=True)
class Limits:
    """How a node is split, and when it becomes a leaf. Rows are counted by weight; 1 and 2 set no limit at all."""

    features: int | None = None
    """How many columns are drawn for a node; None: all."""
    random_cuts: bool = False
    max_depth: int | None = None
    max_leaves: int | None = None
    min_leaf: int = 1
    min_split: int = 2
    min_gain: float = 0.0
    purity: float = 1.0

    @property
    def least(self) -> float:
        """The least weight of a leaf."""
        return self.min_leaf * NEARLY if self.min_leaf > 1 else 0.0

    @property
    def fewest(self) -> float:
        """The least weight of a node that is split."""
        return self.min_split * NEARLY if self.min_split > 2 else 0.0
