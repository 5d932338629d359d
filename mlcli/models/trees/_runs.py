"""Runs: the rows of one node that share one value of a feature, and the splits between or around them."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Self

import numpy as np

from mlcli.core.tables import Array, Flags, Rows
from mlcli.models.trees._criteria import Criterion, Total, plogp
from mlcli.models.trees._levels import Level, Targets, summed
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
class Strip:
    """The open nodes of a level by some features, one feature after another: each pair is a node of the strip.

    A search over a strip takes as many steps for all features as for one.
    """

    targets: Targets
    rows: Rows
    """By node, then in ascending order of its feature."""
    rank: Ranks
    amount: Array
    missing_rank: Ranks
    """The rank of missing cells of each place."""
    node: Rows
    """The node of each place."""
    starts: Rows
    """Where the places of each node begin."""
    sums: Array
    weight: Array
    tolerance: Array

    @classmethod
    def of(cls, level: Level, features: Rows) -> Self:
        """The rows of the open nodes in the orders of some features."""
        orders = level.orders[features]
        each, kept = np.arange(len(features)), orders.shape[1]
        rows, rank = orders.ravel(), np.take_along_axis(level.data.ranks[features], orders, axis=1).ravel()
        return cls(
            targets=level.targets,
            rows=rows,
            rank=rank,
            amount=level.amount[rows],
            missing_rank=np.repeat(level.data.missing_rank[features], kept),
            node=np.add.outer(each * len(level), level.node_of_place).ravel(),
            starts=np.add.outer(each * kept, level.starts[:-1]).ravel(),
            sums=np.concatenate([level.sums] * len(features)),
            weight=np.concatenate([level.weight] * len(features)),
            tolerance=np.concatenate([level.tolerance] * len(features)),
        )

    def __len__(self) -> int:
        return len(self.weight)


@dataclass(frozen=True, eq=False)
class Runs:
    """The runs of a strip, by node, then by rank."""

    node: Rows
    rank: Ranks
    sums: Array
    weight: Array
    missing: Flags
    first: Rows
    """The first run of each node, and the number of runs."""

    @cached_property
    def is_last(self) -> Flags:
        """Whether a run is the last of its node."""
        last = np.zeros(len(self.node), bool)
        last[self.first[1:] - 1] = True
        return last


def runs_of(strip: Strip) -> Runs:
    """Sum up each run of a strip."""
    begins = _is_new(strip.rank)
    begins[strip.starts] = True
    places = np.flatnonzero(begins)
    run = np.cumsum(begins) - 1
    return Runs(
        node=strip.node[places],
        rank=strip.rank[places],
        sums=strip.targets.sums(run, len(places), strip.rows, strip.amount),
        weight=summed(strip.targets.weight[strip.rows], run, len(places)),
        missing=strip.rank[places] == strip.missing_rank[places],
        first=np.append(run[strip.starts], len(places)),
    )


def between_values(level: Level, features: Rows, criterion: Criterion, least: float) -> list[Cuts]:
    """Thresholds of ordered features: everything up to a run against the rest, missing rows on either side."""
    if not len(features):
        return []
    strip = Strip.of(level, features)
    runs = runs_of(strip)
    missing = runs.missing
    sums, weight = _sums_so_far(runs, runs.sums), _sums_so_far(runs, runs.weight[:, None])[:, 0]
    cut = ~runs.is_last & ~missing
    sides = [_gain(strip, runs, sums, weight, criterion.total, least, cut)]
    if missing.any():
        lost_sums, lost_weight = np.zeros_like(strip.sums), np.zeros(len(strip))
        lost_sums[runs.node[missing]], lost_weight[runs.node[missing]] = runs.sums[missing], runs.weight[missing]
        more, heavier = sums + lost_sums[runs.node], weight + lost_weight[runs.node]
        known_after = cut & ~np.append(missing[1:], True) & (lost_weight[runs.node] > 0)
        sides.append(_gain(strip, runs, more, heavier, criterion.total, least, known_after))
    gains = np.column_stack(sides)
    gain, best = _first_of_the_best(strip, runs, gains)
    run, side = np.divmod(best, len(sides))
    left = np.where(side == 1, (heavier if len(sides) > 1 else weight)[run], weight[run])
    high = runs.rank[np.minimum(run + 1, len(runs.rank) - 1)]
    found = (gain, information_of(left, strip.weight), runs.rank[run], high, side == 1)
    return [Cuts(*one) for one in zip(*(part.reshape(len(features), -1) for part in found), strict=True)]


def one_against_the_rest(level: Level, feature: int, criterion: Criterion, least: float) -> Cuts:
    """One level of a nominal feature against all others."""
    strip = Strip.of(level, np.array([feature]))
    runs = runs_of(strip)
    several = np.diff(runs.first)[runs.node] > 1
    gains = _gain(strip, runs, runs.sums, runs.weight, criterion.total, least, several)
    gain, run = _first_of_the_best(strip, runs, gains[:, None])
    rank = runs.rank[run]
    return Cuts(gain, information_of(runs.weight[run], level.weight), rank, rank, np.zeros(len(level), bool))


def one_branch_each(level: Level, feature: int, criterion: Criterion, least: float) -> Cuts:
    """A branch for every level of a nominal feature that the node holds."""
    strip = Strip.of(level, np.array([feature]))
    runs = runs_of(strip)
    after = np.add.reduceat(criterion.total(runs.sums, runs.weight), runs.first[:-1])
    gain = (criterion.total(level.sums, level.weight) - after) / level.weight
    lightest = np.minimum.reduceat(runs.weight, runs.first[:-1])
    possible = (np.diff(runs.first) > 1) & (lightest >= least)
    information = -np.add.reduceat(plogp(runs.weight / level.weight[runs.node]), runs.first[:-1])
    rank = runs.rank[runs.first[:-1]]
    return Cuts(np.where(possible, gain, -np.inf), information, rank, rank, np.zeros(len(level), bool))


def _sums_so_far(runs: Runs, amounts: Array) -> Array:
    """Sums (R × K) over a node's runs up to and with each one."""
    total = np.cumsum(amounts, axis=0, dtype=np.longdouble)
    before = (total - amounts)[runs.first[:-1]]
    so_far: Array = (total - before[runs.node]).astype(np.float64)
    return so_far


