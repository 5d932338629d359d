"""Growing trees by compiled loops on the same binned rows, one after another, in room that is used again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from threading import get_ident
from typing import TYPE_CHECKING, Any

import numpy as np

from mlcli.engines.trees.binning import Binned
from mlcli.engines.trees.criteria import Criterion
from mlcli.engines.trees.structure import LEAF, STOPS, Trees, trees_of
from mlcli.engines.trees.targets import Packed, Targets

if TYPE_CHECKING:
    from mlcli.kernels.trees import growing as loops
    from mlcli.kernels.trees.few import Few
    from mlcli.kernels.trees.splits import Chance
    from mlcli.kernels.trees.sums import Room

NEARLY = 1 - 1e-9
"""Summed weights reach a limit when they come this close."""
NO_LIMIT = 2**31 - 1
GROWTH = {"last": 0, "leaf-wise": 1, "depth-wise": 2}
"""Which leaf is split next, as compiled loops number it: any, the one that gains most, or that among the least deep."""


@dataclass(frozen=True)
class Limits:
    """How a node is split, and when it becomes a leaf. Rows are counted by weight; 1 and 2 set no limit at all."""

    features: int | None = None
    """How many columns are drawn for a node; None: all."""
    random_cuts: bool = False
    max_depth: int | None = None
    max_leaves: int | None = None
    min_leaf: int = 1
    min_split: int = 2
    min_gain: float = 0.0
    purity: float = 1.0
    growth: str = "leaf-wise"
    """Where leaves are limited."""

    @property
    def least(self) -> float:
        """The least weight of a leaf."""
        return self.min_leaf * NEARLY if self.min_leaf > 1 else 0.0

    @property
    def fewest(self) -> float:
        """The least weight of a node that is split."""
        return self.min_split * NEARLY if self.min_split > 2 else 0.0

    def compiled(self, criterion: Criterion, columns: int, unit: float) -> loops.Limits:
        """The same as compiled loops read it, which count weights in units."""
        from mlcli.kernels.trees.growing import Limits

        return Limits(
            features=columns if self.features is None else self.features,
            criterion=criterion.code,
            least=max(self.least / unit, 0.5),
            fewest=self.fewest / unit,
            max_depth=NO_LIMIT if self.max_depth is None else self.max_depth,
            max_leaves=NO_LIMIT if self.max_leaves is None else self.max_leaves,
            min_gain=self.min_gain,
            of_shares=criterion.of_shares,
            purity=self.purity,
            order=GROWTH["last" if self.max_leaves is None else self.growth],
        )


@dataclass(frozen=True, eq=False)
class Workspace:
    """Memory for the largest tree on some rows."""

    grown: loops.Grown
    room: Room
    few: Few | None
    chance: Chance | None
    right: Any
    parts: Any
    waiting: Any

    @staticmethod
    def of(binned: Binned, words: int, slots: int, random_cuts: bool) -> Workspace:
        """For binned rows whose sums take so many words."""
        from mlcli.kernels.trees.few import Few
        from mlcli.kernels.trees.growing import DEPTH, Grown
        from mlcli.kernels.trees.splits import Chance
        from mlcli.kernels.trees.sums import FEW, Room

        rows, width = binned.bins.shape[1], binned.width
        most = 2 * rows - 1
        keys = np.empty((4, FEW), np.int32)
        keys[3] = np.iinfo(keys.dtype).max
        room = Room(
            sums=np.empty((words, max(width, FEW)), np.int64),
            left=np.empty(words, np.int64),
            names=np.empty(max(rows, FEW), np.intp),
            every=np.arange(width),
            keys=keys,
            places=np.empty((2, max(rows, FEW)), np.int64),
            counts=np.empty(257, np.intp),
        )
        threshold, gain, weight, impurity, mean = np.empty((5, most))
        nodes, totals = np.empty((most, DEPTH + 1), np.int32), np.empty((most, words), np.int64)
        grown = Grown(nodes, threshold, gain, weight, impurity, mean, totals)
        few = Few(np.empty(FEW, np.intp), *np.empty((2, FEW)), *np.empty((2, slots)), *np.empty((4, FEW)))
        chance = Chance(np.empty(rows, binned.bins.dtype), np.array([np.nan]))
        return Workspace(
            grown,
            room,
            few=None if random_cuts else few,
            chance=chance if random_cuts else None,
            right=np.empty(rows, np.uint32),
            parts=np.empty((words, rows), np.int64),
            waiting=np.empty(rows + 1, np.intp),
        )


@dataclass(frozen=True, eq=False)
class Grower:
    """Binned rows with their targets, and room for one tree at a time."""

    binned: Binned
    targets: Targets
    criterion: Criterion
    limits: Limits
    _workspaces: dict[tuple[int, int], Workspace] = field(default_factory=dict)
    """By thread and words."""

    def grow(self, share: Packed, seed: int = 1) -> Trees:
        """The tree of the rows that have a weight in ``share``; a number that training never missed stops."""
        return self.trees([self.grown(share, seed)], share)

    def grown(self, share: Packed, seed: int) -> loops.Grown:
        """The same as the loops leave it; ``trees`` takes less time for many than for one after another."""
        from mlcli.kernels.trees import growing, sums

        binned, words = self.binned, len(share.parts)
        own = get_ident(), words
        random_cuts = self.limits.random_cuts
        space = self._workspaces.get(own) or Workspace.of(binned, words, self.targets.slots, random_cuts)
        self._workspaces[own] = space
        columns = sums.Columns(binned.bins, binned.known, binned.ordered, binned.lowest, binned.highest)
        inside = growing.Space(
            share.inside, space.right, space.parts, np.arange(len(binned.known)), np.array([seed]), space.waiting,
            space.room,
        )  # fmt: skip
        targets = sums.Targets(share.parts, share.bits, self.targets.slot, self.targets.output)
        limits = self.limits.compiled(self.criterion, len(binned.known), share.unit)
        searches = space.few, space.chance, None
        count = growing.grow(columns, targets, share.fine, limits, space.grown, inside, *searches)
        kept: list[Any] = [array[:count].copy() for array in space.grown]
        return growing.Grown(*kept)

    def trees(self, grown: Sequence[loops.Grown], share: Packed) -> Trees:
        """Trees as the loops left them, all of shares like this one."""
        from mlcli.kernels.trees.growing import FEATURE, LEFT, NONE_MISSING, SIDE, Grown

        counts = [len(one.nodes) for one in grown]
        roots = np.cumsum([0, *counts[:-1]])
        whole = Grown(*map(np.concatenate, zip(*grown, strict=True)))
        feature, side = np.ascontiguousarray(whole.nodes[:, FEATURE]), whole.nodes[:, SIDE]
        inner = feature != LEAF
        left = np.where(inner, whole.nodes[:, LEFT] + np.repeat(roots, counts), LEAF).astype(np.int32)
        sided = inner & (side != NONE_MISSING)
        sided[sided] = self.binned.ordered[feature[sided]]
        value = share.shares(whole.totals, self.targets.slots) if share.bits else whole.mean[:, None]
        arrays = trees_of(len(feature), value.shape[1]) | {
            "roots": roots.astype(np.int32),
            "feature": feature,
            "threshold": np.where(inner, whole.threshold, np.nan),
            "left": left,
            "missing": np.where(sided, left + (side != 1), STOPS).astype(np.int32),
            "value": value,
            "weight": whole.weight * share.unit,
            "impurity": whole.impurity,
            "gain": np.where(inner, whole.gain * share.unit, 0.0),
        }
        return Trees(**arrays)
