"""Impute fills gaps as scikit-learn's SimpleImputer does, and with weights as if rows were repeated."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.impute import SimpleImputer

from mlcli.core.errors import MlcliWarning
from mlcli.core.schema import Column
from mlcli.core.state import check_loaded
from mlcli.core.tables import Table
from mlcli.prepare.impute import Impute
from tests.prepare.preparing import fitted, names, prepared
from tests.support.rows import table_of


def numbers_with_gaps(rows: int = 41) -> Table:
    rng = np.random.default_rng(2)
    numbers = np.round(rng.normal(size=(rows, 4)), 1)
    numbers[rng.random(numbers.shape) < 0.2] = np.nan
    columns = tuple(Column(name, missing=True) for name in "abcd")
    return Table(columns, numbers, np.empty((rows, 0), np.int32))


def mixed() -> Table:
    return table_of({"x": [1.0, None, 4.0, 7.0], "y": ["u", "v", "v", None], "z": [5.0, 6.0, 7.0, 8.0]})


@pytest.mark.parametrize(
    ("numbers", "strategy"), [("mean", "mean"), ("median", "median"), ("most-frequent", "most_frequent")]
)
@pytest.mark.parametrize("rows", [40, 41])
def test_numbers_are_filled_as_by_scikit_learn(numbers: str, strategy: str, rows: int) -> None:
    table = numbers_with_gaps(rows)
    theirs = SimpleImputer(strategy=strategy).fit_transform(table.numbers)
    assert prepared(Impute(numbers=numbers), table).numbers == pytest.approx(theirs, abs=1e-12)


def test_own_value_marks_the_gaps_as_scikit_learn_does() -> None:
    table = numbers_with_gaps()
    theirs = SimpleImputer(strategy="mean", add_indicator=True).fit_transform(table.numbers)
    ours = prepared(Impute(numbers="own-value"), table)
    assert names(ours)[:4] == ["a", "a is missing", "b", "b is missing"]
    assert ours.numbers[:, [0, 2, 4, 6, 1, 3, 5, 7]] == pytest.approx(theirs, abs=1e-12)


def test_levels_are_filled_with_the_most_frequent_and_of_equals_the_first() -> None:
    assert prepared(Impute(), mixed()).cells("y").tolist() == [0, 1, 1, 1]
    tied = table_of({"y": ["v", "u", "u", "v", None]})
    assert prepared(Impute(), tied).cells("y").tolist() == [1, 0, 0, 1, 0]


def test_own_value_adds_a_level_to_columns_with_gaps_only() -> None:
    table = table_of(
        {"y": ["lo", None, "hi"], "w": ["p", "q", "p"]},
        [Column("y", "ordinal", ("lo", "mid", "hi"), missing=True)],
    )
    filled = prepared(Impute(levels="own-value"), table)
    assert filled.columns == (
        Column("y", "nominal", ("lo", "mid", "hi", "missing")),
        Column("w", "nominal", ("p", "q")),
    )
    assert filled.cells("y").tolist() == [0, 3, 2]


def test_columns_that_are_often_empty_get_a_level_by_default() -> None:
    codes = np.array([[0, 1], [-1, -1], [0, 0]], np.int32)
    columns = (Column("often", "nominal", ("u", "v"), True, True), Column("seldom", "nominal", ("u", "v"), True))
    filled = prepared(Impute(), Table(columns, np.empty((3, 0)), codes))
    assert [column.levels for column in filled.columns] == [("u", "v", "missing"), ("u", "v")]
    assert filled.codes[1].tolist() == [2, 0]


def test_an_own_level_does_not_take_the_name_of_another() -> None:
    table = table_of({"y": ["missing", None]})
    assert prepared(Impute(levels="own-value"), table).columns[0].levels == ("missing", "(missing)")


def test_no_gap_is_left_and_no_column_says_that_it_has_some() -> None:
    filled = prepared(Impute(), mixed())
    assert not np.isnan(filled.numbers).any()
    assert (filled.codes >= 0).all()
    assert not any(column.missing for column in filled.columns)


@pytest.mark.parametrize("numbers", ["mean", "own-value"])
def test_gaps_that_turn_up_only_after_training_are_filled(numbers: str) -> None:
    step = fitted(Impute(numbers=numbers, levels="own-value"), table_of({"x": [1.0, 3.0], "y": ["u", "u"]}))
    later = step.transform(table_of({"x": [None], "y": [None]}, step.columns_))
    assert later.numbers.tolist() == [[2.0]]
    assert later.codes.tolist() == [[0]]


@pytest.mark.parametrize("numbers", ["mean", "median", "most-frequent", "own-value"])
def test_whole_weights_count_as_repeats(numbers: str) -> None:
    table = numbers_with_gaps()
    times = np.random.default_rng(4).integers(0, 4, len(table))
    weighted = fitted(Impute(numbers=numbers), table, times)
    repeated = fitted(Impute(numbers=numbers), table.take(np.repeat(np.arange(len(table)), times)))
    assert weighted.fills_ == pytest.approx(repeated.fills_, abs=1e-12)


def test_columns_that_are_empty_in_training_are_filled_with_0_or_the_first_level_and_said() -> None:
    table = table_of({"x": [None, None], "y": [None, None]}, [Column("y", "nominal", ("u", "v"), missing=True)])
    with pytest.warns(MlcliWarning) as said:
        filled = prepared(Impute(), table)
    assert [str(warning.message) for warning in said] == [
        "impute: 'x' is empty in all training rows and is filled with 0",
        "impute: 'y' is empty in all training rows and is filled with 'u'",
    ]
    assert (filled.numbers == 0).all()
    assert (filled.codes == 0).all()


def test_a_column_without_levels_gets_one() -> None:
    table = table_of({"y": [None, None]}, [Column("y", "nominal", (), missing=True)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        filled = prepared(Impute(), table)
    assert filled.columns[0].levels == ("missing",)
    assert filled.codes.tolist() == [[0], [0]]


def test_it_says_what_fills_which_column() -> None:
    (section,) = fitted(Impute(), mixed()).explain()
    assert section.rows == (("x", 4.0), ("y", "v"))
    assert fitted(Impute(), table_of({"z": [1.0, 2.0]})).explain() == ()


@pytest.mark.parametrize("fills", [[1.0, 1.0], [1.0, 2.0, 1.0]])
def test_fills_that_do_not_fit_are_refused(fills: list[float]) -> None:
    step = fitted(Impute(), mixed())
    step.fills_ = np.array(fills)
    with pytest.raises(ValueError, match="fill"):
        check_loaded(step)
