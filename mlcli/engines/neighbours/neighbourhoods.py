"""Neighbourhoods: all stored rows as near as the k-th neighbour, and detectors that score rows by them.

Query rows are other rows, or the stored rows themselves, of which none is its own neighbour. Equal rows are
searched once.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

import numpy as np

from mlcli.core import findings
from mlcli.core.abilities import RowExplainer
from mlcli.core.errors import FitError, MlcliWarning
from mlcli.core.params import learned
from mlcli.core.schema import Accepts
from mlcli.core.tables import Array, Rows, Table
from mlcli.engines.neighbours.distances import DISTANCES, SAME, DistinctRows, of_numbers
from mlcli.engines.neighbours.search import Pairs, kth_distance, nearest
from mlcli.tasks.anomaly import Detector, ScreenedRows

NEVER_NOTHING = 1e-10
"""Added to a mean distance, as scikit-learn does, so that equal rows have a density."""
KEPT_PAIRS = 4
"""Pairs are kept up to this many times the neighbours asked for; with more ties they are searched anew."""


@dataclass(frozen=True, eq=False)
class Neighbours:
    """For consecutive query points all stored points as near as the k-th row."""

    pairs: Pairs
    times: Array
    """The number of rows that the stored point of each pair stands for."""
    kth: Array
    """The k-th distance of each point."""

    @property
    def points(self) -> Rows:
        """The query points."""
        return self.pairs.query[self.pairs.begins]

    @cached_property
    def totals(self) -> Array:
        """The number of rows that are neighbours of each point."""
        return np.asarray(np.add.reduceat(self.times, self.pairs.begins))

    def sum(self, values: Array) -> Array:
        """The sum over the neighbours of each point, given a value (or a line of values) for each neighbour."""
        return np.asarray(np.add.reduceat((values.T * self.times).T, self.pairs.begins, axis=0))

    def mean(self, values: Array) -> Array:
        """The mean over the neighbours of each point."""
        return self.sum(values) / self.totals

    def mean_distance(self, k: int) -> Array:
        """The mean distance to k neighbours: of the rows as far as the k-th only as many as needed count."""
        return np.asarray((self.sum(self.pairs.distance) - (self.totals - k) * self.kth) / k)


@dataclass(eq=False)
class Neighbourhoods:
    """The neighbours of all query points, block by block; iterate as often as needed."""

    queries: DistinctRows
    stored: DistinctRows
    k: int
    within: bool
    """Whether the query rows are the stored rows themselves: none is its own neighbour."""
    _kept: list[Neighbours] | None = field(default=None, init=False)

    def __iter__(self) -> Iterator[Neighbours]:
        yield from self._searched() if self._kept is None else self._kept

    def kept(self) -> Neighbourhoods:
        """The same, kept in memory unless so many rows tie that this would grow with their square."""
        kept, pairs = [], 0
        for block in self:
            kept.append(block)
            pairs += len(block.times)
            if pairs > KEPT_PAIRS * self.k * len(self.queries.points):
                return self
        self._kept = kept
        return self

    def each(self, score: Callable[[Neighbours], Array]) -> Array:
        """A score for the points of each block, as one array."""
        return np.concatenate([np.empty(0), *map(score, self)])

    def _searched(self) -> Iterator[Neighbours]:
        queries, stored = of_numbers(self.queries.points), of_numbers(self.stored.points)
        count = min(self.k + self.within, len(stored))  # a stored point is the nearest to itself
        for pairs in nearest(DISTANCES["euclidean"], queries, stored, count):
            times = self.stored.counts[pairs.stored].astype(np.float64)
            if self.within:
                times -= pairs.query == pairs.stored
            yield up_to_the_kth(pairs.keep(times > 0), times[times > 0], self.k)


def up_to_the_kth(pairs: Pairs, times: Array, k: int) -> Neighbours:
    """The pairs up to the distance at which there are k rows, if pairs stand for ``times`` rows each."""
    kth = kth_distance(pairs, times, k)
    near = pairs.distance <= kth * (1 + SAME)
    return Neighbours(pairs.keep(near), times[near], kth[pairs.begins])


def same_rows(values: Array, other: Array) -> bool:
    """Whether query rows are the training rows, in their order."""
    return values is other or (values.shape == other.shape and bool(np.array_equal(values, other)))


@dataclass(kw_only=True, eq=False)
class NeighbourDetector(Detector, RowExplainer):
    """A detector that stores the training rows and scores a row by those that are nearest to it."""

    stored_: Array = learned("stored", "columns")
    k_: int = learned()

    how_scored: ClassVar[str] = ""
    """How a score follows from the nearest rows, for the reader of an explanation."""
    accepts = Accepts(prefers_scaled=True)

    def store(self, data: ScreenedRows, neighbours: int) -> None:
        """Keep the rows and the number of neighbours; warn if there are fewer rows than that."""
        others = len(data) - 1
        if others < 1:
            raise FitError("at least two training rows are needed: a row is scored by its distance to others")
        if not data.table.numbers.shape[1]:
            raise FitError("there is no column to measure distances by")
        if neighbours > others:
            message = (
                f"neighbours = {neighbours} but each training row has only {others} others: all of them count"
            )
            warnings.warn(message, MlcliWarning, stacklevel=3)
        self.k_, self.stored_ = min(neighbours, others), data.table.numbers

    def scored(self, table: Table, score: Callable[[Neighbours, DistinctRows], Array]) -> Array:
        """The score of each row by its neighbours among the stored points; none is its own."""
        queries, stored = DistinctRows.of(table.numbers), DistinctRows.of(self.stored_)
        around = Neighbourhoods(queries, stored, self.k_, same_rows(table.numbers, self.stored_))
        return around.each(lambda near: score(near, stored))[queries.point_of]

    def deviations(self, table: Table) -> Array:
        """What each column adds to the squared distances to the neighbours; negative if the cell is lower."""
        queries, others = DistinctRows.of(table.numbers), DistinctRows.of(self.stored_)
        added = np.zeros(queries.points.shape)
        for block in Neighbourhoods(queries, others, self.k_, within=False):
            steps = queries.points[block.pairs.query] - others.points[block.pairs.stored]
            added[block.points] = np.copysign(block.sum(steps**2), block.sum(steps))
        return added[queries.point_of]

    def explain_answer(self, table: Table) -> findings.Explanation:
        """The training rows that are nearest, without one that equals the row, which may be the row itself."""
        distance = np.sqrt(((self.stored_ - table.numbers[0]) ** 2).sum(axis=1))
        order = np.argsort(distance, kind="stable")
        own = order[:1][distance[order[:1]] == 0]
        others = order[len(own) :]
        near = others[distance[others] <= distance[others[self.k_ - 1]] * (1 + SAME)]
        cells = {"training row": near + 1, "distance": distance[near], **self.of_neighbours(near, distance[near])}
        rows = tuple(zip(*(column.tolist() for column in cells.values()), strict=True))
        without = f"Without training row {own[0] + 1}, which equals it. " if len(own) else ""
        return (
            findings.Table("Nearest neighbours", tuple(cells), rows, note=(without + self.how_scored).strip()),
        )

    def of_neighbours(self, near: Rows, distance: Array) -> dict[str, Array]:
        """Further columns of the explanation, for training rows at some distances."""
        return {}

    def explain(self) -> findings.Explanation:
        """What is stored."""
        rows = (("training rows", len(self.stored_)), ("columns", self.stored_.shape[1]), ("neighbours", self.k_))
        note = "Nothing is learned but the rows themselves: a score comes from the nearest ones."
        return (findings.Table("Stored rows", ("what", "value"), rows, note=note),)

    def check_learned(self) -> None:
        """As many neighbours as there can be, and rows without gaps."""
        super().check_learned()
        if not 1 <= self.k_ < len(self.stored_) or not np.isfinite(self.stored_).all():
            raise ValueError("the stored rows do not fit the neighbours, or are no numbers")
