"""Compiled passes of the perceptron beside their plain twins."""

from __future__ import annotations

import numpy as np
import pytest

from mlcli.kernels.linear import perceptron

ROWS = 50


def rows() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(6)
    X = rng.normal(size=(ROWS, 3))
    return X, np.sign(X[:, 0] + rng.normal(size=ROWS)), rng.permutation(ROWS)


@pytest.mark.parametrize("compiled", [True, False])
def test_a_pass_corrects_as_the_twin_does(compiled: bool) -> None:
    X, side, order = rows()
    ones, expected, wrong = np.column_stack([X, np.ones(ROWS)]), np.zeros(4), 0
    for row in order:
        if side[row] * (ones[row] @ expected) <= 0:
            expected, wrong = expected + 0.3 * side[row] * ones[row], wrong + 1
    w = np.zeros(4)
    walk = (
        perceptron.perceptron_pass
        if compiled
        else getattr(perceptron.perceptron_pass, "py_func", perceptron.perceptron_pass)
    )
    assert walk(X, side, order, 0.3, w) == wrong
    assert w == pytest.approx(expected, abs=1e-12)


def test_the_pocket_holds_the_best_of_the_planes_that_were_tried() -> None:
    X, side, order = rows()
    ones = np.column_stack([X, np.ones(ROWS)])
    w, pocket, runs, errors = np.zeros(4), np.zeros(4), np.zeros(2, np.intp), np.array([ROWS])
    for _ in range(5):
        before = errors[0]
        perceptron.pocket_pass(X, side, order, 1.0, w, pocket, runs, errors)
        assert (side * (ones @ pocket) <= 0).sum() == errors[0] <= before
    assert errors[0] < ROWS / 2
