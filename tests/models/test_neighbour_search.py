"""The screened search for neighbours finds what measuring every pair finds, to the bit."""

from __future__ import annotations

import numpy as np
import pytest

from mlcli.core.tables import Array
from mlcli.models.neighbours import _search
from mlcli.models.neighbours._distances import DISTANCES, Distance, manhattan
from mlcli.models.neighbours._points import Points
from mlcli.models.neighbours._screens import SAME, TILE, ExactScreen
from mlcli.models.neighbours._search import CELLS_AT_ONCE, SHORT_RANKS, candidates, in_order, measured
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
    monkeypatch.setattr("mlcli.models.neighbours._search.pays", lambda pairs: False)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("name", ["euclidean", "cosine", "manhattan"])
@pytest.mark.parametrize(("rows", "count"), [(3, 3), (40, 1), (1000, 5), (1003, 60)])
def test_every_row_as_near_as_the_kth_is_found(scale: str, name: str, rows: int, count: int) -> None:
    rng = np.random.default_rng(rows)
    stored = as_points(SCALES[scale](rng.normal(size=(rows, 3))), name)
    asked = as_points(SCALES[scale](rng.normal(size=(30, 3))), name)
    every = DISTANCES[name].between(asked.down(), stored)
    kth = np.sort(every, axis=1)[:, count - 1]
    found = np.full(every.shape, np.nan)
    for pairs in candidates(DISTANCES[name], asked, stored, count):
        found[pairs.asked, pairs.stored] = pairs.distance
        assert np.array_equal(np.lexsort((pairs.stored, pairs.distance, pairs.asked)), np.arange(len(pairs.asked)))
    near = every <= kth[:, None]
    assert np.array_equal(found[near], every[near])


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("tree", [False, True])
@pytest.mark.parametrize("scale", SCALES)
def test_the_compiled_search_finds_every_row_as_near_as_the_kth(
    scale: str, tree: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(7)
    monkeypatch.setattr("mlcli.models.neighbours._compiled.LEAF", 4)
    monkeypatch.setattr("mlcli.models.neighbours._compiled.TREE_PAYS", 0 if tree else np.inf)
    for rows, count in ((3, 3), (61, 1), (60, 7)):
        stored, asked = (as_points(SCALES[scale](rng.normal(size=(n, 3))), "euclidean") for n in (rows, 13))
        every = DISTANCES["euclidean"].between(asked.down(), stored)
        plain = list(candidates(DISTANCES["euclidean"], asked, stored, count))
        with monkeypatch.context() as patched:
            patched.setattr("mlcli.models.neighbours._search.pays", lambda pairs: True)
            found = list(candidates(DISTANCES["euclidean"], asked, stored, count))
        for pairs in (*plain, *found):
            assert np.array_equal(every[pairs.asked, pairs.stored], pairs.distance)
            order = np.lexsort((pairs.stored, pairs.distance, pairs.asked))
            assert np.array_equal(np.arange(len(order)), order)
        wanted = every <= np.sort(every, axis=1)[:, count - 1 : count] * (1 + SAME)
        assert sum(len(pairs.asked) for pairs in found) == wanted.sum()
        assert all(wanted[pairs.asked, pairs.stored].all() for pairs in found)


def test_few_pairs_are_measured_that_are_not_wanted() -> None:
    rng = np.random.default_rng(3)
    stored, asked = (as_points(rng.normal(size=(n, 10)), "euclidean") for n in (3000, 100))
    (pairs,) = candidates(DISTANCES["euclidean"], asked, stored, 5)
    assert 500 <= len(pairs.asked) < 550


def as_points(X: Array, name: str) -> Points:
    """Numbers as a distance sees them."""
    return DISTANCES[name].points(numeric(X), np.ones(X.shape[1]))


def test_blocks_and_batches_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    stored, asked = (
        as_points(rng.normal(size=(200, 4)), "euclidean"),
        as_points(rng.normal(size=(57, 4)), "euclidean"),
    )
    whole = list(candidates(DISTANCES["euclidean"], asked, stored, 4))
    monkeypatch.setattr(_search, "BLOCK_BYTES", 8 * 200 * 3)
    monkeypatch.setattr(_search, "PAIRS_AT_ONCE", 20)
    pieces = list(candidates(DISTANCES["euclidean"], asked, stored, 4))
    assert len(whole) == 1
    assert len(pieces) > 5
    for part in ("asked", "stored", "distance"):
        assert np.array_equal(np.concatenate([getattr(piece, part) for piece in pieces]), getattr(whole[0], part))


def test_a_distance_without_a_quick_screen_gives_the_same() -> None:
    rng = np.random.default_rng(2)
    stored, asked = (
        as_points(rng.normal(size=(300, 6)), "euclidean"),
        as_points(rng.normal(size=(40, 6)), "euclidean"),
    )
    quick = DISTANCES["euclidean"]
    plain = Distance(quick.between, quick.points, quick.accepts)
    (fast,), (slow,) = candidates(quick, asked, stored, 7), candidates(plain, asked, stored, 7)
    kept = np.isin(fast.asked * 300 + fast.stored, slow.asked * 300 + slow.stored)
    assert np.array_equal(fast.keep(kept).stored, slow.stored)
    assert np.array_equal(fast.keep(kept).distance, slow.distance)


def every_distance(stored: Points, asked: Points) -> Array:
    """The values of the screen that measures all pairs."""
    screen = ExactScreen(manhattan, stored)
    return screen.into(screen.room(len(asked)), asked)[0]


def test_tiles_of_pairs_are_what_all_pairs_at_once_are() -> None:
    rng = np.random.default_rng(8)
    asked, stored = (Points(rng.normal(size=(3, n)), np.empty((0, n), np.int32)) for n in (7, TILE + 5))
    values = every_distance(stored, asked)
    assert np.array_equal(values, manhattan(asked.down(), stored))
    few = stored.take(slice(0, 50))
    many = Points(rng.normal(size=(3, 1_000)), np.empty((0, 1_000), np.int32))
    assert np.array_equal(every_distance(few, many), manhattan(many.down(), few))


@pytest.mark.parametrize("levels", [4, 10**9])
@pytest.mark.parametrize("apart", [1, SHORT_RANKS])
def test_pairs_are_in_order_of_asked_point_then_distance_then_stored_point(levels: int, apart: int) -> None:
    rng = np.random.default_rng(levels + apart)
    asked = apart * rng.integers(0, 5, 300).astype(np.intp)
    stored, distance = rng.permutation(300).astype(np.intp), rng.integers(0, levels, 300).astype(float)
    pairs = in_order(asked, stored, distance)
    expected = sorted(zip(asked.tolist(), distance.tolist(), stored.tolist(), strict=True))
    assert list(zip(pairs.asked.tolist(), pairs.distance.tolist(), pairs.stored.tolist(), strict=True)) == expected
    none = np.empty(0, np.intp)
    assert len(in_order(none, none, np.empty(0)).asked) == 0


def test_pairs_are_measured_a_few_at_a_time() -> None:
    sizes: list[int] = []

    def between(here: Array, there: Array) -> Array:
        sizes.append(len(here))
        return here * 10.0 + there

    here, there = np.arange(10), np.arange(10)[::-1]
    found = measured(between, here, there, CELLS_AT_ONCE // 4)  # type: ignore[arg-type]
    assert found.tolist() == (here * 10.0 + there).tolist()
    assert sizes == [4, 4, 2]
    assert len(measured(between, here[:0], there[:0], 3)) == 0  # type: ignore[arg-type]
