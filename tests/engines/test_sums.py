"""Sums of rows, gone through in blocks, are those of NumPy on the same rows."""

from __future__ import annotations

import numpy as np
import pytest

from mlcli.core.tables import Array
from mlcli.engines.sums import CELLS, Sums


def drawn(rows: int, offset: float, *, sorted_: bool = False) -> Array:
    """Columns of several scales, the third the sum of two others, the fourth constant."""
    rng = np.random.default_rng(3)
    columns = np.round(1024 * rng.normal(size=(rows, 4)) * [1, 1e-2, 1, 5]) / 1024
    columns[:, 2] = columns[:, 0] + columns[:, 1]
    columns[:, 3] = 0.5
    return (columns[np.argsort(columns[:, 0])] if sorted_ else columns) + offset


def assert_equal(found: Sums, columns: Array, weights: Array | None) -> None:
    """The sums are those of NumPy, to the last digits that columns have."""
    w = np.ones(len(columns)) if weights is None else weights
    mean = w @ (columns - columns[0]) / w.sum()
    centred = columns - columns[0] - mean
    scatter = (centred * w[:, None]).T @ centred
    deviations = np.sqrt(scatter.diagonal())
    assert found.weight == pytest.approx(w.sum(), rel=1e-14)
    assert found.mean == pytest.approx(columns[0] + mean, rel=1e-12, abs=1e-12)
    assert (np.abs(found.scatter - scatter) <= 1e-12 * np.outer(deviations, deviations) + 1e-30).all()
    assert found.scatter[3, 3] == 0, "a constant is exact"


@pytest.mark.parametrize("offset", [0.0, 1e7])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("in_order", [False, True])
def test_sums_in_blocks(offset: float, weighted: bool, in_order: bool) -> None:
    columns = drawn(CELLS // 2, offset, sorted_=in_order)
    rng = np.random.default_rng(4)
    weights = rng.uniform(0.5, 2.0, len(columns)) if weighted else None
    rows = np.flatnonzero(rng.random(len(columns)) < 0.8)
    found = Sums.of(columns, weights, rows)
    assert_equal(found, columns[rows], None if weights is None else weights[rows])
    narrow = np.array([1.0, 1.0, -1.0, 0.0])
    assert abs(narrow @ found.scatter @ narrow) <= 1e-10 * found.scatter[1, 1]


def test_a_target_is_one_more_column() -> None:
    columns = drawn(200, 1e3)
    assert_equal(Sums.of(columns[:, [1, 2, 0]], target=columns[:, 3]), columns[:, [1, 2, 0, 3]], None)
