"""Columns of numbers by class: normal ones, and those that say how often an event happened.

A column that is constant within a class has a normal density there that grows without bound. There a number counts
as measured: to the mean gap between the distinct numbers of its column. No deviation is below a sixth of that gap,
and what counts is the mass of the normal within half a gap of the number, which is never above 1.

With chances θ of an event by class a number x has, but for factors that are the same in every class, the
log-likelihood

    bernoulli   log θ where x > 0, log(1 − θ) elsewhere
    binomial    x log θ + (n − x) log(1 − θ), of n trials
    count       x log θ, where the θ of all such columns add up to 1 (multinomial: the words of a text)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mlcli.core.errors import DataError, FitError
from mlcli.core.moments import extent
from mlcli.core.tables import Array, Codes, Flags
from mlcli.engines.posteriors import logarithm

LEAST_DEVIATION = 1 / 6
"""In gaps: the stretch around a constant then holds all but 0.3 % of the mass."""
FARTHEST = 1e100
"""In deviations; the square of what is farther is no number."""


def log_normal_density(numbers: Array, means: Array, variances: Array, kept: Flags) -> Array:
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


IMPOSSIBLE = -1e300
"""A logarithm of 0 that may be multiplied by 0."""


EVENTS: dict[str, Callable[[Array, Array], tuple[Array, Array]]] = {
    "bernoulli": lambda numbers, trials: ((numbers > 0).astype(np.float64), (numbers <= 0).astype(np.float64)),
    "binomial": lambda numbers, trials: (numbers, np.maximum(trials - numbers, 0.0)),
    "count": lambda numbers, trials: (numbers, np.zeros_like(numbers)),
}
"""From numbers to how often an event happened and how often it did not."""


@dataclass(frozen=True)
class EventColumns:
    """Numeric columns in which an event happens or does not, and the distribution of each."""

    names: tuple[str, ...]
    distributions: tuple[str, ...]

    def learn(
        self, numbers: Array, by_class: Array, trials: int | None, smoothed: Callable[[Array], Array]
    ) -> tuple[Array, Array]:
        """The trials of each column, and its chances (2 × columns × classes), from weights (n × classes)."""
        self.refuse_what_is_no_count(numbers, trials)
        _, largest = extent(numbers, by_class.sum(axis=1))
        of = np.maximum(largest, 1.0) if trials is None else np.full(len(largest), float(trials))
        counts = self.happened(numbers, of).swapaxes(1, 2) @ by_class
        return of, self._shares(counts, smoothed)

    def happened(self, numbers: Array, trials: Array) -> Array:
        """How often events did and did not happen (2 × n × columns); an empty cell has 0 of both."""
        found = np.zeros((2, *numbers.shape))
        for j, distribution in enumerate(self.distributions):
            found[:, :, j] = EVENTS[distribution](numbers[:, j], trials[j])
        return np.nan_to_num(found, copy=False)

    def drawn(self, chances: Array, trials: Array, classes: Codes, rng: np.random.Generator) -> Array:
        """Of each column a number for each class that was drawn (columns × n)."""
        if "count" in self.distributions:
            name = self.names[self.distributions.index("count")]
            what = f"how many counts a row has in all is not learned, so that '{name}' cannot be drawn"
            raise DataError(what, hint="leave it gaussian, or make it binomial with 'trials'")
        times = np.where([one == "binomial" for one in self.distributions], trials, 1.0).astype(np.int64)
        return rng.binomial(times[:, None], chances[:, classes]).astype(np.float64)

    def refuse_what_is_no_count(self, numbers: Array, trials: int | None) -> None:
        """Refuse numbers below 0, and hits beyond the trials, with the name of the column."""
        for name, distribution, cells in zip(self.names, self.distributions, numbers.T, strict=True):
            most = trials if trials is not None and distribution == "binomial" else np.inf
            wrong = cells[(cells < 0) | (cells > most)]
            if distribution != "bernoulli" and len(wrong):
                limits = "0 or more" if most == np.inf else f"from 0 to {most:g}"
                what = f"column '{name}' has {wrong[0]:g}, but as {distribution} its numbers are {limits}"
                raise FitError(what, hint=f"correct it, or choose another distribution for '{name}'")

    def _shares(self, counts: Array, smoothed: Callable[[Array], Array]) -> Array:
        """The chance that an event does and does not happen, from how often it did (2 × columns × classes).

        Counts share the chance of one event among their columns, as words share a text.
        """
        together = np.array([distribution == "count" for distribution in self.distributions], bool)
        found = np.ones_like(counts)
        found[:, ~together] = smoothed(counts[:, ~together])
        found[0, together] = smoothed(counts[0, together])
        return found


def log_likelihood_of_events(happened: Array, shares: Array) -> Array:
    """The log-likelihood (n × classes) of events, but for factors that are the same in every class."""
    logs = np.maximum(logarithm(shares), IMPOSSIBLE)
    found = np.tensordot(happened, logs, axes=([0, 2], [0, 1]))
    return np.where(found < IMPOSSIBLE * 1e-9, -np.inf, found)
