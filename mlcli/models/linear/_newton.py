"""Newton's method: each step goes to the minimum of the quadratic that fits the objective here.

The inverse of the curvature is kept as long as the gradient falls fast; with many coefficients it is formed near
the minimum only. A step that would raise the objective is halved. Long tables start at the minimum for a few of
their rows.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from mlcli.core.tables import Array
from mlcli.models.linear._conjugate import Conjugate
from mlcli.models.linear._inverse import WIDE, Inverse
from mlcli.models.linear._minimum import Minimum
from mlcli.models.linear._objective import Here, Objective

SHORTEST_STEP = 2.0**-30
ROUNDING = 1e-14
"""A rise by this share of the objective, or of a score of 1, is rounding."""
STUCK_BY_ROUNDING = 1e-8
"""Where no step lowers the objective, a gradient up to this is what rounding leaves of 0."""
STILL_MOVING = 0.5
"""A change of a score; near a minimum steps are far smaller, on the way to infinity they are about 1."""
EVERY = 8
"""Long tables are solved for every so many-th row first."""
ENOUGH_FOR_FEW = (1e-3, 20)
"""The gradient that is small enough there, and how many steps at most."""
MOST_EXPLAINED = 0.9
"""The first step is lengthened ten times at most."""


class Curvature(Protocol):
    """What tells the way to the minimum."""

    def step(self, slope: Array) -> Array:
        """The way from where the objective has such a slope."""

    def after(self, before: Here, there: Here) -> Curvature | None:
        """What tells the way from there, reached from before; None where it is to be computed anew."""


def newton(objective: Objective, start: Array, tolerance: float, max_iterations: int) -> Minimum:
    """Step until no entry of the gradient is above ``tolerance``, from the minimum for a few of the rows."""
    few = objective.thinned(EVERY)
    if few is None:
        return descended(objective, start, tolerance, max_iterations)
    there = newton(few, start, *ENOUGH_FOR_FEW).at
    return descended(objective, there.w, tolerance, max_iterations, curvature_at(few, there, tolerance))


def descended(
    objective: Objective, start: Array, tolerance: float, max_iterations: int, known: Curvature | None = None
) -> Minimum:
    """Step until no entry of the gradient is above ``tolerance``; the objective never rises.

    Where there is one minimum, the last step is a small one: who starts elsewhere ends at the same place.
    """
    here, curvature = objective.at(start), known
    least_fall = tolerance**2 if objective.strength.any() else np.inf
    for iteration in range(max_iterations):
        fresh = curvature is None
        curvature = curvature or curvature_at(objective, here, tolerance)
        step = curvature.step(here.slope)
        fall = -float(np.vdot(step, here.slope))
        if here.steepness <= tolerance and fall <= least_fall:
            return Minimum(here, iteration, converged=True)
        there = _without_rising(objective, here, step if here.w[:, :-1].any() else _lengthened(step, fall))
        if there is None and fresh:
            return Minimum(here, iteration, converged=here.steepness <= max(tolerance, STUCK_BY_ROUNDING))
        curvature = None if there is None else curvature.after(here, there)
        here = there or here
    return Minimum(here, max_iterations, converged=here.steepness <= tolerance)


def _lengthened(step: Array, fall: float) -> Array:
    """The first step, as discriminant analysis would make it: the curvature falls on the way there.

    ``fall`` is the share of the outputs' variance that the columns explain.
    """
    return step / (1 - min(fall / max(len(step), 1), MOST_EXPLAINED))


def curvature_at(objective: Objective, here: Here, tolerance: float) -> Curvature:
    """What tells the way from here."""
    return Inverse.at(objective, here) if here.w.size < WIDE else Conjugate(objective, here, tolerance)


def _without_rising(objective: Objective, here: Here, step: Array) -> Here | None:
    """The longest of the step, its half, its quarter, ... that does not raise the objective."""
    length = 1.0
    while length >= SHORTEST_STEP:
        there = objective.at(here.w + length * step)
        within_rounding = there.value <= here.value + ROUNDING * max(1.0, abs(here.value))
        if there.value < here.value or (within_rounding and there.steepness < here.steepness):
            return there
        length /= 2
    return None


def never_ends(objective: Objective, minimum: Minimum) -> bool:
    """Whether scores still move where the gradient is nearly 0: the objective falls for ever, ever more slowly."""
    step = Inverse.at(objective, minimum.at).step(minimum.at.slope)
    return bool(np.abs(objective.X.scores(objective.mixing @ step)).max(initial=0.0) > STILL_MOVING)
