"""A transformed target beside scikit-learn's TransformedTargetRegressor."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.compose import TransformedTargetRegressor
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LinearRegression

from mlcli.core.params import build
from mlcli.core.schema import Column
from mlcli.core.tables import Table
from mlcli.models.wrappers.target_transform import TargetTransform
from tests.golden.asking import fitted
from tests.support.rows import valued

X, Y = load_diabetes(return_X_y=True)
TABLE = Table(tuple(Column(f"x{j}") for j in range(10)), X, np.empty((442, 0), np.int32))


@pytest.mark.parametrize(
    ("target", "there", "back"), [("log", np.log, np.exp), ("sqrt", np.sqrt, lambda z: np.maximum(z, 0) ** 2)]
)
def test_answers_are_those_of_scikit_learn(target: str, there: Any, back: Any) -> None:
    ours = fitted(build(TargetTransform, {"target": target}), valued(TABLE, Y.tolist()))
    theirs = TransformedTargetRegressor(LinearRegression(), func=there, inverse_func=back, check_inverse=False)
    assert ours.predict_values(TABLE) == pytest.approx(theirs.fit(X, Y).predict(X), rel=1e-9)


def test_a_straight_change_of_units_changes_no_straight_line() -> None:
    ours = fitted(build(TargetTransform, {"target": "standardise"}), valued(TABLE, Y.tolist()))
    assert ours.predict_values(TABLE) == pytest.approx(LinearRegression().fit(X, Y).predict(X), rel=1e-9)


def test_values_that_are_not_positive_are_shifted() -> None:
    values = (Y - Y.mean()).tolist()
    ours = fitted(build(TargetTransform, {"target": "log"}), valued(TABLE, values))
    assert ours.numbers_[0] == pytest.approx(1 - min(values))
    assert fitted(build(TargetTransform, {"target": "sqrt"}), valued(TABLE, values)).numbers_[0] == -min(values)
