"""Losses, penalties and solvers: gradients beside small differences, every solver beside SciPy's minimum."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.optimize

from mlcli.engines import linear_objective as losses
from mlcli.engines.interior_point import Matrix, PiecewiseLinear, interior_point
from mlcli.engines.linear_objective import LinearObjective, LinkLoss, Loss, Penalty
from mlcli.engines.solvers import SOLVERS

ROWS, WIDTH = 60, 3
ALL = [losses.CrossEntropy, losses.Squared, losses.SquaredHinge]


def objective(loss: type[Loss], l1: float = 0.0, intercept: bool = True) -> LinearObjective:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(ROWS, WIDTH))
    side = np.sign(X[:, :1].T + rng.normal(size=(1, ROWS)))
    truth = {losses.CrossEntropy: (side + 1) / 2, losses.SquaredHinge: side}.get(loss, side + X[:, 1])
    if loss is losses.CrossEntropy:
        three = rng.integers(0, 3, ROWS)
        truth = np.array([three == 1, three == 2], float)
    mixing = np.array([[1.0, 0.5], [-0.3, 2.0]]) if len(truth) == 2 else np.eye(1)
    penalty = Penalty.of(3.0, l1, np.array([0.5, 1.0, 2.0]), ROWS)
    return LinearObjective(X, loss(truth, rng.uniform(0.5, 1.5, ROWS) / ROWS), penalty, mixing, intercept)


@pytest.mark.parametrize("loss", ALL)
@pytest.mark.parametrize("intercept", [True, False])
def test_slopes_and_curvatures_are_those_of_small_differences(loss: type[Loss], intercept: bool) -> None:
    rng, whole = np.random.default_rng(7), objective(loss, intercept=intercept)
    w, way = (rng.normal(size=whole.start.shape) for _ in range(2))
    w[:, -1], way[:, -1] = w[:, -1] * intercept, way[:, -1] * intercept
    behind, here, ahead = (whole.at(w + step * way) for step in (-1e-5, 0.0, 1e-5))
    bent = (whole.curvature(here) @ way.ravel()).reshape(way.shape)
    assert (ahead.value - behind.value) / 2e-5 == pytest.approx(np.vdot(here.gradient, way), abs=1e-8)
    assert (ahead.gradient - behind.gradient) / 2e-5 == pytest.approx(bent, abs=1e-7)


def scipys_minimum(whole: LinearObjective) -> Any:
    """By Powell's directions and Nelder and Mead's simplex, which need no gradient."""
    shape, least = whole.start.shape, whole.start.ravel()
    for _ in range(6):
        for method in ("Powell", "Nelder-Mead"):
            options = {"xtol": 1e-12, "ftol": 1e-15} if method == "Powell" else {"xatol": 1e-10, "fatol": 1e-15}
            least = scipy.optimize.minimize(
                lambda w: whole.at(w.reshape(shape)).value, least, method=method, options=options
            ).x
    return whole.at(least.reshape(shape)).value


@pytest.mark.parametrize("loss", ALL)
@pytest.mark.parametrize("l1", [0.0, 6.0])
@pytest.mark.parametrize("solver", ["newton", "l-bfgs", "gradient-descent"])
def test_solvers_reach_what_scipy_reaches(loss: type[Loss], l1: float, solver: str) -> None:
    whole = objective(loss, l1)
    if SOLVERS[solver].mismatch(solver, loss, l1 > 0):
        return
    found = SOLVERS[solver].minimise(whole, whole.start, 1e-10, 10_000)
    assert found.converged
    assert found.at.value <= scipys_minimum(whole) + 1e-9


def test_a_solver_says_what_it_lacks() -> None:
    of_link = SOLVERS["sgd"].mismatch("sgd", LinkLoss, corners=False)
    assert "the solver sgd needs" in of_link
    assert of_link.endswith("auto or newton or l-bfgs would do")
    said = SOLVERS["l-bfgs"].mismatch("l-bfgs", losses.Squared, corners=True)
    assert "the solver l-bfgs needs a penalty without corners" in said
    assert said.endswith("auto or newton or gradient-descent or sgd would do")


@pytest.mark.parametrize("curvature", [0.0, 1.0])
def test_corners_reach_the_optimum_of_a_programme(curvature: float) -> None:
    """Least absolute errors as SciPy's linear programme; with a ridge the duality gap proves the minimum."""
    rng = np.random.default_rng(5)
    X, y = np.column_stack([rng.normal(size=(40, 2)), np.ones(40)]), rng.normal(size=40)
    problem = PiecewiseLinear(Matrix(X), np.full(40, 2.0), y, np.full(3, curvature), X.sum(axis=0), -y.sum())
    found = interior_point(problem, 1e-12, 100)
    errors = np.abs(y - X @ found.w).sum()
    assert found.value == pytest.approx(errors + curvature * found.w @ found.w / 2, rel=1e-9)
    assert found.gap <= 1e-9
    if not curvature:
        pairs = np.hstack([X, np.eye(40), -np.eye(40)])
        free = [(None, None)] * 3 + [(0, None)] * 80
        cost = np.append(np.zeros(3), np.ones(80))
        assert errors == pytest.approx(scipy.optimize.linprog(cost, A_eq=pairs, b_eq=y, bounds=free).fun, rel=1e-9)
