"""One-hot agrees with scikit-learn's OneHotEncoder, on declared levels."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.preprocessing import OneHotEncoder

from mlcli.core.schema import Column
from mlcli.core.tables import Table
from mlcli.prepare.one_hot import OneHot
from tests.golden.weather import weather
from tests.prepare.preparing import fitted, names, prepared
from tests.support.rows import table_of

DROPPED = {"two-level": "if_binary", "first": "first", "none": None}


@pytest.mark.parametrize("drop", DROPPED)
def test_it_agrees_with_scikit_learn(drop: str) -> None:
    table = weather().table
    encoder = OneHotEncoder(
        categories=[range(len(column.levels)) for column in table.columns], drop=DROPPED[drop], sparse_output=False
    )
    assert np.array_equal(prepared(OneHot(drop=drop), table).numbers, encoder.fit_transform(table.codes))


def test_words_become_unit_vectors() -> None:
    # SOURCES.md, section 6: the, cat, sat over cat mat on sat the.
    described = [Column("word", "nominal", ("cat", "mat", "on", "sat", "the"))]
    table = prepared(OneHot(), table_of({"word": ["the", "cat", "sat"]}, described))
    assert table.numbers.tolist() == [[0, 0, 0, 0, 1], [1, 0, 0, 0, 0], [0, 0, 0, 1, 0]]


def test_columns_are_named_by_level_and_stay_where_they_were() -> None:
    table = table_of({"a": [1.0, 2.0, 3.0], "outlook": ["sunny", "rainy", "dry"], "b": [4.0, 5.0, 6.0]})
    changed = prepared(OneHot(), table)
    assert names(changed) == ["a", "outlook=dry", "outlook=rainy", "outlook=sunny", "b"]
    assert changed.numbers[0].tolist() == [1.0, 0.0, 0.0, 1.0, 4.0]


def test_two_levels_become_one_column_of_the_second() -> None:
    table = table_of({"windy": ["no", "yes", "no"]}, [Column("windy", "boolean", ("no", "yes"))])
    changed = prepared(OneHot(), table)
    assert names(changed) == ["windy=yes"]
    assert changed.numbers.ravel().tolist() == [0, 1, 0]


def test_an_empty_cell_is_0_in_every_column() -> None:
    table = table_of({"x": ["u", "v", "w", None], "y": ["p", "q", "q", None], "n": [1.0, 1.0, 1.0, None]})
    changed = prepared(OneHot(), table)
    assert changed.numbers[3, :4].tolist() == [0, 0, 0, 0]
    assert [column.name for column in changed.columns if column.missing] == ["n"]


def test_levels_that_training_lacks_have_their_column() -> None:
    described = [Column("x", "nominal", ("u", "v", "w"))]
    step = fitted(OneHot(), table_of({"x": ["u", "v"]}, described))
    assert step.transform(table_of({"x": ["w"]}, described)).numbers.tolist() == [[0, 0, 1]]


def test_a_table_of_numbers_is_left_alone() -> None:
    table = table_of({"x": [1.0, 2.0]})
    changed = prepared(OneHot(), table)
    assert changed.columns == table.columns
    assert np.array_equal(changed.numbers, table.numbers)
    assert fitted(OneHot(), table).explain() == ()


def test_a_table_without_rows_keeps_its_columns() -> None:
    table = weather().table
    nothing = fitted(OneHot(), table).transform(table.take(np.arange(0)))
    assert isinstance(nothing, Table)
    assert nothing.numbers.shape == (0, 8)


def test_it_says_what_each_column_became() -> None:
    section, *_ = fitted(OneHot(), weather().table).explain()
    assert section.rows[0] == ("outlook", "outlook=overcast, outlook=rainy, outlook=sunny")
    assert section.rows[3] == ("windy", "windy=true")
