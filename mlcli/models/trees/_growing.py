"""Growing a tree level by level: search every open node, choose a feature for each, deal its rows to children."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mlcli.core.tables import Array, Flags, Rows
from mlcli.models.trees._algorithms import NONE, Algorithm
from mlcli.models.trees._criteria import Criterion
from mlcli.models.trees._levels import Level, NodeSums, Targets, descend, level_of, node_sums, summed
from mlcli.models.trees._presort import Presorted, presort
from mlcli.models.trees._recording import Record, Splits
from mlcli.models.trees._runs import Cuts
from mlcli.models.trees._search import search
from mlcli.models.trees._structure import Tree

NEARLY = 1 - 1e-9
"""Summed weights reach a limit when they come this close."""


@dataclass(frozen=True)
class Limits:
    """When a node becomes a leaf. Rows are counted by weight; the smallest values set no limit at all."""

    max_depth: int | None = None
    min_split: int = 2
    min_leaf: int = 1
    min_gain: float = 0.0
    purity: float = 1.0

    @property
    def least(self) -> float:
        """The least weight of a leaf."""
        return self.min_leaf * NEARLY if self.min_leaf > 1 else 0.0

    @property
    def fewest(self) -> float:
        """The least weight of a node that is split."""
        return self.min_split * NEARLY if self.min_split > 2 else 0.0

    def open(self, depth: int, known: NodeSums, root_spread: float, criterion: Criterion) -> Flags:
        """Which nodes of one depth may be split."""
        if self.max_depth is not None and depth >= self.max_depth:
            return np.zeros(len(known.weight), dtype=bool)
        impure = criterion.impurer_than(self.purity, known.mean, known.spread, root_spread)
        return impure & (known.weight >= self.fewest)


@dataclass(frozen=True)
class Rules:
    """By what rules a tree grows."""

    criterion: Criterion
    algorithm: Algorithm
    gate: str
    limits: Limits


def grown_by_levels(cells: Array, levels: Rows, targets: Targets, rules: Rules, root: Rows | None = None) -> Tree:
    """The tree of some cells (n × F); or several as one, ``root`` being that of each row."""
    root = np.zeros(len(cells), np.intp) if root is None else root
    return Grower(presort(cells, levels == 0, levels), targets, rules).grow(root)


@dataclass(frozen=True, eq=False)
class Grower:
    """Everything that stays the same while one tree grows."""

    data: Presorted
    targets: Targets
    rules: Rules

    def grow(self, node: Rows) -> Tree:
        """From the root of each row, until no node is open."""
        orders = self.data.order
        known = node_sums(self.targets, node, int(node.max()) + 1, np.arange(len(node)))
        root_spread = float(known.spread[0])
        record = Record()
        while len(known.weight):
            impurity = self.rules.criterion.impurity(known.mean, known.spread)
            may_split = self.rules.limits.open(record.depth, known, root_spread, self.rules.criterion)
            level = self._open_level(node, orders, known, impurity, may_split)
            splits = self._split(level)
            record.add(known, impurity, np.flatnonzero(may_split), splits)
            node, orders = splits.child, level.orders
            held = np.flatnonzero(node >= 0)
            known = node_sums(self.targets, node[held], len(splits.parent), held)
        return record.tree()

    def _open_level(self, node: Rows, orders: Rows, known: NodeSums, impurity: Array, may_split: Flags) -> Level:
        """The rows of the nodes that may split, those nodes numbered anew."""
        number = np.where(may_split, np.cumsum(may_split) - 1, -1)
        node = np.where(node >= 0, number[node], -1)
        opened = NodeSums(known.weight[may_split], known.mean[may_split], known.spread[may_split])
        tolerance = self.rules.criterion.tolerance(impurity[may_split])
        return level_of(self.data, self.targets, node, descend(orders, node), opened, tolerance)

    def _split(self, level: Level) -> Splits:
        """Choose a feature for each open node and deal its rows to children."""
        cuts = search(level, self.rules.algorithm.nominal_cuts, self.rules.criterion, self.rules.limits.least)
        feature = self.rules.algorithm.choose(cuts, level.tolerance, self.rules.gate, self.rules.limits.min_gain)
        asking = np.flatnonzero(feature != NONE)
        number = np.full(len(level) + 1, -1)  # the last entry is for rows in no open node
        number[asking] = np.arange(len(asking))
        rows = np.flatnonzero(number[level.node] >= 0)
        parent, chosen = number[level.node[rows]], cuts.of(asking, feature[asking])
        branch, empty = self._branch(rows, parent, feature[asking], chosen)
        span = int(branch.max(initial=0)) + 1
        keys, which = np.unique(parent * span + branch, return_inverse=True)
        child = np.full(len(level.node), -1)
        child[rows] = which
        holds_empty = summed(empty.astype(float), parent, len(asking)) > 0
        return Splits(self.data, asking, feature[asking], chosen, holds_empty, child, keys // span, keys % span)

    def _branch(self, rows: Rows, parent: Rows, feature: Rows, chosen: Cuts) -> tuple[Rows, Flags]:
        """The branch that each row takes at its node, and whether its ordered cell is missing."""
        asked, low = feature[parent], chosen.low[parent].astype(np.intp)
        rank, ordered = self.data.ranks[asked, rows].astype(np.intp), self.data.ordered[asked]
        empty = ordered & (rank == self.data.missing_rank[asked])
        right = np.where(empty, ~chosen.missing_left[parent], rank > low)
        nominal = self.rules.algorithm.nominal_branch(rank, low, self.data.levels[asked])
        return np.where(ordered, right, nominal).astype(np.intp), empty
