"""Routes to all splits of lda and qda where the tables of the contract do not lead: equal to the loop."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mlcli.core.held_out import Round
from mlcli.core.learning import ask, learn
from mlcli.core.schema import Column
from mlcli.core.tables import Array, Table
from mlcli.models.discriminants.lda import LinearDiscriminants
from mlcli.models.discriminants.qda import QuadraticDiscriminants
from mlcli.tasks.classification import LabelledRows

ROWS = 60
EACH = np.arange(ROWS, dtype=np.int32)


def rows(X: Array) -> LabelledRows:
    y = np.random.default_rng(1).integers(0, 3, ROWS).astype(np.int32)
    table = Table.of([(Column(f"x{j}"), cells) for j, cells in enumerate(X.T)], ROWS)
    return LabelledRows(table=table, rows=EACH.astype(np.intp), target="y", y=y, classes=("a", "b", "c"))


def normal(columns: int = 4) -> Array:
    return np.random.default_rng(0).normal(size=(ROWS, columns))


def with_sum(decimals: int) -> Array:
    X = normal()
    return np.column_stack([X, np.round(X.sum(axis=1), decimals)])


def assert_equal_to_fits(model: Any, data: LabelledRows, route: str) -> None:
    held = model.held_out(data, Round(EACH, ROWS), ())
    assert held is not None
    assert held.route == route
    assert not held.refused.any()
    for row in range(ROWS):
        alone = model.fresh()
        learn(alone, data.take(np.delete(EACH, row)), np.random.default_rng(0))
        answers: Any = ask(alone, data.take(np.array([row])))
        assert held.answers[row] == pytest.approx(answers.probabilities[0], abs=1e-9)


def test_a_column_that_is_the_sum_of_others_to_six_decimals_takes_a_spectrum_for_each_row() -> None:
    assert_equal_to_fits(LinearDiscriminants(), rows(with_sum(6)), "a spectrum without each row")


@pytest.mark.parametrize("model", [LinearDiscriminants(), QuadraticDiscriminants(priors=(0.2, 0.3, 0.5), ddof=0)])
def test_a_column_that_is_the_sum_of_others_takes_no_more_than_a_step_away(model: Any) -> None:
    assert_equal_to_fits(model, rows(with_sum(15)), "rows taken away from their class")


@pytest.mark.parametrize("shrinkage", [0.0, 0.4])
def test_folds_of_qda_may_shrink(shrinkage: float) -> None:
    data, folds = rows(normal()), Round(EACH % 5, 5)
    model = QuadraticDiscriminants(shrinkage=shrinkage)
    held = model.held_out(data, folds, ())
    assert held is not None
    assert not held.refused.any()
    for part, asked in enumerate(folds.rows_of):
        alone = model.fresh()
        learn(alone, data.take(np.flatnonzero(folds.part != part)), np.random.default_rng(0))
        answers: Any = ask(alone, data.take(asked))
        assert held.answers[asked] == pytest.approx(answers.probabilities, abs=1e-9)


def test_shrinkage_without_single_rows_is_left_to_the_loop() -> None:
    assert QuadraticDiscriminants(shrinkage=0.4).held_out(rows(normal()), Round(EACH, ROWS), ()) is None
