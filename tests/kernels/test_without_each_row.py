"""Kernels of leave-one-out beside their twins in NumPy, which take the row out and begin again."""

from __future__ import annotations

import numpy as np
import pytest

from mlcli.core.tables import Array
from mlcli.kernels.sums.without_each_row import scatters_without_each, solve_each

ROWS = 30


def scatter(columns: Array, weights: Array) -> Array:
    """Σ w (z − mean)(z − mean)ᵀ."""
    away = columns - np.average(columns, axis=0, weights=weights)
    return (away * weights[:, None]).T @ away


@pytest.mark.parametrize("sets", [1, 3])
def test_the_scatter_of_columns_without_each_row(sets: int) -> None:
    rng = np.random.default_rng(sets)
    entries, own = rng.normal(size=(ROWS, 5)), np.arange(ROWS) % sets
    entries[:, 4] = rng.random(ROWS) < 0.3
    entries[:, 1] *= 1 - entries[:, 4]
    weights = rng.uniform(0.5, 2.0, ROWS)
    main, gap = np.array([1, 0, 3]), np.array([4, 0, 3])
    scale, at_gap = rng.uniform(0.5, 2.0, (ROWS, 3)), rng.normal(size=(ROWS, 3)) * [1.0, 0.0, 0.0]
    whole = np.array([scatter(entries[own == k], weights[own == k]) for k in range(sets)])
    means = np.array([np.average(entries[own == k], axis=0, weights=weights[own == k]) for k in range(sets)])
    total = np.bincount(own, weights)[own]
    found = np.empty((ROWS, sets, 3, 3))
    scatters_without_each(
        whole, entries - means[own], own, weights * total / (total - weights), main, gap, scale, at_gap, found
    )
    for row in range(ROWS):
        columns = entries[:, main] * scale[row] + entries[:, gap] * at_gap[row]
        for k in range(sets):
            rows = (own == k) & (np.arange(ROWS) != row)
            np.testing.assert_allclose(found[row, k], scatter(columns[rows], weights[rows]), atol=1e-12)


@pytest.mark.parametrize("size", [1, 2, 7])
def test_each_system_is_solved(size: int) -> None:
    rng = np.random.default_rng(size)
    X = rng.normal(size=(6, 20, size)) * 10.0 ** np.arange(size)
    matrices, right = np.swapaxes(X, 1, 2) @ X, rng.normal(size=(6, 2, size))
    expected = np.swapaxes(np.linalg.solve(matrices, np.swapaxes(right, 1, 2)), 1, 2)
    logs, left = np.empty(6), np.empty((6, size))
    solve_each(matrices.copy(), right, np.empty(size), logs, left)
    np.testing.assert_allclose(right, expected, rtol=1e-9)
    np.testing.assert_allclose(logs, np.linalg.slogdet(matrices)[1], rtol=1e-12, atol=1e-12)
    lower = np.linalg.cholesky(matrices)
    pivots = np.einsum("kii->ki", lower) ** 2 / np.einsum("kii->ki", matrices)
    np.testing.assert_allclose(left, pivots, rtol=1e-9)


def test_a_system_without_an_answer_is_left_out_and_a_column_of_zeros_takes_no_part() -> None:
    matrices = np.array([np.ones((2, 2)), np.diag([4.0, 0.0])])
    right, logs, left = np.array([[[1.0, 2.0]], [[2.0, 0.0]]]), np.empty(2), np.empty((2, 2))
    solve_each(matrices, right, np.empty(2), logs, left)
    assert left.tolist() == [[0.0, 0.0], [1.0, 1.0]]
    assert right[1].tolist() == [[0.5, 0.0]]
