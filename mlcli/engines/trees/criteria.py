"""Impurities of a node, and the same as sums over its rows, which is what a search for splits compares."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mlcli.core.tables import Array, Flags

Total = Callable[[Array, Array], Array]


def summed_up(terms: Array) -> Array:
    """The sum over classes."""
    total: Array = terms.sum(axis=-1)
    return total


def largest(terms: Array) -> Array:
    """The largest over classes."""
    most: Array = terms.max(axis=-1)
    return most


def _over(top: Array, bottom: Array) -> Array:
    """Top over bottom, 0 where there is nothing to divide by."""
    return np.divide(top, bottom, out=np.zeros_like(top), where=bottom > 0)


def plogp(p: Array) -> Array:
    """Each p log2 p, 0 for p = 0."""
    bits: Array = p * np.log2(p, out=np.zeros_like(p), where=p > 0)
    return bits


def total_squares(sums: Array, weight: Array) -> Array:
    """−Σ_k S_k² / W: weight × gini, or the sum of squared residuals, up to what no split changes."""
    return -_over(summed_up(sums**2), weight)


def total_entropy(sums: Array, weight: Array) -> Array:
    """W log2 W − Σ_k S_k log2 S_k: weight × entropy."""
    return plogp(weight) - summed_up(plogp(sums))


def total_misclassified(sums: Array, weight: Array) -> Array:
    """W − max_k S_k: the weight of the rows that the largest class is wrong about."""
    return weight - largest(sums)


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

    def impurer_than(self, purity: float, mean: Array, spread: Array, root_spread: float) -> Flags:
        """Where the largest share or, for values, the share of the root's variance that is gone, is below."""
        below: Flags = largest(mean) < purity if self.of_shares else spread > (1 - purity) * root_spread
        return below

    def tolerance(self, impurity: Array) -> Array:
        """How much two gains of a node may differ by rounding alone."""
        return 1e-12 * impurity + (1e-15 if self.of_shares else 0.0)


CRITERIA = {
    "gini": Criterion(0, total_squares, lambda mean, spread: 1 - summed_up(mean**2), True),
    "entropy": Criterion(1, total_entropy, lambda mean, spread: -summed_up(plogp(mean)), True),
    "misclassification": Criterion(2, total_misclassified, lambda mean, spread: 1 - largest(mean), True),
    "squared-error": Criterion(0, total_squares, lambda mean, spread: spread, False),
}
