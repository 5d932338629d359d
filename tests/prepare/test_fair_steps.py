"""Steps for fairness: weights of Kamiran and Calders by hand, samples of the same shares, hidden columns."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from mlcli.core.configuration import missing_steps
from mlcli.core.errors import FitError
from mlcli.core.schema import Accepts, Column
from mlcli.core.tables import Table
from mlcli.prepare.fair_sample import FairSample
from mlcli.prepare.fair_weights import FairWeights
from mlcli.prepare.one_hot import OneHot
from mlcli.prepare.show_sensitive import ShowSensitive
from tests.support.rows import labelled

SEX = Column("sex", "nominal", ("f", "m"), sensitive=True)
RACE = Column("race", "nominal", ("a", "b"), sensitive=True)
TAKES_ALL = Accepts(nominal=True, missing=True)


def rows() -> Any:
    """The example of Kamiran & Calders 2012, table 1: ten people, six of ten get the job, two of five women."""
    sex = np.array([1, 1, 1, 1, 1, 0, 0, 0, 0, 0], np.int32)
    race = np.array([0, 1, 0, 1, 0, 1, 0, 1, 0, 1], np.int32)
    y = [1, 1, 1, 0, 1, 0, 0, 1, 0, 1]
    table = Table((Column("x"),), np.arange(10.0)[:, None], np.empty((10, 0), np.int32))
    data = labelled(table, [str(one) for one in y])
    return replace(data, context=Table((SEX, RACE), np.empty((10, 0)), np.column_stack([sex, race])))


def changed(step: Any, data: Any) -> Any:
    step.learn(data, np.random.default_rng(0))
    return step.training_rows(data, np.random.default_rng(0))


def test_weights_are_those_of_the_paper() -> None:
    """Kamiran & Calders 2012, section 5.2: 0.5 × 0.6 / 0.4 = 0.75 for a man with the job, and so on."""
    step = FairWeights(by=("sex",))
    made = changed(step, rows())
    by_cell = {("m", 1): 0.75, ("m", 0): 2.0, ("f", 1): 1.5, ("f", 0): 2 / 3}
    sex = made.context.cells("sex")
    expected = [by_cell["fm"[s], y] for s, y in zip(sex, made.y, strict=True)]
    assert made.weights == pytest.approx(np.array(expected))


def test_after_weighing_group_and_class_are_independent_and_keep_their_weight() -> None:
    data = replace(rows(), weight=np.arange(1.0, 11.0))
    made = changed(FairWeights(), data)
    groups = made.context.cells("sex") * 2 + made.context.cells("race")
    cells = np.zeros((4, 2))
    np.add.at(cells, (groups, made.y), made.weights)
    full = cells[(cells > 0).all(axis=1)]
    assert full[:, 1] / full.sum(axis=1) == pytest.approx(np.full(len(full), full[0, 1] / full[0].sum()))
    one = changed(FairWeights(by=("sex",)), data)
    assert np.bincount(one.y, one.weights) == pytest.approx(np.bincount(data.y, data.weights))


def test_a_sample_has_as_many_rows_of_each_group_and_class_as_are_expected() -> None:
    made = changed(FairSample(by=("sex",)), rows())
    sex = made.context.cells("sex")
    counts = [[int(((sex == s) & (made.y == y)).sum()) for y in (0, 1)] for s in (0, 1)]
    assert counts == [[2, 3], [2, 3]]


@pytest.mark.parametrize("step", [FairWeights(), FairSample()], ids=lambda step: step.id)
def test_without_a_sensitive_column_nothing_changes(step: Any) -> None:
    data = replace(rows(), context=None)
    made = changed(step, data)
    assert sorted(made.rows) == sorted(data.rows)
    assert made.weights == pytest.approx(np.ones(10))
    with pytest.raises(FitError, match="there is no column of levels 'sx'"):
        changed(type(step)(by=("sx",)), rows())


def test_sensitive_columns_are_hidden_unless_asked_for() -> None:
    columns = (Column("x"), SEX, RACE)

    def hidden(accepts: Accepts, given: Any = None) -> list[tuple[str, Any]]:
        return [(step.id, step.columns) for step in missing_steps(accepts, columns, given)]

    assert hidden(TAKES_ALL) == [("drop", ("sex", "race"))]
    assert hidden(replace(TAKES_ALL, sensitive=True)) == []
    assert hidden(TAKES_ALL, [ShowSensitive()]) == [("show-sensitive", None)]
    assert hidden(TAKES_ALL, [OneHot(columns=("sex",))]) == [("drop", ("race",)), ("one-hot", ("sex",))]


def test_what_is_shown_is_a_feature_like_any_other() -> None:
    table = Table((Column("x"), SEX), np.zeros((2, 1)), np.zeros((2, 1), np.int32))
    step = ShowSensitive()
    step.learn(replace(rows(), table=table), np.random.default_rng(0))
    assert [column.sensitive for column in step.apply(table).columns] == [False, False]
    assert step.explain()
