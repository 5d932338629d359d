"""Compiled moves of pairs are those of a plain loop, to the bit, and end where no pair gains anything."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mlcli.engines.smo import solve
from mlcli.kernels.svm.smo import FLAT


def climbed(K: Any, target: Any, bounds: Any, epsilon: float, tolerance: float) -> Any:
    """The coefficients by the definition: of all pairs that gain, the best second for the best first."""
    lower, upper = bounds
    beta, residual = np.zeros(len(target)), target.copy()
    while True:
        gain = np.where(beta < upper, residual - np.where(beta >= 0, epsilon, -epsilon), -np.inf)
        cost = np.where(beta > lower, residual - np.where(beta > 0, epsilon, -epsilon), np.inf)
        i = int(np.argmax(gain))
        gaps = np.maximum(gain[i] - cost, 0.0)
        if gaps.max() <= tolerance:
            return beta
        curves = np.maximum(K[i, i] + np.diagonal(K) - 2 * K[i], FLAT)
        j = int(np.argmax(gaps**2 / curves))
        above = upper[i] if beta[i] >= 0 else min(upper[i], 0.0)
        below = lower[j] if beta[j] <= 0 else max(lower[j], 0.0)
        step = min(gaps[j] / curves[j], above - beta[i], beta[j] - below)
        beta[i] = above if step >= above - beta[i] else beta[i] + step
        beta[j] = below if step >= beta[j] - below else beta[j] - step
        residual = residual + step * (K[j] - K[i])


@pytest.mark.parametrize("rows", [1, 40, 300])
@pytest.mark.parametrize("epsilon", [0.0, 0.2])
def test_coefficients_are_those_of_the_plain_loop(rows: int, epsilon: float) -> None:
    rng = np.random.default_rng(rows)
    X = rng.normal(size=(rows, 3))
    K = np.exp(-((X[:, None] - X) ** 2).sum(axis=2))
    y = np.sign(X[:, 0] + rng.normal(size=rows))
    bounds = (-np.ones(rows), np.ones(rows)) if epsilon else (np.minimum(y, 0.0), np.maximum(y, 0.0))
    target = X[:, 0] + rng.normal(size=rows) if epsilon else y
    found = solve(K, target, *bounds, epsilon=epsilon, tolerance=1e-3)
    assert found.beta == pytest.approx(climbed(K, target, bounds, epsilon, 1e-3), abs=1e-12)
    assert found.residual == pytest.approx(target - K @ found.beta, abs=1e-9)
    assert abs(found.beta.sum()) < 1e-9


def test_rows_that_were_set_aside_are_at_the_same_maximum() -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(400, 3))
    K = np.exp(-((X[:, None] - X) ** 2).sum(axis=2))
    y = np.sign(X[:, 0] * X[:, 1] + 0.2 * rng.normal(size=400))
    bounds = (np.minimum(100 * y, 0.0), np.maximum(100 * y, 0.0))
    few, plain = solve(K, y, *bounds, tolerance=1e-3), climbed(K, y, bounds, 0.0, 1e-3)
    assert few.residual == pytest.approx(y - K @ few.beta, abs=1e-8)
    assert y @ few.beta - few.beta @ K @ few.beta / 2 == pytest.approx(y @ plain - plain @ K @ plain / 2, rel=1e-6)
