"""Blocks cover every row once, and rows side by side are told from another as one by one."""

from __future__ import annotations

import numpy as np
import pytest

from mlcli.core.moments import less_row
from mlcli.core.tables import blocks_of


@pytest.mark.parametrize(("rows", "columns"), [(0, 3), (1, 0), (5, 100_000), (40_000, 3)])
def test_blocks_cover_every_row_once(rows: int, columns: int) -> None:
    covered = [np.arange(rows)[block] for block in blocks_of(rows, columns, 1000)]
    assert np.array_equal(np.concatenate([np.empty(0), *covered]), np.arange(rows))


@pytest.mark.parametrize("rows", [0, 1, 63, 64, 200])
@pytest.mark.parametrize("columns", [0, 1, 3])
def test_a_row_is_taken_from_every_row_to_the_bit(rows: int, columns: int) -> None:
    numbers = np.random.default_rng(0).normal(size=(rows, columns))
    row = np.linspace(0.1, 0.9, columns)
    assert np.array_equal(less_row(numbers, row), numbers - row)
    assert np.array_equal(less_row(np.asfortranarray(numbers), row), numbers - row)
