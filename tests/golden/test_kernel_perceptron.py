"""The kernel perceptron beside the perceptron of scikit-learn on a constant column, and beside its definition."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.linear_model import Perceptron

from mlcli.core.errors import MlcliWarning
from mlcli.engines.kernel_models import distinct_rows
from mlcli.models.kernel_methods.kernel_perceptron import KernelPerceptron
from tests.golden.asking import asked, fitted
from tests.golden.discriminants import rows


def scaled(load: Any, some: slice = slice(None)) -> tuple[Any, Any]:
    """Rows of a dataset, on one scale."""
    X, y = load(return_X_y=True)
    X, y = X[some], y[some]
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def test_of_two_classes_it_is_the_perceptron_of_the_rows_in_their_order() -> None:
    data = distinct_rows(rows(*scaled(load_iris, slice(50, 150))))
    theirs = Perceptron(max_iter=3, tol=None, shuffle=False).fit(data.table.numbers, data.y)
    model = KernelPerceptron(kernel="linear", passes=3, average=False)
    with pytest.warns(MlcliWarning, match="rows were mistakes in the last of 3 passes"):
        fitted(model, data)
    weights = model.coefficients_.T @ model.points_
    assert weights[1] == pytest.approx(theirs.coef_[0], abs=1e-6)
    assert weights[0] == pytest.approx(-theirs.coef_[0], abs=1e-6)
    assert model.levels_[1] == pytest.approx(theirs.intercept_[0])


@pytest.mark.parametrize("average", [False, True])
def test_coefficients_are_those_of_the_definition(average: bool) -> None:
    """Between equal rivals the class that is met first is taken: here they are named in that order."""
    met = distinct_rows(rows(*scaled(load_wine)))
    order = np.argsort([np.flatnonzero(met.y == k)[0] for k in range(3)])
    data = replace(met, y=np.argsort(order).astype(np.int32)[met.y])
    X, y, passes = data.table.numbers, data.y, 2
    K = np.exp(-0.3 * ((X[:, None] - X) ** 2).sum(axis=2)) + 1.0
    beta, history = np.zeros((len(y), 3)), []
    for row in [*range(len(y))] * passes:
        others = [k for k in range(3) if k != y[row]]
        score = K[row] @ beta
        rival = max(others, key=lambda k: score[k])
        if not score[y[row]] > score[rival]:
            beta[row, y[row]] += 1
            beta[row, rival] -= 1
        history.append(beta.copy())
    expected = K @ (np.mean(history, axis=0) if average else beta)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MlcliWarning)
        model = fitted(KernelPerceptron(gamma=0.3, passes=passes, average=average), data)
    assert model.responses(data.table, model.coefficients_) + model.levels_ == pytest.approx(expected, abs=1e-6)
    assert np.array_equal(asked(model, data).predicted, expected.argmax(axis=1))


def test_classes_that_can_be_told_apart_end_without_a_mistake() -> None:
    data = rows(*scaled(load_iris, slice(0, 100)))
    model = fitted(KernelPerceptron(kernel="linear", average=False, passes=100), data)
    done, _, mistakes = model.visited_
    assert done < 100
    assert mistakes == 0
    assert np.array_equal(asked(model, data).predicted, data.y)


def test_the_mistakes_that_are_told_add_up_to_the_coefficients() -> None:
    data = rows(*scaled(load_iris, slice(0, 100)))
    model = fitted(KernelPerceptron(kernel="linear", average=False, detail="full"), data)
    (visits,) = (found.rows for found in model.explain() if found.title == "Row by row")
    beta: dict[int, int] = {}
    for _, row, label, *_, mistake in visits:
        if mistake:
            beta[row - 1] = beta.get(row - 1, 0) + (1 if label == data.classes[1] else -1)
    assert visits[0][3:5] == (0, 0)
    learned = zip(model.rows_.tolist(), model.coefficients_[:, 1].tolist(), strict=True)
    assert {row: b for row, b in beta.items() if b} == dict(learned)
