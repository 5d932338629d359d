"""Draws that belong to rows: by what stands in their cells, whatever a computer makes of the last digits."""

from __future__ import annotations

import numpy as np
import pytest

from mlcli.core.errors import FitError
from mlcli.core.schema import Column
from mlcli.core.tables import Array, Table
from mlcli.engines.content_seeds import draws, marks_of, places_of

CELLS = np.random.default_rng(1).normal(size=(5_000, 4))


def drawn(numbers: Array, seed: int = 3) -> Array:
    """A draw for each row of numbers."""
    return draws(of_numbers(numbers), seed)


def of_numbers(numbers: Array) -> Table:
    columns = tuple(Column(f"x{place}") for place in range(numbers.shape[1]))
    return Table(columns, np.ascontiguousarray(numbers), np.empty((len(numbers), 0), np.int32))


def test_they_look_random() -> None:
    # A uniform distribution: mean 1/2, standard deviation 1/sqrt(12); the bounds are five standard errors.
    found = drawn(CELLS)
    assert len(np.unique(found)) == len(found)
    assert abs(found.mean() - 0.5) < 5 / np.sqrt(12 * len(found))
    assert abs(np.corrcoef(found, drawn(CELLS, seed=4))[0, 1]) < 5 / np.sqrt(len(found))
    assert abs(np.corrcoef(found, CELLS[:, 0])[0, 1]) < 5 / np.sqrt(len(found))


def test_the_last_digits_of_a_number_change_no_draw_and_the_others_do() -> None:
    assert np.array_equal(drawn(CELLS), drawn(CELLS * (1 + 1e-15)))
    assert not (drawn(CELLS) == drawn(CELLS * (1 + 1e-8))).any()


def test_empty_cells_are_alike_and_so_are_both_zeros() -> None:
    payload = np.array([0x7FF8000000000001], np.uint64).view(float)[0]
    first, *others = drawn(np.array([[np.nan], [-np.nan], [payload]]))
    assert set(others) == {first}
    assert len(set(drawn(np.array([[0.0], [-0.0]])))) == 1
    assert len(set(drawn(np.array([[np.inf], [-np.inf], [np.nan], [0.0]])))) == 4


def places(fitted: Array, asked: Array) -> list[int]:
    """Where rows stand among those that were fitted."""
    return [*map(int, places_of(of_numbers(asked), marks_of(of_numbers(fitted)), "it", "hint"))]


def test_rows_that_differ_in_their_last_bit_are_known_apart() -> None:
    fitted = np.nextafter(1e9, 2e9) + np.arange(4)[:, None] * np.spacing(1e9)
    assert len(np.unique(fitted)) == 4
    assert places(fitted, fitted[[2, 0, 3]]) == [2, 0, 3]


def test_a_row_is_known_by_nine_digits_where_no_fitted_one_has_all_and_zeros_and_empty_cells_are_alike() -> None:
    fitted = np.array([[0.0, 1.0], [np.nan, 2.0], [5.0, 3.0]])
    assert places(fitted, np.array([[5.0, 3.0 + 1e-13], [-np.nan, 2.0], [-0.0, 1.0]])) == [2, 1, 0]
    with pytest.raises(FitError, match="it can only place the rows that it was fitted on; row 2 is none of them"):
        places(fitted, np.array([[5.0, 3.0], [5.0, 3.1]]))
