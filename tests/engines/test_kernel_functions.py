"""Kernels beside numbers of the worked examples and scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel

from mlcli.core.errors import FitError
from mlcli.engines.kernel_functions import KernelFunction, scale

PAIRS = [
    ((1, 2), (3, -1), 4, 0.001503439),
    ((2, 3), (1, 4), 225, 0.367879441),
    ((0.5, -1), (2, 0.25), 3.0625, 0.148636731),
]
"""Two rows, (1 + x·z)² and exp(−½d²): SOURCES.md, section 6."""


@pytest.mark.parametrize(("x", "z", "product", "closeness"), PAIRS)
def test_kernels_of_two_rows(x: tuple[float, ...], z: tuple[float, ...], product: float, closeness: float) -> None:
    X, Z = np.array([x], np.float64), np.array([z], np.float64)
    assert KernelFunction("polynomial", gamma=1.0, degree=2, offset=1.0)(X, Z) == pytest.approx(product)
    assert KernelFunction("gaussian", gamma=0.5)(X, Z) == pytest.approx(closeness, rel=1e-6)


def test_blocks_of_rows_are_scikit_learns_far_from_zero_too() -> None:
    rng = np.random.default_rng(0)
    X, Z = rng.normal(size=(500, 4)) + 1e4, rng.normal(size=(300, 4)) + 1e4
    exact = np.exp(-0.3 * ((X[:, None] - Z) ** 2).sum(axis=2))
    assert KernelFunction("gaussian", gamma=0.3)(X, Z) == pytest.approx(exact, abs=1e-9)
    near = X - 1e4, Z - 1e4
    assert KernelFunction("gaussian", gamma=0.3)(*near) == pytest.approx(rbf_kernel(*near, gamma=0.3), abs=1e-12)
    product = KernelFunction("polynomial", gamma=0.2, degree=3, offset=1.5)
    assert product(*near) == pytest.approx(polynomial_kernel(*near, degree=3, gamma=0.2, coef0=1.5))
    weights = rng.normal(size=(300, 2))
    assert product.weighted(*near, weights) == pytest.approx(product(*near) @ weights)


def test_the_scale_is_that_of_scikit_learn_and_a_weight_counts_as_rows() -> None:
    X = np.random.default_rng(0).normal(size=(50, 3)) * [1.0, 2.0, 5.0] + [0.0, 4.0, 1.0]
    assert scale(X, np.ones(50)) == pytest.approx(1 / (3 * X.var()))
    times = np.arange(50) % 3
    assert scale(X, times.astype(float)) == pytest.approx(scale(np.repeat(X, times, axis=0), np.ones(times.sum())))
    assert scale(np.ones((4, 2)), np.ones(4)) == 1.0


def test_numbers_and_rows_beyond_what_fits_are_refused() -> None:
    with pytest.raises(FitError, match="too large a number"):
        KernelFunction("polynomial", degree=20).matrix(np.full((3, 2), 1e40))
    with pytest.raises(FitError, match="different rows would take"):
        KernelFunction().matrix(np.zeros((25_001, 1)))
