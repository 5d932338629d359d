"""Prediction errors beside scikit-learn's out-of-fold predictions, PSNR by hand, and a sequence that breaks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import LeaveOneOut, cross_val_predict

from mlcli.core.errors import FitError
from mlcli.core.params import build
from mlcli.models.anomaly.prediction_error import PredictionError, rows_before
from tests.golden.asking import asked, fitted
from tests.golden.screening import cloud, line, rows_of

X, Z = cloud(40, 3) + np.random.default_rng(5).normal(size=(40, 3)), cloud(20, 3, seed=1)
LINEAR = {"use": "linear-regression", "steps": []}


def errors(X: np.ndarray, Z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of each column: errors of training rows left out one by one, and of others."""
    own, other = np.empty(X.shape), np.empty(Z.shape)
    for j in range(X.shape[1]):
        rest = np.delete(X, j, axis=1)
        own[:, j] = X[:, j] - cross_val_predict(LinearRegression(), rest, X[:, j], cv=LeaveOneOut())
        peer = LinearRegression().fit(rest, X[:, j])
        other[:, j] = Z[:, j] - peer.predict(np.delete(Z, j, axis=1))
    return own, other


def found(**params: Any) -> np.ndarray:
    """The scores of other rows, of a model with as many folds as rows."""
    model = build(PredictionError, {"base": LINEAR, "folds": 40} | params)
    return np.asarray(asked(fitted(model, rows_of(X)), rows_of(Z, first=40)).score)


def test_errors_count_in_units_of_those_out_of_fold() -> None:
    own, other = errors(X, Z)
    assert found() == pytest.approx((other**2 / (own**2).mean(axis=0)).mean(axis=1), rel=1e-8)


def test_psnr_is_normalised_by_that_of_the_training_rows() -> None:
    own, other = (each / np.ptp(X, axis=0) for each in errors(X, Z))
    low, *_, high = sorted(10 * np.log10(1 / (own**2).mean(axis=1)))
    psnr = 10 * np.log10(1 / (other**2).mean(axis=1))
    assert found(score="psnr") == pytest.approx(1 - (psnr - low) / (high - low), rel=1e-8)


def test_a_window_predicts_from_the_rows_before() -> None:
    assert rows_before(np.array([[1.0], [2], [3]]), 2)[:, :, 0].tolist() == [[1, 1], [1, 1], [2, 1]]
    wave = np.sin(np.arange(120) / 4)
    broken = wave.copy()
    broken[70] = 0.9
    model = fitted(build(PredictionError, {"window": 2}), line(*wave))
    answers = asked(model, line(*broken))
    assert 70 in np.argsort(-answers.score)[:3]
    assert answers.columns[answers.reasons[70, 0]] == "x0"


def test_a_second_model_learns_which_rows_have_large_errors() -> None:
    rng = np.random.default_rng(0)
    a = rng.uniform(-1, 1, 300)
    b = a + rng.normal(size=300) * np.where(a > 0.5, 1.0, 0.01)
    data = rows_of(np.column_stack([a, b]))
    second = {"use": "decision-tree", "params": {"max_depth": 2}}
    model = fitted(build(PredictionError, {"second": second, "columns": ["x1"]}), data)
    score = asked(model, data).score
    assert score[a > 0.6].mean() > 3 * score[a < 0.4].mean()


def test_one_column_is_predicted_from_a_window_only() -> None:
    with pytest.raises(FitError, match="a second column"):
        fitted(build(PredictionError, {}), line(1, 2, 4, 3))
    with pytest.raises(FitError, match="no column 'x9'"):
        fitted(build(PredictionError, {"columns": ["x9"]}), rows_of(X))
