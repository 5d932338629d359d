"""Logistic regression beside scikit-learn, and what it promises where no finite coefficients are best."""

from __future__ import annotations

import warnings
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import scipy.optimize
import scipy.stats
import sklearn.linear_model
import sklearn.metrics
from sklearn.multiclass import OneVsRestClassifier

from mlcli.core.errors import MlcliWarning, UsageError
from mlcli.core.params import build
from mlcli.core.tables import Array
from mlcli.engines.calibration import softmax
from mlcli.engines.linear_objective import CrossEntropy
from mlcli.models.linear._classification import contrasts
from mlcli.models.linear.logistic_regression import LogisticRegression
from tests.golden.asking import answered, fitted
from tests.golden.shipped import in_numbers, numeric, standardised, weighted, with_numbers
from tests.support.rows import labelled


def oracle(l2: float, intercept: bool = True) -> Any:
    """scikit-learn's C is 1 / l2; its Newton solver reaches the optimum more closely than its default."""
    return sklearn.linear_model.LogisticRegression(
        C=1 / l2, fit_intercept=intercept, tol=1e-12, max_iter=1000, solver="newton-cg"
    )


@pytest.mark.parametrize("dataset", ["iris", "wdbc", "wine"])
@pytest.mark.parametrize("l2", [0.1, 1.0, 10.0])
def test_probabilities_and_coefficients_are_those_of_scikit_learn(dataset: str, l2: float) -> None:
    data = standardised(dataset)
    model = fitted(LogisticRegression(l2=l2), data)
    expected = oracle(l2).fit(data.table.numbers, data.y)
    assert model.predict_proba(data.table) == pytest.approx(expected.predict_proba(data.table.numbers), abs=1e-6)
    assert model.coefficients_ == pytest.approx(expected.coef_, abs=1e-6)
    assert model.level_ == pytest.approx(expected.intercept_, abs=1e-6)


def test_columns_as_they_are_give_the_same_optimum() -> None:
    data = in_numbers("iris")
    expected = oracle(1.0).fit(data.table.numbers, data.y).predict_proba(data.table.numbers)
    assert answered(LogisticRegression(), data).probabilities == pytest.approx(expected, abs=1e-6)


def test_without_intercept_too() -> None:
    data = in_numbers("iris")
    expected = oracle(1.0, intercept=False).fit(data.table.numbers, data.y).predict_proba(data.table.numbers)
    assert answered(LogisticRegression(intercept=False), data).probabilities == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("dataset", ["iris", "wine"])
def test_one_against_rest_is_that_of_scikit_learn(dataset: str) -> None:
    data = standardised(dataset)
    expected = OneVsRestClassifier(oracle(1.0)).fit(data.table.numbers, data.y)
    said = answered(LogisticRegression(multiclass="one-against-rest"), data).probabilities
    assert said == pytest.approx(expected.predict_proba(data.table.numbers), abs=1e-6)


@pytest.mark.parametrize("dataset", ["iris", "wdbc"])
def test_weights_are_those_of_scikit_learn(dataset: str) -> None:
    data = weighted(standardised(dataset))
    expected = oracle(1.0).fit(data.table.numbers, data.y, data.weight).predict_proba(data.table.numbers)
    assert answered(LogisticRegression(), data).probabilities == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("multiclass", ["softmax", "one-against-rest"])
@pytest.mark.parametrize("dataset", ["iris", "wdbc"])
@pytest.mark.parametrize("solver", ["l-bfgs", "gradient-descent"])
def test_other_solvers_end_where_newton_does(dataset: str, multiclass: str, solver: str) -> None:
    data = standardised(dataset)
    newton = answered(LogisticRegression(multiclass=multiclass, solver="newton"), data)
    other = answered(LogisticRegression(multiclass=multiclass, solver=solver), data)
    assert other.probabilities == pytest.approx(newton.probabilities, abs=1e-6)


