"""Compiled splitting and growing beside plain twins that say what is meant."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from mlcli.core.tables import Array
from mlcli.engines.trees.growing import Targets, bin_columns, in_units, thresholds_between, workspace
from mlcli.engines.trees.structure import Cells
from mlcli.kernels.trees.growing import partition, search_random
from mlcli.kernels.trees.records import LEAF, NODE, Limits
from mlcli.kernels.trees.splits import ParentNode, add_up, best_split, random_below, random_share

TOLERANCE = 1e-12


class Rows:
    """A node of some rows of one column with gaps, with classes or centred values, and weights."""

    def __init__(self, seed: int, slots: int, n: int = 30, ordered: bool = True, decimals: int = 1) -> None:
        rng = np.random.default_rng(seed)
        cells = np.round(rng.normal(size=n), decimals) if ordered else rng.integers(0, 5, n).astype(float)
        if ordered:
            cells[rng.random(n) < 0.2] = np.nan
        levels = np.array([0 if ordered else 5])
        self.columns = found = bin_columns(Cells(cells[:, None], levels), None)
        self.rows = rng.permutation(n)[: n - 5].astype(np.uint32)
        weight, slot = rng.integers(1, 4, n), rng.integers(0, slots, n)
        output = np.ones(n) if slots > 1 else rng.integers(-9, 9, n).astype(float)
        share = Targets(slot, output, slots).packed(weight, 1.0)
        parts = np.ascontiguousarray(share.parts[:, self.rows])
        amount = (
            np.eye(slots)[slot] * weight[:, None] if slots > 1 else share.parts[0][:, None] * share.scale.amount
        )
        self.each = np.column_stack([amount.astype(float), weight])[self.rows]
        totals = parts.sum(axis=1)
        tolerance = TOLERANCE * (1.0 if slots > 1 else 1e30 * share.scale.amount**2)
        self.parent = ParentNode(totals, share.scale, Limits(), 4, tolerance, -np.inf, np.inf)
        self.bin = found.bins[0, self.rows].astype(int)
        self.known = int(found.known[0])
        self.space = workspace(found, self.rows.astype(np.intp), len(share.parts), np.array([0]), seed + 1)
        self.space.parts[:] = parts
        self.sums = np.empty(self.space.cuts.along.shape, np.int64)

    def split(self) -> tuple[float, int, int, int]:
        """The best split of the column."""
        columns, space = self.columns, self.space
        column, ordered = columns.bins[0], columns.ordered[0]
        buffers = self.parent, self.sums, space.order, space.cuts
        return best_split(column, self.known, ordered, self.rows, space.parts, *buffers)

    def drawn_split(self, room: Any) -> Any:
        """A split at a random threshold, as it is noted of a node."""
        nodes = np.zeros(1, NODE)
        nodes["feature"], nodes["parent"] = LEAF, -1
        search_random(self.columns, 0, nodes, self.rows, self.parent, 0.0, -np.inf, np.inf, self.space, room)
        return nodes[0]

    def score(self, left: Any) -> float:
        """Σ S² / W of both sides, by the definition; -inf if one is too light."""
        parts = [self.each[left].sum(axis=0), self.each[~left].sum(axis=0)]
        if min(part[-1] for part in parts) < self.parent.least:
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
    return next(split for split in scores if split[0] >= most * (1 - 1e-12) - TOLERANCE)


CASES = [pytest.param(seed, slots, id=f"{slots}-{seed}") for slots in (1, 3, 30) for seed in range(4)]


@pytest.mark.parametrize(("seed", "slots"), CASES)
def test_the_histogram_of_a_node_is_what_its_rows_sum_up_to(seed: int, slots: int) -> None:
    node = Rows(seed, slots)
    add_up(node.columns.bins[0], node.known + 1, node.rows, node.space.parts, node.sums)
    expected = [node.space.parts[:, node.bin == b].sum(axis=1) for b in range(node.known + 1)]
    assert node.sums[:, : node.known + 1].T.tolist() == np.array(expected).tolist()


@pytest.mark.parametrize(("seed", "slots"), CASES)
@pytest.mark.parametrize(("n", "decimals"), [(30, 1), (150, 1), (150, 6)], ids=["few", "histogram", "sorted"])
def test_the_threshold_is_the_first_of_the_best(seed: int, slots: int, n: int, decimals: int) -> None:
    node = Rows(seed, slots, n, decimals=decimals)
    found = node.split()
    assert found == pytest.approx(first_of_the_best(node.scores()))


@pytest.mark.parametrize(("seed", "slots"), CASES)
def test_the_level_is_the_first_of_the_best(seed: int, slots: int) -> None:
    node = Rows(seed, slots, ordered=False)
    scores = [(node.score(node.bin == one), one, one, 0) for one in np.unique(node.bin)]
    found = node.split()
    assert found == pytest.approx(first_of_the_best(scores))


@pytest.mark.parametrize("seed", range(5))
def test_a_random_threshold_scores_what_its_sides_do_and_lies_where_it_was_drawn(seed: int) -> None:
    node = Rows(seed, 3)
    room, missing = np.empty(30, np.uint8), node.bin == node.known
    for _ in range(20):
        found = node.drawn_split(room)
        score, low, high, side, drawn = (found[name].item() for name in ("gain", "low", "high", "side", "cut"))
        assert score == pytest.approx(node.score((node.bin <= low) | (missing & (side == 1))))
        cut = thresholds_between(node.columns, np.array([0]), np.array([low]), np.array([high]), drawn)
        assert node.columns.highest[0, low] <= cut[0] < node.columns.lowest[0, high]
        assert cut[0] == drawn


def test_rows_are_partitioned_in_their_order() -> None:
    node = Rows(3, 2)
    goes = node.bin <= 4
    expected = [*node.rows[goes], *node.rows[~goes]]
    assert partition(node.rows, goes.astype(np.uint8), np.empty(len(node.rows), np.uint32)) == goes.sum()
    assert node.rows.tolist() == expected


def test_words_hold_as_many_classes_as_have_room() -> None:
    """1,000 rows need 10 bits for each class, so that six share a word of 63."""
    slot, weight = np.arange(1000) % 26, np.ones(1000, np.int64)
    share = Targets(slot, np.ones(1000), 26).packed(weight, 1.0)
    assert (share.scale.bits, share.parts.shape) == (10, (5, 1000))
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
