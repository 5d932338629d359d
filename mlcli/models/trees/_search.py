"""The two routes of a search: NumPy for small tables, where loading compiled code costs more than it saves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields

import numpy as np

from mlcli.core.tables import Rows
from mlcli.models.trees._criteria import Criterion
from mlcli.models.trees._levels import Level, descend
from mlcli.models.trees._runs import Cuts, between_values, information_of

COMPILED_FROM = 20_000
"""From how many cells of ordered features on loading the compiled search (0.3 s) pays within ten folds."""

NominalCuts = Callable[[Level, int, Criterion, float], Cuts]
OrderedCuts = Callable[[Level, Criterion, float], list[Cuts]]


@dataclass(frozen=True)
class Route:
    """How thresholds are searched and rows carried to the next level; both routes give the same tree."""

    ordered_cuts: OrderedCuts
    descend: Callable[[Rows, Rows], Rows]

    def search(self, level: Level, nominal_cuts: NominalCuts, criterion: Criterion, least: float) -> Cuts:
        """The best cut of every open node by every feature (nodes × F)."""
        thresholds = iter(self.ordered_cuts(level, criterion, least) if len(level) else ())
        found = [
            next(thresholds) if ordered else nominal_cuts(level, feature, criterion, least)
            for feature, ordered in enumerate(level.data.ordered if len(level) else ())
        ]
        return _side_by_side(found, len(level))


def route_for(cells: int) -> Route:
    """The faster route for a table with this many ordered cells."""
    return compiled_route() if cells >= COMPILED_FROM else NUMPY_ROUTE


def _ordered_by_numpy(level: Level, criterion: Criterion, least: float) -> list[Cuts]:
    return between_values(level, np.flatnonzero(level.data.ordered), criterion, least)


NUMPY_ROUTE = Route(_ordered_by_numpy, descend)


def compiled_route() -> Route:
    """The search in compiled loops; Numba is imported here and nowhere else."""
    from mlcli.kernels.tree_splits import best_thresholds, grouped_by_node

    def ordered_cuts(level: Level, criterion: Criterion, least: float) -> list[Cuts]:
        features = np.flatnonzero(level.data.ordered)
        shape = (len(features), len(level))
        gain, left = np.full(shape, -np.inf), np.zeros(shape)
        low, high, missing_left = np.zeros(shape, np.int32), np.zeros(shape, np.int32), np.zeros(shape, np.bool_)
        best_thresholds(
            features, level.orders, level.data.ranks, level.data.missing_rank, level.starts,
            level.targets.slot, level.amount, level.targets.weight, level.sums, level.weight,
            criterion.total(level.sums, level.weight), level.tolerance, least, criterion.code,
            gain, left, low, high, missing_left,
        )  # fmt: skip
        information = [information_of(row, level.weight) for row in left]
        return [Cuts(*one) for one in zip(gain, information, low, high, missing_left, strict=True)]

    def carry(orders: Rows, node: Rows) -> Rows:
        kept, nodes = int((node >= 0).sum()), int(node.max(initial=-1)) + 1
        below = np.empty((len(orders), kept), np.intp)
        grouped_by_node(orders, node, np.cumsum(np.bincount(node[node >= 0], minlength=nodes)), below)
        return below

    return Route(ordered_cuts, carry)


def _side_by_side(found: list[Cuts], nodes: int) -> Cuts:
    """The cuts of all features as one, nodes × F."""
    none = np.empty(nodes), np.empty(nodes), *np.empty((2, nodes), np.int32), np.empty(nodes, bool)
    width = len(found)
    found = found or [Cuts(*none)]
    columns = (np.stack([getattr(cuts, part.name) for cuts in found], axis=1)[:, :width] for part in fields(Cuts))
    return Cuts(*columns)
