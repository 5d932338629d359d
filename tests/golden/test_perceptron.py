"""The perceptron beside scikit-learn's and its own promises."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import sklearn.linear_model

from mlcli.core.errors import MlcliWarning
from mlcli.models.linear.linear_classifier import LinearClassifier
from mlcli.models.linear.perceptron import Perceptron
from tests.golden.asking import answered, fitted
from tests.golden.shipped import in_numbers, numeric, standardised
from tests.support.rows import labelled


def quietly(model: Any, data: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MlcliWarning)
        return fitted(model, data)


@pytest.mark.parametrize("dataset", ["iris", "wdbc", "wine"])
@pytest.mark.parametrize("passes", [1, 7])
def test_rows_in_their_order_make_the_planes_of_scikit_learn(dataset: str, passes: int) -> None:
    data = standardised(dataset)
    model = quietly(Perceptron(order="given", max_passes=passes, learning_rate=0.5), data)
    expected = sklearn.linear_model.Perceptron(shuffle=False, max_iter=passes, tol=None, eta0=0.5)
    expected.fit(data.table.numbers, data.y)
    assert model.coefficients_ == pytest.approx(expected.coef_, abs=1e-9)
    assert model.level_ == pytest.approx(expected.intercept_, abs=1e-9)
    assert np.array_equal(model.predict_proba(data.table).argmax(axis=1), expected.predict(data.table.numbers))


def test_separated_classes_end_without_an_error() -> None:
    data = in_numbers("iris").take(np.arange(100))
    model = fitted(Perceptron(), data)
    (counts,) = model.errors_
    assert counts[-1] == 0
    assert len(counts) <= 100
    assert (answered(Perceptron(), data).predicted == data.y).all()


def test_novikoffs_bound_on_the_corrections_holds() -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(200, 2))
    X = X[np.abs(X[:, 0] - X[:, 1]) > 0.2]
    data = labelled(numeric(X), list(np.where(X[:, 0] > X[:, 1], "yes", "no")))
    margin, radius = 0.2 / np.sqrt(2), np.sqrt((X**2).sum(axis=1).max() + 1)
    for order in ("given", "shuffled"):
        (counts,) = fitted(Perceptron(order=order, max_passes=10_000), data).errors_
        assert sum(counts) <= (radius / margin) ** 2


def test_classes_that_no_plane_separates_are_warned_of() -> None:
    data = labelled(numeric(np.array([[0.0, 0], [1, 1], [0, 1], [1, 0]])), ["a", "a", "b", "b"])
    with pytest.warns(MlcliWarning, match="has not converged after 20 passes"):
        fitted(Perceptron(max_passes=20), data)


def test_a_score_of_nothing_is_an_error_and_the_first_class() -> None:
    # Decision 38: y·s ≤ 0 is an error, so that the start at zero is left; sign(0) = −1.
    data = labelled(numeric(np.array([[1.0], [1.0]])), ["a", "b"])
    model = quietly(Perceptron(max_passes=1, order="given"), data)
    assert model.errors_ == ((2,),)
    assert model.coefficients_.tolist() == [[0.0]]


def test_it_starts_from_the_linear_classifier() -> None:
    data = in_numbers("iris").take(np.arange(100))
    started, linear = fitted(Perceptron(start="linear"), data), fitted(LinearClassifier(), data)
    assert started.errors_ == ((0,),)
    assert started.coefficients_ == pytest.approx(linear.coefficients_, abs=1e-12)
    at_origin = linear.level_ - linear.coefficients_ @ linear.centre_
    assert started.level_ == pytest.approx(at_origin, abs=1e-12)
    assert fitted(Perceptron(start="random"), data).errors_[0][-1] == 0


def rows_visited(model: Any, title: str) -> list[tuple[Any, ...]]:
    (found,) = (one for one in model.explain() if one.title.startswith(title))
    return list(found.rows)


def test_the_visits_of_the_exercise_are_those_that_are_worked_out_by_hand() -> None:
    # AND from zero: pass 1 corrects (0, 0) to b = −1 and (1, 1) to b = 0, w = (1, 1); pass 2 corrects three rows.
    data = labelled(numeric(np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]])), ["no", "no", "no", "yes"])
    visits = rows_visited(fitted(Perceptron(order="given", detail="full"), data), "Row by row")
    assert visits[:8] == [
        (1, 1, "-1", 0, "mistake", -1, 0, 0, 1),
        (1, 2, "-1", -1, "", -1, 0, 0, 1),
        (1, 3, "-1", -1, "", -1, 0, 0, 1),
        (1, 4, "+1", -1, "mistake", 0, 1, 1, 3),
        (2, 1, "-1", 0, "mistake", -1, 1, 1, 2),
        (2, 2, "-1", 0, "mistake", -2, 1, 0, 1),
        (2, 3, "-1", -1, "", -2, 1, 0, 1),
        (2, 4, "+1", -1, "mistake", -1, 2, 1, 2),
    ]


def test_the_visits_end_in_the_plane_that_is_answered() -> None:
    data = in_numbers("iris").take(np.arange(100))
    model = fitted(Perceptron(detail="full"), data)
    visits = rows_visited(model, "Row by row")
    assert len(visits) == len(model.errors_[0]) * 100
    assert visits[-1][5:-1] == pytest.approx((model.level_[0], *model.coefficients_[0]), abs=1e-12)
    assert sum(visit[4] == "mistake" for visit in visits) == sum(model.errors_[0])
