"""Leave-one-out at once predicts each row as a fit to all others does, to nine digits, or leaves it to a fit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from mlcli.core.abilities import LeaveOneOut
from mlcli.core.configuration import missing_steps
from mlcli.core.model import Model, Step
from mlcli.core.pipeline import Pipeline, learn, leave_one_out_answers, predict_rows
from mlcli.core.registry import MODELS
from mlcli.core.schema import Column
from mlcli.core.tables import Array, Table
from mlcli.models.bayes.naive_bayes import NaiveBayes
from mlcli.models.discriminants.lda import LinearDiscriminants
from mlcli.models.discriminants.qda import QuadraticDiscriminants
from mlcli.models.linear.linear_regression import LinearRegression
from mlcli.models.linear.ridge import Ridge
from mlcli.models.neighbours.knn import NearestNeighbours
from mlcli.prepare.impute import Impute
from mlcli.prepare.min_max import MinMax
from mlcli.prepare.one_hot import OneHot
from mlcli.prepare.standardise import Standardise
from mlcli.tasks.supervised import LabelledRows, ValuedRows

ROWS = 40
DIGITS = 1e-9

MODELS_AND_KINDS: tuple[tuple[Model, str], ...] = (
    (LinearRegression(), "regression"),
    (Ridge(), "regression"),
    (Ridge(l2=100.0), "regression"),
    (LinearDiscriminants(), "classification"),
    (LinearDiscriminants(ddof=0, priors=(0.2, 0.3, 0.5)), "classification"),
    (QuadraticDiscriminants(), "classification"),
    (QuadraticDiscriminants(ddof=0), "classification"),
    (NaiveBayes(), "classification"),
    (NaiveBayes(smoothing="none", zero_variance="drop"), "classification"),
    (NaiveBayes(smoothing="epsilon", epsilon=1e-3, priors=(0.2, 0.3, 0.5)), "classification"),
    (NaiveBayes(smoothing="m-estimate", m=2.0, ddof=1), "classification"),
    (NaiveBayes(smooth_prior=True), "classification"),
    (NearestNeighbours(), "classification"),
    (NearestNeighbours(), "regression"),
    (NearestNeighbours(k=2, distance="manhattan", tied_distance="all"), "classification"),
    (NearestNeighbours(k=3, tied_distance="majority"), "classification"),
    (NearestNeighbours(k=3, tied_distance="first", tied_vote="class-order"), "classification"),
)
CASES = pytest.mark.parametrize(("model", "kind"), MODELS_AND_KINDS, ids=lambda one: getattr(one, "id", one))
CHAINS: tuple[tuple[Step, ...], ...] = (
    (),
    (Standardise(),),
    (Impute(), Standardise(ddof=1), OneHot()),
    (OneHot(drop="none"), Standardise(), Impute()),
    (Impute(numbers="median", levels="own-value"), OneHot(drop="first")),
)


def plain(rng: np.random.Generator) -> Array:
    """Three columns of different scales."""
    return rng.normal(size=(ROWS, 3)) * [1.0, 30.0, 0.1] + [0.0, 100.0, -3.0]


def in_tenths(rng: np.random.Generator) -> Array:
    """Few distinct numbers, so that many distances tie."""
    return rng.integers(0, 5, (ROWS, 3)) / 10


def near_copies(rng: np.random.Generator) -> Array:
    """A column, and itself but for its eighth digit."""
    X = rng.normal(size=(ROWS, 3))
    X[:, 1] = X[:, 0] + 1e-8 * rng.normal(size=ROWS)
    return X


def powers(rng: np.random.Generator) -> Array:
    """u, u², ..., u⁸ of numbers around 1."""
    u = rng.uniform(0.9, 1.1, ROWS)
    return np.column_stack([u**power for power in range(1, 9)])


def one_huge(rng: np.random.Generator) -> Array:
    """1e12 in one cell."""
    X = rng.normal(size=(ROWS, 3))
    X[7, 1] = 1e12
    return X


def far_away(rng: np.random.Generator) -> Array:
    """Numbers that vary by 1 around 1e7."""
    return 1e7 + rng.normal(size=(ROWS, 3))


def all_but_constant(rng: np.random.Generator) -> Array:
    """A constant, and a column in which one row differs."""
    X = rng.normal(size=(ROWS, 3))
    X[:, 1] = 0.1
    X[:, 2] = np.where(np.arange(ROWS) == 11, 2.0, 0.1)
    return X


def as_wide_as_long(rng: np.random.Generator) -> Array:
    """As many columns as rows."""
    return rng.normal(size=(ROWS, ROWS))


NUMBERS: dict[str, Callable[[np.random.Generator], Array]] = {
    make.__name__: make
    for make in (plain, in_tenths, near_copies, powers, one_huge, far_away, all_but_constant, as_wide_as_long)
}


def table_of(numbers: Array, rng: np.random.Generator, levels: bool) -> Table:
    """The numbers, with columns of levels if they are asked for."""
    parts: list[tuple[Column, Any]] = [(Column(f"x{j}"), cells) for j, cells in enumerate(numbers.T)]
    if levels:
        parts.append((Column("colour", "nominal", ("red", "green", "blue")), rng.integers(0, 3, ROWS)))
        parts.append((Column("rare", "nominal", ("no", "yes", "never")), np.arange(ROWS) == 5))
    return Table.of(parts, ROWS)


def rows_of(kind: str, table: Table, rng: np.random.Generator) -> Any:
    """The table with a class or a number for each row."""
    score = table.numbers[:, 0] + rng.normal(size=ROWS)
    common: dict[str, Any] = {"table": table, "rows": np.arange(ROWS), "target": "y", "weight": None}
    if kind == "regression":
        return ValuedRows(**common, y=score)
    y = np.digitize(score, np.quantile(score, (0.3, 0.7))).astype(np.int32)
    return LabelledRows(**common, y=y, classes=("a", "b", "c"))


def predictions_equal_to_fits(model: Model, steps: Sequence[Step], rows: Any) -> Array | None:
    """All predictions at once, after each was compared with a fit to the other rows."""
    pipeline = Pipeline(steps=tuple(steps), model=model)
    predictions = pipeline.leave_one_out(rows)
    if predictions is None:
        return None
    answers: Any = leave_one_out_answers(pipeline, rows, predictions)
    known = ~np.isnan(predictions.reshape(len(rows), -1)).any(axis=1)
    for row in np.flatnonzero(known):
        fitted = pipeline.fresh()
        learn(fitted, rows.take(np.setdiff1d(np.arange(len(rows)), [row])), np.random.default_rng(0))
        expected: Any = predict_rows(fitted, rows.take(np.array([row])))
        if rows.kind == "regression":
            scale = DIGITS * float(np.abs(rows.y).max())
            assert answers.predicted[row] == pytest.approx(expected.predicted[0], rel=DIGITS, abs=scale)
        else:
            assert answers.probabilities[row] == pytest.approx(expected.probabilities[0], abs=DIGITS)
            assert answers.predicted[row] == expected.predicted[0]
    return predictions


def test_six_methods_have_it() -> None:
    named = {name for name in MODELS.names() if issubclass(MODELS.load(name), LeaveOneOut)}
    assert named == {"knn", "lda", "linear-regression", "naive-bayes", "qda", "ridge"}


@pytest.mark.parametrize("steps", CHAINS, ids=lambda steps: " ".join(step.id for step in steps) or "no steps")
@CASES
def test_behind_steps_that_learn_anew_without_each_row(model: Model, kind: str, steps: tuple[Step, ...]) -> None:
    rng = np.random.default_rng(6)
    encoded = any(isinstance(step, OneHot) for step in steps)
    levels = isinstance(model, NaiveBayes) if not encoded else model.id in ("knn", "ridge", "linear-regression")
    rows = rows_of(kind, table_of(plain(rng), rng, levels), rng)
    predictions = predictions_equal_to_fits(model, steps, rows)
    assert predictions is not None, "nothing is wrong with this table"
    assert np.isnan(predictions.reshape(ROWS, -1)).any(axis=1).sum() <= 1, "but the only row of a level"


@pytest.mark.parametrize("numbers", NUMBERS)
@CASES
def test_tables_that_cost_digits_are_left_to_fits(model: Model, kind: str, numbers: str) -> None:
    rng = np.random.default_rng(5)
    for levels in (False, True):
        rows = rows_of(kind, table_of(NUMBERS[numbers](rng), rng, levels), rng)
        steps = missing_steps(model.accepts, rows.table.columns, None)
        predictions_equal_to_fits(model, steps, rows)


def test_one_hot_columns_that_add_up_to_one() -> None:
    rng = np.random.default_rng(3)
    table = Table.of([
        *((Column(f"x{j}"), cells) for j, cells in enumerate(plain(rng).T)),
        (Column("colour", "nominal", ("red", "green", "blue")), rng.integers(0, 3, ROWS)),
    ], ROWS)  # fmt: skip
    for model, kind in ((LinearDiscriminants(), "classification"), (LinearRegression(), "regression")):
        predictions = predictions_equal_to_fits(model, (OneHot(drop="none"),), rows_of(kind, table, rng))
        assert predictions is not None
        assert not np.isnan(predictions).any()


def test_what_only_fits_can_tell_is_left_to_them() -> None:
    rng = np.random.default_rng(1)
    rows = rows_of("regression", table_of(plain(rng), rng, levels=False), rng)
    empty = Table.of(((replaced(column), cells) for column, cells in rows.table.parts()), ROWS)
    weighted = ValuedRows(table=rows.table, rows=rows.rows, target="y", y=rows.y, weight=np.ones(ROWS))
    assert Pipeline(steps=(), model=Ridge()).leave_one_out(rows) is not None
    assert Pipeline(steps=(MinMax(),), model=Ridge()).leave_one_out(rows) is None
    assert Pipeline(steps=(Standardise(columns=("x0",)),), model=Ridge()).leave_one_out(rows) is None
    assert Pipeline(steps=(), model=Ridge()).leave_one_out(weighted) is None
    assert Pipeline(steps=(Impute(),), model=Ridge()).leave_one_out(rows.with_table(empty)) is None
    assert Pipeline(steps=(), model=MODELS.load("zero-r")()).leave_one_out(rows) is None


def replaced(column: Column) -> Column:
    """The column where cells may be empty."""
    return Column(column.name, column.kind, column.levels, missing=True)
