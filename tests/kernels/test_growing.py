"""Compiled splitting and growing beside plain twins that say what is meant."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numba import njit

from mlcli.core.tables import Array
from mlcli.kernels import dealing, growing, histogram_splits, histograms, random_splits
from mlcli.kernels.chance import random_below, random_share
from mlcli.kernels.histogram_splits import FEW
from mlcli.kernels.histograms import Columns, Here, Whole
from mlcli.models.forests._packing import in_units, packed
from mlcli.models.forests._workspace import drawing_of, room_for_few
from mlcli.models.trees._binning import binned

TOLERANCE = 1e-12
add_up, best_threshold, best_level = (
    histograms.add_up,
    histogram_splits.best_threshold,
    histogram_splits.best_level,
)
sort_few, best_threshold_of_few = histogram_splits.sort_few, histogram_splits.best_threshold_of_few
random_threshold, cut_between, deal = random_splits.random_threshold, growing.cut_between, dealing.deal


# What only kernels call is called from these, which are compiled as well.


@njit
def histogram(columns: Any, here: Any, sums: Any) -> None:
    add_up(columns, 0, here, sums)


@njit
def threshold(columns: Any, here: Any, whole: Any, sums: Any, left: Any) -> Any:
    add_up(columns, 0, here, sums)
    return best_threshold(sums, columns.known[0], whole, left)


@njit
def level(columns: Any, here: Any, whole: Any, sums: Any, left: Any) -> Any:
    add_up(columns, 0, here, sums)
    return best_level(sums, columns.known[0], whole, left)


@njit
def threshold_of_few(columns: Any, here: Any, whole: Any, few: Any) -> Any:
    sort_few(columns, 0, here, few.keys, few.order)
    return best_threshold_of_few(len(here.rows), few, whole)


@njit
def drawn_threshold(columns: Any, drawing: Any, here: Any, whole: Any, left: Any, state: Any, wish: Any) -> Any:
    score, low, high, side = random_threshold(columns, drawing, 0, here, whole, left, state, wish)
    return score, low, high, side, cut_between(columns, 0, low, high, wish[0])


@njit
def dealt(column: Any, lowest: int, low: int, known: int, missing_left: bool, rows: Any, room: Any) -> Any:
    return deal(column, lowest, low, known, missing_left, rows, room)


class Rows:
    """A node of some rows of one column with gaps, with classes or centred values, and weights."""

    def __init__(self, seed: int, slots: int, n: int = 30, missing: float = 0.2, ordered: bool = True) -> None:
        rng = np.random.default_rng(seed)
        cells = np.round(rng.normal(size=n), 1) if ordered else rng.integers(0, 5, n).astype(float)
        if ordered:
            cells[rng.random(n) < missing] = np.nan
        self.binned = found = binned(cells[:, None], np.array([ordered]), np.array([0 if ordered else 5]))
        self.columns = Columns(found.bins, found.known, found.ordered, found.lowest, found.highest)
        self.rows = rng.permutation(n)[: n - 5].astype(np.uint32)
        weight, slot = rng.integers(1, 4, n), rng.integers(0, slots, n)
        share = packed(slot, weight, 1.0, slots)
        amount = weight if slots > 1 else weight * rng.integers(-9, 9, n)
        parts = share.parts if slots > 1 else np.array([weight, amount])
        self.here = Here(self.rows, parts[:, self.rows])
        self.each = np.column_stack([np.eye(slots)[slot] * amount[:, None], weight])[self.rows]
        self.whole = Whole(self.here.parts.sum(axis=1), share.bits, 4.0, TOLERANCE)
        self.bin = found.bins[0, self.rows].astype(int)
        self.known = int(found.known[0])
        self.sums, self.left = np.empty((len(parts), found.width), np.int64), np.empty(len(parts), np.int64)
        self.few = room_for_few(slots)
        self.few.slots[: len(self.rows)], self.few.weights[: len(self.rows)] = slot[self.rows], weight[self.rows]
        self.few.amounts[: len(self.rows)], self.few.totals[:] = amount[self.rows], self.each.sum(axis=0)[:-1]

    def score(self, left: Any) -> float:
        """Σ S² / W of both sides, by the definition; -inf if one is too light."""
        parts = [self.each[left].sum(axis=0), self.each[~left].sum(axis=0)]
        if min(part[-1] for part in parts) < self.whole.least:
            return -np.inf
        return float(sum((part[:-1] ** 2).sum() / part[-1] for part in parts))

    def scores(self) -> list[tuple[float, int, int, int]]:
        """Every threshold in order, with missing cells on the right and on the left."""
        missing = self.bin == self.known
        return [
            (self.score((self.bin <= low) | (missing & (side == 1))), low, high, side)
            for low, high in pairwise(np.unique(self.bin))
            for side in ((0, 1) if missing.any() and high < self.known else (0,))
        ]


def first_of_the_best(scores: list[tuple[float, int, int, int]]) -> Any:
    """The first split, but for rounding, that scores most."""
    most = max(score for score, *_ in scores)
    return next(split for split in scores if split[0] >= most - TOLERANCE)


CASES = [pytest.param(seed, slots, id=f"{slots}-{seed}") for slots in (1, 3, 30) for seed in range(4)]


@pytest.mark.parametrize(("seed", "slots"), CASES)
def test_the_histogram_of_a_node_is_what_its_rows_sum_up_to(seed: int, slots: int) -> None:
    node = Rows(seed, slots)
    histogram(node.columns, node.here, node.sums)
    expected = [node.here.parts[:, node.bin == b].sum(axis=1) for b in range(node.known + 1)]
    assert node.sums.T.tolist() == np.array(expected).tolist()


@pytest.mark.parametrize(("seed", "slots"), CASES)
def test_the_threshold_is_the_first_of_the_best(seed: int, slots: int) -> None:
    node = Rows(seed, slots)
    found = threshold(node.columns, node.here, node.whole, node.sums, node.left)
    assert found == pytest.approx(first_of_the_best(node.scores()))


@pytest.mark.parametrize(("seed", "slots"), CASES)
def test_sorted_rows_and_a_histogram_give_the_same_threshold(seed: int, slots: int) -> None:
    node = Rows(seed, slots, missing=0.0)
    found = threshold_of_few(node.columns, node.here, node.whole, node.few)
    assert (node.few.order[: len(node.rows)] // FEW).tolist() == sorted(node.bin)
    assert found == pytest.approx(first_of_the_best(node.scores()))
    assert found == pytest.approx(threshold(node.columns, node.here, node.whole, node.sums, node.left))


@pytest.mark.parametrize(("seed", "slots"), CASES)
def test_the_level_is_the_first_of_the_best(seed: int, slots: int) -> None:
    node = Rows(seed, slots, ordered=False)
    scores = [(node.score(node.bin == one), one, one, 0) for one in np.unique(node.bin)]
    found = level(node.columns, node.here, node.whole, node.sums, node.left)
    assert found == pytest.approx(first_of_the_best(scores))


@pytest.mark.parametrize("seed", range(5))
def test_a_random_threshold_scores_what_its_sides_do_and_lies_where_it_was_drawn(seed: int) -> None:
    node, state, wish = Rows(seed, 3), np.array([seed + 1]), np.array([np.nan])
    drawing, missing = drawing_of(node.binned), node.bin == node.known
    for _ in range(20):
        score, low, high, side, cut = drawn_threshold(
            node.columns, drawing, node.here, node.whole, node.left, state, wish
        )
        assert score == pytest.approx(node.score((node.bin <= low) | (missing & (side == 1))))
        assert node.columns.highest[0, low] <= cut < node.columns.lowest[0, high]
        assert cut == wish[0]


@pytest.mark.parametrize("missing_left", [False, True])
def test_rows_are_dealt_in_their_order(missing_left: bool) -> None:
    node = Rows(3, 2)
    goes = (node.bin <= 4) | ((node.bin == node.known) & missing_left)
    expected = [*node.rows[goes], *node.rows[~goes]]
    room = np.empty(len(node.rows), np.uint32)
    lefts, missing = dealt(node.columns.bins[0], 0, 4, node.known, missing_left, node.rows, room)
    assert (lefts, missing) == (goes.sum(), (node.bin == node.known).sum())
    assert node.rows.tolist() == expected


def test_words_hold_as_many_classes_as_have_room() -> None:
    """1,000 rows need 10 bits for each class, so that six share a word of 63."""
    slot, weight = np.arange(1000) % 26, np.ones(1000, np.int64)
    share = packed(slot, weight, 1.0, 26)
    assert (share.bits, share.classes, share.parts.shape) == (10, 6, (5, 1000))
    sums = share.parts.sum(axis=1)
    fields = [(int(sums[k // 6]) >> (10 * (k % 6))) & 1023 for k in range(26)]
    assert fields == np.bincount(slot).tolist()


def test_weights_count_in_units() -> None:
    assert [one.tolist() for one in in_units(np.array([0.5, 1.5, 0.0]))[:1]] == [[1, 3, 0]]
    counts, unit = in_units(np.array([1.0, np.pi, 0.0, 1e-30]))
    assert counts * unit == pytest.approx([1.0, np.pi, 0.0, 0.0], abs=1e-11)
    assert (counts > 0).tolist() == [True, True, False, True]


def test_random_numbers_are_even_and_repeat_with_their_state() -> None:
    state, again = np.array([7]), np.array([7])
    drawn = [random_below(state, 6) for _ in range(3000)]
    assert np.bincount(drawn) / 3000 == pytest.approx([1 / 6] * 6, abs=0.02)
    assert [random_below(again, 6) for _ in range(3000)] == drawn
    shares: Array = np.array([random_share(state) for _ in range(3000)])
    assert shares.mean() == pytest.approx(0.5, abs=0.02)
    assert (shares >= 0).all()
    assert (shares < 1).all()
