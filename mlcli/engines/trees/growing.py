"""Growing trees by compiled loops on the same binned rows, one after another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mlcli.core.errors import FitError
from mlcli.core.quantities import size
from mlcli.core.rooms import VARIABLE, memory
from mlcli.engines.trees.binning import Binned
from mlcli.engines.trees.criteria import Criterion, Limits
from mlcli.engines.trees.structure import LEAF, Trees, placed
from mlcli.engines.trees.targets import Ids, Packed, Targets

if TYPE_CHECKING:
    from mlcli.kernels.trees import nodes as loops

COPIES = 3
"""How often the nodes of a tree are held, while trees are put together."""


@dataclass(frozen=True, eq=False)
class Grower:
    """Binned rows with their targets, on which one tree grows after another."""

    binned: Binned
    targets: Targets
    criterion: Criterion
    limits: Limits

    def grow(self, share: Packed, seed: int = 1) -> Trees:
        """The tree of the rows that have a weight in ``share``; a number that training never missed stops."""
        return self.trees([self.grown(share, seed)], share)

    def grown(self, share: Packed, seed: int) -> loops.Grown:
        """The same as the loops leave it; ``trees`` takes less time for many than for one after another."""
        from mlcli.kernels.trees import nodes, splits, sums

        binned = self.binned
        columns = sums.Columns(binned.bins, binned.known, binned.ordered, binned.lowest, binned.highest)
        targets = sums.Targets(share.parts, share.bits, self.targets.output)
        grown, space = room_for(share.inside, binned, len(share.parts), seed)
        codes, goes = (np.empty(len(space.rows), kind) for kind in (binned.bins.dtype, np.uint8))
        drawn = splits.Chance(codes, goes, np.array([np.nan]))
        chance = drawn if self.limits.random_cuts else None
        count = nodes.grow(columns, targets, share.fine, self._limits(share.unit), grown, space, chance)
        kept: list[Any] = [array[:count].copy() for array in grown]
        return nodes.Grown(*kept)

    def _limits(self, unit: float) -> loops.Limits:
        """When a node becomes a leaf, as compiled loops read it, which count weights in units."""
        from mlcli.kernels.trees.growing import NO_LIMIT
        from mlcli.kernels.trees.nodes import Limits

        limits = self.limits
        return Limits(
            features=limits.features or len(self.binned.known),
            criterion=self.criterion.code,
            least=max(limits.least / unit, 0.5),
            fewest=limits.fewest / unit,
            max_depth=limits.max_depth or NO_LIMIT,
            max_leaves=limits.max_leaves or NO_LIMIT,
            min_gain=limits.min_gain,
            of_shares=self.criterion.of_shares,
            purity=limits.purity,
        )

    def trees(self, grown: Sequence[loops.Grown], share: Packed) -> Trees:
        """Trees as the loops left them, all of shares like this one."""
        from mlcli.kernels.trees.growing import FEATURE, SIDE
        from mlcli.kernels.trees.nodes import NONE_MISSING

        whole = type(grown[0])(*map(np.concatenate, zip(*grown, strict=True)))
        nodes, arrays = placed([one.nodes for one in grown])
        side, inner = nodes[:, SIDE], nodes[:, FEATURE] != LEAF
        sided = inner & (side != NONE_MISSING)
        sided[sided] = self.binned.ordered[nodes[sided, FEATURE]]
        arrays["missing"][sided] = (arrays["left"] + (side != 1))[sided]
        return Trees(
            **arrays,
            threshold=np.where(inner, whole.threshold, np.nan),
            value=share.shares(whole.totals, whole.weight, self.targets.slots)
            if share.bits
            else whole.mean[:, None],
            weight=whole.weight * share.unit,
            impurity=whole.impurity,
            gain=np.where(inner, whole.gain * share.unit, 0.0),
        )


def refuse_beyond_memory(one: loops.Grown, trees: int) -> None:
    """Refuse so many trees like one where memory would not hold them."""
    of_one, there = COPIES * sum(array.nbytes for array in one), memory()
    needed, leaves = trees * of_one, there * len(one.nodes) // (4 * trees * of_one)  # in half of it
    if needed > there:
        what = f"{trees} trees of {len(one.nodes):,} nodes need about {size(needed)} of memory"
        hint = f"max_leaves {max(2, leaves):,} would do; a larger min_leaf and fewer trees take less, too"
        raise FitError(f"{what}; there are {size(there)} ({VARIABLE} may say otherwise)", hint=hint)


def room_for(inside: Ids, binned: Binned, words: int, seed: int) -> tuple[loops.Grown, loops.Space]:
    """Memory for the largest tree of some rows whose sums take so many words."""
    from mlcli.kernels.trees.growing import DEPTH
    from mlcli.kernels.trees.nodes import Grown, Space
    from mlcli.kernels.trees.sums import FEW, PLACE_BITS, Room

    rows, width = len(inside), np.arange(binned.width)
    room = Room(
        sums=np.empty((words, len(width)), np.int64),
        left=np.empty(words, np.int64),
        lost=np.empty(words, np.int64),
        every=width << PLACE_BITS | width,
        keys=np.full((3, FEW), np.iinfo(np.int32).max, np.int32),
        places=np.empty((2, max(rows, FEW)), np.int64),
        counts=np.empty(257, np.intp),
    )
    nodes = np.empty((2 * rows, DEPTH + 1), np.int32)
    threshold, gain, weight, impurity, mean = np.empty((5, 2 * rows))
    grown = Grown(nodes, threshold, gain, weight, impurity, mean, np.empty((2 * rows, words), np.int64))
    right, parts = np.empty(rows, np.uint32), np.empty((words, rows), np.int64)
    order, state, waiting = np.arange(len(binned.known)), np.array([seed]), np.empty(rows + 1, np.intp)
    return grown, Space(inside, right, parts, order, state, waiting, room)
