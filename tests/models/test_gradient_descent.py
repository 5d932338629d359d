"""Gradient descent with a learning rate, by hand, and the checks of assumptions after descent."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mlcli.core.errors import FitError, MlcliWarning
from mlcli.models.linear.linear_regression import LinearRegression
from mlcli.models.linear.logistic_regression import LogisticRegression
from tests.golden.asking import fitted
from tests.golden.shipped import in_numbers
from tests.support.rows import labelled, table_of, valued
from tests.support.shell import typed

X = [1.0, 2.0, 4.0, 7.0, 8.0]
Y = [1.0, 3.0, 2.0, 6.0, 9.0]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("steps", [1, 4])
def test_each_step_covers_the_share_eta_of_the_way_to_least_squares(steps: int) -> None:
    """In one column of variance 1 the curvature is 1: after k steps the slope is (1 − (1 − η)ᵏ) of the best."""
    model = LinearRegression(solver="gradient-descent", learning_rate=0.3, max_iterations=steps)
    best = np.polyfit(X, Y, 1)[0]
    slope = fitted(model, valued(table_of({"x": X}), Y)).coefficients_
    assert slope == pytest.approx([(1 - 0.7**steps) * best])


@pytest.mark.filterwarnings("ignore")
def test_first_step_of_logistic_regression() -> None:
    """From w = 0 and P = 2/5: w = η · mean((y − 2/5) z), z the column of variance 1."""
    model = LogisticRegression(solver="gradient-descent", learning_rate=0.5, max_iterations=1, l2=0.0)
    z = (np.array(X) - np.mean(X)) / np.std(X)
    expected = 0.5 * np.mean((np.array([0, 0, 1, 0, 1]) - 0.4) * z) / np.std(X)
    slopes = fitted(model, labelled(table_of({"x": X}), list("aabab"))).coefficients_
    assert slopes[-1] == pytest.approx([expected])


@pytest.mark.parametrize("solver", ["gradient-descent", "sgd"])
def test_a_learning_rate_that_arrives_ends_at_least_squares(solver: str) -> None:
    data = in_numbers("concrete")
    model = fitted(LinearRegression(solver=solver, learning_rate=0.2, tolerance=1e-6), data)
    assert model.coefficients_ == pytest.approx(fitted(LinearRegression(), data).coefficients_, rel=1e-3)


def test_a_learning_rate_under_which_the_loss_grows_is_refused() -> None:
    """Steps of more than 2 over the curvature, here 1, move away from the minimum."""
    with pytest.raises(FitError, match="loss grows without end"):
        fitted(LinearRegression(solver="gradient-descent", learning_rate=2.5), valued(table_of({"x": X}), Y))


@pytest.mark.parametrize("solver", ["gradient-descent", "sgd"])
def test_descent_has_the_errors_and_checks_of_the_closed_form(solver: str) -> None:
    data = in_numbers("concrete")
    descended, closed = (
        fitted(LinearRegression(solver=one, tolerance=1e-6), data) for one in (solver, "closed-form")
    )
    assert descended.standard_errors_ == pytest.approx(closed.standard_errors_, rel=1e-4)
    assert descended.checks_ == pytest.approx(closed.checks_, rel=1e-3, nan_ok=True)
    assert descended.inflation_ == pytest.approx(closed.inflation_)


def test_descent_that_has_not_arrived_says_why_it_has_no_checks() -> None:
    with pytest.warns(MlcliWarning, match="above the tolerance"):
        model = fitted(LinearRegression(solver="gradient-descent", max_iterations=2), in_numbers("concrete"))
    assert np.isnan(model.checks_).all()
    assert "descent stopped before it arrived" in model.explain()[0].note


def test_learning_rate_on_the_command_line(tmp_path: Path) -> None:
    words = ("train", "cpu", "-m", "linear-regression", "-p", "solver=gradient-descent", "-p", "learning_rate=0.2")
    printed = typed(*words, "-o", str(tmp_path / "m.mlcli"))
    assert printed.exit_code == 0
    assert "Durbin-Watson" in printed.output
