"""Compiled splitting and growing beside plain twins that say what is meant."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from mlcli.core.tables import Array
from mlcli.kernels.chance import random_below, random_share
from mlcli.kernels.growing import cut_between
from mlcli.kernels.histogram_splits import (
    FEW,
    Whole,
    best_level,
    best_threshold,
    best_threshold_of_few,
    sort_few,
)
from mlcli.kernels.histograms import Columns, Here, add_up
from mlcli.kernels.random_splits import random_threshold
from mlcli.models.trees._binning import binned

TOLERANCE = 1e-12


class Rows:
    """A node of some rows of one column with gaps, with classes or centred values, and weights."""

    def __init__(self, seed: int, slots: int, n: int = 30, missing: float = 0.2, ordered: bool = True) -> None:
        rng = np.random.default_rng(seed)
        cells = np.round(rng.normal(size=n), 1) if ordered else rng.integers(0, 5, n).astype(float)
        if ordered:
            cells[rng.random(n) < missing] = np.nan
        found = binned(cells[:, None], np.array([ordered]), np.array([0 if ordered else 5]))
        self.columns = Columns(found.bins, found.known, found.ordered, found.lowest, found.highest)
        self.rows = rng.permutation(n)[: n - 5].astype(np.int32)
        weight = rng.integers(1, 4, n)[self.rows].astype(float)
        slot = rng.integers(0, slots, n)[self.rows]
        amount = weight if slots > 1 else weight * rng.normal(size=len(weight))
        self.here = Here(self.rows, 0, len(self.rows), slot, np.column_stack([amount, weight]))
        self.each = np.column_stack([np.eye(slots)[slot] * amount[:, None], weight])
        self.whole = Whole(self.each.sum(axis=0), 4.0, TOLERANCE)
        self.bin = found.bins[0, self.rows].astype(int)
        self.known = int(found.known[0])
        self.sums = np.empty((found.width, slots + 1))
        self.left = np.empty(slots + 1)

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


@pytest.mark.parametrize("slots", [1, 3])
@pytest.mark.parametrize("seed", range(5))
def test_the_histogram_of_a_node_is_what_its_rows_sum_up_to(slots: int, seed: int) -> None:
    node = Rows(seed, slots)
    add_up(node.columns, 0, node.here, node.sums)
    expected = [node.each[node.bin == b].sum(axis=0) for b in range(node.known + 1)]
    assert node.sums == pytest.approx(np.array(expected))


@pytest.mark.parametrize("slots", [1, 3])
@pytest.mark.parametrize("seed", range(5))
def test_the_threshold_is_the_first_of_the_best(slots: int, seed: int) -> None:
    node = Rows(seed, slots)
    add_up(node.columns, 0, node.here, node.sums)
    found = best_threshold(node.sums, node.known, node.whole, node.left, np.empty(len(node.sums) + 1, np.int32))
    assert found == pytest.approx(first_of_the_best(node.scores()))


@pytest.mark.parametrize("slots", [1, 3])
@pytest.mark.parametrize("seed", range(5))
def test_sorted_rows_and_a_histogram_give_the_same_threshold(slots: int, seed: int) -> None:
    node = Rows(seed, slots, missing=0.0)
    order = np.empty(FEW, np.int16)
    sort_few(node.columns, 0, node.here, np.empty((2, FEW), np.int16), order)
    assert (order[: len(node.rows)] // FEW).tolist() == sorted(node.bin)
    found = best_threshold_of_few(node.here, node.whole, order, node.left)
    assert found == pytest.approx(first_of_the_best(node.scores()))


@pytest.mark.parametrize("slots", [1, 3])
@pytest.mark.parametrize("seed", range(5))
def test_the_level_is_the_first_of_the_best(slots: int, seed: int) -> None:
    node = Rows(seed, slots, ordered=False)
    add_up(node.columns, 0, node.here, node.sums)
    scores = [(node.score(node.bin == level), level, level, 0) for level in np.unique(node.bin)]
    assert best_level(node.sums, node.known, node.whole) == pytest.approx(first_of_the_best(scores))


@pytest.mark.parametrize("seed", range(5))
def test_a_random_threshold_scores_what_its_sides_do_and_lies_where_it_was_drawn(seed: int) -> None:
    node, state, wish = Rows(seed, 3), np.array([seed + 1]), np.array([np.nan])
    for _ in range(20):
        found = random_threshold(node.columns, 0, node.here, node.whole, node.sums, state, wish)
        score, low, high, side = found
        missing = node.bin == node.known
        assert score == pytest.approx(node.score((node.bin <= low) | (missing & (side == 1))))
        cut = cut_between(node.columns, 0, low, high, wish[0])
        assert node.columns.highest[0, low] <= cut < node.columns.lowest[0, high]
        assert cut == wish[0]


def test_random_numbers_are_even_and_repeat_with_their_state() -> None:
    state, again = np.array([7]), np.array([7])
    drawn = [random_below(state, 6) for _ in range(3000)]
    assert np.bincount(drawn) / 3000 == pytest.approx([1 / 6] * 6, abs=0.02)
    assert [random_below(again, 6) for _ in range(3000)] == drawn
    shares: Array = np.array([random_share(state) for _ in range(3000)])
    assert shares.mean() == pytest.approx(0.5, abs=0.02)
    assert (shares >= 0).all()
    assert (shares < 1).all()
