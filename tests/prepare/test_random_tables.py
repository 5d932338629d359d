"""Steps on any table: levels come back from their 0/1 columns, known cells stay, scales can be undone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mlcli.core.schema import Column
from mlcli.core.tables import Table
from mlcli.prepare.impute import Impute
from mlcli.prepare.min_max import MinMax
from mlcli.prepare.one_hot import OneHot
from mlcli.prepare.standardise import Standardise
from tests.prepare.preparing import fitted, prepared

QUICK = settings(max_examples=60, deadline=None)


@st.composite
def tables(draw: st.DrawFn) -> Table:
    """A few rows of two numbers and two columns of levels, with gaps."""
    rows, levels = draw(st.integers(1, 12)), draw(st.integers(1, 5))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    numbers = np.round(rng.normal(draw(st.sampled_from([0.0, 1e7, -3.0])), 2, (rows, 2)), 1)
    numbers[rng.random(numbers.shape) < 0.2] = np.nan
    names = tuple(f"l{level}" for level in range(levels))
    return Table.of(
        [
            (Column("a", missing=True), numbers[:, 0]),
            (Column("c", "nominal", names, missing=True), rng.integers(-1, levels, rows)),
            (Column("b", missing=True), numbers[:, 1]),
            (Column("d", "boolean", ("no", "yes"), missing=True), rng.integers(-1, 2, rows)),
        ],
        rows,
    )


@QUICK
@given(table=tables())
def test_levels_come_back_from_their_columns(table: Table) -> None:
    wide = prepared(OneHot(drop="none"), table)
    for column, codes in zip(table.code_columns, table.codes.T, strict=True):
        ones = np.column_stack([wide.cells(f"{column.name}={level}") for level in column.levels])
        assert ones.sum(axis=1).tolist() == (codes >= 0).tolist()
        assert np.where(ones.any(axis=1), ones.argmax(axis=1), -1).tolist() == codes.tolist()
    assert np.array_equal(wide.select(["a", "b"]).numbers, table.numbers, equal_nan=True)


@pytest.mark.filterwarnings("ignore::mlcli.core.errors.MlcliWarning")
@pytest.mark.parametrize("numbers", ["mean", "median", "most-frequent"])
@QUICK
@given(table=tables())
def test_known_cells_stay_and_gaps_lie_among_them(numbers: str, table: Table) -> None:
    full = prepared(Impute(numbers=numbers), table)
    known = ~np.isnan(table.numbers)
    assert np.array_equal(full.numbers[known], table.numbers[known])
    assert np.array_equal(full.codes[table.codes >= 0], table.codes[table.codes >= 0])
    assert (full.codes >= 0).all()
    for cells, held, filled in zip(table.numbers.T, known.T, full.numbers.T, strict=True):
        low, high = (cells[held].min(), cells[held].max()) if held.any() else (0.0, 0.0)
        rounding = 1e-15 * max(abs(low), abs(high))
        assert (filled >= low - rounding).all()
        assert (filled <= high + rounding).all()


@pytest.mark.filterwarnings("ignore::mlcli.core.errors.MlcliWarning")
@pytest.mark.parametrize("numbers", ["mean", "median", "most-frequent"])
@QUICK
@given(table=tables(), unit=st.sampled_from([0.1, 0.3, 7.0, 1e-9]))
def test_the_unit_of_weights_does_not_matter(numbers: str, table: Table, unit: float) -> None:
    """Weights of 0.1, 0.2 and 0.3 say what 1, 2 and 3 say, although 0.1 + 0.2 is not 0.3 in floating point."""
    weight = np.resize([1.0, 2.0, 3.0], len(table))
    plain, scaled = (fitted(Impute(numbers=numbers), table, w).fills_ for w in (weight, weight * unit))
    assert scaled == pytest.approx(plain, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("make", [Standardise, MinMax])
@QUICK
@given(table=tables())
def test_scales_can_be_undone(make: Any, table: Table) -> None:
    step = fitted(make(), table)
    origin, unit = (step.mean_, step.deviation_) if make is Standardise else (step.low_, step.range_)
    scaled = step.transform(table).numbers
    back = np.where(unit > 0, scaled * unit + origin, np.where(np.isnan(scaled), np.nan, origin))
    assert back == pytest.approx(table.numbers, rel=1e-12, abs=1e-9, nan_ok=True)
