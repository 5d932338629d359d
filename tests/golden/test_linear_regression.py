"""Linear regression beside certified values, textbook formulas, SciPy and scikit-learn."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.stats
import sklearn.linear_model

from mlcli.core.errors import FitError
from mlcli.models.linear.linear_regression import LinearRegression
from tests.golden.asking import answered, fitted
from tests.golden.shipped import in_numbers, numeric, weighted, with_numbers
from tests.support.rows import valued

# NIST Statistical Reference Datasets, linear regression, Longley (higher level of difficulty): data and certified
# estimates. https://www.itl.nist.gov/div898/strd/lls/data/Longley.shtml
LONGLEY = """
60323 83.0 234289 2356 1590 107608 1947
61122 88.5 259426 2325 1456 108632 1948
60171 88.2 258054 3682 1616 109773 1949
61187 89.5 284599 3351 1650 110929 1950
63221 96.2 328975 2099 3099 112075 1951
63639 98.1 346999 1932 3594 113270 1952
64989 99.0 365385 1870 3547 115094 1953
63761 100.0 363112 3578 3350 116219 1954
66019 101.2 397469 2904 3048 117388 1955
67857 104.6 419180 2822 2857 118734 1956
68169 108.4 442769 2936 2798 120445 1957
66513 110.8 444546 4681 2637 121950 1958
68655 112.6 482704 3813 2552 123366 1959
69564 114.2 502601 3931 2514 125368 1960
69331 115.7 518173 4806 2572 127852 1961
70551 116.9 554894 4007 2827 130081 1962
"""
LONGLEY_CERTIFIED = {
    "(intercept)": (-3482258.63459582, 890420.383607373),
    "x0": (15.0618722713733, 84.9149257747669),
    "x1": (-0.358191792925910e-01, 0.334910077722432e-01),
    "x2": (-2.02022980381683, 0.488399681651699),
    "x3": (-1.03322686717359, 0.214274163161675),
    "x4": (-0.511041056535807e-01, 0.226073200069370),
    "x5": (1829.15146461355, 455.478499142212),
}
LONGLEY_RESIDUAL_DEVIATION = 304.854073561965


def coefficient_table(model: LinearRegression) -> dict[str, dict[str, Any]]:
    section: Any = model.explain()[0]
    return {str(row[0]): dict(zip(section.header[1:], row[1:], strict=True)) for row in section.rows}


def noise(model: LinearRegression) -> dict[Any, Any]:
    section: Any = model.explain()[1]
    return {row[0]: row[1] for row in section.rows}


def longley() -> Any:
    cells = np.array([line.split() for line in LONGLEY.split("\n") if line], np.float64)
    return valued(numeric(cells[:, 1:]), list(cells[:, 0]))


def line(n: int = 40, slope: float = 2.0, offset: float = 0.0) -> Any:
    rng = np.random.default_rng(4)
    x = rng.normal(size=n)
    return valued(numeric(x[:, None] + offset), list(slope * x + rng.normal(size=n)))


def test_coefficients_errors_and_noise_are_the_certified_ones_of_longley() -> None:
    model = fitted(LinearRegression(), longley())
    table = coefficient_table(model)
    for name, (estimate, deviation) in LONGLEY_CERTIFIED.items():
        assert table[name]["coefficient"] == pytest.approx(estimate, rel=1e-9)
        assert table[name]["standard error"] == pytest.approx(deviation, rel=1e-9)
    unbiased = noise(model)["variance, unbiased RSS / (N − p)"]
    assert unbiased == pytest.approx(LONGLEY_RESIDUAL_DEVIATION**2, rel=1e-9)


@pytest.mark.parametrize("dataset", ["concrete", "cpu", "diabetes_progression"])
@pytest.mark.parametrize("intercept", [True, False])
def test_coefficients_and_predictions_are_those_of_scikit_learn(dataset: str, intercept: bool) -> None:
    data = in_numbers(dataset)
    model = fitted(LinearRegression(intercept=intercept), data)
    oracle = sklearn.linear_model.LinearRegression(fit_intercept=intercept).fit(data.table.numbers, data.y)
    assert model.coefficients_ == pytest.approx(oracle.coef_, rel=1e-9, abs=1e-9)
    assert model.predict_values(data.table) == pytest.approx(oracle.predict(data.table.numbers), abs=1e-9)


def test_weights_are_those_of_scikit_learn() -> None:
    data = in_numbers("concrete")
    data = replace(data, weight=np.random.default_rng(2).uniform(0.1, 3, len(data)))
    oracle = sklearn.linear_model.LinearRegression().fit(data.table.numbers, data.y, data.weight)
    predicted = answered(LinearRegression(), data).predicted
    assert predicted == pytest.approx(oracle.predict(data.table.numbers), abs=1e-9)


def test_rows_of_weight_zero_do_not_count() -> None:
    data = weighted(in_numbers("diabetes_progression"))
    with_zeros, without = fitted(LinearRegression(), data), fitted(LinearRegression(), data.take(data.weight > 0))
    assert with_zeros.coefficients_ == pytest.approx(without.coefficients_, rel=1e-9)
    assert with_zeros.standard_errors_ == pytest.approx(without.standard_errors_, rel=1e-9, nan_ok=True)


def test_one_column_is_the_line_of_scipy_linregress() -> None:
    data = line()
    oracle = scipy.stats.linregress(data.table.numbers[:, 0], data.y)
    table = coefficient_table(fitted(LinearRegression(), data))
    slope, intercept = table["x0"], table["(intercept)"]
    assert slope["coefficient"] == pytest.approx(oracle.slope, abs=1e-12)
    assert slope["standard error"] == pytest.approx(oracle.stderr, abs=1e-12)
    assert slope["p"] == pytest.approx(oracle.pvalue, rel=1e-9)
    assert intercept["coefficient"] == pytest.approx(oracle.intercept, abs=1e-12)
    assert intercept["standard error"] == pytest.approx(oracle.intercept_stderr, abs=1e-12)
    reach = scipy.stats.t.ppf(0.975, len(data) - 2) * oracle.stderr
    assert (slope["2.5 %"], slope["97.5 %"]) == pytest.approx((oracle.slope - reach, oracle.slope + reach))


def test_noise_variance_is_the_residual_sum_over_the_rows() -> None:
    # S0 section 3.1 with decision 54: the maximum likelihood estimate divides by N.
    data = line()
    model = fitted(LinearRegression(), data)
    residual_sum = np.sum((data.y - model.predict_values(data.table)) ** 2)
    shown = noise(model)
    assert shown["variance, maximum likelihood RSS / N"] == pytest.approx(residual_sum / 40)
    assert shown["variance, unbiased RSS / (N − p)"] == pytest.approx(residual_sum / 38)


def test_the_log_likelihood_is_the_sum_of_those_of_the_rows() -> None:
    # S0 (8), by SciPy's normal density, at the likeliest coefficients and variance.
    data = line()
    model = fitted(LinearRegression(), data)
    answers = model.predict_values(data.table)
    deviation = np.sqrt(np.mean((data.y - answers) ** 2))
    expected = scipy.stats.norm.logpdf(data.y, answers, deviation).sum()
    assert noise(model)["log-likelihood −N/2 · (ln 2πσ² + 1)"] == pytest.approx(expected, rel=1e-12)


def test_degree_nine_through_ten_points_leaves_no_residual() -> None:
    # SOURCES.md, section 8 (S0 3.1): largest residual below 1e-12.
    x = np.linspace(-1, 1, 10)
    data = valued(numeric(np.column_stack([x**power for power in range(1, 10)])), list(np.sin(5 * x)))
    assert np.abs(answered(LinearRegression(), data).predicted - data.y).max() < 1e-12


def test_more_powers_of_a_year_fit_no_worse() -> None:
    # S0 5.2.1, "use higher powers": NumPy fits degree 5 in scaled years, which bounds the error.
    year = np.linspace(1900, 2020, 100)
    y = np.sin((year - 1900) / 20) + np.random.default_rng(0).normal(0, 0.3, 100)
    reached = np.sum((y - np.polynomial.Polynomial.fit(year, y, 5)(year)) ** 2)
    for degree in (8, 9, 10):
        data = valued(numeric(np.column_stack([year**power for power in range(1, degree + 1)])), list(y))
        assert np.sum((y - answered(LinearRegression(), data).predicted) ** 2) < reached


def test_an_offset_of_ten_million_loses_no_digits() -> None:
    # Offsets that are whole numbers keep cells exact where these have few binary digits.
    rng = np.random.default_rng(3)
    X = rng.integers(-512, 512, (60, 3)) / 256
    y = X @ [1.0, -2.0, 0.5] + rng.normal(size=60)
    near, far = valued(numeric(X), list(y)), valued(numeric(X + 1e7), list(y))
    here, there = fitted(LinearRegression(), near), fitted(LinearRegression(), far)
    assert there.coefficients_ == pytest.approx(here.coefficients_, abs=1e-12)
    assert there.predict_values(far.table) == pytest.approx(here.predict_values(near.table), abs=1e-9)


def test_units_do_not_matter() -> None:
    plain = in_numbers("concrete")
    scaled = with_numbers(plain, plain.table.numbers * 10.0 ** np.arange(-8, 8, 2))
    assert fitted(LinearRegression(), scaled).rank_ == 9
    assert answered(LinearRegression(), scaled).predicted == pytest.approx(
        answered(LinearRegression(), plain).predicted, abs=1e-9
    )


def test_levels_as_columns_have_the_least_norm_and_no_standard_errors() -> None:
    data = in_numbers("cpu")
    model = fitted(LinearRegression(), data)
    X = data.table.numbers - data.table.numbers.mean(axis=0)
    assert model.coefficients_ == pytest.approx(np.linalg.pinv(X) @ (data.y - data.y.mean()), abs=1e-9)
    errors = [row["standard error"] for row in list(coefficient_table(model).values())[1:]]
    assert [error is None for error in errors] == [False] * 6 + [True] * 30
    assert "Collinear" in model.explain()[0].note


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
def test_levels_have_the_least_norm_beside_a_column_of_any_unit(unit: float) -> None:
    """Only a shift of all levels is undetermined, and least where they sum to 0; the rest no unit changes."""
    rng = np.random.default_rng(1)
    levels = np.eye(5)[rng.integers(0, 5, 40)]
    number = rng.normal(size=(40, 1))
    y = list(1e3 + levels @ [1.0, 2.0, 4.0, 7.0, 11.0] + 1e3 * number[:, 0] + rng.normal(size=40))
    model = fitted(LinearRegression(), valued(numeric(np.column_stack([number * unit, levels])), y))
    regular = np.column_stack([np.ones(40), number, levels[:, 1:]])
    beta = np.linalg.lstsq(regular, np.array(y), rcond=None)[0]
    shifts = np.array([0.0, *beta[2:]])
    expected = [beta[1] / unit, *(shifts - shifts.mean())]
    assert model.coefficients_ == pytest.approx(expected, rel=1e-9)


def test_what_collinear_columns_leave_determined_keeps_its_precision() -> None:
    # Leaving one level out makes the design regular and changes nothing about the other columns.
    data = in_numbers("diabetes_progression")
    regular = with_numbers(data, data.table.numbers[:, :-1])
    all_levels, one_left_out = fitted(LinearRegression(), data), fitted(LinearRegression(), regular)
    assert all_levels.coefficients_[:9] == pytest.approx(one_left_out.coefficients_[:9], rel=1e-9)
    assert all_levels.standard_errors_[1:10] == pytest.approx(one_left_out.standard_errors_[1:10], rel=1e-9)
    assert np.isnan(all_levels.standard_errors_[[0, 10, 11]]).all()


def test_a_column_that_is_another_up_to_rounding_counts_as_collinear() -> None:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(50, 2))
    data = valued(numeric(np.column_stack([X, X[:, 0] + 1e7])), list(X[:, 0] + rng.normal(size=50)))
    model = fitted(LinearRegression(), data)
    alone = fitted(LinearRegression(), with_numbers(data, X))
    assert model.collinear_.tolist() == [True, False, True]
    assert model.predict_values(data.table) == pytest.approx(alone.predict_values(numeric(X)), abs=1e-7)


@pytest.mark.parametrize("intercept", [True, False])
def test_more_columns_than_rows_gives_the_least_norm(intercept: bool) -> None:
    data = in_numbers("diabetes_progression").take(np.arange(7))
    model = fitted(LinearRegression(intercept=intercept), data)
    oracle = sklearn.linear_model.LinearRegression(fit_intercept=intercept).fit(data.table.numbers, data.y)
    assert model.predict_values(data.table) == pytest.approx(data.y, abs=1e-8)
    assert model.coefficients_ == pytest.approx(oracle.coef_, rel=1e-8, abs=1e-9)


def test_a_constant_column_has_no_effect_and_is_named() -> None:
    data = line()
    both = with_numbers(data, np.column_stack([data.table.numbers, np.full(len(data), 0.1)]))
    model = fitted(LinearRegression(), both)
    assert model.coefficients_[1] == 0.0
    assert model.coefficients_[0] == pytest.approx(fitted(LinearRegression(), data).coefficients_[0])
    assert model.explain()[0].note == "Constant in the training rows, so without effect: x1."


def test_weights_that_sum_to_nothing_are_refused() -> None:
    with pytest.raises(FitError, match="every training row has weight 0"):
        fitted(LinearRegression(), replace(line(), weight=np.zeros(40)))


@pytest.mark.parametrize("solver", ["gradient-descent", "sgd"])
@pytest.mark.parametrize("intercept", [True, False])
def test_descent_ends_at_the_same_plane(solver: str, intercept: bool) -> None:
    data = in_numbers("concrete")
    said = answered(LinearRegression(solver=solver, intercept=intercept, tolerance=1e-7), data).predicted
    assert said == pytest.approx(answered(LinearRegression(intercept=intercept), data).predicted, abs=1e-2)
    assert "x0" in coefficient_table(fitted(LinearRegression(solver="sgd"), data))


def assumptions(model: LinearRegression) -> dict[Any, Any]:
    section: Any = model.explain()[2]
    return {row[0]: row[2:4] for row in section.rows}


def curved() -> Any:
    rng = np.random.default_rng(11)
    X = rng.normal(size=(200, 3))
    y = X @ [1.0, 2.0, 0.0] + 0.7 * X[:, 0] ** 2 + np.exp(X[:, 1] / 2) * rng.standard_t(4, size=200)
    return valued(numeric(X), list(y))


def test_the_checks_are_those_of_their_definitions() -> None:
    """Ramsey 1969, Durbin & Watson 1950, Koenker 1981 and SciPy's Jarque-Bera, by plain regressions."""
    data = curved()
    X, n = np.column_stack([np.ones(200), data.table.numbers]), 200
    project = X @ np.linalg.pinv(X)
    fit = project @ data.y
    e = data.y - fit
    more = np.column_stack([X, fit**2, fit**3])
    left = data.y - more @ np.linalg.pinv(more) @ data.y
    reset = ((e @ e - left @ left) / 2) / (left @ left / (n - 6))
    squares = e**2 - np.mean(e**2)
    explained = project @ squares
    r2 = explained @ explained / (squares @ squares)
    pagan = r2 / 3 / ((1 - r2) / (n - 4))
    found = assumptions(fitted(LinearRegression(), data))
    assert found["linearity"] == pytest.approx((reset, scipy.stats.f.sf(reset, 2, n - 6)), rel=1e-8)
    assert found["independence"][0] == pytest.approx(np.sum(np.diff(e) ** 2) / (e @ e), rel=1e-9)
    assert found["equal variance"] == pytest.approx((pagan, scipy.stats.f.sf(pagan, 3, n - 4)), rel=1e-8)
    assert found["normal residuals"] == pytest.approx(tuple(scipy.stats.jarque_bera(e)), rel=1e-8)
    assert found["normal residuals"][1] < 0.05


