"""Fair logistic regression beside scikit-learn without its penalty, and beside SciPy's minimum of the formula."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression

from mlcli.core.schema import Column
from mlcli.core.tables import Table
from mlcli.models.linear.fair_logistic_regression import CRITERIA, FairLogisticRegression
from tests.golden.asking import fitted
from tests.support.rows import labelled

GROUP = Column("group", "nominal", ("a", "b", "c"), sensitive=True)


def rows(classes: int = 2, weighted: bool = False) -> Any:
    rng = np.random.default_rng(5)
    n = 160
    group = rng.integers(0, 3, n).astype(np.int32)
    X = rng.normal(0, 1, (n, 3)) + group[:, None] * np.array([0.8, -0.3, 0.0])
    score = X @ np.array([1.0, 0.5, -0.7]) + rng.normal(0, 1, n)
    y = np.digitize(score, np.quantile(score, np.linspace(0, 1, classes + 1)[1:-1]))
    table = Table(tuple(Column(f"x{j}") for j in range(3)), X, np.empty((n, 0), np.int32))
    weight = rng.choice([0.5, 1.0, 3.0], n).tolist() if weighted else None
    made = labelled(table, [str(one) for one in y], weight=weight)
    return replace(made, context=Table((GROUP,), np.empty((n, 0)), group[:, None]))


def model(data: Any, **params: Any) -> Any:
    return fitted(FairLogisticRegression(**params), data)


def formula(v: Any, data: Any, criterion: str, strength: float, l2: float) -> float:
    """The objective as it stands in the docstring."""
    w, b, weights, X = v[:-1], v[-1], data.weights, data.table.numbers
    score = X @ w + b
    total = weights.sum()
    loss = weights @ np.logaddexp(0, np.where(data.y == 1, -score, score)) / total
    group = data.context.codes[:, 0]
    every, last, first = np.ones(len(X), bool), data.y == 1, data.y == 0
    among = dict(zip(CRITERIA, ([every], [last], [first, last]), strict=True))[criterion]
    apart = 0.0
    for some in among:
        middle = np.average(score[some], weights=weights[some])
        for g in range(3):
            own = some & (group == g)
            share = weights[own].sum() / weights[some].sum()
            apart += share * (np.average(score[own], weights=weights[own]) - middle) ** 2
    return float(loss + l2 / 2 / total * w @ w + strength / 2 * apart)


@pytest.mark.parametrize("classes", [2, 3])
def test_without_strength_it_is_logistic_regression(classes: int) -> None:
    data = rows(classes, weighted=True)
    theirs = LogisticRegression(C=0.5, tol=1e-12, max_iter=10_000).fit(
        data.table.numbers, data.y, sample_weight=data.weights
    )
    ours = model(data, strength=0, l2=2)
    expected = theirs.predict_proba(data.table.numbers)
    assert ours.predict_proba(data.table) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("weighted", [False, True])
def test_it_is_the_minimum_of_the_formula(criterion: str, weighted: bool) -> None:
    data = rows(weighted=weighted)
    found = minimize(formula, np.zeros(4), args=(data, criterion, 3.0, 1.5), method="BFGS", options={"gtol": 1e-9})
    ours = model(data, criterion=criterion, strength=3, l2=1.5)
    score = data.table.numbers @ found.x[:-1] + found.x[-1]
    assert ours.predict_proba(data.table)[:, 1] == pytest.approx(1 / (1 + np.exp(-score)), abs=1e-6)


def test_a_large_strength_is_the_constraint() -> None:
    """Zafar et al.: no covariance of group and score; SciPy's SLSQP holds it as an equation."""
    data = rows()
    X, group = data.table.numbers, data.context.codes[:, 0]
    shifts = np.array([X[group == g].mean(axis=0) - X.mean(axis=0) for g in (0, 1)])
    found = minimize(
        formula,
        np.zeros(4),
        args=(data, CRITERIA[0], 0.0, 1.0),
        method="SLSQP",
        constraints={"type": "eq", "fun": lambda v: shifts @ v[:-1]},
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    ours = model(data, strength=1e6)
    score = X @ found.x[:-1] + found.x[-1]
    assert ours.predict_proba(data.table)[:, 1] == pytest.approx(1 / (1 + np.exp(-score)), abs=1e-4)
    assert np.ptp(ours.means_) < 1e-4


def test_groups_that_nobody_is_in_and_rows_without_group_are_groups_like_others() -> None:
    data = rows()
    codes = data.context.codes.copy()
    codes[codes == 1] = -1
    unknown = replace(data, context=replace(data.context, codes=codes))
    assert model(unknown).labels_ == ("a", "c", "missing")
