"""The screened search for neighbours finds what measuring every pair finds, to the bit."""

from __future__ import annotations

import numpy as np
import pytest

from mlcli.core.progress import advancing
from mlcli.core.tables import Array
from mlcli.engines.neighbours import search
from mlcli.engines.neighbours.distances import (
    DISTANCES,
    SAME,
    TILE,
    Distance,
    ExactScreen,
    PointSet,
    ProductScreen,
    manhattan,
    of_numbers,
)
from mlcli.engines.neighbours.search import nearest, sorted_pairs
from tests.golden.shipped import numeric

SCALES = {
    "ordinary": lambda X: X,
    "far from the origin": lambda X: X + 1e6,
    "one column dwarfs the rest": lambda X: X * np.array([1e9, 1.0, 1.0]),
    "one row dwarfs the rest": lambda X: np.vstack([X[:-1], X[-1:] * 1e12]),
    "on a grid, with many ties": lambda X: np.round(X),
    "all rows the same": lambda X: np.ones_like(X),
    "tiny": lambda X: X * 1e-100,
    "huge": lambda X: X * 1e140,
}


@pytest.fixture(autouse=True)
def by_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mlcli.engines.neighbours.search.loops_pay", lambda pairs: False)


def every_pair(distance: Distance, queries: PointSet, stored: PointSet) -> Array:
    """The distance of each query point to each stored one, pair by pair."""
    here, there = np.indices((len(queries), len(stored))).reshape(2, -1)
    return distance.between(queries.take(here), stored.take(there)).reshape(len(queries), len(stored))


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("name", ["euclidean", "cosine", "manhattan"])
@pytest.mark.parametrize(("rows", "count"), [(3, 3), (40, 1), (1000, 5), (1003, 60)])
def test_every_row_as_near_as_the_kth_is_found(scale: str, name: str, rows: int, count: int) -> None:
    rng = np.random.default_rng(rows)
    stored = as_points(SCALES[scale](rng.normal(size=(rows, 3))), name)
    queries = as_points(SCALES[scale](rng.normal(size=(30, 3))), name)
    every = every_pair(DISTANCES[name], queries, stored)
    kth = np.sort(every, axis=1)[:, count - 1]
    found = np.full(every.shape, np.nan)
    for pairs in nearest(DISTANCES[name], queries, stored, count):
        found[pairs.query, pairs.stored] = pairs.distance
        assert np.array_equal(np.lexsort((pairs.stored, pairs.distance, pairs.query)), np.arange(len(pairs.query)))
    near = every <= kth[:, None]
    assert np.array_equal(found[near], every[near])


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("tree", [False, True])
@pytest.mark.parametrize("scale", SCALES)
def test_the_compiled_search_finds_every_row_as_near_as_the_kth(
    scale: str, tree: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(7)
    monkeypatch.setattr("mlcli.engines.neighbours.search.LEAF", 4)
    monkeypatch.setattr("mlcli.engines.neighbours.search.TREE_PAYS", 0 if tree else np.inf)
    for rows, count in ((3, 3), (61, 1), (60, 7)):
        stored, queries = (as_points(SCALES[scale](rng.normal(size=(n, 3))), "euclidean") for n in (rows, 13))
        every = every_pair(DISTANCES["euclidean"], queries, stored)
        plain = list(nearest(DISTANCES["euclidean"], queries, stored, count))
        with monkeypatch.context() as patched:
            patched.setattr("mlcli.engines.neighbours.search.loops_pay", lambda pairs: True)
            found = list(nearest(DISTANCES["euclidean"], queries, stored, count))
        for pairs in (*plain, *found):
            assert np.array_equal(every[pairs.query, pairs.stored], pairs.distance)
            order = np.lexsort((pairs.stored, pairs.distance, pairs.query))
            assert np.array_equal(np.arange(len(order)), order)
        wanted = every <= np.sort(every, axis=1)[:, count - 1 : count] * (1 + SAME)
        listed = np.zeros(every.shape, bool)
        for pairs in found:
            listed[pairs.query, pairs.stored] = True
        assert listed[wanted].all()


def test_few_pairs_are_measured_that_are_not_wanted() -> None:
    rng = np.random.default_rng(3)
    stored, queries = (as_points(rng.normal(size=(n, 10)), "euclidean") for n in (3000, 100))
    (pairs,) = nearest(DISTANCES["euclidean"], queries, stored, 5)
    assert 500 <= len(pairs.query) < 550


def as_points(X: Array, name: str) -> PointSet:
    """Numbers as a distance sees them."""
    return DISTANCES[name].points(numeric(X), np.ones(X.shape[1]))


def test_blocks_and_batches_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    stored, queries = (
        as_points(rng.normal(size=(200, 4)), "euclidean"),
        as_points(rng.normal(size=(57, 4)), "euclidean"),
    )
    whole = list(nearest(DISTANCES["euclidean"], queries, stored, 4))
    monkeypatch.setattr(search, "BLOCK_CELLS", 200 * 3)
    monkeypatch.setattr(ProductScreen, "fewest_rows", 1)
    monkeypatch.setattr(search, "PAIRS_AT_ONCE", 20)
    pieces = list(nearest(DISTANCES["euclidean"], queries, stored, 4))
    assert len(whole) == 1
    assert len(pieces) > 5
    for part in ("query", "stored", "distance"):
        assert np.array_equal(np.concatenate([getattr(piece, part) for piece in pieces]), getattr(whole[0], part))


def test_a_distance_without_a_quick_screen_gives_the_same() -> None:
    rng = np.random.default_rng(2)
    stored, queries = (
        as_points(rng.normal(size=(300, 6)), "euclidean"),
        as_points(rng.normal(size=(40, 6)), "euclidean"),
    )
    quick = DISTANCES["euclidean"]
    plain = Distance(quick.between, quick.points, quick.accepts)
    (fast,), (slow,) = nearest(quick, queries, stored, 7), nearest(plain, queries, stored, 7)
    kept = np.isin(fast.query * 300 + fast.stored, slow.query * 300 + slow.stored)
    assert np.array_equal(fast.keep(kept).stored, slow.stored)
    assert np.array_equal(fast.keep(kept).distance, slow.distance)


def every_distance(stored: PointSet, queries: PointSet) -> Array:
    """The values of the screen that measures all pairs."""
    values = np.empty((len(queries), len(stored)))
    ExactScreen(manhattan, stored).into(values, queries)
    return values


def test_tiles_of_pairs_are_what_all_pairs_at_once_are() -> None:
    rng = np.random.default_rng(8)
    queries, stored = (of_numbers(rng.normal(size=(n, 3))) for n in (7, TILE + 5))
    values = every_distance(stored, queries)
    assert np.array_equal(values, manhattan(queries.down(), stored.across()))
    few, many = stored.take(slice(0, 50)), of_numbers(rng.normal(size=(1_000, 3)))
    assert np.array_equal(every_distance(few, many), manhattan(many.down(), few.across()))


@pytest.mark.parametrize("levels", [4, 10**9])
def test_pairs_are_in_order_of_asked_point_then_distance_then_stored_point(levels: int) -> None:
    rng = np.random.default_rng(levels)
    queries = rng.integers(0, 5, 300).astype(np.intp)
    stored, distance = rng.permutation(300).astype(np.intp), rng.integers(0, levels, 300).astype(float)
    pairs = sorted_pairs(queries, stored, distance)
    expected = sorted(zip(queries.tolist(), distance.tolist(), stored.tolist(), strict=True))
    assert list(zip(pairs.query.tolist(), pairs.distance.tolist(), pairs.stored.tolist(), strict=True)) == expected
    none = np.empty(0, np.intp)
    assert len(sorted_pairs(none, none, np.empty(0)).query) == 0


def test_a_long_search_says_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "BLOCK_CELLS", 1)
    monkeypatch.setattr(search, "PAIRS_AT_ONCE", 1)
    points = as_points(np.random.default_rng(1).normal(size=(640, 2)), "euclidean")
    shares = [advancing.share for _ in nearest(DISTANCES["euclidean"], points, points, 1)]
    assert shares == [step / 10 for step in range(10)]
    assert advancing.share is None
