"""What makes a split good, and how columns compete."""

from __future__ import annotations

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
