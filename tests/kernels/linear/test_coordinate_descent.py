"""Compiled coordinate descent beside its plain twin."""

from __future__ import annotations

import numpy as np
import pytest

from mlcli.core.tables import Array
from mlcli.kernels.linear.coordinate_descent import descend_quadratic

PASSES = 50


def plain(gram: Array, toward: Array, l1: Array, l2: Array) -> Array:
    """Every coefficient in turn to its own minimum."""
    w = np.zeros(len(toward))
    for _ in range(PASSES * 4):
        for j in range(len(w)):
            free = toward[j] - gram[j] @ w + gram[j, j] * w[j]
            w[j] = np.sign(free) * max(abs(free) - l1[j], 0.0) / (gram[j, j] + l2[j])
    return w


@pytest.mark.parametrize("compiled", [True, False])
def test_it_ends_where_the_twin_does(compiled: bool) -> None:
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(30, 6)), rng.normal(size=30)
    X[:, 5] = 0.0
    gram, toward, l1, l2 = X.T @ X, y @ X, rng.uniform(0, 6, 6), np.array([0.0, 1, 2, 3, 0, 0])
    descend = descend_quadratic if compiled else getattr(descend_quadratic, "py_func", descend_quadratic)
    for start in (np.zeros(6), np.append(rng.normal(size=5), 0.0)):
        assert descend(gram, toward, l1, l2, start, 1e-14, PASSES) < PASSES
        assert start == pytest.approx(np.append(plain(gram[:5, :5], toward[:5], l1[:5], l2[:5]), 0.0), abs=1e-12)
    assert descend(gram, toward, l1, l2, np.zeros(6), 0.0, 1) == 1