def test_the_checks_are_the_same_where_values_lie_far_from_0() -> None:
    """A constant added to y changes no statistic; where the plane is exact, rounding is no residual."""
    data = curved()
    far = replace(data, y=data.y + 1e9)
    near, moved = (fitted(LinearRegression(), rows).checks_ for rows in (data, far))
    assert moved == pytest.approx(near, rel=1e-4)
    plane = data.table.numbers @ [1.0, 2.0, 3.0]
    for exact in (plane, plane + 1e9, 1e-3 * plane + 1e9, np.full(200, 1e9)):
        assert np.isnan(fitted(LinearRegression(), replace(data, y=exact)).checks_).all()


def test_rows_that_drift_are_not_independent_and_plain_noise_passes_every_check() -> None:
    rng = np.random.default_rng(12)
    x = rng.normal(size=300)
    drift = valued(numeric(x[:, None]), list(x + np.cumsum(rng.normal(size=300))))
    plain = valued(numeric(x[:, None]), list(x + rng.normal(size=300)))
    assert assumptions(fitted(LinearRegression(), drift))["independence"][1] < 1e-6
    assert all(p > 0.05 for _, p in assumptions(fitted(LinearRegression(), plain)).values())


def test_variance_inflation_is_one_over_what_other_columns_leave() -> None:
    data = in_numbers("concrete")
    model = fitted(LinearRegression(), data)
    X = data.table.numbers
    for j in range(X.shape[1]):
        others = np.column_stack([np.ones(len(X)), np.delete(X, j, axis=1)])
        left = X[:, j] - others @ np.linalg.lstsq(others, X[:, j], rcond=None)[0]
        assert model.inflation_[j] == pytest.approx(X[:, j].var() / left.var(), rel=1e-6)
    assert list(model.explain()[3].values) == sorted(model.inflation_, reverse=True)
