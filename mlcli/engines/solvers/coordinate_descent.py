"""Coordinate descent for quadratics with absolute penalties (Friedman, Hastie & Tibshirani 2010)."""

from __future__ import annotations

import numpy as np

from mlcli.core.tables import Array

ENOUGH = 1e-13
"""How far an entry of the gradient may still move, as a share of the largest at 0."""
MOST_PASSES = 100_000


def quadratic_minimum(gram: Array, toward: Array, l1: Array, start: Array) -> Array:
    """Argmin of ½ wᵀ G w − toward·w + Σ l1_j |w_j|, from a start; a coefficient without curvature stays."""
    from mlcli.kernels.linear.coordinate_descent import descend_quadratic

    w = start.copy()
    enough = ENOUGH * max(float(np.abs(toward).max(initial=0.0)), np.finfo(float).tiny)
    descend_quadratic(np.ascontiguousarray(gram), toward, l1, w, enough, MOST_PASSES)
    return w
