"""Prediction errors beside scikit-learn's out-of-fold predictions, PSNR by hand, and a sequence that breaks."""

from __future__ import annotations

from math import log
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import LeaveOneOut, cross_val_predict

from mlcli.core.errors import FitError, UsageError
from mlcli.core.params import build
from mlcli.core.schema import Column
from mlcli.core.tables import Table
from mlcli.models.anomaly.prediction_error import PredictionError, rows_before
from mlcli.tasks.anomaly import ScreenedRows
from tests.golden.asking import asked, fitted
from tests.golden.screening import cloud, line, rows_of
from tests.support.shell import document, typed

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


def rows_of_levels(levels: str, numbers: Any = None) -> ScreenedRows:
    codes = np.array(["ab".find(level) for level in levels], np.int32)
    count = len(codes)
    parts: list[tuple[Column, Any]] = [(Column("x"), np.arange(count) % 2.0 if numbers is None else numbers)]
    parts.append((Column("c", "nominal", ("a", "b")), codes))
    labels = np.full(count, -1, np.int32)
    return ScreenedRows(table=Table.of(parts, count), rows=np.arange(count), labels=labels)


def detector(**params: Any) -> Any:
    return build(PredictionError, {"base": "zero-r", "columns": ["c"], "folds": 8, **params})


def test_the_error_of_a_level_is_how_surprising_it_is_out_of_fold() -> None:
    # Left out, an a has 5 of 7 and a b 1 of 7; asked of all rows, 6 of 8 and 2 of 8.
    unit = (6 * log(7 / 5) + 2 * log(7)) / 8
    model = fitted(detector(), rows_of_levels("aaaaaabb"))
    scores = asked(model, rows_of_levels("ab")).score
    assert scores == pytest.approx([log(8 / 6) / unit, log(8 / 2) / unit])


def test_a_level_that_was_never_seen_is_improbable_but_not_infinitely() -> None:
    model = fitted(detector(), rows_of_levels("aaaaaabb"))
    unit = (6 * log(7 / 5) + 2 * log(7)) / 8
    assert asked(model, rows_of_levels("?")).score == pytest.approx([log(1000) / unit])


def test_a_model_that_is_both_predicts_numbers_and_levels() -> None:
    model = fitted(build(PredictionError, {"base": "zero-r", "folds": 8}), rows_of_levels("aaaaaabb"))
    assert model.predicted_ == ("x", "c")
    # The mean of the ratio of two columns; out of fold each is 1 on average, 4 and 3 odd rows of 7 left.
    by_number = 0.25 / np.mean([(4 / 7) ** 2] * 8)
    unit = (6 * log(7 / 5) + 2 * log(7)) / 8
    scores = asked(model, rows_of_levels("b")).score
    assert scores == pytest.approx([(by_number + log(4) / unit) / 2])


@pytest.mark.parametrize("second", [None, "logistic-regression"])
def test_labels_that_were_swapped_are_the_oddest(tmp_path: Path, second: str | None) -> None:
    iris = load_iris(as_frame=True).frame
    swapped = [3, 20, 60, 110, 140]
    iris["target"] = np.array(["setosa", "versicolor", "virginica"])[iris["target"]]
    iris.loc[swapped, "target"] = ["virginica", "versicolor", "setosa", "setosa", "versicolor"]
    path, saved = tmp_path / "iris.csv", str(tmp_path / "model.mlcli")
    pd.DataFrame(iris).to_csv(path, index=False)
    params = "{base: lda, columns: [target]" + (f", second: {second}, marked: 0.05" if second else "") + "}"
    model = f"{{use: prediction-error, params: {params}}}"
    assert typed("train", str(path), "--task", "anomaly", "-m", model, "-o", saved).exit_code == 0
    answers = document(typed("predict", saved, str(path), "--json"))
    oddest = sorted(range(150), key=lambda row: -float(answers[row]["score"]))
    if second is None:
        assert set(swapped) <= set(oddest[:8])
        assert all("target" in answers[row]["because"] for row in swapped)
    assert typed("explain", saved, str(path), "--row", "4").exit_code == 0


def test_a_window_sees_levels_before() -> None:
    levels = "ab" * 20
    model = fitted(
        build(PredictionError, {"base": "decision-tree", "columns": ["c"], "window": 1}), rows_of_levels(levels)
    )
    scores = asked(model, rows_of_levels("ab" * 5 + "b" + "ab" * 5)).score
    assert int(np.argmax(scores)) == 10


def test_what_a_model_cannot_predict_is_refused() -> None:
    with pytest.raises(UsageError, match="psnr is of numbers"):
        build(PredictionError, {"base": "naive-bayes", "score": "psnr"})
    with pytest.raises(FitError, match="no column 'x' that naive-bayes could predict"):
        fitted(build(PredictionError, {"base": "naive-bayes", "columns": ["x"]}), rows_of_levels("aaaaaabb"))
