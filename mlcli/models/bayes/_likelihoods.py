"""What naive Bayes learns of single columns: normal distributions of numbers, and shares of levels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mlcli.core.moments import Moments
from mlcli.core.tables import Array, Codes, Flags
from mlcli.engines.normal_columns import log_density
from mlcli.engines.posteriors import certain_posterior, logarithm
from mlcli.engines.training_sums import Layout

FRACTION = 1e-9
"""What is added to every variance, as a share of the largest variance of any column."""


ROUNDING = 1e-13
IMPOSSIBLE = -1e300
"""A logarithm of 0 that may be multiplied by 0."""


def _share_of_the_largest(overall: Moments) -> Array:
    return np.asarray(FRACTION * overall.variance.max(axis=-1, initial=0.0))


def _nothing(overall: Moments) -> Array:
    return np.zeros(overall.variance.shape[:-1])


ADDED: dict[str, Callable[[Moments], Array]] = {"floor": _nothing, "add": _share_of_the_largest, "drop": _nothing}
"""What is added to every variance. A column with a variance of 0 in a class even so is treated as "floor" says,
or left out."""


@dataclass(frozen=True, eq=False)
class Likelihoods:
    """What each set of rows says of every column by class; leading axes are those sets."""

    priors: Array
    means: Array
    variances: Array
    kept: Flags
    """The numeric columns whose normal density counts (sets × columns)."""
    floored: Flags
    """Those with a floor below their variances, which sums do not tell."""
    shares: tuple[Array, ...]
    """For each coded column the shares of its levels (levels × ... × classes)."""
    layout: Layout
    far: Flags
    """Whether some mean lies so far from 0 that digits are lost."""

    def answers(self, rows: Array) -> Array:
        """The posteriors (sets × rows × classes); a row that no class makes possible is left to a fit."""
        numbers = rows[..., self.layout.numbers]
        joint = logarithm(self.priors)[:, None] + log_density(numbers, self.means, self.variances, self.kept)
        for places, shares in zip(self.layout.coded, self.shares, strict=True):
            logs = np.maximum(np.moveaxis(logarithm(shares), 0, -2), IMPOSSIBLE)
            joint += np.nan_to_num(rows[..., places]) @ logs
        joint[joint <= IMPOSSIBLE] = -np.inf
        unsure = (self.far | self.floored.any(axis=-1))[:, None]
        return certain_posterior(joint, np.where(unsure, np.inf, ROUNDING * np.abs(joint.max(axis=-1))))


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
