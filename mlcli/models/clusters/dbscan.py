"""DBSCAN: groups are rows that lie densely together, reached from neighbour to neighbour; lone rows are in none.

Formula:
    A row is a core row if at least `min_rows` rows, itself included, lie within `eps` of it. Core rows within
    `eps` of each other are in one group, and so are all that are linked by such steps. A row that is no core row
    belongs to the group of the nearest core row within `eps`; if there is none, it is noise, whose group is called
    none.

Assumes:
    Columns on one scale, and groups of about the same density; they may have any form.

Cost:
    rows² × columns to fit, rows × core rows × columns to place.

Choices:
    Where `eps` is not given, it is where the curve of the distances to the `min_rows`-th row, sorted, bends most:
    farthest below the line from its first to its last point. A row between two groups goes to the nearer core row,
    so that the order of rows does not matter (the paper takes the group that is found first). New rows are placed
    in the same way. Groups are numbered from the largest to the smallest, noise last; scores take noise for one
    group, but for the silhouette, where it counts 0 and is nobody's neighbour.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from mlcli.core import findings
from mlcli.core.errors import MlcliWarning
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.tables import Array, Codes, Flags, Rows, Table
from mlcli.engines.centres import squared_differences, squared_from_mean
from mlcli.engines.distance_matrix import DISTANCES_HELP, DistanceClusterer, distances_to_rows
from mlcli.tasks.clustering import ClusteredRows, Clusterer
from mlcli.tasks.groups import largest_first

BLOCK_CELLS = 4_000_000
UNSURE = 1e-9
"""What a matrix product may be off by, as a share of the largest squared distance."""
POINTS_SHOWN = 60
NOISE = "none"


@dataclass(frozen=True, eq=False)
class Apart:
    """How far rows are from each other, in blocks of rows."""

    X: Array
    given: Array | None

    def blocks(self) -> Iterator[tuple[slice, Array]]:
        """Some rows with their distances to all."""
        for rows in _blocks(len(self.X), len(self.X)):
            given = None if self.given is None else self.given[rows]
            yield rows, np.sqrt(squared_differences(self.X[rows], self.X)) if given is None else given

    def shown(self) -> Iterator[tuple[slice, Array]]:
        """The same by matrix products, near enough for a picture."""
        for rows in _blocks(len(self.X), len(self.X)):
            given = None if self.given is None else self.given[rows]
            yield rows, np.sqrt(squared_from_mean(self.X[rows], self.X)) if given is None else given

    def within(self, eps: float) -> Iterator[tuple[slice, Flags]]:
        """Some rows, and which of all rows lie within a distance of them."""
        for rows in _blocks(len(self.X), len(self.X)):
            near = within(self.X[rows], self.X, eps) if self.given is None else self.given[rows] <= eps
            yield rows, near


def _blocks(rows: int, others: int) -> Iterator[slice]:
    step = max(1, BLOCK_CELLS // max(1, others))
    return (slice(start, start + step) for start in range(0, rows, step))


def within(some: Array, others: Array, eps: float) -> Flags:
    """Which rows lie within a distance; those that a matrix product cannot tell are measured again."""
    squared, bound = squared_from_mean(some, others), eps * eps
    unsure = np.abs(squared - bound) <= UNSURE * (bound + squared.max(initial=0.0))
    near = squared <= bound
    one, other = np.nonzero(unsure)
    apart = np.zeros(len(one))
    for a, b in zip(some.T, others.T, strict=True):
        apart += (a[one] - b[other]) ** 2
    near[one, other] = np.sqrt(apart) <= eps
    return np.asarray(near)


@register("dbscan", reference="Ester, Kriegel, Sander & Xu 1996; Schubert et al. 2017")
class DBSCAN(DistanceClusterer, Clusterer):
    """Core rows, what they reach, and noise."""

    eps: float | None = param(None, "how far neighbours are apart at most; where the distances bend if none", gt=0)
    min_rows: int = param(10, "how many rows, itself included, a core row has within eps", ge=1)
    distances: str | None = param(None, DISTANCES_HELP, if_given=True)

    eps_: float = learned()
    core_: Array = learned()
    """The core rows, or the places of their columns of distances."""
    core_group_: Codes = learned()
    groups_: int = learned()
    noise_: int = learned()
    """How many training rows are in no group."""
    curve_: Array = learned()
    """The distances to the min_rows-th row, sorted."""

    def fit(self, data: ClusteredRows, rng: np.random.Generator) -> None:
        """Find the core rows, and those that are linked."""
        X, given = self.points_and_distances(data)
        apart = Apart(X, given)
        self.curve_ = k_distances(apart.shown() if self.eps else apart.blocks(), min(self.min_rows, len(X)))
        self.eps_ = self.eps or (float(self.curve_[bend(self.curve_)]) or 1.0)
        neighbours = np.concatenate([near.sum(axis=1) for _, near in apart.within(self.eps_)])
        core = np.flatnonzero(neighbours >= self.min_rows)
        linked = _linked(apart, core, self.eps_)
        count = int(linked.max(initial=-1)) + 1
        self.core_ = X[core] if given is None else data.rows[core].astype(np.float64)
        self.core_group_, self.groups_ = linked, count + 1
        self._number(data, X, count)

    def _number(self, data: ClusteredRows, X: Array, count: int) -> None:
        """Number the groups by their rows, noise last; warn where there is nothing else."""
        group = self.cluster_of(data.table)
        self.noise_ = int((group == count).sum())
        if count:
            inside = group < count
            order = largest_first(X[inside], group[inside], count, data.weights[inside])
            self.core_group_ = np.argsort(order).astype(np.int32)[self.core_group_]
        else:
            text = f"no row has {self.min_rows} rows within {self.eps_:g}: all are noise; a larger eps may help"
            warnings.warn(text, MlcliWarning, stacklevel=3)

    def cluster_of(self, table: Table) -> Codes:
        """The group of the nearest core row within eps, else noise."""
        noise = self.groups_ - 1
        found = np.full(len(table), noise, np.int32)
        if not len(self.core_group_):
            return found
        for rows in _blocks(len(table), len(self.core_group_)):
            apart = self._from_core(table, rows)
            near = apart.argmin(axis=1)
            inside = apart[np.arange(len(apart)), near] <= self.eps_
            found[rows] = np.where(inside, self.core_group_[near], noise)
        return found

    def _from_core(self, table: Table, rows: slice) -> Array:
        if self.distances is None:
            return np.sqrt(squared_differences(table.numbers[rows], self.core_))
        return distances_to_rows(table, self.distances)[rows][:, self.core_.astype(np.intp)]

    def groups(self) -> int:
        """The groups, and noise."""
        return self.groups_

    def group_names(self) -> tuple[str, ...]:
        """Numbers, and a word for noise."""
        return (*map(str, range(self.groups_ - 1)), NOISE)

    def noise_group(self) -> int | None:
        """The last."""
        return self.groups_ - 1

    def check_learned(self) -> None:
        """A group for each core row."""
        if len(self.core_) != len(self.core_group_) or self.groups_ < 1:
            raise ValueError("groups that do not fit the core rows")
        if ((self.core_group_ < 0) | (self.core_group_ >= max(1, self.groups_ - 1))).any():
            raise ValueError("core rows in groups that are not there")

    def explain(self) -> findings.Explanation:
        """How many rows are what, and the curve that eps may be read from."""
        how = "given" if self.eps else "where the curve below bends most"
        lines = (
            f"{self.groups_ - 1} groups of {len(self.core_group_)} core rows; {self.noise_} rows are noise",
            f"eps {self.eps_:.6g}, {how}; {self.min_rows} rows within it make a core row",
        )
        shown = np.unique(np.linspace(0, len(self.curve_) - 1, POINTS_SHOWN).astype(np.intp))
        title = f"Distance to row {self.min_rows} of the nearest (itself the first), sorted"
        line = tuple(self.curve_[shown].tolist())
        points = tuple((shown + 1.0).tolist())
        return (
            findings.Lines("Groups by density", lines),
            findings.Curve(title, "row", points, (("distance", line),), note=f"eps is {self.eps_:.4g}"),
        )


def k_distances(blocks: Iterator[tuple[slice, Array]], k: int) -> Array:
    """The distance of each row to the k-th nearest, itself the first, in ascending order."""
    found = [np.partition(block, k - 1, axis=1)[:, k - 1] for _, block in blocks]
    return np.sort(np.concatenate(found))


def bend(curve: Array) -> int:
    """The place of an ascending curve that lies farthest below the line from its first to its last point."""
    if len(curve) < 3:
        return len(curve) - 1
    line = np.linspace(curve[0], curve[-1], len(curve))
    return int(np.argmax(line - curve))


def _linked(apart: Apart, core: Rows, eps: float) -> Codes:
    """The group of each core row: those within eps of each other, from neighbour to neighbour."""
    group = np.full(len(core), -1, np.int32)
    neighbours = _neighbours(apart, core, eps)
    for first in range(len(core)):
        if group[first] >= 0:
            continue
        number, waiting = np.int32(group.max(initial=-1) + 1), [first]
        group[first] = number
        while waiting:
            new = neighbours[waiting.pop()]
            new = new[group[new] < 0]
            group[new] = number
            waiting += new.tolist()
    return group


def _neighbours(apart: Apart, core: Rows, eps: float) -> list[Rows]:
    """The core rows within eps of each."""
    found: list[Rows] = []
    is_core: Flags = np.zeros(len(apart.X), bool)
    is_core[core] = True
    for rows, near in apart.within(eps):
        found += [np.flatnonzero(line) for line in near[is_core[rows]][:, core]]
    return found