def test_steps_by_few_rows_end_there_too() -> None:
    data = standardised("iris")
    said = answered(LogisticRegression(solver="sgd", tolerance=1e-7), data)
    assert said.probabilities == pytest.approx(answered(LogisticRegression(), data).probabilities, abs=1e-4)


def test_more_columns_than_rows_is_solved_among_the_rows() -> None:
    rng = np.random.default_rng(8)
    data = labelled(numeric(rng.normal(size=(30, 200))), list("abc" * 10))
    expected = oracle(1.0).fit(data.table.numbers, data.y)
    assert fitted(LogisticRegression(), data).coefficients_ == pytest.approx(expected.coef_, abs=1e-6)


def test_an_offset_of_ten_million_changes_nothing() -> None:
    data = in_numbers("iris")
    near = with_numbers(data, np.round(data.table.numbers * 256) / 256)
    far = with_numbers(data, near.table.numbers + 1e7)
    expected = answered(LogisticRegression(), near).probabilities
    assert answered(LogisticRegression(), far).probabilities == pytest.approx(expected, abs=1e-7)


def test_softmax_weights_and_intercepts_sum_to_nothing() -> None:
    model = fitted(LogisticRegression(), in_numbers("wine"))
    assert model.coefficients_.sum(axis=0) == pytest.approx(0.0, abs=1e-12)
    assert model.level_.sum() == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize(
    ("dataset", "solver"), [("iris", "auto"), ("wdbc", "l-bfgs"), ("wdbc", "gradient-descent")]
)
def test_the_cross_entropy_of_the_training_rows_is_told(dataset: str, solver: str) -> None:
    data = standardised(dataset)
    model = fitted(LogisticRegression(solver=solver, tolerance=1e-6), data)
    theirs = sklearn.metrics.log_loss(data.y, model.predict_proba(data.table))
    told = next(one for one in model.explain() if one.title.startswith("Solver"))
    assert [line[-1] for line in told.rows] == pytest.approx([theirs], rel=1e-6)


def test_the_objective_never_rises() -> None:
    data = standardised("wine")
    values = [objective_of(data, steps) for steps in range(1, 21)]
    assert all(later <= earlier * (1 + 1e-12) for earlier, later in pairwise(values))
    assert values[-1] == pytest.approx(objective_of(data, 1000), rel=1e-9)


def objective_of(data: Any, steps: int) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MlcliWarning)
        model = fitted(LogisticRegression(l2=0.01, max_iterations=steps), data)
    said = model.predict_proba(data.table)[np.arange(len(data)), data.y]
    return float(-np.log(said).sum() + 0.01 / 2 * np.sum(model.coefficients_**2))


SEPARABLE: Array = np.array([[-2.0, 1.0], [-1.0, 0.0], [-0.5, 2.0], [0.5, 1.0], [1.0, 0.0], [2.0, 2.0]])


@pytest.mark.parametrize("labels", ["aaabbb", "aabbcc"])
@pytest.mark.parametrize("multiclass", ["softmax", "one-against-rest"])
def test_separated_classes_without_a_penalty_are_warned_of_and_stay_finite(labels: str, multiclass: str) -> None:
    data = labelled(numeric(SEPARABLE), list(labels))
    with pytest.warns(MlcliWarning, match="separate some classes perfectly"):
        answers = answered(LogisticRegression(l2=0.0, multiclass=multiclass), data)
    assert np.isfinite(answers.probabilities).all()
    assert (answers.predicted == answers.truth)[[0, 1, -2, -1]].all()


def test_a_column_that_settles_one_class_only_is_warned_of() -> None:
    # Quasi-separation: the indicator occurs with class b only, so its coefficient has no finite optimum.
    rng = np.random.default_rng(2)
    indicator = np.repeat([0.0, 1.0], [30, 10])
    labels = ["a", "b"] * 15 + ["b"] * 10
    data = labelled(numeric(np.column_stack([indicator, rng.normal(size=40)])), labels)
    with pytest.warns(MlcliWarning, match="separate some classes perfectly"):
        fitted(LogisticRegression(l2=0.0), data)


