"""Expectation-maximisation (Dempster, Laird & Rubin 1977): rounds from a start until nothing is gained."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mlcli.core.tables import Array
from mlcli.models.density._mixture import Mixture, expected, maximised


@dataclass(frozen=True, eq=False)
class Climb:
    """Where a climb ended, and the log-likelihood of every mixture on the way."""

    mixture: Mixture
    log_likelihoods: tuple[float, ...]
    settled: bool
    """Whether it ended because nothing was gained any more."""
    grounded: bool
    """Whether a component lies on the floor, which then makes its likelihood."""

    @property
    def log_likelihood(self) -> float:
        """Of the last mixture."""
        return self.log_likelihoods[-1]

    def merit(self) -> tuple[bool, float]:
        """What the best of several climbs has most of."""
        return not self.grounded, self.log_likelihood


@dataclass(frozen=True, eq=False)
class Until:
    """When a climb ends."""

    stop: str
    tolerance: float
    rounds: int
    unit: Array
    """The standard deviation of each column over all rows."""


@dataclass(frozen=True, eq=False)
class Round:
    """Two mixtures, one after the other: what a rule of stopping sees."""

    before: Mixture
    after: Mixture
    gain: float
    """In log-likelihood per row."""
    unit: Array


def _moved(one: Round) -> float:
    """The largest change of a share, or of a mean or deviation in standard deviations of its column."""
    before, after = one.before, one.after
    spread = [np.array([mix.form.deviations(each) for each in mix.covariances]) for mix in (before, after)]
    changes = (
        (after.means - before.means) / one.unit,
        (spread[1] - spread[0]) / one.unit,
        after.shares - before.shares,
    )
    return max(float(np.abs(change).max()) for change in changes)


STOPS: dict[str, Callable[[Round], float]] = {"log-likelihood": lambda one: one.gain, "parameters": _moved}
"""What must become smaller than the tolerance."""


def climbed(X: Array, weights: Array, start: Mixture, floor: Array, until: Until) -> Climb:
    """From a start to where nothing is gained, or to the last round that is allowed."""
    total, mixture, settled = weights.sum(), start, False
    sums = expected(X, weights, mixture)
    path = [sums.log_likelihood]
    for _ in range(until.rounds):
        before, mixture = mixture, maximised(sums, mixture, floor)
        sums = expected(X, weights, mixture)
        path.append(sums.log_likelihood)
        one = Round(before, mixture, (path[-1] - path[-2]) / total, until.unit)
        settled = STOPS[until.stop](one) < until.tolerance
        if settled:
            break
    grounded = any(mixture.form.lies_on(floor, covariance) for covariance in mixture.covariances)
    return Climb(mixture, tuple(path), settled, grounded)
