"""Runs: the rows of one node that share one value of a feature, and the splits between or around them."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from mlcli.core.tables import Array, Flags, Rows
from mlcli.models.trees._criteria import Criterion, Total, plogp
from mlcli.models.trees._levels import Level, summed
from mlcli.models.trees._presort import Ranks


@dataclass(frozen=True, eq=False)
class Cuts:
    """The best way to split each open node by one feature: what it gains (-inf where there is none).

    Of an ordered feature, rows of rank ``low`` and below go left, those of ``high`` and above right, and missing
    ones left where ``missing_left``. Of one level against the rest, ``low`` is the level.
    """

    gain: Array
    information: Array
    """The entropy of the branches' weights (C4.5's split information)."""
    low: Ranks
    high: Ranks
    missing_left: Flags

    def of(self, node: Rows, feature: Rows) -> Cuts:
        """Of cuts of all features (nodes × F), the one of some nodes by the feature of each."""
        return Cuts(*(getattr(self, described.name)[node, feature] for described in fields(self)))


@dataclass(frozen=True, eq=False)
class Runs:
    """The runs of one feature over all open nodes, by node, then by rank."""

    node: Rows
    rank: Ranks
    sums: Array
    weight: Array
    first: Rows
    """The first run of each node, and the number of runs."""

    @property
    def is_last(self) -> Flags:
        """Whether a run is the last of its node."""
        last: Flags = np.r_[self.node[1:] != self.node[:-1], True]
        return last


def runs_of(level: Level, feature: int) -> Runs:
    """Sum up each run of a feature."""
    rows, node = level.orders[feature], level.node_of_place
    rank = level.data.ranks[feature][rows]
    begins = np.r_[True, (rank[1:] != rank[:-1]) | (node[1:] != node[:-1])]
    run = np.cumsum(begins) - 1
    count = int(run[-1]) + 1
    return Runs(
        node=node[begins],
        rank=rank[begins],
        sums=level.targets.sums(run, count, rows, level.amount[rows]),
        weight=summed(level.targets.weight[rows], run, count),
        first=np.r_[run[level.starts[:-1]], count],
    )


def between_values(level: Level, feature: int, criterion: Criterion, least: float) -> Cuts:
    """Thresholds of an ordered feature: everything up to a run against the rest, missing rows on either side."""
    runs = runs_of(level, feature)
    missing = runs.rank == level.data.missing_rank[feature]
    sums, weight = _sums_so_far(runs, runs.sums), _sums_so_far(runs, runs.weight[:, None])[:, 0]
    cut = ~runs.is_last & ~missing
    sides = [_gain(level, runs, sums, weight, criterion.total, least, cut)]
    if missing.any():
        lost_sums, lost_weight = np.zeros_like(level.sums), np.zeros(len(level))
        lost_sums[runs.node[missing]], lost_weight[runs.node[missing]] = runs.sums[missing], runs.weight[missing]
        more, heavier = sums + lost_sums[runs.node], weight + lost_weight[runs.node]
        known_after = cut & ~np.r_[missing[1:], True] & (lost_weight[runs.node] > 0)
        sides.append(_gain(level, runs, more, heavier, criterion.total, least, known_after))
    gains = np.column_stack(sides)
    gain, best = _first_of_the_best(level, runs, gains)
    run, side = np.divmod(best, len(sides))
    left = np.where(side == 1, (heavier if len(sides) > 1 else weight)[run], weight[run])
    high = runs.rank[np.minimum(run + 1, len(runs.rank) - 1)]
    return Cuts(gain, information_of(left, level.weight), runs.rank[run], high, side == 1)


def one_against_the_rest(level: Level, feature: int, criterion: Criterion, least: float) -> Cuts:
    """One level of a nominal feature against all others."""
    runs = runs_of(level, feature)
    several = np.diff(runs.first)[runs.node] > 1
    gains = _gain(level, runs, runs.sums, runs.weight, criterion.total, least, several)
    gain, run = _first_of_the_best(level, runs, gains[:, None])
    rank = runs.rank[run]
    return Cuts(gain, information_of(runs.weight[run], level.weight), rank, rank, np.zeros(len(level), bool))


def one_branch_each(level: Level, feature: int, criterion: Criterion, least: float) -> Cuts:
    """A branch for every level of a nominal feature that the node holds."""
    runs = runs_of(level, feature)
    after = np.add.reduceat(criterion.total(runs.sums, runs.weight), runs.first[:-1])
    gain = (criterion.total(level.sums, level.weight) - after) / level.weight
    lightest = np.minimum.reduceat(runs.weight, runs.first[:-1])
    possible = (np.diff(runs.first) > 1) & (lightest >= least)
    information = -np.add.reduceat(plogp(runs.weight / level.weight[runs.node]), runs.first[:-1])
    rank = runs.rank[runs.first[:-1]]
    return Cuts(np.where(possible, gain, -np.inf), information, rank, rank, np.zeros(len(level), bool))


def _sums_so_far(runs: Runs, amounts: Array) -> Array:
    """Sums (R × K) over a node's runs up to and with each one."""
    total = np.cumsum(amounts, axis=0)
    before = (total - amounts)[runs.first[:-1]]
    so_far: Array = total - before[runs.node]
    return so_far


def _gain(
    level: Level, runs: Runs, sums: Array, weight: Array, total: Total, least: float, possible: Flags
) -> Array:
    """What each run's split takes away of the impurity, if ``sums`` and ``weight`` go left; -inf if it may not."""
    other_sums, other = level.sums[runs.node] - sums, level.weight[runs.node] - weight
    after = total(sums, weight) + total(
        np.maximum(other_sums, 0.0) if level.targets.slots > 1 else other_sums, other
    )
    before = total(level.sums, level.weight)[runs.node]
    possible = possible & (weight >= least) & (other >= least) & (other > 0)
    return np.where(possible, (before - after) / level.weight[runs.node], -np.inf)


def _first_of_the_best(level: Level, runs: Runs, gains: Array) -> tuple[Array, Rows]:
    """Per node the best gain and the first place (run × side) that reaches it but for rounding."""
    per_run = gains.max(axis=1)
    best = np.maximum.reduceat(per_run, runs.first[:-1])
    reached = np.flatnonzero(gains >= (best - level.tolerance)[runs.node][:, None])
    node = runs.node[reached // gains.shape[1]]
    place = reached[np.r_[True, node[1:] != node[:-1]]]
    return gains.reshape(-1)[place], place


def information_of(left: Array, weight: Array) -> Array:
    """The entropy of two branches."""
    share = np.clip(left / weight, 0.0, 1.0)
    return -plogp(share) - plogp(1 - share)
