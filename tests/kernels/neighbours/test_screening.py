"""Compiled picking, a k-d tree and NumPy find the same near rows, and these are what the definition says."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from mlcli.core.tables import Array
from mlcli.engines.neighbours.distances import DistinctRows
from mlcli.engines.neighbours.neighbourhoods import Neighbourhoods

Listed = tuple[list[float], list[list[int]]]
CASES = {
    "spread": np.random.default_rng(0).normal(size=(83, 4)),
    "many ties": np.random.default_rng(1).integers(0, 3, (83, 2)).astype(float),
    "all equal": np.full((83, 2), 0.1),
    "far away": 1e9 + np.random.default_rng(2).normal(size=(83, 3)),
    "no columns vary but one": np.column_stack([np.full(83, 5.0), np.arange(83.0) ** 2]),
}


@pytest.fixture(params=["numpy", "compiled", "tree"])
def route(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr("mlcli.engines.neighbours.search.loops_pay", lambda pairs: request.param != "numpy")
    monkeypatch.setattr("mlcli.engines.neighbours.search.TREE_PAYS", 0 if request.param == "tree" else np.inf)
    return str(request.param)


def one_by_one(rows: Array) -> DistinctRows:
    """Every row for itself."""
    places = np.arange(len(rows))
    return DistinctRows(rows, places, places, np.ones(len(rows), np.intp))


def listed(queries: Array, stored: Array, k: int, within: bool) -> Listed:
    """The k-th distance and the sorted neighbours of each query row."""
    blocks = list(Neighbourhoods(one_by_one(queries), one_by_one(stored), k, within))
    kth = [float(distance) for block in blocks for distance in block.kth]
    parts = (part for block in blocks for part in np.split(block.pairs.stored, block.pairs.begins[1:]))
    return kth, [sorted(part.tolist()) for part in parts]


def defined(queries: Array, stored: Array, k: int, within: bool) -> Listed:
    """All stored rows as near as the k-th, from every distance."""
    far = cdist(queries, stored)
    if within:
        np.fill_diagonal(far, np.inf)
    kth = np.sort(far, axis=1)[:, k - 1]
    return kth.tolist(), [
        np.flatnonzero(row <= limit * (1 + 1e-12)).tolist() for row, limit in zip(far, kth, strict=True)
    ]


@pytest.mark.usefixtures("route")
@pytest.mark.parametrize("k", [1, 5, 40, 82])
@pytest.mark.parametrize("case", CASES)
def test_neighbours_are_all_rows_as_near_as_the_kth(case: str, k: int) -> None:
    stored = CASES[case]
    for queries, within in ((stored, True), (stored[:9] + 0.25, False)):
        kth, near = listed(queries, stored, k, within)
        expected_kth, expected_near = defined(queries, stored, k, within)
        assert kth == pytest.approx(expected_kth, rel=1e-9)
        assert near == expected_near


@pytest.mark.usefixtures("route")
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_rows_beyond_single_precision_are_measured_exactly() -> None:
    stored = CASES["spread"]
    queries = stored[:3] * 1e60
    kth, _ = listed(queries, stored, 3, False)
    assert kth == pytest.approx(np.sort(cdist(queries, stored), axis=1)[:, 2].tolist(), rel=1e-9)


def test_blocks_follow_each_other_without_a_gap(route: str, monkeypatch: pytest.MonkeyPatch) -> None:
    stored = CASES["spread"]
    whole = listed(stored, stored, 4, True)
    monkeypatch.setattr("mlcli.engines.neighbours.distances.ProductScreen.fewest_rows", 20)
    monkeypatch.setattr("mlcli.engines.neighbours.search.ROWS_OF_TREE", 20)
    monkeypatch.setattr("mlcli.engines.neighbours.search.BLOCK_CELLS", 0)
    monkeypatch.setattr("mlcli.engines.neighbours.search.PAIRS_AT_ONCE", 1)
    rows = DistinctRows.of(stored)
    starts = [int(block.points[0]) for block in Neighbourhoods(rows, rows, 4, True)]
    assert starts == list(range(0, 83, 20))
    assert listed(stored, stored, 4, True) == whole
