"""Batch gradient descent: steps down the gradient, of a length that the curvature's bound proves safe.

Each entry is divided by its own curvature bound, so that columns of any scale advance alike. Steps carry momentum
(Nesterov 1983), which is dropped when it points uphill (O'Donoghue & Candès 2015).
"""

from __future__ import annotations

import numpy as np

from mlcli.core.tables import Array
from mlcli.models.linear._minimum import Minimum
from mlcli.models.linear._objective import Objective


def gradient_descent(objective: Objective, start: Array, tolerance: float, max_iterations: int) -> Minimum:
    """Step until no entry of the gradient is above ``tolerance``."""
    step = _safe_steps(objective.curvature_bound())
    w = start
    momentum, here = 1.0, objective.at(start)
    for iteration in range(max_iterations):
        if here.steepness <= tolerance:
            return Minimum(here, iteration, converged=True)
        before, w = w, here.w - step * here.slope
        if np.vdot(here.slope, w - before) > 0:
            momentum = 1.0
        momentum, last = (1 + np.sqrt(1 + 4 * momentum**2)) / 2, momentum
        here = objective.at(w + (last - 1) / momentum * (w - before))
    return Minimum(here, max_iterations, converged=here.steepness <= tolerance)


def _safe_steps(bound: Array) -> Array:
    """A step per column: 1 / (its own curvature × the largest curvature left after dividing by these)."""
    own = np.where(bound.diagonal() > 0, bound.diagonal(), 1.0)  # an intercept that is left out bends nothing
    root = np.sqrt(own)
    largest = np.linalg.eigvalsh(bound / np.outer(root, root)).max(initial=0.0) or 1.0
    return 1 / (own * largest)
