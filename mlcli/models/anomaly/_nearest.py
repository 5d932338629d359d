"""Two routes to the nearest rows: NumPy for small tables, where loading compiled code would cost more."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from mlcli.core.tables import Array, Rows
from mlcli.models.neighbours._compiled import Question, Ruler, nearest, pays
from mlcli.models.neighbours._distances import DISTANCES
from mlcli.models.neighbours._points import Points
from mlcli.models.neighbours._screens import SAME
from mlcli.models.neighbours._search import candidates


@dataclass(frozen=True, eq=False)
class Neighbours:
    """Neighbours of consecutive rows: those of the i-th end at ``ends[i]``; ``kth`` is its k-th distance."""

    start: int
    kth: Array
    ends: Rows
    places: Rows
    distances: Array
    times: Rows | None = None
    """How many equal rows each neighbour stands for; None where each is a single row."""

    @property
    def rows(self) -> slice:
        """The rows asked."""
        return slice(self.start, self.start + len(self.ends))

    @cached_property
    def begins(self) -> Rows:
        """Where the neighbours of each row begin."""
        return np.concatenate([np.zeros(1, np.intp), self.ends[:-1]])

    @property
    def counts(self) -> Rows:
        """How many neighbours each row has."""
        return np.diff(self.ends, prepend=0)

    @cached_property
    def totals(self) -> Array:
        """How many rows the neighbours of each row stand for."""
        return np.asarray(self.counts if self.times is None else np.add.reduceat(self.times, self.begins), float)

    def sum(self, values: Array) -> Array:
        """The sum over the neighbours of each row, given one value (or one line of values) for each neighbour."""
        if self.times is not None:
            values = (values.T * self.times).T
        return np.asarray(np.add.reduceat(values, self.begins, axis=0))

    def mean(self, values: Array) -> Array:
        """The mean over the neighbours of each row."""
        return self.sum(values) / self.totals


Route = Callable[[Array, Array, int, bool], Iterator[Neighbours]]
"""From rows asked, stored rows, k, and whether they are the same rows, to all stored rows as near as the k-th."""


def route_for(pairs: int) -> Route:
    """The faster route for so many pairs of rows."""
    return compiled if pays(pairs) else by_numpy


def by_numpy(asked: Array, stored: Array, k: int, within: bool) -> Iterator[Neighbours]:
    """The search that k-nearest neighbours uses, each row taken from its own neighbours."""
    found = candidates(DISTANCES["euclidean"], _points(asked), _points(stored), k + within)
    for pairs in found:
        others = pairs.keep(pairs.asked != pairs.stored) if within else pairs
        begins = others.begins
        kth = others.distance[begins + k - 1]
        start = int(others.asked[0])
        near = others.keep(others.distance <= kth[others.asked - start] * (1 + SAME))
        ends = np.cumsum(np.bincount(near.asked - start, minlength=len(kth)))
        yield Neighbours(start, kth, ends, near.stored, near.distance)


def compiled(asked: Array, stored: Array, k: int, within: bool) -> Iterator[Neighbours]:
    """The compiled search, by a screen or a tree."""
    asked, stored = np.ascontiguousarray(asked), np.ascontiguousarray(stored)
    question = Question.plain(asked, stored, k)
    if within:
        own = np.arange(len(asked))
        question = replace(question, begin=own, end=own + 1)
    for found in nearest(question, Ruler.plain(asked, stored)):
        yield Neighbours(found.start, found.kth, found.ends, found.places, found.distances)


def _points(rows: Array) -> Points:
    return Points(rows.T, np.empty((0, len(rows)), np.int32))
