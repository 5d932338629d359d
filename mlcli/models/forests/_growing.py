"""Growing the trees of a forest, each from a seed of its own, on as many threads as a fit may use."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from queue import SimpleQueue
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mlcli.core.tables import Array, Codes, Rows
from mlcli.core.threads import threads_of_a_fit
from mlcli.models.forests._bag import Bag
from mlcli.models.forests._out_of_bag import Outside, Truth
from mlcli.models.forests._trees import LEAF, Trees
from mlcli.models.trees._binning import Binned
from mlcli.models.trees._growing import NEARLY
from mlcli.models.trees._levels import summed

if TYPE_CHECKING:
    from mlcli.kernels.growing import Grown, Limits, Space

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

    @property
    def limits(self) -> Limits:
        """The same as the compiled loops read it."""
        from mlcli.kernels.growing import Limits

        return Limits(
            features=self.features,
            random_cuts=self.random_cuts,
            least=self.min_leaf * NEARLY if self.min_leaf > 1 else 0.0,
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
        for _ in range(threads):
            spaces.put(Workspace.for_rows(self))

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
        from mlcli.kernels.growing import Targets as Weighed
        from mlcli.kernels.growing import grow
        from mlcli.kernels.histograms import Columns

        binned, targets = self.binned, self.truth.targets
        weight = targets.weight if self.bag is None else self.bag.drawn(rng)
        inside = np.flatnonzero(weight > 0).astype(np.int32)
        columns = Columns(binned.bins, binned.known, binned.ordered, binned.lowest, binned.highest)
        weighed = Weighed(targets.slot, targets.output, weight)
        state = int(rng.integers(1, 2**32))
        count = grow(columns, weighed, self.shape.limits, space.grown, space.space(inside, state))
        tree = taken(space.grown, count)
        inner = ~tree.leaves
        worth = summed(space.grown.gain[:count][inner], tree.feature[inner].astype(np.intp), len(binned.known))
        outside = None if self.bag is None else self.truth.judged(tree, np.flatnonzero(weight == 0), rng)
        return Plant(tree, worth, outside)


@dataclass(frozen=True, eq=False)
class Workspace:
    """The memory in which one thread grows tree after tree."""

    grown: Grown
    _nodes: Codes
    _parts: Array
    _slots: Rows
    _sums: Array
    _totals: Array
    _columns: int

    @staticmethod
    def for_rows(nursery: Nursery) -> Workspace:
        """Room for the largest tree on all rows."""
        from mlcli.kernels.growing import DEPTH, Grown

        rows, slots = len(nursery.truth.targets.slot), nursery.truth.targets.slots
        most = 2 * rows - 1
        threshold, gain, weight = np.empty((3, most))
        return Workspace(
            grown=Grown(np.empty((most, DEPTH + 1), np.int32), threshold, gain, weight, np.empty((most, slots))),
            _nodes=np.empty(rows, np.int32),
            _parts=np.empty((rows, 2)),
            _slots=np.empty((2, rows), np.intp),
            _sums=np.empty((max(nursery.binned.width, 3), slots + 1)),
            _totals=np.empty((2, slots + 1)),
            _columns=len(nursery.binned.known),
        )

    def space(self, rows: Codes, state: int) -> Space:
        """What one tree is grown in, from its rows and the seed of its draws."""
        from mlcli.kernels.growing import Space
        from mlcli.kernels.histogram_splits import FEW

        return Space(
            rows=rows,
            right=self._nodes,
            slots=self._slots[0],
            parts=self._parts,
            totals=self._totals[0],
            left=self._totals[1],
            sums=self._sums,
            present=np.empty(len(self._sums) + 1, np.int32),
            keys=np.empty((2, FEW), np.int16),
            order=np.empty(FEW, np.int16),
            drawn=np.arange(self._columns),
            state=np.array([state]),
            wish=np.array([np.nan]),
            opened=self._slots[1],
        )


def taken(grown: Grown, count: int) -> Trees:
    """A copy of the tree that lies in a workspace; missing cells that training had none of go with most rows."""
    from mlcli.kernels.growing import FEATURE, LEFT, NONE_MISSING, SIDE

    nodes = grown.nodes[:count]
    feature, left, side = (nodes[:, column].copy() for column in (FEATURE, LEFT, SIDE))
    leaves = feature == LEAF
    inner = np.flatnonzero(~leaves)
    heavier_left = grown.weight[left[inner]] >= grown.weight[left[inner] + 1]
    missing_left = np.zeros(count, bool)
    missing_left[inner] = np.where(side[inner] == NONE_MISSING, heavier_left, side[inner] == 1)
    left[leaves] = np.arange(count - len(inner))
    return Trees(
        first=np.array([0, count], np.int32),
        feature=feature,
        threshold=np.where(leaves, np.nan, grown.threshold[:count]),
        left=left,
        missing_left=missing_left,
        value=grown.value[:count][leaves],
    )
