"""Impurities of a node, the same as sums over its rows, which a search for splits compares, and where it ends."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mlcli.core.moments import quotient
from mlcli.core.tables import Array

Total = Callable[[Array, Array], Array]


def plogp(p: Array) -> Array:
    """Each p log2 p, 0 for p = 0."""
    bits: Array = p * np.log2(p, out=np.zeros_like(p), where=p > 0)
    return bits


def total_squares(sums: Array, weight: Array) -> Array:
    """−Σ_k S_k² / W: weight × gini, or the sum of squared residuals, up to what no split changes."""
    return -quotient((sums**2).sum(axis=-1), weight)


def total_entropy(sums: Array, weight: Array) -> Array:
    """W log2 W − Σ_k S_k log2 S_k: weight × entropy."""
    return np.asarray(plogp(weight) - plogp(sums).sum(axis=-1))


def total_misclassified(sums: Array, weight: Array) -> Array:
    """W − max_k S_k: the weight of the rows that the largest class is wrong about."""
    return np.asarray(weight - sums.max(axis=-1))


@dataclass(frozen=True)
class Criterion:
    """How impure a node is; a split is as good as the impurity it takes away."""

    code: int
    """What the compiled search calls ``total``."""
    total: Total
    """Weight × impurity from the sums of outputs (… × K) and the weight, up to what no split changes."""
    impurity: Callable[[Array, Array], Array]
    """The impurity, from the mean output (… × K) and the mean squared distance from it."""
    of_shares: bool
    """Whether outputs must be shares of classes."""

    def impurer_than(self, purity: float, mean: Array, spread: float, root_spread: float) -> bool:
        """Whether the largest share or, for values, the share of the root's variance that is gone, is below."""
        return bool(mean.max() < purity if self.of_shares else spread > (1 - purity) * root_spread)

    def tolerance(self, impurity: float) -> float:
        """How much two gains of a node may differ by rounding alone."""
        return 1e-12 * impurity + (1e-15 if self.of_shares else 0.0)


CRITERIA = {
    "gini": Criterion(0, total_squares, lambda mean, spread: 1 - (mean**2).sum(axis=-1), True),
    "entropy": Criterion(1, total_entropy, lambda mean, spread: -plogp(mean).sum(axis=-1), True),
    "misclassification": Criterion(2, total_misclassified, lambda mean, spread: 1 - mean.max(axis=-1), True),
    "squared-error": Criterion(0, total_squares, lambda mean, spread: spread, False),
}
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
