"""What naive Bayes learns of single columns: normal densities of numbers, and shares of levels."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mlcli.core.moments import Moments
from mlcli.core.tables import Array, Codes, Flags

FRACTION = 1e-9
"""What is added to every variance, as a share of the largest variance of any column."""


def _share_of_the_largest(overall: Moments) -> Array:
    return np.asarray(FRACTION * overall.variance.max(axis=-1, initial=0.0))


ADDED: dict[str, Callable[[Moments], Array]] = {
    "add": _share_of_the_largest,
    "drop": lambda overall: np.zeros(overall.variance.shape[:-1]),
}


def log_density(numbers: Array, means: Array, variances: Array, kept: Flags) -> Array:
    """The normal log-density (... × n × classes) of rows (... × n × p), over the columns kept (... × p).

    Means and variances are ... × classes × p; an empty cell adds nothing.
    """
    found = np.empty((*numbers.shape[:-1], means.shape[-2]))
    spreads = np.where(kept[..., None, :], variances, 1.0)
    logs = np.where(kept[..., None, :], np.log(2 * np.pi * spreads), 0.0)
    precisions = kept[..., None, :] / spreads
    with_gaps = bool(np.isnan(numbers).any())
    for k in range(means.shape[-2]):
        away = numbers - means[..., k, None, :]
        away *= away
        if with_gaps:
            terms = away * precisions[..., k, None, :] + logs[..., k, None, :]
            found[..., k] = -0.5 * np.where(np.isnan(numbers), 0.0, terms).sum(axis=-1)
        else:
            found[..., k] = -0.5 * (away @ precisions[..., k, :, None])[..., 0] - 0.5 * logs[..., k, None, :].sum(
                axis=-1
            )
    return found


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
"""From counts (levels × ... × classes) to shares: four ways to treat a level that a class never had."""


def log_likelihood(log_shares: Array, codes: Codes) -> Array:
    """The log-likelihood (n × classes) of the levels of one column; an empty cell has 0, whatever the class."""
    with_missing = np.vstack([log_shares, np.zeros(log_shares.shape[1])])
    return np.asarray(with_missing[codes])
