"""Binning: nothing is lost where there are bins enough; elsewhere bins share the rows as evenly as they can."""

from __future__ import annotations

import numpy as np
import pytest

from mlcli.core.tables import Array
from mlcli.engines.trees.growing import bin_columns, thresholds_between
from mlcli.engines.trees.structure import Cells
from mlcli.kernels.trees.records import Binned, bins_of


def numbers(n: int, decimals: int, seed: int = 0) -> Array:
    """Rounded normal numbers."""
    return np.round(np.random.default_rng(seed).normal(size=n), decimals)


def binned_column(column: Array, most: int) -> Binned:
    """One ordered column alone."""
    return bin_columns(Cells(column[:, None], np.array([0])), most)


def test_with_a_bin_for_each_distinct_value_the_bin_is_the_rank() -> None:
    cells = np.column_stack([numbers(60, 1, 1), numbers(60, 0, 2)])
    cells[::7, 0] = np.nan
    found = bin_columns(Cells(cells, np.array([0, 0])), 100)
    values = [np.unique(column[~np.isnan(column)]) for column in cells.T]
    ranks = [np.searchsorted(known, column) for known, column in zip(values, cells.T, strict=True)]
    assert np.array_equal(found.bins, ranks)
    assert found.known.tolist() == [len(known) for known in values]
    assert found.bins.dtype == np.uint8


def test_thresholds_between_bins_are_those_of_the_exact_tree() -> None:
    """Half-way between the two values, whatever lies between them."""
    column = numbers(40, 1)
    values = np.unique(column)
    found = binned_column(column, 255)
    pairs = [(low, high) for low in range(len(values)) for high in range(low + 1, len(values))]
    low, high = np.array(pairs).T
    expected = [values[one] / 2 + values[other] / 2 for one, other in pairs]
    assert thresholds_between(found, np.zeros(len(low), np.intp), low, high).tolist() == expected
    assert thresholds_between(found, np.array([0]), np.array([3]), np.array([len(values)])).tolist() == [np.inf]


@pytest.mark.parametrize("most", [2, 3, 17, 255])
@pytest.mark.parametrize("decimals", [0, 1, 8])
def test_bins_are_ascending_runs_of_values_and_no_more_than_asked(most: int, decimals: int) -> None:
    column = numbers(1000, decimals)
    found = binned_column(column, most)
    here = found.bins[0]
    assert found.known[0] <= min(most, len(np.unique(column)))
    assert np.unique(here).tolist() == list(range(found.known[0]))
    for one in range(found.known[0]):
        assert column[here == one].min() == found.lowest[0, one]
        assert column[here == one].max() == found.highest[0, one]
    assert (found.highest[0, : found.known[0] - 1] < found.lowest[0, 1 : found.known[0]]).all()


def test_distinct_values_share_bins_evenly() -> None:
    """np.quantile at equal steps cuts the same rows apart."""
    column = np.random.default_rng(3).permutation(1000).astype(float)
    counts = np.bincount(binned_column(column, 40).bins[0])
    assert counts.tolist() == [25] * 40


@pytest.mark.parametrize("place", [0, 150, 299])
def test_a_value_that_most_rows_have_does_not_use_up_the_bins(place: int) -> None:
    """Half of the rows share a value; the others keep all bins but its own."""
    column = np.r_[np.arange(300.0), np.full(300, float(place))]
    found = binned_column(column, 21)
    counts = np.bincount(found.bins[0])
    assert counts.max() in (301, 300 + 15)
    assert np.sort(counts)[:-1].max() <= 16
    assert found.known[0] >= 20


@pytest.mark.parametrize(
    "counts", [[1, 1], [50, 1, 1, 1, 50], [1, 9, 1, 9, 1, 9, 1, 9], [1] * 30, [100, *[1] * 9]]
)
@pytest.mark.parametrize("bins", [2, 3, 4, 8])
def test_there_are_never_more_bins_than_asked_and_the_last_value_ends_the_last(
    counts: list[int], bins: int
) -> None:
    found = binned_column(np.repeat(np.arange(len(counts)) * 1.0, counts), bins)
    made = int(found.known[0])
    assert 1 <= made <= bins
    assert (np.diff(found.highest[0, :made]) > 0).all()
    assert found.highest[0, made - 1] == len(counts) - 1


def test_the_bin_of_a_cell_is_that_of_searchsorted() -> None:
    column = np.r_[numbers(300, 1), np.nan, np.inf, -np.inf]
    thresholds = np.unique(numbers(200, 1, 5))
    found = np.empty(len(column), np.uint8)
    bins_of(column, np.r_[thresholds, np.full(255 - len(thresholds), np.inf)], 255, found)
    assert found[-3] == 255
    assert found[-2] == len(thresholds)
    known = ~np.isnan(column)
    assert np.array_equal(found[known], np.searchsorted(thresholds, column[known], side="left"))


def test_the_code_of_a_level_is_its_bin_however_many_there_are() -> None:
    cells = np.arange(400.0)[:, None]
    found = bin_columns(Cells(cells, np.array([400])), 255)
    assert found.bins.dtype == np.uint16
    assert np.array_equal(found.bins[0], np.arange(400))
    assert found.width == 400


def test_a_column_without_known_values_has_only_the_bin_of_missing_cells() -> None:
    found = binned_column(np.full(5, np.nan), 255)
    assert found.known.tolist() == [0]
    assert found.bins.tolist() == [[0] * 5]
