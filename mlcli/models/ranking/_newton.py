"""Newton's method for the squared hinge: ½‖w‖² + c Σ max(0, 1 − d·w)² (Chapelle & Keerthi 2010; Lee & Lin 2014).

Near its minimum the objective is a parabola on which the same pairs lack their margin, so that the last step is
exact and the number of steps finite. The pairs are summed up, never listed.
"""

from __future__ import annotations

import numpy as np

from mlcli.core.tables import Array
from mlcli.models.ranking._margins import Margins
from mlcli.models.ranking._minimum import Minimum

SHORTEST_STEP = 2.0**-30


def newton(rows: Margins, c: float, tolerance: float, max_iterations: int) -> Minimum:
    """Step to the minimum of the parabola that fits here, until the gap is small beside the objective."""
    w = np.zeros(rows.X.shape[1])
    objective = _objective(rows, c, w)
    for iteration in range(max_iterations + 1):
        score = rows.X @ w
        slope = w + c * rows.slope_of_squared_lack(score)
        gap = float(slope @ slope) / 2
        if gap <= tolerance * objective or iteration == max_iterations:
            break
        curvature = np.eye(len(w)) + c * rows.curvature_of_squared_lack(score)
        step = -np.asarray(np.linalg.solve(curvature, slope), np.float64)
        w, objective = _stepped(rows, c, w, step, objective)
    return Minimum(w, objective, gap, iteration)


def _stepped(rows: Margins, c: float, w: Array, step: Array, here: float) -> tuple[Array, float]:
    """The whole step, its half, its quarter, ...: the first that does not raise the objective."""
    length = 1.0
    while length > SHORTEST_STEP and _objective(rows, c, w + length * step) > here:
        length /= 2
    return w + length * step, _objective(rows, c, w + length * step)


def _objective(rows: Margins, c: float, w: Array) -> float:
    return float(w @ w / 2 + c * rows.squared_lack(rows.X @ w))
