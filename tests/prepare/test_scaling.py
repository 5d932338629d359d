"""Standardise and min-max agree with scikit-learn and leave empty cells alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from mlcli.core.schema import Column
from mlcli.core.state import check_loaded
from mlcli.core.tables import Table
from mlcli.prepare.min_max import MinMax
from mlcli.prepare.standardise import Standardise
from tests.prepare.preparing import fitted, prepared
from tests.support.rows import table_of

SCALERS: list[tuple[Any, Any]] = [(Standardise, StandardScaler), (MinMax, MinMaxScaler)]


def numbers_only(X: Any) -> Table:
    return Table(tuple(Column(f"x{j}") for j in range(X.shape[1])), X, np.empty((len(X), 0), np.int32))


def wdbc(gaps: bool) -> Any:
    X = load_breast_cancer().data.copy()
    if gaps:
        X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    return X


@pytest.mark.parametrize(("ours", "theirs"), SCALERS)
@pytest.mark.parametrize("gaps", [False, True])
def test_it_agrees_with_scikit_learn_on_training_and_other_rows(ours: Any, theirs: Any, gaps: bool) -> None:
    X = wdbc(gaps)
    train, test = X[:300], X[300:]
    step = fitted(ours(), numbers_only(train))
    expected = theirs().fit(train).transform(test)
    assert step.transform(numbers_only(test)).numbers == pytest.approx(expected, abs=1e-9, nan_ok=True)


def test_weights_are_those_of_scikit_learn() -> None:
    X, weight = wdbc(gaps=False), np.random.default_rng(1).random(569)
    expected = StandardScaler().fit(X, sample_weight=weight).transform(X)
    assert prepared(Standardise(), numbers_only(X), weight).numbers == pytest.approx(expected, abs=1e-9)


def test_ddof_is_taken_off_the_number_of_rows() -> None:
    X = wdbc(gaps=False)
    step = fitted(Standardise(ddof=1), numbers_only(X))
    assert step.deviation_ == pytest.approx(X.std(axis=0, ddof=1), rel=1e-12)


def test_min_max_reaches_0_and_1_in_training_and_goes_beyond_elsewhere() -> None:
    X = wdbc(gaps=False)
    step = fitted(MinMax(), numbers_only(X))
    scaled = step.transform(numbers_only(X)).numbers
    assert (scaled.min(axis=0) == 0).all()
    assert (scaled.max(axis=0) == 1).all()
    assert step.transform(numbers_only(2 * X)).numbers.max() > 1


@pytest.mark.parametrize("step", [Standardise, MinMax])
def test_a_constant_column_becomes_0_in_all_rows(step: Any) -> None:
    made = fitted(step(), table_of({"x": [0.1] * 7, "y": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]}))
    assert (made.transform(table_of({"x": [0.1, 5.0], "y": [1.0, 2.0]})).numbers[:, 0] == 0).all()


@pytest.mark.parametrize("step", [Standardise, MinMax])
def test_a_column_that_differs_by_rounding_only_is_constant(step: Any) -> None:
    table = table_of({"x": [0.3, 0.1 + 0.2, 0.3]})
    assert (prepared(step(), table).numbers == 0).all()


@pytest.mark.parametrize("step", [Standardise, MinMax])
def test_an_empty_column_stays_empty(step: Any) -> None:
    made = fitted(step(), table_of({"x": [None, None]}))
    assert np.isnan(made.transform(made_of_nothing()).numbers).all()


@pytest.mark.parametrize("step", [Standardise, MinMax])
def test_coded_columns_are_left_alone(step: Any) -> None:
    table = table_of({"x": [1.0, 2.0], "y": ["u", "v"]})
    changed = prepared(step(), table)
    assert changed.columns == table.columns
    assert np.array_equal(changed.codes, table.codes)


def test_they_say_their_scales() -> None:
    table = table_of({"y": ["u", "v"], "x": [1.0, 3.0]})
    assert fitted(Standardise(), table).explain()[0].rows == (("x", 2.0, 1.0),)
    assert fitted(MinMax(), table).explain()[0].rows == (("x", 1.0, 3.0),)
    assert fitted(MinMax(), table.select(["y"])).explain() == ()


@pytest.mark.parametrize(("step", "field"), [(Standardise, "mean_"), (MinMax, "range_")])
def test_scales_that_do_not_fit_are_refused(step: Any, field: str) -> None:
    made = fitted(step(), table_of({"x": [1.0, 2.0]}))
    setattr(made, field, np.zeros(2))
    with pytest.raises(ValueError, match=r"mean_|range_"):
        check_loaded(made)


def made_of_nothing() -> Table:
    return table_of({"x": [None, None, None]})
