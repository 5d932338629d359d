"""New rows are typed by the columns that a model learned from, and what is unusual in them is reported."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from mlcli.core.errors import DataError
from mlcli.core.schema import Column
from mlcli.data.load import load
from mlcli.data.new_rows import OutsideRange, UnseenLevel, new_rows

Write = Callable[..., Path]
COLUMNS = (Column("size"), Column("colour", "nominal", ("red", "blue")), Column("code", "nominal", ("1", "2")))


def test_columns_are_found_by_name_and_typed_as_the_model_knows_them(write: Write) -> None:
    path = write("code,extra,colour,size\n2,hello,blue,1\n1,,red,\n")
    rows = new_rows(str(path), COLUMNS)
    assert rows.table.columns == COLUMNS
    assert rows.table.codes.tolist() == [[1, 1], [0, 0]]
    assert np.array_equal(rows.table.numbers, [[1.0], [np.nan]], equal_nan=True)
    assert (rows.extra, rows.text("extra"), len(rows)) == (("extra",), ["hello", ""], 2)
    assert (rows.unseen, rows.outside) == ((), ())


def test_levels_that_the_model_has_not_met_are_missing_and_reported(write: Write) -> None:
    rows = new_rows(str(write("size,colour,code\n1,green,1\n2,green,01\n3,,2\n")), COLUMNS)
    assert rows.table.codes.tolist() == [[-1, 0], [-1, -1], [-1, 1]]
    assert rows.unseen == (UnseenLevel("colour", "green", 2), UnseenLevel("code", "01", 1))


def test_levels_that_are_numbers_are_known_by_their_value(write: Write) -> None:
    """Pandas writes 1.0 for the 1 of a column that has gaps; a code, or what may be two levels, stays text."""
    rows = new_rows(str(write("size,colour,code\n1,red,1.0\n2,red,2e0\n3,red,\n4,red,3.0\n")), COLUMNS)
    assert rows.table.codes[:, 1].tolist() == [0, 1, -1, -1]
    assert rows.unseen == (UnseenLevel("code", "3.0", 1),)
    alike = Column("code", "nominal", ("1", "1.0", "9007199254740993", "x"))
    rows = new_rows(str(write("code\n1.00\n9007199254740992.0\n1\n1.0\n")), (alike,))
    assert rows.table.codes[:, 0].tolist() == [-1, -1, 0, 1]
    rows = new_rows(str(write("code\n2.0\nx\n")), COLUMNS[2:])
    assert rows.unseen == (UnseenLevel("code", "2.0", 1), UnseenLevel("code", "x", 1))


def test_missing_columns_are_named_together(write: Write) -> None:
    with pytest.raises(DataError) as caught:
        new_rows(str(write("siez,code\n1,1\n")), COLUMNS)
    (problem,) = caught.value.problems
    assert problem.what == "lacks 2 of the 3 needed columns: size, colour"
    assert problem.hint == "did you mean 'size' by 'siez'?"


def test_a_number_that_is_none_is_refused_with_its_place(write: Write) -> None:
    with pytest.raises(DataError) as caught:
        new_rows(str(write("size,colour,code\n1,red,1\nlarge,red,1\n")), COLUMNS)
    (problem,) = caught.value.problems
    assert problem.where.endswith("my.csv:3, column 'size'")
    assert problem.what == "'large' is not a number"
    assert problem.hint == "correct the cell: the model has learned numbers from this column"


def test_numbers_beyond_those_of_training_are_reported(write: Write) -> None:
    path = write("size,colour,code\n-5,red,1\n50,red,1\n3,red,1\n,red,1\n")
    rows = new_rows(str(path), COLUMNS, ranges={"size": (0.0, 10.0), "gone": (0.0, 1.0)})
    assert rows.outside == (OutsideRange("size", count=2, low=0.0, high=10.0, lowest=-5.0, highest=50.0),)


def test_the_sidecar_of_the_new_file_says_how_its_cells_are_read(write: Write) -> None:
    sidecar = 'missing: ["?"]\ncolumns: {colour: {empty: red}, size: {kind: numeric, range: [0, 1]}}\n'
    rows = new_rows(str(write("size,colour,code\n?,,1\n7,?,2\n", sidecar)), COLUMNS)
    assert np.array_equal(rows.table.numbers[:, 0], [np.nan, 7.0], equal_nan=True)
    assert rows.table.codes[:, 0].tolist() == [0, -1]
    assert rows.unseen == ()


def test_standard_input_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    given = io.TextIOWrapper(io.BytesIO(b"size,colour,code\n1,red,2\n"))
    monkeypatch.setattr("sys.stdin", given)
    assert new_rows("-", COLUMNS).table.codes.tolist() == [[0, 1]]


def test_a_file_with_names_only_has_no_rows(write: Write) -> None:
    rows = new_rows(str(write("size,colour,code\n")), COLUMNS)
    assert (len(rows), rows.table.numbers.shape, rows.table.codes.shape) == (0, (0, 1), (0, 2))


@pytest.mark.parametrize("name", ["iris", "vote", "supermarket_2000", "labor"])
def test_the_file_of_a_dataset_is_read_as_the_dataset(name: str) -> None:
    dataset = load(name)
    features = dataset.schema.features()
    rows = new_rows(name, features)
    expected = dataset.table.select(column.name for column in features)
    assert np.array_equal(rows.table.numbers, expected.numbers, equal_nan=True)
    assert np.array_equal(rows.table.codes, expected.codes)
    assert rows.unseen == ()
