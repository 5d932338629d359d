"""From counts (levels × ... × classes) to shares: four ways to treat a level that a class never had."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mlcli.core.tables import Array, Codes


def as_counted(counts: Array, strength: float = 0.0) -> Array:
    """Relative frequencies; a class without a count has those of all classes together, which tell nothing."""
    totals = counts.sum(axis=0)
    overall = counts.sum(axis=-1, keepdims=True)
    everything = overall.sum(axis=0)
    unknown = np.where(everything > 0, overall / np.where(everything > 0, everything, 1.0), 1 / len(counts))
    return np.asarray(np.where(totals > 0, counts / np.where(totals > 0, totals, 1.0), unknown))


def with_pseudocounts(counts: Array, alpha: float) -> Array:
    """``alpha`` more of each level: (count + α) / (total + Vα)."""
    return np.asarray((counts + alpha) / (counts.sum(axis=0) + alpha * len(counts)))


def with_prior_rows(counts: Array, m: float) -> Array:
    """``m`` more rows, spread evenly over the V levels: (count + m/V) / (total + m)."""
    return with_pseudocounts(counts, m / len(counts))


def with_floor(counts: Array, epsilon: float) -> Array:
    """``epsilon`` in the place of 0, the rest as counted; the shares then add up to a little more than 1."""
    shares = as_counted(counts)
    return np.asarray(np.where(shares == 0, epsilon, shares))


SMOOTHINGS: dict[str, Callable[[Array, float], Array]] = {
    "alpha": with_pseudocounts,
    "none": as_counted,
    "epsilon": with_floor,
    "m-estimate": with_prior_rows,
}


def counts_by_class(codes: Codes, y: Codes, weights: Array, levels: int, classes: int) -> Array:
    """The summed weight of each level in each class (levels × classes); missing cells are not counted."""
    counts = np.zeros((levels, classes))
    known = codes >= 0
    np.add.at(counts, (codes[known], y[known]), weights[known])
    return counts


def log_likelihood(log_shares: Array, codes: Codes) -> Array:
    """The log-likelihood (n × classes) of the levels of one column; a missing cell has 0, whatever the class."""
    with_missing = np.vstack([log_shares, np.zeros(log_shares.shape[1])])
    return np.asarray(with_missing[codes])
