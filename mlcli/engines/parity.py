"""Parity of linear scores: groups whose scores differ on average cost more.

The mean score of group g is linear in the coefficients, so that the cost is a quadratic of them:
    strength / 2 · Σ_g share_g · ‖w · (x̄_g − x̄)‖², over all rows, or over those of a class.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from mlcli.core.groups import Groups
from mlcli.core.tables import Array, Flags
from mlcli.engines.linear_objective import LinearObjective, Point


def mean_shifts(columns: Array, groups: Groups, weights: Array, among: Flags) -> Array:
    """How far the mean of each group is from that of all, among some rows, times the root of its share."""
    counted = np.where(among, weights, 0.0)
    totals = np.bincount(groups.codes, counted, len(groups.labels))
    there = totals > 0
    sums = (groups.members * counted[:, None]).T @ columns
    means = sums[there] / totals[there, None]
    shares = totals[there] / totals.sum() if there.any() else totals[there]
    return np.asarray(np.sqrt(shares)[:, None] * (means - shares @ means))


@dataclass(frozen=True, eq=False)
class WithParity(LinearObjective):
    """A linear objective with the cost of mean scores that differ."""

    shifts: Array = None  # type: ignore[assignment]
    """What ``mean_shifts`` says of standard columns (lines × columns)."""
    strength: float = 0.0

    @classmethod
    def of(cls, plain: LinearObjective, shifts: Array, strength: float) -> WithParity:
        """An objective, and what is added to it."""
        return cls(plain.X, plain.loss, plain.penalty, plain.mixing, plain.intercept, shifts, strength)

    def at(self, w: Array) -> Point:
        """The objective at some coefficients."""
        here = super().at(w)
        apart = self.shifts @ w[:, :-1].T
        slope = here.slope.copy()
        slope[:, :-1] += self.strength * (apart.T @ self.shifts)
        value = here.value + self.strength / 2 * float((apart**2).sum())
        return replace(here, value=value, slope=slope, steepness=self.penalty.steepness(w, slope))

    def curvature(self, here: Point) -> Array:
        """Its second derivative."""
        width = self.X.shape[1] + 1
        one = np.zeros((width, width))
        one[:-1, :-1] = self.strength * (self.shifts.T @ self.shifts)
        return np.asarray(super().curvature(here) + np.kron(np.eye(len(here.w)), one))