def _gain(
    strip: Strip, runs: Runs, sums: Array, weight: Array, total: Total, least: float, possible: Flags
) -> Array:
    """What each run's split takes away of the impurity, if ``sums`` and ``weight`` go left; -inf if it may not."""
    other_sums, other = strip.sums[runs.node] - sums, strip.weight[runs.node] - weight
    after = total(sums, weight) + total(
        np.maximum(other_sums, 0.0) if strip.targets.slots > 1 else other_sums, other
    )
    before = total(strip.sums, strip.weight)[runs.node]
    possible = possible & (weight >= least) & (other >= least) & (other > 0)
    return np.where(possible, (before - after) / strip.weight[runs.node], -np.inf)


def _first_of_the_best(strip: Strip, runs: Runs, gains: Array) -> tuple[Array, Rows]:
    """Per node the best gain and the first place (run × side) that reaches it but for rounding."""
    per_run = gains.max(axis=1)
    best = np.maximum.reduceat(per_run, runs.first[:-1])
    reached = np.flatnonzero(gains >= (best - strip.tolerance)[runs.node][:, None])
    node = runs.node[reached // gains.shape[1]]
    place = reached[_is_new(node)]
    return gains.reshape(-1)[place], place


def information_of(left: Array, weight: Array) -> Array:
    """The entropy of two branches."""
    share = np.clip(left / weight, 0.0, 1.0)
    return -plogp(share) - plogp(1 - share)


def _is_new(values: Rows | Ranks) -> Flags:
    """Where a value is not that of the place before."""
    new = np.ones(len(values), bool)
    np.not_equal(values[1:], values[:-1], out=new[1:])
    return new
