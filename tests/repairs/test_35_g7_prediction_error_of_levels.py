"""``prediction-error`` with classifiers: nominal columns are predicted, by hand and on swapped labels."""

from __future__ import annotations

from math import log
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

from mlcli.core.errors import FitError, UsageError
from mlcli.core.params import build
from mlcli.core.schema import Column
from mlcli.core.tables import Table
from mlcli.models.anomaly.prediction_error import PredictionError
from mlcli.tasks.anomaly import ScreenedRows
from tests.cli.shell import document, typed
from tests.golden.asking import asked, fitted


def rows_of(levels: str, numbers: Any = None) -> ScreenedRows:
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
    model = fitted(detector(), rows_of("aaaaaabb"))
    scores = asked(model, rows_of("ab")).score
    assert scores == pytest.approx([log(8 / 6) / unit, log(8 / 2) / unit])


def test_a_level_that_was_never_seen_is_improbable_but_not_infinitely() -> None:
    model = fitted(detector(), rows_of("aaaaaabb"))
    unit = (6 * log(7 / 5) + 2 * log(7)) / 8
    assert asked(model, rows_of("?")).score == pytest.approx([log(1000) / unit])


def test_a_model_that_is_both_predicts_numbers_and_levels() -> None:
    model = fitted(build(PredictionError, {"base": "zero-r", "folds": 8}), rows_of("aaaaaabb"))
    assert model.predicted_ == ("x", "c")
    # The mean of the ratio of two columns; out of fold each is 1 on average, 4 and 3 odd rows of 7 left.
    by_number = 0.25 / np.mean([(4 / 7) ** 2] * 8)
    unit = (6 * log(7 / 5) + 2 * log(7)) / 8
    scores = asked(model, rows_of("b")).score
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
        build(PredictionError, {"base": "decision-tree", "columns": ["c"], "window": 1}), rows_of(levels)
    )
    scores = asked(model, rows_of("ab" * 5 + "b" + "ab" * 5)).score
    assert int(np.argmax(scores)) == 10


def test_what_a_model_cannot_predict_is_refused() -> None:
    with pytest.raises(UsageError, match="psnr is of numbers"):
        build(PredictionError, {"base": "naive-bayes", "score": "psnr"})
    with pytest.raises(FitError, match="no column 'x' that naive-bayes could predict"):
        fitted(build(PredictionError, {"base": "naive-bayes", "columns": ["x"]}), rows_of("aaaaaabb"))
