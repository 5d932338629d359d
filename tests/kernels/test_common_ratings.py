"""Compiled sums over common ratings are those of a table with a row for each owner, in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mlcli.kernels.common_ratings import nearest_raters, sums_in_common

OWNERS, THINGS = 12, 9


def table() -> Any:
    """Ratings, not a number where there is none."""
    rng = np.random.default_rng(3)
    return np.where(rng.random((OWNERS, THINGS)) < 0.5, rng.integers(1, 6, (OWNERS, THINGS)), np.nan)


def listed(cells: Any) -> tuple[Any, Any, Any]:
    """The ratings of each row one after another: where each row starts, their columns, their values."""
    rows, columns = np.nonzero(~np.isnan(cells))
    starts = np.searchsorted(rows, np.arange(len(cells) + 1))
    return starts, columns, cells[rows, columns]


@pytest.mark.parametrize("kernel", [sums_in_common, getattr(sums_in_common, "py_func", sums_in_common)])
def test_sums_over_common_ratings(kernel: Any) -> None:
    cells = table()
    mine = np.flatnonzero(~np.isnan(cells[4]))
    sums = np.zeros((6, OWNERS))
    kernel(mine, cells[4, mine], *listed(cells.T.copy()), sums)
    both = ~np.isnan(cells) & ~np.isnan(cells[4])
    x, y = np.where(both, cells[4], 0), np.where(both, cells, 0)
    expected = [both.sum(1), x.sum(1), y.sum(1), (x * x).sum(1), (y * y).sum(1), (x * y).sum(1)]
    assert np.array_equal(sums, np.array(expected, np.float64))


@pytest.mark.parametrize("kernel", [nearest_raters, getattr(nearest_raters, "py_func", nearest_raters)])
@pytest.mark.parametrize("k", [1, 3, 100])
def test_the_nearest_that_have_rated_a_thing_and_all_that_are_as_near(kernel: Any, k: int) -> None:
    cells, rng = table(), np.random.default_rng(5)
    near = rng.integers(1, 5, OWNERS) / 4
    sums = np.zeros((4, THINGS))
    kernel(np.argsort(-near, kind="stable"), near, *listed(cells), k, sums)
    for thing in range(THINGS):
        raters = np.flatnonzero(~np.isnan(cells[:, thing]))
        bound = np.sort(near[raters])[::-1][min(k, len(raters)) - 1]
        taken = raters[near[raters] >= bound]
        expected = (near[taken] @ cells[taken, thing], near[taken].sum(), len(taken))
        assert sums[:3, thing] == pytest.approx(expected, abs=1e-12)
