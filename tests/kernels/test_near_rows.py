"""The compiled selection of near rows and the NumPy route say the same, and both what the definition says."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from mlcli.core.tables import Array
from mlcli.models.anomaly._nearest import Neighbours, Route, by_numpy, compiled

Listed = tuple[list[float], list[list[int]]]
CASES = {
    "spread": np.random.default_rng(0).normal(size=(83, 4)),
    "many ties": np.random.default_rng(1).integers(0, 3, (83, 2)).astype(float),
    "all equal": np.full((83, 2), 0.1),
    "far away": 1e9 + np.random.default_rng(2).normal(size=(83, 3)),
    "no columns vary but one": np.column_stack([np.full(83, 5.0), np.arange(83.0) ** 2]),
}


def listed(found: list[Neighbours]) -> Listed:
    """The k-th distance and the sorted neighbours of each row asked."""
    kth = [float(distance) for block in found for distance in block.kth]
    near = [sorted(part.tolist()) for block in found for part in np.split(block.places, block.ends[:-1])]
    return kth, near


def defined(asked: Array, stored: Array, k: int, within: bool) -> Listed:
    """All stored rows as near as the k-th, from every distance."""
    far = cdist(asked, stored)
    if within:
        np.fill_diagonal(far, np.inf)
    kth = np.sort(far, axis=1)[:, k - 1]
    return kth.tolist(), [
        np.flatnonzero(row <= limit * (1 + 1e-12)).tolist() for row, limit in zip(far, kth, strict=True)
    ]


@pytest.mark.parametrize("route", [by_numpy, compiled])
@pytest.mark.parametrize("k", [1, 5, 40, 82])
@pytest.mark.parametrize("case", CASES)
def test_neighbours_are_all_rows_as_near_as_the_kth(case: str, k: int, route: Route) -> None:
    stored = CASES[case]
    for asked, within in ((stored, True), (stored[:9] + 0.25, False)):
        kth, near = listed(list(route(asked, stored, k, within)))
        expected_kth, expected_near = defined(asked, stored, k, within)
        assert kth == pytest.approx(expected_kth, rel=1e-9)
        assert near == expected_near


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_rows_beyond_single_precision_are_measured_exactly() -> None:
    stored = CASES["spread"]
    asked = stored[:3] * 1e60
    for route in (by_numpy, compiled):
        kth, _ = listed(list(route(asked, stored, 3, False)))
        assert kth == pytest.approx(np.sort(cdist(asked, stored), axis=1)[:, 2].tolist(), rel=1e-9)


def test_blocks_follow_each_other_without_a_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    stored = CASES["spread"]
    monkeypatch.setattr("mlcli.models.neighbours._compiled.FEWEST_ROWS", 20)
    monkeypatch.setattr("mlcli.models.neighbours._compiled.BLOCK_BYTES", 0)
    found = list(compiled(stored, stored, 4, True))
    assert [block.start for block in found] == list(range(0, 83, 20))
    assert listed(found) == listed(list(by_numpy(stored, stored, 4, True)))
