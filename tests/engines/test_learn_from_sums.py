"""Methods without each row in turn are what twins in NumPy and SciPy say, which begin again with the others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from mlcli.core.held_out import Round
from mlcli.core.pipeline import Pipeline, learn, predict_rows
from mlcli.core.schema import Column
from mlcli.core.tables import Array, Codes, Table
from mlcli.models.discriminants.lda import LinearDiscriminants
from mlcli.models.discriminants.qda import QuadraticDiscriminants
from mlcli.models.linear.linear_regression import LinearRegression
from mlcli.models.linear.ridge import Ridge
from mlcli.prepare.impute import Impute
from mlcli.prepare.min_max import MinMax
from mlcli.prepare.one_hot import OneHot
from mlcli.prepare.standardise import Standardise
from mlcli.tasks.classification import LabelledRows
from mlcli.tasks.regression import ValuedRows

ROWS = 40
EACH = Round(np.arange(ROWS, dtype=np.int32), ROWS)


def numbers(seed: int) -> Array:
    """Numbers around 50 with gaps."""
    rng = np.random.default_rng(seed)
    X = 50 + rng.normal(size=(ROWS, 3))
    X[rng.random(X.shape) < 0.15] = np.nan
    return X


def valued(X: Array, y: Array, weight: Array | None = None, colour: Codes | None = None) -> ValuedRows:
    parts: list[tuple[Column, Any]] = [
        (Column(f"x{j}", missing=bool(np.isnan(cells).any())), cells) for j, cells in enumerate(X.T)
    ]
    if colour is not None:
        parts.append((Column("colour", "nominal", ("a", "b", "c"), missing=bool((colour < 0).any())), colour))
    return ValuedRows(table=Table.of(parts, len(y)), rows=np.arange(len(y)), target="y", y=y, weight=weight)


def labelled(X: Array, y: Codes) -> LabelledRows:
    table = Table.of([(Column(f"x{j}", missing=True), cells) for j, cells in enumerate(X.T)], len(y))
    return LabelledRows(table=table, rows=np.arange(len(y)), target="y", y=y, classes=("a", "b", "c"))


def ridge_without(row: int, X: Array, colour: Codes, weight: Array, y: Array, l2: float) -> float:
    """The twin: fill, scale, centre and solve from the other rows alone, and answer the row."""
    others = np.arange(ROWS) != row
    w = weight[others] / weight[others].sum()
    present = ~np.isnan(X)
    fills = [np.average(X[others & has, j], weights=weight[others & has]) for j, has in enumerate(present.T)]
    counts = np.bincount(colour[others & (colour >= 0)], weight[others & (colour >= 0)], minlength=3)
    filled = np.where(present, X, fills)
    mean = w @ filled[others]
    scaled = (filled - mean) / np.sqrt(w @ (filled[others] - mean) ** 2)
    levels = np.where(colour < 0, counts.argmax(), colour)[:, None] == np.arange(3)
    design = np.column_stack([scaled, levels])
    centre, level = w @ design[others], w @ y[others]
    D = (design[others] - centre) * np.sqrt(weight[others])[:, None]
    slopes = np.linalg.solve(D.T @ D + l2 * np.eye(6), D.T @ ((y[others] - level) * np.sqrt(weight[others])))
    return float((design[row] - centre) @ slopes + level)


@pytest.mark.parametrize("seed", range(3))
def test_ridge_with_gaps_levels_and_weights(seed: int) -> None:
    X, rng = numbers(seed), np.random.default_rng(seed)
    colour, y = rng.integers(-1, 3, ROWS).astype(np.int32), rng.normal(size=ROWS)
    weight = rng.integers(1, 4, ROWS).astype(np.float64)
    held = Ridge(l2=2.5).held_out(valued(X, y, weight, colour), EACH, (Impute(), Standardise(), OneHot()))
    twin = [ridge_without(row, X, colour, weight, y, 2.5) for row in range(ROWS)]
    assert held is not None
    assert not held.refused.any()
    np.testing.assert_allclose(held.answers, twin, rtol=1e-11, atol=1e-11)


def posterior_without(row: int, X: Array, y: Codes, shared: bool) -> Array:
    """The twin: means of the others fill gaps, then Bayes' rule with SciPy's normal densities."""
    others = np.arange(ROWS) != row
    filled = np.where(np.isnan(X), np.nanmean(X[others], axis=0), X)
    classes = [filled[others & (y == k)] for k in range(3)]
    own = [np.cov(rows.T) for rows in classes]
    pooled = sum((len(rows) - 1) * one for rows, one in zip(classes, own, strict=True)) / (ROWS - 1 - 3)
    joint = [
        len(rows) * multivariate_normal(rows.mean(axis=0), pooled if shared else one).pdf(filled[row])
        for rows, one in zip(classes, own, strict=True)
    ]
    return np.asarray(np.array(joint) / sum(joint))


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(("model", "shared"), [(LinearDiscriminants(), True), (QuadraticDiscriminants(), False)])
def test_discriminants_with_gaps(seed: int, model: Any, shared: bool) -> None:
    X, y = numbers(seed), np.random.default_rng(seed).integers(0, 3, ROWS).astype(np.int32)
    X += y[:, None]
    held = model.held_out(labelled(X, y), EACH, (Impute(),))
    twin = [posterior_without(row, X, y, shared) for row in range(ROWS)]
    assert held is not None
    assert not held.refused.any()
    np.testing.assert_allclose(held.answers, twin, rtol=0, atol=1e-11)


@pytest.mark.parametrize("part", [EACH.part, EACH.part % 5])
@pytest.mark.parametrize("shrinkage", [0.0, 0.4])
def test_qda_may_shrink(shrinkage: float, part: Codes) -> None:
    X, y = np.nan_to_num(numbers(1)), np.random.default_rng(1).integers(0, 3, ROWS).astype(np.int32)
    data, round_ = labelled(X, y), Round(part, int(part.max()) + 1)
    model = QuadraticDiscriminants(shrinkage=shrinkage)
    held = model.held_out(data, round_, ())
    assert held is not None
    assert not held.refused.any()
    for k, asked in enumerate(round_.rows_of):
        alone = model.fresh()
        learn(alone, data.take(np.flatnonzero(part != k)), np.random.default_rng(0))
        answers: Any = predict_rows(alone, data.take(asked))
        assert held.answers[asked] == pytest.approx(answers.probabilities, abs=1e-9)


def test_levels_that_add_up_to_one_and_are_absent_outside_a_part_have_the_least_slopes() -> None:
    rng = np.random.default_rng(2)
    colour = np.where(np.arange(ROWS) < 2, 2, rng.integers(0, 2, ROWS)).astype(np.int32)
    y, folds = rng.normal(size=ROWS) + colour, np.where(np.arange(ROWS) < 2, 0, np.arange(ROWS) % 4)
    data, round_ = valued(rng.normal(size=(ROWS, 2)), y, None, colour), Round(folds.astype(np.int32), 4)
    held = LinearRegression().held_out(data, round_, (OneHot(drop="none"),))
    assert held is not None
    for k, asked in enumerate(round_.rows_of):
        outside = folds != k
        design = np.column_stack([data.table.numbers, colour[:, None] == np.arange(3)])
        centre, level = design[outside].mean(axis=0), y[outside].mean()
        slopes = np.linalg.pinv(design[outside] - centre) @ (y[outside] - level)
        assert held.answers[asked] == pytest.approx((design[asked] - centre) @ slopes + level, abs=1e-10)


def test_rows_that_are_a_column_and_parts_with_copies_of_columns_are_refused() -> None:
    X = np.random.default_rng(3).normal(size=(ROWS, 3))
    X[7, 1] = 1e6
    held = Ridge().held_out(valued(X, X[:, 0]), EACH, (Standardise(),))
    assert held is not None
    assert np.flatnonzero(held.refused).tolist() == [7]
    X[:, 1] = X[:, 0] * (1 + 1e-9 * np.arange(ROWS))
    held = LinearRegression().held_out(valued(X, X[:, 2]), EACH, ())
    assert held is not None
    assert np.isnan(held.answers).all()


def test_steps_that_do_not_follow_from_sums_leave_all_to_fits() -> None:
    X = numbers(4)
    median = Impute(numbers="median")
    assert Ridge().held_out(valued(X, np.ones(ROWS)), EACH, (median,)) is None
    assert Ridge().held_out(valued(np.nan_to_num(X), np.ones(ROWS)), EACH, (median, MinMax())) is None
    assert Ridge().held_out(valued(np.nan_to_num(X), np.ones(ROWS)), EACH, (median,)) is not None


def test_a_gap_that_is_a_level_of_its_own_is_answered_from_sums() -> None:
    rng = np.random.default_rng(11)
    colour = rng.integers(-1, 3, ROWS).astype(np.int32)
    data = valued(rng.normal(size=(ROWS, 2)), rng.normal(size=ROWS), colour=colour)
    steps = (Impute(levels="own-value"), OneHot(drop="first"))
    held = Pipeline(steps=steps, model=LinearRegression()).held_out(data, EACH)
    assert held is not None
    assert not held.refused.any()
    loop = Pipeline(steps=steps, model=LinearRegression())
    learn(loop, data.take(np.arange(1, ROWS)), np.random.default_rng(0))
    answers: Any = predict_rows(loop, data.take(np.arange(1)))
    assert held.answers[0] == pytest.approx(answers.predicted[0], rel=1e-9)
