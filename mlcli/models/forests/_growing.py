"""Growing the trees of a forest, each from a seed of its own, on as many threads as a fit may use."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from queue import SimpleQueue
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mlcli.core.tables import Array
from mlcli.core.threads import threads_of_a_fit
from mlcli.engines.bags import Bag
from mlcli.models.forests._out_of_bag import Outside, Truth
from mlcli.models.forests._packing import Packed, in_units, packed
from mlcli.models.forests._trees import Trees
from mlcli.models.forests._workspace import Workspace
from mlcli.models.trees._binning import Binned
from mlcli.models.trees._growing import NEARLY

if TYPE_CHECKING:
    from mlcli.kernels.dealing import Settled
    from mlcli.kernels.growing import Limits
    from mlcli.kernels.node_sums import Grown

Seeds = NDArray[np.int64]

NO_LIMIT = 2**31 - 1


@dataclass(frozen=True)
class Shape:
    """How trees grow: how many columns each node draws, how it is split, and when it is a leaf."""

    features: int
    random_cuts: bool
    min_leaf: int
    max_depth: int | None
    max_leaves: int | None

    def limits(self, unit: float) -> Limits:
        """The same as the compiled loops read it, which count weights in units."""
        from mlcli.kernels.growing import Limits

        return Limits(
            features=self.features,
            least=max(self.min_leaf * NEARLY / unit if self.min_leaf > 1 else 0.0, 0.5),
            max_depth=NO_LIMIT if self.max_depth is None else self.max_depth,
            max_leaves=NO_LIMIT if self.max_leaves is None else self.max_leaves,
        )


@dataclass(frozen=True, eq=False)
class Plant:
    """A tree, the weighted impurity that each column takes away in it, and what it says of rows out of its bag."""

    tree: Trees
    worth: Array
    outside: Outside | None


@dataclass(frozen=True, eq=False)
class Nursery:
    """Everything that is the same for all trees of a forest."""

    binned: Binned
    truth: Truth
    bag: Bag | None
    """None where every tree learns from all rows."""
    shape: Shape

    def grown(self, seeds: Seeds) -> Iterator[Plant]:
        """A tree for each seed, in order."""
        threads, spaces = min(threads_of_a_fit(), len(seeds)), SimpleQueue[Workspace]()
        binned, slots = self.binned, self.truth.targets.slots
        for _ in range(threads):
            spaces.put(Workspace(binned, slots, random_cuts=self.shape.random_cuts))

        def one(seed: int) -> Plant:
            space = spaces.get()
            try:
                return self._grown_in(space, np.random.default_rng(seed))
            finally:
                spaces.put(space)

        if threads == 1:
            yield from map(one, seeds)
            return
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(threads) as pool:
            yield from pool.map(one, seeds)

    def _grown_in(self, space: Workspace, rng: np.random.Generator) -> Plant:
        from mlcli.kernels.dealing import deal_outside
        from mlcli.kernels.growing import grow
        from mlcli.kernels.histograms import Columns
        from mlcli.kernels.node_sums import Targets

        binned, targets = self.binned, self.truth.targets
        share = self._all if self.bag is None else self._drawn(self.bag, rng)
        columns = Columns(binned.bins, binned.known, binned.ordered, binned.lowest, binned.highest)
        learnt = Targets(share.parts, share.bits, share.classes, targets.slot, targets.output)
        grown, limits = space.grown(share), self.shape.limits(share.unit)
        inside = space.space(share, int(rng.integers(1, 2**32)))
        count = grow(columns, learnt, limits, grown, inside, space.few, space.drawing)
        settled = taken(grown, count, share, targets.slots, len(binned.known))
        tree, outside = Trees.one(settled), None
        if self.bag is not None:
            rows, leaves = share.outside, np.empty(len(share.outside), np.int32)
            deal_outside(columns, self.truth.cells, grown.nodes, settled, rows, inside.right, leaves)
            outside = self.truth.judged(tree, rows, leaves, rng)
        return Plant(tree, settled.worth * share.unit, outside)

    @cached_property
    def _all(self) -> Packed:
        """Every row with its weight."""
        targets = self.truth.targets
        return packed(targets.slot, *in_units(targets.weight), targets.slots)

    def _drawn(self, bag: Bag, rng: np.random.Generator) -> Packed:
        """The rows of one tree."""
        targets = self.truth.targets
        return packed(targets.slot, bag.repeats(rng), bag.unit, targets.slots)


def taken(grown: Grown, count: int, share: Packed, slots: int, columns: int) -> Settled:
    """A copy of the tree that lies in a workspace."""
    from mlcli.kernels.dealing import Settled
    from mlcli.kernels.settling import settle

    feature, left = np.empty((2, count), np.int32)
    value = np.empty(((count + 1) // 2, slots))
    tree = Settled(feature, left, np.empty(count), np.empty(count, bool), value, np.zeros(columns))
    settle(grown, share.bits, share.classes, tree)
    return tree
