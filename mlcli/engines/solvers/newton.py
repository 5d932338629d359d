"""Newton's method: each step goes to the minimum of the quadratic that fits the objective here.

A step that would raise the objective is halved. Long tables start at the minimum for a few of their rows. A
penalty with corners is left as it is beside the quadratic, which coordinate descent then minimises (Lee, Sun &
Saunders 2014).
"""

from __future__ import annotations

import numpy as np

from mlcli.core.tables import Array
from mlcli.engines.linear_objective import ROUNDING, SHORTEST_STEP, Iterate, LinearObjective, Minimum, Objective

STUCK_BY_ROUNDING = 1e-8
"""Where no step lowers the objective, a gradient up to this is what rounding leaves of 0."""
STILL_MOVING = 0.5
"""A change of a score; near a minimum steps are far smaller, on the way to infinity they are about 1."""
DAMPING = 1e-12
"""Added to the curvature, as a share of its diagonal: it must have an inverse where columns are collinear."""
EVERY, FEW = 8, 20
"""Long tables are solved for every so many-th row first, if that leaves so many rows for each coefficient."""
ROUGH, STEPS = 1e-3, 20
"""How closely, and in how many steps at most."""


def newton(objective: Objective, start: Array, tolerance: float, max_iterations: int) -> Minimum:
    """Step until the objective says that this is its minimum; it never rises."""
    here = objective.at(start)
    for iteration in range(max_iterations):
        step = newton_step(objective, here)
        if objective.reached(here, -float(np.vdot(step, here.gradient)), tolerance):
            return Minimum(here, iteration, converged=True)
        there = _without_rising(objective, here, step)
        if there is None:
            return Minimum(here, iteration, converged=here.steepness <= max(tolerance, STUCK_BY_ROUNDING))
        here = there
    return Minimum(here, max_iterations, converged=here.steepness <= tolerance)


def _without_rising(objective: Objective, here: Iterate, step: Array) -> Iterate | None:
    """The longest of the step, its half, its quarter, ... that does not raise the objective."""
    length = 1.0
    while length >= SHORTEST_STEP:
        there = objective.at(here.w + length * step)
        within_rounding = there.value <= here.value + ROUNDING * max(1.0, abs(here.value))
        if there.value < here.value or (within_rounding and there.steepness < here.steepness):
            return there
        length /= 2
    return None


def newton_from_few_rows(
    objective: LinearObjective, start: Array, tolerance: float, max_iterations: int
) -> Minimum:
    """The same from the minimum for a few rows, where these tell enough of where it is."""
    if len(objective.X) >= EVERY * FEW * max(start.size, 1):
        few = objective.take(slice(None, None, EVERY))
        if np.isfinite(few.loss.start()).all():
            start = newton_from_few_rows(few, start, ROUGH, STEPS).at.w
    return newton(objective, start, tolerance, max_iterations)


def newton_step(objective: Objective, here: Iterate) -> Array:
    """The way to the minimum of the quadratic that fits here, and of what the corners cost beside it."""
    curvature = objective.curvature(here)
    if objective.penalty.has_corners:
        from mlcli.engines.solvers.coordinate_descent import quadratic_minimum

        l1 = np.tile(objective.penalty.l1, len(here.w))
        toward = curvature @ here.w.ravel() - here.gradient.ravel()
        return quadratic_minimum(curvature, toward, l1, here.w.ravel()).reshape(here.w.shape) - here.w
    alike, root = _without_sizes(curvature)
    return np.asarray(-(np.linalg.solve(alike, here.gradient.ravel() / root) / root).reshape(here.w.shape))


def inverse_curvature(objective: Objective, here: Iterate) -> Array:
    """The inverse of the curvature: the covariance of coefficients, where the objective is a likelihood."""
    alike, root = _without_sizes(objective.curvature(here))
    return np.asarray(np.linalg.inv(alike) / np.outer(root, root))


def _without_sizes(curvature: Array) -> tuple[Array, Array]:
    """A large penalty beside a free intercept would cost all digits without taking the sizes out."""
    root = np.sqrt(np.maximum(curvature.diagonal(), 0.0))
    root[root == 0] = 1.0
    alike = curvature / root / root[:, None]
    alike[np.diag_indices_from(alike)] += DAMPING
    return alike, root


def never_ends(objective: LinearObjective, minimum: Minimum) -> bool:
    """Whether scores still move where the gradient is nearly 0: the objective falls for ever, ever more slowly."""
    moved = objective.scores(newton_step(objective, minimum.at))
    return bool(np.abs(moved).max(initial=0.0) > STILL_MOVING)
