"""Normal distributions of single columns by class: densities, and masses where a density would say too much.

A column that is constant within a class has a density there that grows without bound. There a number counts as
measured: to the mean gap between the distinct numbers of its column. No deviation is below a sixth of that gap,
and what counts is the mass of the normal within half a gap of the number, which is never above 1.
"""

from __future__ import annotations

import numpy as np

from mlcli.core.tables import Array, Flags

LEAST_DEVIATION = 1 / 6
"""In gaps: the stretch around a constant then holds all but 0.3 % of the mass."""
FARTHEST = 1e100
"""In deviations; the square of what is farther is no number."""


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


def mean_gap(numbers: Array) -> float:
    """The mean gap between neighbours among the distinct numbers of a column that varies."""
    distinct = np.unique(numbers[~np.isnan(numbers)])
    return float((distinct[-1] - distinct[0]) / (len(distinct) - 1))


def least_variance(gap: float) -> float:
    """What a column with such a gap can tell."""
    return (LEAST_DEVIATION * gap) ** 2


def log_mass(numbers: Array, means: Array, variances: Array, gap: float) -> Array:
    """The log-mass (n × classes) of the stretch of ``gap`` around each number of a column; 0 for an empty cell."""
    from scipy.special import log_ndtr

    deviations = np.sqrt(variances)
    away = np.abs(numbers[:, None] - means) / deviations
    half = gap / 2 / deviations
    near, far = (log_ndtr(np.maximum(edge, -FARTHEST)) for edge in (half - away, -half - away))
    # Far out both tails round to the same; what is left is tiny, but not nothing.
    apart = np.maximum(near - far, np.finfo(np.float64).tiny)
    return np.where(np.isnan(away), 0.0, near + np.log(-np.expm1(-apart)))
