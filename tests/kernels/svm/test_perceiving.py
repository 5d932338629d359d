"""Compiled passes of the perceptron keep their sums: scores are the kernel times the coefficients."""

from __future__ import annotations

import numpy as np
import pytest

from mlcli.kernels.linear.perceptron import perceive


@pytest.mark.parametrize("classes", [2, 4])
def test_scores_follow_from_coefficients_and_each_mistake_adds_to_one_class_and_takes_from_another(
    classes: int,
) -> None:
    rng = np.random.default_rng(classes)
    X, y = rng.normal(size=(60, 2)), rng.integers(0, classes, 60).astype(np.int32)
    K = np.exp(-((X[:, None] - X) ** 2).sum(axis=2))
    scores, beta, timed = (np.zeros((classes, 60)) for _ in range(3))
    visits, passes, mistakes = perceive(K, y, 3, scores, beta, timed)
    assert (visits, passes) == (180, 3)
    assert 0 < mistakes <= 60
    assert scores == pytest.approx(beta @ K)
    assert np.abs(beta.sum(axis=0)).max() == 0
    assert (beta[y, np.arange(60)] >= 0).all()
    assert (np.abs(timed) <= visits * np.abs(beta)).all()
