"""Batch gradient descent: steps down the gradient, of a length that the curvature's bound proves safe.

Each entry is divided by its own curvature bound, so that columns of any scale advance alike. Steps carry
momentum (Nesterov 1983), which is dropped when it points uphill (O'Donoghue & Candès 2015). A penalty with
corners is met by its proximal step after each one down the rest (Beck & Teboulle 2009).
"""

from __future__ import annotations

import numpy as np

from mlcli.core.tables import Array
from mlcli.engines.linear_objective import LinearObjective
from mlcli.engines.solvers.minimum import Minimum


def gradient_descent(objective: LinearObjective, start: Array, tolerance: float, max_iterations: int) -> Minimum:
    """Step until no entry of the gradient is above ``tolerance``."""
    step, w = objective.step_bounds(), start
    momentum, here = 1.0, objective.at(start)
    for iteration in range(max_iterations):
        if here.steepness <= tolerance:
            return Minimum(here, iteration, converged=True)
        before, w = w, objective.penalty.proximal(here.w - step * here.slope, step)
        if np.vdot((here.w - w) / step, w - before) > 0:
            momentum = 1.0
        momentum, last = (1 + np.sqrt(1 + 4 * momentum**2)) / 2, momentum
        here = objective.at(w + (last - 1) / momentum * (w - before))
    here = objective.at(w)
    return Minimum(here, max_iterations, converged=here.steepness <= tolerance)
