"""Stacking beside scikit-learn's, on the same folds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.ensemble import StackingClassifier, StackingRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge

from mlcli.core.params import build
from mlcli.engines.content_seeds import order_of_content
from mlcli.engines.inner_validation import inner_folds
from mlcli.models.ensembles.stacking import Stacking
from tests.golden.asking import asked, fitted
from tests.golden.shipped import in_numbers

CLASSIFIERS = [
    {"use": "lda", "params": {"ddof": 0}, "steps": []},
    {"use": "qda", "params": {"ddof": 0}, "steps": []},
]
LOGISTIC = {"use": "logistic-regression", "params": {"l2": 1.0}, "steps": []}


def stacking(**params: Any) -> Any:
    return build(Stacking, params)


def folds_of(data: Any, count: int, seed: int = 1) -> Any:
    """The rows in the order in which the method sees them, and the folds that it deals them into."""
    ordered = data.take(order_of_content(data))
    folds = inner_folds(ordered, count, np.random.default_rng(seed))
    parts = [(np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)) for fold in range(count)]
    return ordered, parts


@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize("name", ["wine", "iris"])
def test_probabilities_are_those_of_scikit_learn(name: str, keep: bool) -> None:
    data, parts = folds_of(in_numbers(name), 5)
    theirs = [("lda", LinearDiscriminantAnalysis()), ("qda", QuadraticDiscriminantAnalysis())]
    final = LogisticRegression(C=1.0, tol=1e-12, max_iter=100_000, solver="newton-cg")
    if keep:  # columns of unequal units converge slowly there
        data = data.with_table(data.table)
    oracle = StackingClassifier(theirs, final, cv=parts, passthrough=keep).fit(data.table.numbers, data.y)
    model = fitted(stacking(models=CLASSIFIERS, meta=LOGISTIC, keep_columns=keep), data)
    ours = asked(model, data).probabilities
    assert ours == pytest.approx(oracle.predict_proba(data.table.numbers), abs=1e-3 if keep else 1e-6)


def test_values_are_those_of_scikit_learn() -> None:
    data, parts = folds_of(in_numbers("cpu"), 4)
    theirs = [("line", LinearRegression()), ("ridge", Ridge(5.0))]
    oracle = StackingRegressor(theirs, Ridge(1.0), cv=parts).fit(data.table.numbers, data.y)
    models = ["linear-regression", {"use": "ridge", "params": {"l2": 5.0}, "steps": []}]
    model = stacking(models=models, meta={"use": "ridge", "steps": []}, folds=4)
    assert asked(fitted(model, data), data).predicted == pytest.approx(
        oracle.predict(data.table.numbers), rel=1e-6
    )


def test_the_meta_model_sees_decided_classes() -> None:
    data = in_numbers("wine")
    model = fitted(stacking(models=CLASSIFIERS, use="classes"), data)
    first = model.meta_.steps[0]
    assert first.id == "one-hot"
    names = [column.name for column in first.columns_]
    assert names == ["1 lda", "2 qda"]
    answers = asked(model, data)
    assert np.mean(answers.predicted == answers.truth) > 0.97


def test_a_single_row_is_learned_from() -> None:
    data = in_numbers("wine").take(np.array([3]))
    assert asked(fitted(stacking(models=["knn"]), data), data).predicted == data.y


def test_a_row_is_explained_by_the_models_then_by_the_one_that_learns_from_them() -> None:
    data = in_numbers("wine")
    model, row = fitted(stacking(models=CLASSIFIERS, meta=LOGISTIC), data), data.table.take(np.array([70]))
    answers, terms = model.explain_answer(row)
    assert [line[0] for line in answers.rows] == ["1 lda", "2 qda"]
    said = {
        f"{line[0]}: {name}": value
        for line in answers.rows
        for name, value in zip(model.classes_, line[1:], strict=True)
    }
    shown = {line[0]: line[1] for line in terms.rows if line[0] in said}
    assert shown == pytest.approx({name: said[name] for name in shown})
    assert len(shown) == 6
