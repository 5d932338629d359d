"""Slopes and coupled probabilities beside SciPy's minima of the same losses."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize, minimize_scalar

from mlcli.engines.calibration import slope, softmax, two_sided
from mlcli.engines.symmetric import pairwise_coupling


def test_the_slope_is_the_likeliest_for_platts_targets() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    score = (2 * y - 1) + rng.normal(0, 1.5, 200)
    targets = np.where(y == 1, (y.sum() + 1) / (y.sum() + 2), 1 / ((1 - y).sum() + 2))

    def loss(at: float) -> float:
        shares = 1 / (1 + np.exp(-at * score))
        return float(-(targets * np.log(shares) + (1 - targets) * np.log(1 - shares)).sum())

    best = minimize_scalar(loss, bounds=(0, 5), method="bounded", options={"xatol": 1e-9}).x
    assert slope(two_sided(score), y.astype(np.int32), np.ones(200)) == pytest.approx(best, abs=1e-6)


def test_scores_that_are_all_right_or_all_wrong_still_have_a_slope() -> None:
    y = np.array([0, 0, 1, 1], np.int32)
    score = np.array([-1.0, -2.0, 1.0, 2.0])
    assert 0 < slope(two_sided(score), y, np.ones(4)) < 10
    assert 0 < slope(two_sided(-score), y, np.ones(4)) < 0.01


def test_coupled_probabilities_are_the_minimum_among_distributions() -> None:
    rng = np.random.default_rng(1)
    pairs = np.array([(a, b) for a in range(4) for b in range(a + 1, 4)], np.int32)
    pairwise = rng.uniform(0.05, 0.95, (3, len(pairs)))
    for shares, second in zip(pairwise_coupling(pairwise, pairs, 4), pairwise, strict=True):

        def loss(p: np.ndarray, second: np.ndarray = second) -> float:
            return float((((1 - second) * p[pairs[:, 1]] - second * p[pairs[:, 0]]) ** 2).sum())

        whole = {"type": "eq", "fun": lambda p: p.sum() - 1}
        best = minimize(loss, np.full(4, 0.25), bounds=[(0, 1)] * 4, constraints=whole, options={"ftol": 1e-15})
        assert shares == pytest.approx(best.x, abs=1e-6)


def test_pairs_that_agree_with_a_distribution_give_it_back() -> None:
    p = softmax(np.random.default_rng(2).normal(size=(5, 3)))
    pairs = np.array([(0, 1), (0, 2), (1, 2)], np.int32)
    pairwise = p[:, pairs[:, 1]] / (p[:, pairs[:, 0]] + p[:, pairs[:, 1]])
    assert pairwise_coupling(pairwise, pairs, 3) == pytest.approx(p, abs=1e-12)
