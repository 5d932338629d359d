"""Newton's method: each step goes to the minimum of the quadratic that fits the objective here.

The quadratic is minimised by conjugate gradients, preconditioned with the inverse of the curvature's bound, so the
full curvature (outputs times columns, squared) is never formed; a step that would raise the objective is halved.
"""

from __future__ import annotations

import numpy as np

from mlcli.core.tables import Array
from mlcli.models.linear._losses import Expansion
from mlcli.models.linear._minimum import Minimum, steepness
from mlcli.models.linear._objective import Objective

SHORTEST_STEP = 2.0**-30
ROUNDING = 1e-14
"""A rise by this share of the objective is rounding."""
STUCK_BY_ROUNDING = 1e-8
"""Where no step lowers the objective, a gradient up to this is what rounding leaves of 0."""
STILL_MOVING = 0.5
"""A change of a score; near a minimum steps are far smaller, on the way to infinity they are about 1."""
ROUGHEST = 0.3
"""Far from the minimum, the quadratic is minimised only until its slope has fallen to this share."""


def newton(objective: Objective, start: Array, tolerance: float, max_iterations: int) -> Minimum:
    """Step until no entry of the gradient is above ``tolerance``; the objective never rises."""
    w, here = start, objective.at(start)
    for iteration in range(max_iterations):
        if steepness(here) <= tolerance:
            return Minimum(w, here, iteration, converged=True)
        step = newton_step(objective, here, min(ROUGHEST, np.cbrt(steepness(here))))
        moved = _without_rising(objective, w, here, step)
        if moved is None:
            return Minimum(w, here, iteration, converged=steepness(here) <= STUCK_BY_ROUNDING)
        w, here = moved
    return Minimum(w, here, max_iterations, converged=steepness(here) <= tolerance)


def newton_step(objective: Objective, here: Expansion, precision: float) -> Array:
    """The way to the minimum of the quadratic that fits here, by preconditioned conjugate gradients."""
    step, remaining = np.zeros_like(here.slope), -here.slope
    direction = towards = remaining @ objective.bound_inverse
    left = first = float(np.vdot(remaining, towards))
    for _ in range(2 * step.size):
        bent = here.curved(direction)
        curvature = float(np.vdot(direction, bent))
        if curvature <= 0:
            break
        length = left / curvature
        step, remaining = step + length * direction, remaining - length * bent
        towards = remaining @ objective.bound_inverse
        before, left = left, float(np.vdot(remaining, towards))
        if left <= precision**2 * first:
            break
        direction = towards + left / before * direction
    return step if step.any() else direction


def _without_rising(
    objective: Objective, w: Array, here: Expansion, step: Array
) -> tuple[Array, Expansion] | None:
    """The longest of the step, its half, its quarter, ... that does not raise the objective."""
    length = 1.0
    while length >= SHORTEST_STEP:
        there = objective.at(w + length * step)
        within_rounding = there.value <= here.value + ROUNDING * abs(here.value)
        if there.value < here.value or (within_rounding and steepness(there) < steepness(here)):
            return w + length * step, there
        length /= 2
    return None


def never_ends(objective: Objective, minimum: Minimum) -> bool:
    """Whether scores still move where the gradient is nearly 0: the objective falls for ever, ever more slowly."""
    step = newton_step(objective, minimum.at, ROUGHEST)
    return bool(np.abs(objective.X.scores(step)).max(initial=0.0) > STILL_MOVING)
