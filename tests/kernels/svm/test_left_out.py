"""Compiled spans are those of the inverse matrix, and the slope is the likeliest one."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from mlcli.kernels.svm.left_out import likeliest_slope, losses, spans


@pytest.mark.parametrize(("m", "b"), [(1, 0), (7, 5), (20, 0)])
def test_sums_are_those_of_the_factor(m: int, b: int) -> None:
    X = np.random.default_rng(m).normal(size=(m + b, 3))
    K = np.exp(-((X[:, None] - X) ** 2).sum(axis=2))
    free, bounded = np.arange(b, m + b), np.arange(b)
    width = 2 * m + 1 + b
    squares, products = np.empty((2, width))
    share = 0.1 / np.diagonal(K)[b:].mean()
    assert spans(K, free, bounded, share, np.empty((m, width)), squares, products)
    lower = np.linalg.cholesky(K[b:, b:] + 0.1 * np.eye(m))
    expected = np.linalg.solve(lower, np.hstack([np.ones((m, 1)), K[b:, :b], np.eye(m)]))
    assert squares[m:] == pytest.approx((expected**2).sum(axis=0), rel=1e-9)
    assert products[m:] == pytest.approx(expected[:, 0] @ expected, rel=1e-9, abs=1e-9)


def test_an_indefinite_matrix_is_told() -> None:
    K, places, sums = np.array([[1.0, 2.0], [2.0, 1.0]]), np.arange(2), np.empty((2, 5))
    assert not spans(K, places, places[:0], 0.0, np.empty((2, 5)), *sums)


@pytest.mark.parametrize("scale", [1e-4, 1.0, 1e4])
def test_the_slope_is_the_likeliest_for_platts_targets(scale: float) -> None:
    rng = np.random.default_rng(0)
    y = np.repeat([-1.0, 1.0], [40, 80])
    score, weights = y + rng.normal(0, 1.5, 120), rng.uniform(0.1, 2.0, 120)
    counts = np.array([weights[y == side].sum() for side in (-1.0, 1.0)])
    sure = ((counts + 1) / (counts + 2))[(y > 0).astype(int)]

    def loss(at: float) -> float:
        right = np.log1p(np.exp(-at * y * score)), np.log1p(np.exp(at * y * score))
        return float(weights @ (sure * right[0] + (1 - sure) * right[1]))

    best = minimize_scalar(loss, bounds=(0, 5), method="bounded", options={"xatol": 1e-10}).x
    assert scale * likeliest_slope(scale * score, y, weights, 1e-3) == pytest.approx(best, abs=1e-6)


def test_scores_that_tell_nothing_or_the_opposite_have_the_least_slope() -> None:
    y, ones = np.array([-1.0, 1.0]), np.ones(2)
    assert likeliest_slope(-3.0 * y, y, ones, 1e-3) == pytest.approx(2e-3 / 3)
    assert likeliest_slope(0.0 * y, y, ones, 1e-3) == 1.0


def test_without_others_on_the_margin_the_span_is_the_size_of_the_row() -> None:
    K, lost = np.array([[3.0, 0.5], [0.5, 2.0]]), np.zeros(2)
    squares, products = np.array([1.0, 0.25, 1.0]) / 2, np.array([1.0, 0.5, 1.0]) / 2
    losses(K, np.array([-1.0, 4.0]), np.array([1]), np.array([0]), squares, products, lost)
    assert lost == pytest.approx([-(3.0 + 2.0 - 2 * 0.5), 4.0 * 2.0])
