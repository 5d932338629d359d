"""Sums of many rows, gone through in blocks, are those of the same rows gathered and centred."""

from __future__ import annotations

import numpy as np
import pytest

from mlcli.core.moments import CELLS
from mlcli.core.tables import Array, Rows
from mlcli.engines.sums_before import Sums


def both(columns: Array, weights: Array | None, rows: Rows, centre: Array) -> tuple[Sums, Sums]:
    """In blocks, and gathered."""
    of_rows = None if weights is None else weights[rows]
    return Sums.of_many(columns, weights, rows, centre), Sums.of(columns[rows] - centre, of_rows)


@pytest.mark.parametrize("offset", [0.0, 1e7])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("in_order", [False, True])
def test_sums_in_blocks_are_sums_of_what_was_gathered(offset: float, weighted: bool, in_order: bool) -> None:
    rng = np.random.default_rng(3)
    columns = np.round(1024 * rng.normal(size=(CELLS // 2, 4)) * [1, 1e-2, 1, 5]) / 1024
    columns[:, 2] = columns[:, 0] + columns[:, 1]
    columns[:, 3] = 0.5
    if in_order:
        columns = columns[np.argsort(columns[:, 0])]
    columns, centre = columns + offset, np.full(4, offset + 1.0)
    weights = rng.uniform(0.5, 2.0, len(columns)) if weighted else None
    rows = np.flatnonzero(rng.random(len(columns)) < 0.8)
    found, expected = both(columns, weights, rows, centre)
    assert found.weight == pytest.approx(expected.weight, rel=1e-14)
    assert found.mean == pytest.approx(expected.mean, rel=1e-12, abs=1e-12)
    deviations = np.sqrt(np.maximum(expected.scatter.diagonal(), 0.0))
    assert (np.abs(found.scatter - expected.scatter) <= 1e-12 * np.outer(deviations, deviations) + 1e-30).all()
    assert found.low.tolist() == expected.low.tolist()
    assert found.high.tolist() == expected.high.tolist()
    narrow = np.array([1.0, 1.0, -1.0, 0.0])
    assert abs(narrow @ found.scatter @ narrow) <= 1e-10 * found.scatter[1, 1]