def test_overlapping_classes_without_a_penalty_are_not_warned_of() -> None:
    data = overlapping()
    with warnings.catch_warnings():
        warnings.simplefilter("error", MlcliWarning)
        model = fitted(LogisticRegression(l2=0.0), data)
    expected = sklearn.linear_model.LogisticRegression(C=np.inf, tol=1e-12, max_iter=1000, solver="newton-cg")
    assert model.coefficients_ == pytest.approx(expected.fit(data.table.numbers, data.y).coef_, abs=1e-6)


def overlapping() -> Any:
    rng = np.random.default_rng(9)
    X = rng.normal(size=(200, 3))
    return labelled(numeric(X), list(np.where(X[:, 0] + rng.logistic(size=200) > 0, "yes", "no")))


def test_stopping_early_is_warned_of_with_what_would_help() -> None:
    with pytest.warns(MlcliWarning, match="stopped after 2 steps .* larger max_iterations"):
        fitted(LogisticRegression(max_iterations=2), standardised("wine"))


def test_a_class_without_training_rows_gets_nothing_and_changes_nothing() -> None:
    data = standardised("iris")
    two = data.take(np.flatnonzero(data.y != 1))
    said = answered(LogisticRegression(), two).probabilities
    renamed = replace(two, y=(two.y // 2).astype(np.int32), classes=("setosa", "virginica"))
    assert (said[:, 1] == 0).all()
    assert np.array_equal(said[:, [0, 2]], answered(LogisticRegression(), renamed).probabilities)


def test_only_one_class_is_certain() -> None:
    data = standardised("iris")
    only = data.take(np.flatnonzero(data.y == 2))
    for multiclass in ("softmax", "one-against-rest"):
        said = answered(LogisticRegression(multiclass=multiclass), only).probabilities
        assert said.tolist() == [[0.0, 0.0, 1.0]] * 50


def test_the_odds_ratio_is_what_a_unit_multiplies_the_odds_by() -> None:
    data = overlapping()
    model = fitted(LogisticRegression(), data)
    before, after = (model.predict_proba(numeric(np.array([[x, 0.5, 0.5]])))[0] for x in (1.0, 2.0))
    ratio = model.explain()[1].rows[0][2]
    assert after[1] / after[0] / (before[1] / before[0]) == pytest.approx(ratio)
    assert model.explain()[0].header == ("column", "yes against no")


def test_softmax_of_one_two_three() -> None:
    # SOURCES.md, section 8: with +w·x (decision 1).
    assert softmax(np.array([[1.0, 2.0, 3.0]]))[0] == pytest.approx([0.090031, 0.244728, 0.665241], abs=1e-6)
    assert softmax(np.array([[1e4, -1e4]])).tolist() == [[1.0, 0.0]]


@pytest.mark.parametrize(
    ("score", "positive", "loss"), [(2.0, True, 0.126928), (2.0, False, 2.126928), (-0.5, True, 0.974077)]
)
def test_the_loss_of_one_row(score: float, positive: bool, loss: float) -> None:
    # SOURCES.md, section 8: log(1 + exp(−y s)), equal to the one-line error of S1; decision 28.
    entropy = CrossEntropy(np.array([[float(positive)]]), np.ones(1))
    assert entropy.at(np.array([[score]]))[0] == pytest.approx(loss, abs=1e-6)


def test_contrasts_are_orthonormal_and_add_up_to_nothing() -> None:
    basis = contrasts(5)
    assert basis.T @ basis == pytest.approx(np.eye(4), abs=1e-15)
    assert basis.sum(axis=0) == pytest.approx(0.0, abs=1e-15)


@pytest.mark.parametrize(("rows", "columns", "classes"), [(20_000, 5, 3), (20_000, 5, 2), (300, 130, 3)])
def test_long_and_wide_tables_are_solved_as_closely(rows: int, columns: int, classes: int) -> None:
    rng = np.random.default_rng(3)
    X = 5 + rng.normal(size=(rows, columns))
    noisy = X @ rng.normal(size=(columns, classes)) + 2 * rng.gumbel(size=(rows, classes))
    data = labelled(numeric(X), ["abc"[k] for k in noisy.argmax(axis=1)])
    model = fitted(LogisticRegression(), data)
    expected = oracle(1.0).fit(X, data.y)
    assert model.predict_proba(data.table) == pytest.approx(expected.predict_proba(X), abs=1e-6)
    assert max(model.steepness_) <= model.tolerance


def test_one_huge_cell_of_a_long_table_is_no_obstacle() -> None:
    rng = np.random.default_rng(6)
    X = rng.normal(size=(20_000, 4))
    X[3, 1] = 1e10
    data = labelled(numeric(X), list(np.where(X[:, 0] + rng.logistic(size=20_000) > 0, "yes", "no")))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = fitted(LogisticRegression(), data)
    short = fitted(LogisticRegression(), data.take(np.r_[0:3, 4:20_000]))
    assert model.coefficients_[0, [0, 2, 3]] == pytest.approx(short.coefficients_[0, [0, 2, 3]], abs=1e-2)
    assert abs(model.coefficients_[0, 1]) < 1e-8


@pytest.mark.parametrize(("l2", "noise"), [(1e-6, 1e-6), (1e-4, 0.0)])
def test_wide_tables_of_nearly_dependent_columns_are_solved_as_closely(l2: float, noise: float) -> None:
    rng = np.random.default_rng(0)
    few = rng.normal(size=(400, 5))
    X = few @ rng.normal(size=(5, 260)) + noise * rng.normal(size=(400, 260))
    data = labelled(numeric(X), list(np.where(few[:, 0] + rng.logistic(size=400) > 0, "yes", "no")))
    expected = sklearn.linear_model.LogisticRegression(
        C=1 / l2, tol=1e-12, max_iter=1000, solver="newton-cholesky"
    )
    said = fitted(LogisticRegression(l2=l2), data).predict_proba(data.table)
    assert said == pytest.approx(expected.fit(X, data.y).predict_proba(X), abs=1e-6)


@pytest.mark.parametrize("solver", ["newton", "l-bfgs", "gradient-descent"])
def test_an_enormous_penalty_leaves_the_class_shares_and_no_complaint(solver: str) -> None:
    """The limit of the formula: with w = 0 the intercepts are the logarithms of the class shares."""
    data = in_numbers("wine")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        said = answered(LogisticRegression(l2=1e28, solver=solver), data).probabilities
    assert said == pytest.approx(np.tile(data.class_totals / len(data), (len(data), 1)), abs=1e-9)


def test_it_says_what_its_coefficients_add_up_to() -> None:
    """Softmax gives scores, one class against another (or the rest) log-odds: Hastie et al. 2009, section 4.4."""
    assert "class's score" in fitted(LogisticRegression(), in_numbers("iris")).explain()[0].note
    for model, name in (
        (LogisticRegression(), "wdbc"),
        (LogisticRegression(multiclass="one-against-rest"), "iris"),
    ):
        assert "logarithm of the odds" in fitted(model, standardised(name)).explain()[0].note


@pytest.mark.parametrize(
    ("dataset", "solver"), [("iris", "newton"), ("wdbc", "newton"), ("iris", "gradient-descent"), ("iris", "sgd")]
)
def test_an_absolute_penalty_has_the_minimum_of_scikit_learn(dataset: str, solver: str) -> None:
    data = standardised(dataset)
    model = fitted(LogisticRegression(l1=2.0, l2=0.5, solver=solver, tolerance=1e-6), data)
    expected = sklearn.linear_model.LogisticRegression(
        C=1 / 2.5, l1_ratio=0.8, solver="saga", tol=1e-10, max_iter=100_000
    )
    expected.fit(data.table.numbers, data.y)
    assert model.coefficients_ == pytest.approx(expected.coef_, abs=1e-3)
    assert (model.coefficients_ == 0).sum() == (np.abs(expected.coef_) < 1e-9).sum() > 0


@pytest.mark.parametrize(
    ("link", "share"),
    [
        ("normal", scipy.stats.norm.cdf),
        ("arctan", scipy.stats.cauchy.cdf),
        ("generalised-logistic", lambda z: (1 + np.exp(-z)) ** -1.7),
    ],
)
def test_links_reach_the_likelihood_that_scipy_reaches(link: str, share: Any) -> None:
    data = overlapping()
    X, y = np.column_stack([np.ones(200), data.table.numbers]), data.y

    def cost(w: Any) -> float:
        p = np.clip(share(X @ w), 1e-12, 1 - 1e-12)
        return float(-np.log(np.where(y == 1, p, 1 - p)).sum() + w[1:] @ w[1:] / 2)

    least = scipy.optimize.minimize(cost, np.zeros(4), method="BFGS", options={"gtol": 1e-7})
    model = fitted(LogisticRegression(link=link, power=1.7), data)
    assert model.coefficients_[0] == pytest.approx(least.x[1:], abs=1e-4)
    assert model.predict_proba(data.table)[:, 1] == pytest.approx(share(X @ least.x), abs=1e-4)


def test_other_links_tell_each_class_from_the_rest() -> None:
    data = standardised("iris")
    said = answered(LogisticRegression(link="normal"), data)
    assert said.probabilities.sum(axis=1) == pytest.approx(1.0)
    assert (said.predicted == data.y).mean() > 0.9


def test_a_generalised_link_of_power_one_is_the_logistic_one() -> None:
    data = standardised("wdbc")
    one, other = (answered(LogisticRegression(link=link), data) for link in ("logistic", "generalised-logistic"))
    assert other.probabilities == pytest.approx(one.probabilities, abs=1e-8)


def test_standard_errors_are_those_of_the_information() -> None:
    """Square roots of the inverse of Fisher's information, by its definition (Agresti 2002, section 5.5)."""
    data = overlapping()
    model = fitted(LogisticRegression(l2=0.0), data)
    X, p = np.column_stack([np.ones(200), data.table.numbers]), model.predict_proba(data.table)[:, 1]
    information = (X * (p * (1 - p))[:, None]).T @ X
    expected = np.sqrt(np.linalg.inv(information).diagonal())
    assert model.errors_[0] == pytest.approx(expected[1:], rel=1e-6)
    row = model.explain()[1].rows[0]
    assert row[4] == pytest.approx(np.exp(model.coefficients_[0, 0] + 1.959964 * expected[1]), rel=1e-5)
    assert row[7] == pytest.approx(2 * scipy.stats.norm.sf(abs(model.coefficients_[0, 0] / expected[1])), rel=1e-6)


def test_errors_of_three_classes_are_those_against_the_first() -> None:
    data = standardised("iris").take(np.arange(50, 150))
    two = replace(data, y=(data.y - 1).astype(np.int32), classes=("versicolor", "virginica"))
    three = replace(two, classes=("versicolor", "virginica", "none"))
    assert fitted(LogisticRegression(), three).errors_ == pytest.approx(fitted(LogisticRegression(), two).errors_)
    model = fitted(LogisticRegression(l2=0.0), in_numbers("wine").take(slice(0, 178, 1)))
    assert len(model.errors_) == 2
    names = {row[1] for row in model.explain()[1].rows}
    assert names == {"class_1 against class_0", "class_2 against class_0"}


def test_a_solver_that_lacks_what_it_needs_is_refused() -> None:
    with pytest.raises(UsageError, match="l-bfgs needs a penalty without corners"):
        build(LogisticRegression, {"solver": "l-bfgs", "l1": 1.0})
    with pytest.raises(UsageError, match="the solver sgd needs a loss whose curvature is bounded"):
        build(LogisticRegression, {"solver": "sgd", "link": "normal"})
