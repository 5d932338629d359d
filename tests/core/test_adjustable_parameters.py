"""Adjustable parameters: as many as the textbook counts, effective ones where it has such."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris

from mlcli.core.params import build
from mlcli.core.pipeline import adjustable_parameters
from mlcli.core.registry import MODELS
from mlcli.core.schema import Column
from mlcli.core.tables import Table
from tests.cli.shell import document, typed
from tests.golden.asking import fitted
from tests.rows import labelled, valued


def table_of(X: Any) -> Table:
    return Table(tuple(Column(f"x{j}") for j in range(X.shape[1])), X, np.empty((len(X), 0), np.int32))


def counted(use: str, data: Any, **params: Any) -> float | None:
    return adjustable_parameters(fitted(build(MODELS.load(use), params), data), data.table)


IRIS = load_iris()
CLASSES = labelled(table_of(IRIS.data), [str(one) for one in IRIS.target])
DIABETES = load_diabetes()
VALUES = valued(table_of(DIABETES.data), DIABETES.target.tolist())


@pytest.mark.parametrize(
    ("use", "params", "expected"),
    [
        ("zero-r", {}, 2),
        ("lda", {}, 2 * 5),
        ("naive-bayes", {}, 2 + 2 * 3 * 4),
        ("knn", {"k": 5}, 30),
        ("decision-tree", {"max_depth": 1}, 2),
        ("mlp", {"hidden": [7], "epochs": 2}, 4 * 7 + 7 + 7 * 3 + 3),
        ("random", {}, None),
    ],
)
def test_of_classes(use: str, params: dict[str, Any], expected: float | None) -> None:
    assert counted(use, CLASSES, **params) == expected


def test_of_numbers() -> None:
    assert counted("zero-r", VALUES) == 1
    assert counted("linear-regression", VALUES) == 11
    assert counted("linear-regression", VALUES, intercept=False) == 10
    assert counted("knn", VALUES, k=442) == 1


def test_ridge_has_the_trace_of_its_hat_matrix() -> None:
    X = DIABETES.data - DIABETES.data.mean(axis=0)
    for l2 in (0.01, 1.0, 30.0):
        hat = X @ np.linalg.solve(X.T @ X + l2 * np.eye(10), X.T)
        assert counted("ridge", VALUES, l2=l2) == pytest.approx(np.trace(hat) + 1)


def test_train_says_how_many() -> None:
    assert "5 adjustable parameters" in typed("train", "iris", "-m", "decision-tree", "-p", "max_depth=3").stdout
    assert document(typed("train", "iris", "-m", "random", "--json"))["adjustable_parameters"] is None
