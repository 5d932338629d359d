"""Steps that make other features of numbers agree with scikit-learn, NumPy and sums by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import PolynomialFeatures

from mlcli.core.errors import FitError, UsageError
from mlcli.core.schema import Column
from mlcli.core.tables import Table
from mlcli.prepare.log import Log
from mlcli.prepare.polynomial import Polynomial
from tests.prepare.preparing import fitted, names, prepared
from tests.support.rows import table_of

X = load_breast_cancer().data[:, :5]
TABLE = Table(tuple(Column(f"x{j}") for j in range(5)), X, np.empty((len(X), 0), np.int32))


@pytest.mark.parametrize("degree", [1, 2, 3])
@pytest.mark.parametrize("interactions", [False, True])
def test_products_are_those_of_scikit_learn(degree: int, interactions: bool) -> None:
    theirs = PolynomialFeatures(degree, interaction_only=interactions, include_bias=False)
    changed = prepared(Polynomial(degree=degree, interactions=interactions), TABLE)
    assert changed.numbers == pytest.approx(theirs.fit_transform(X), rel=1e-12)


def test_products_are_named() -> None:
    table = table_of({"a": [1.0], "c": ["u"], "b": [2.0]})
    assert names(prepared(Polynomial(degree=2), table)) == ["a", "c", "b", "a^2", "a*b", "b^2"]


def test_too_many_products_are_refused_before_they_are_made() -> None:
    with pytest.raises(UsageError, match="degree 10 makes 30,044,994 products of 20 columns"):
        Polynomial(degree=10).columns_left(tuple(Column(f"x{j}") for j in range(20)))


def test_log_of_positive_numbers_and_of_others() -> None:
    table = table_of({"a": [1.0, math.e], "b": [-3.0, 0.0], "c": [None, 1.0]})
    step = fitted(Log(), table)
    assert step.shift_.tolist() == [0.0, 4.0, 0.0]
    assert step.apply(table).numbers[:, :2] == pytest.approx(np.array([[0.0, 0.0], [1.0, np.log(4)]]))
    assert np.isnan(step.apply(table).numbers[0, 2])
    # A number below all of training counts as the smallest of training.
    assert step.apply(table_of({"a": [1.0], "b": [-99.0], "c": [1.0]})).numbers[0, 1] == 0.0


def test_a_k_that_leaves_no_logarithm_is_refused() -> None:
    with pytest.raises(FitError, match=r"log\(x \+ 2\) of 'a', which goes down to -3, does not exist"):
        fitted(Log(k=2.0), table_of({"a": [-3.0, 1.0]}))
    assert prepared(Log(k=2.0), table_of({"a": [-1.0]})).numbers[0, 0] == 0.0
