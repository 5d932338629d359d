"""Weighted moments equal those of NumPy on repeated rows, and constants are exact."""

from __future__ import annotations

import numpy as np
import pytest

from mlcli.core.moments import extent, moments


@pytest.mark.parametrize("ddof", [0, 1])
def test_moments_are_those_of_repeated_rows_without_gaps(ddof: int) -> None:
    rng = np.random.default_rng(0)
    numbers, times = rng.normal(1e6, 1.0, (50, 4)), rng.integers(0, 4, 50)
    numbers[rng.random(numbers.shape) < 0.2] = np.nan
    found = moments(numbers, times.astype(float), ddof)
    repeated = np.repeat(numbers, times, axis=0)
    assert found.weight.tolist() == (~np.isnan(repeated)).sum(axis=0).tolist()
    assert found.mean == pytest.approx(np.nanmean(repeated, axis=0), rel=1e-14)
    assert found.variance == pytest.approx(np.nanvar(repeated, axis=0, ddof=ddof), rel=1e-9)


def test_a_constant_column_has_its_value_as_mean_and_no_variance() -> None:
    found = moments(np.full((7, 1), 0.1), np.full(7, 0.3))
    assert found.mean.tolist() == [0.1]
    assert found.variance.tolist() == [0.0]


def test_a_column_without_cells_has_zeros() -> None:
    numbers = np.array([[np.nan, 1.0], [np.nan, 2.0]])
    found = moments(numbers, np.array([1.0, 0.0]), ddof=1)
    assert (found.weight.tolist(), found.mean.tolist(), found.variance.tolist()) == ([0, 1], [0, 1], [0, 0])


def test_the_extent_leaves_out_gaps_and_rows_without_weight() -> None:
    numbers = np.array([[np.nan, np.nan, 5.0], [2.0, np.nan, 3.0], [9.0, np.nan, 4.0]])
    low, high = extent(numbers, np.array([1.0, 1.0, 0.0]))
    assert (low.tolist(), high.tolist()) == ([2, 0, 3], [2, 0, 5])


@pytest.mark.parametrize("columns", [0, 3])
@pytest.mark.parametrize("rows", [1, 63, 64, 65, 200])
def test_the_extent_of_many_rows_is_that_of_numpy(rows: int, columns: int) -> None:
    numbers = np.random.default_rng(rows).normal(size=(rows, columns))
    low, high = extent(numbers, np.ones(rows))
    assert np.array_equal(low, numbers.min(axis=0))
    assert np.array_equal(high, numbers.max(axis=0))
