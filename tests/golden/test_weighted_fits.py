"""Weights of rows and of classes do in fits what scikit-learn's sample_weight and class_weight do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn import linear_model, naive_bayes, svm, tree
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.preprocessing import StandardScaler

from mlcli.core.params import build
from mlcli.core.pipeline import Pipeline
from mlcli.core.registry import MODELS, STEPS
from mlcli.core.schema import Column
from mlcli.core.tables import Table
from tests.golden.asking import asked, fitted
from tests.support.rows import labelled, valued

RNG = np.random.default_rng(2)


def table_of(X: Any) -> Table:
    return Table(tuple(Column(f"x{j}") for j in range(X.shape[1])), X, np.empty((len(X), 0), np.int32))


def of_classes() -> tuple[Any, Any]:
    found = load_breast_cancer()
    return StandardScaler().fit_transform(found.data[:, :6]), found.target


CLASSES, NUMBERS = of_classes(), load_diabetes(return_X_y=True)
OF_ROWS = RNG.choice([0.5, 1.0, 4.0], 569)
CLASSIFIERS: dict[str, tuple[dict[str, Any], Any, float]] = {
    "logistic-regression": ({}, lambda: linear_model.LogisticRegression(C=1.0, tol=1e-12, max_iter=10_000), 1e-5),
    "naive-bayes": ({"zero_variance": "floor"}, lambda: naive_bayes.GaussianNB(var_smoothing=0), 1e-9),
    "decision-tree": (
        {"algorithm": "cart", "max_depth": 2},
        lambda: tree.DecisionTreeClassifier(max_depth=2),
        1e-9,
    ),
}
REGRESSORS: dict[str, tuple[dict[str, Any], Any, float]] = {
    "linear-regression": ({}, linear_model.LinearRegression, 1e-9),
    "ridge": ({"l2": 3.0}, lambda: linear_model.Ridge(3.0), 1e-9),
}


def rows(weight: Any) -> Any:
    X, y = CLASSES
    return labelled(table_of(X), [str(one) for one in y], weight=None if weight is None else weight.tolist())


def probabilities(model: Any, data: Any) -> Any:
    return asked(fitted(model, data), data).probabilities


@pytest.mark.parametrize("use", CLASSIFIERS)
def test_weights_of_rows_that_have_classes(use: str) -> None:
    params, theirs, tolerance = CLASSIFIERS[use]
    found = probabilities(build(MODELS.load(use), params), rows(OF_ROWS))
    expected = theirs().fit(*CLASSES, sample_weight=OF_ROWS).predict_proba(CLASSES[0])
    assert found == pytest.approx(expected, abs=tolerance)


@pytest.mark.parametrize("use", ["logistic-regression", "decision-tree"])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_step_class_weights_is_class_weight_balanced(use: str, weighted: bool) -> None:
    params, theirs, tolerance = CLASSIFIERS[use]
    model = Pipeline(steps=(build(STEPS.load("class-weights"), {}),), model=build(MODELS.load(use), params))
    weight = OF_ROWS if weighted else np.ones(569)
    found = probabilities(model, rows(weight))
    totals = np.bincount(CLASSES[1], weight)
    balanced = weight * (totals.sum() / (2 * totals))[CLASSES[1]]
    assert found == pytest.approx(
        theirs().fit(*CLASSES, sample_weight=balanced).predict_proba(CLASSES[0]), abs=tolerance
    )
    if not weighted:
        oracle = theirs().set_params(class_weight="balanced").fit(*CLASSES)
        assert found == pytest.approx(oracle.predict_proba(CLASSES[0]), abs=tolerance)


@pytest.mark.parametrize("use", REGRESSORS)
def test_weights_of_rows_that_have_numbers(use: str) -> None:
    params, theirs, tolerance = REGRESSORS[use]
    X, y = NUMBERS
    weight = RNG.choice([0.5, 1.0, 4.0], len(y))
    data = valued(table_of(X), y.tolist(), weight.tolist())
    found = asked(fitted(build(MODELS.load(use), params), data), data).predicted
    assert found == pytest.approx(theirs().fit(X, y, sample_weight=weight).predict(X), rel=tolerance)


def test_a_machine_of_weighted_rows_decides_alike() -> None:
    model = build(MODELS.load("svm"), {"kernel": "linear", "tolerance": 1e-8})
    found = asked(fitted(model, rows(OF_ROWS)), rows(OF_ROWS)).predicted
    oracle = svm.SVC(kernel="linear", tol=1e-8).fit(*CLASSES, sample_weight=OF_ROWS)
    assert (found == oracle.predict(CLASSES[0])).mean() > 0.998
