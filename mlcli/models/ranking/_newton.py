"""Newton's method for the squared hinge: ½‖w‖² + Σ c_k max(0, 1 − d_k·w)² (Chapelle & Keerthi 2010).

Near its minimum the objective is a parabola on which the same pairs lack their margin, so that the last step is
exact and the number of steps finite.
"""

from __future__ import annotations

import numpy as np

from mlcli.core.tables import Array
from mlcli.models.ranking._gaps import Gaps, Minimum

SHORTEST_STEP = 2.0**-30


def newton(gaps: Gaps, cost: Array, tolerance: float, max_iterations: int) -> Minimum:
    """Step to the minimum of the parabola that fits here, until the gap is small beside the objective."""
    w = np.zeros(gaps.X.shape[1])
    for iteration in range(max_iterations + 1):
        lacking = _lacking(gaps, w)
        slope = w - 2 * gaps.back(cost * lacking)
        objective, gap = _objective(gaps, cost, w), float(slope @ slope) / 2
        if gap <= tolerance * objective or iteration == max_iterations:
            break
        curvature = np.eye(len(w)) + 2 * gaps.gram(cost * (lacking > 0))
        step = -np.asarray(np.linalg.solve(curvature, slope), np.float64)
        w = w + _length(gaps, cost, w, step) * step
    return Minimum(w, objective, gap, iteration)


def _length(gaps: Gaps, cost: Array, w: Array, step: Array) -> float:
    """The whole step, its half, its quarter, ...: the first that does not raise the objective."""
    here, length = _objective(gaps, cost, w), 1.0
    while length > SHORTEST_STEP and _objective(gaps, cost, w + length * step) > here:
        length /= 2
    return length


def _lacking(gaps: Gaps, w: Array) -> Array:
    """How much each pair lacks of its margin."""
    return np.maximum(0.0, 1 - gaps.times(w))


def _objective(gaps: Gaps, cost: Array, w: Array) -> float:
    return float(w @ w / 2 + cost @ _lacking(gaps, w) ** 2)
