"""Draws that belong to rows: by what stands in their cells, whatever a computer makes of the last digits."""

from __future__ import annotations

import numpy as np

from mlcli.core.schema import Column
from mlcli.core.tables import Array, Table
from mlcli.engines.random_by_content import draws

CELLS = np.random.default_rng(1).normal(size=(5_000, 4))


def drawn(numbers: Array, seed: int = 3) -> Array:
    """A draw for each row of numbers."""
    columns = tuple(Column(f"x{place}") for place in range(numbers.shape[1]))
    return draws(Table(columns, np.ascontiguousarray(numbers), np.empty((len(numbers), 0), np.int32)), seed)


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
