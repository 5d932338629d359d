"""Leave-one-out from one search: the neighbours of each row among all others, in the scales learned without it.

Steps learn a little differently without each row. A search in the usual scales looks so much farther than the last
neighbour wanted that nobody is missed, and what it finds is measured as the row left out would see it. Where the
rounding of distances could decide an answer (a tie, an equal vote), that answer is in doubt.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from weakref import WeakKeyDictionary

import numpy as np

from mlcli.core.held_out import Round
from mlcli.core.step import Step
from mlcli.core.tables import Array, Flags, Rows, Table
from mlcli.engines.entries import Entries, entries_of
from mlcli.engines.learn_from_sums import Batch, NotFromSumsError, SplitRows, one_by_one
from mlcli.engines.neighbours.distances import DISTANCES
from mlcli.engines.neighbours.points import SAME, Margin, PointSet, of_numbers
from mlcli.engines.neighbours.search import Pairs, nearest
from mlcli.tasks.classification import DECIMALS
from mlcli.tasks.supervised import SupervisedRows

BY_SCALES = ("euclidean", "manhattan")
"""The distances whose neighbours are known nearly before scales are."""
SHARED = 8
"""At least so many neighbours are looked for, so that the next cell may find them, too."""
KEPT_PAIRS = 2_000_000
"""How many pairs are remembered for the same rows."""
ANY_DISTANCE = 1e15
"""So much stretched, the nearest row is as far as any."""
ROUNDING = 8 * float(np.finfo(np.float64).eps)
VOTE_DIGITS = 1e-10
"""How wrong, relatively, a vote may be."""


@dataclass(eq=False)
class LeaveOneOutSearch:
    """For each row all others as near as the nearest wanted; found once for several k."""

    distance: str
    scales: Scales
    weights: Array
    _count: int = 0
    _pairs: tuple[Pairs, ...] = field(default=())

    def nearest(self, count: int) -> Iterator[Pairs]:
        """For all rows in order: the others as near as the ``count`` nearest, and perhaps more."""
        if count <= self._count:
            yield from self._pairs
            return
        count, kept, size = max(count, SHARED), list[Pairs](), 0
        for pairs in self._search(count):
            yield pairs
            size += len(pairs.query)
            kept = [*kept, pairs] if size <= KEPT_PAIRS else []
        if size <= KEPT_PAIRS:
            self._count, self._pairs = count, tuple(kept)

    def _search(self, count: int) -> Iterator[Pairs]:
        """One more is looked for, as a row is its own nearest; rows of weight 0 are nobody's neighbours."""
        stored = np.flatnonzero(self.weights > 0)
        points = of_numbers(self.scales.columns / self._usual)
        found = nearest(
            DISTANCES[self.distance], points, points.take(stored), min(count + 1, len(stored)), self._margin,
            lambda here, there: self._between(here, stored[there]),
        )  # fmt: skip
        for pairs in found:
            others = Pairs(pairs.query, stored[pairs.stored], pairs.distance)
            yield others.keep(others.query != others.stored)

    def _between(self, here: Rows, there: Rows) -> Array:
        """The distances of pairs of rows, as seen without the first."""
        scales = self.scales
        steps = scales.columns[here] - scales.columns[there]
        if scales.filled:
            steps += scales.fill[here] * (scales.gaps[here] - scales.gaps[there])
        return DISTANCES[self.distance].between(of_numbers(steps / scales.unit[here]), self._nowhere)

    @cached_property
    def _nowhere(self) -> PointSet:
        return of_numbers(np.zeros((1, self.scales.columns.shape[1])))

    @cached_property
    def _usual(self) -> Array:
        """The largest unit of each column: most rows leave it, but where a far-off row is left out it is less."""
        unit = self.scales.unit
        largest = np.where(np.isfinite(unit), unit, 0.0).max(axis=0, initial=0.0)
        return np.where(largest > 0, largest, 1.0)

    @cached_property
    def _margin(self) -> Margin:
        """How much farther apart than usual a pair may be without a row, by other units and other fillings."""
        relative = self._usual / self.scales.unit
        nearest, farthest = relative.min(axis=1, initial=np.inf), relative.max(axis=1, initial=0.0)
        stretch = np.full(len(relative), ANY_DISTANCE)
        np.divide(farthest, nearest, out=stretch, where=nearest > farthest / ANY_DISTANCE)
        moved = np.abs(self.scales.fill / self._usual).sum(axis=1)
        return Margin(stretch, moved + self._roundings)

    @cached_property
    def _roundings(self) -> Array:
        """How wrong a distance from each row may be, beside what the distance itself adds."""
        sizes = 2 * np.abs(self.scales.columns / self.scales.unit) + self.scales.size
        return np.asarray(ROUNDING * sizes.sum(axis=1)) * (not self.scales.exact)

    def doubtful_rows(
        self, pairs: Pairs, marks: list[Array], voters: Pairs, divisor: Array, means: Array
    ) -> Flags:
        """For each row whether the rounding of distances could change who votes, or what the votes make.

        ``marks`` are distances for each pair up to which something counts, ``divisor`` what those of voters are
        divided by, and ``means`` their answers.
        """
        doubt = np.zeros(len(means), bool)
        if self.scales.exact:
            return doubt
        for mark in marks:
            doubt |= self._doubtful_ties(pairs, mark)
        wrong = 2 * np.maximum.reduceat(self._rounding(voters) / divisor, voters.begins)
        return doubt | (wrong > VOTE_DIGITS) | _doubtful_lead(means, wrong)

    def _doubtful_ties(self, pairs: Pairs, mark: Array) -> Flags:
        """For each row whether some pair may or may not be as far as its ``mark``, one of its distances."""
        apart, rounding = np.abs(pairs.distance - mark), self._rounding(pairs)
        close = apart <= SAME * mark + rounding
        doubtful = close & (apart + rounding > SAME * mark)
        several = np.add.reduceat(close.astype(np.intp), pairs.begins) > 1
        return several & np.logical_or.reduceat(doubtful, pairs.begins)

    def _rounding(self, pairs: Pairs) -> Array:
        """How wrong each distance may be; equal rows are at distance 0, however they are scaled."""
        sizes = self._roundings[pairs.query] + ROUNDING * pairs.distance
        return sizes if self.scales.filled else np.where(pairs.distance == 0, 0.0, sizes)


def _doubtful_lead(means: Array, wrong: Array) -> Flags:
    """Whether the two largest shares may or may not be counted as equal."""
    if means.shape[1] < 2:
        return np.zeros(len(means), bool)
    second, first = np.partition(means, -2, axis=1)[:, -2:].T
    lead, equal = first - second, first * 10.0**-DECIMALS
    doubt = wrong * first
    return np.asarray((lead - doubt <= equal) & (lead + doubt > equal) & (doubt > 0))


_searches: WeakKeyDictionary[SupervisedRows, tuple[str, LeaveOneOutSearch | None]] = WeakKeyDictionary()
"""Of rows, the last steps and distance that were asked for, and the search."""


def search_without_each(
    data: SupervisedRows, round_: Round, steps: Sequence[Step], distance: str
) -> LeaveOneOutSearch | None:
    """What all rows of leave-one-out are compared with; None where only a fit without each row can tell.

    It is kept with the rows until other steps, or another distance, are asked for.
    """
    if not round_.one_by_one or distance not in BY_SCALES:
        return None
    wanted, (known, search) = repr((distance, steps)), _searches.get(data, ("", None))
    if known != wanted:
        scales = scales_without_each(data.table, steps, data.weights, round_)
        search = None if scales is None else LeaveOneOutSearch(distance, scales, data.weights)
        _searches[data] = wanted, search
    return search


LARGEST_SCALES = 2e7
"""How many numbers the units without each row may be."""


@dataclass(frozen=True, eq=False)
class Scales:
    """Columns (n × m), filled as most rows would have it, and how it differs without each row (n × m)."""

    columns: Array
    gaps: Array
    """1 where a cell was empty."""
    fill: Array
    """What is to be added where a cell was empty."""
    unit: Array
    """Infinite where a column is constant without the row."""
    size: Array
    """What a filling was taken from may be so large (n × m, in units): it rounds accordingly."""
    refused: Flags

    @cached_property
    def filled(self) -> bool:
        """Whether any cell was empty."""
        return bool(self.gaps.any())

    @cached_property
    def exact(self) -> bool:
        """Whether the columns are the cells as they stand, whichever row is left out."""
        return not self.filled and bool((self.unit == 1.0).all())


def scales_without_each(table: Table, steps: Sequence[Step], weights: Array, round_: Round) -> Scales | None:
    """The scales without each row; None where only fits can tell, or there would be too many."""
    entries = Entries.of(table, weights)
    if round_.parts * entries.width > LARGEST_SCALES:
        return None
    rows = SplitRows(entries, np.zeros(len(table), np.intp), 1, round_, steps)
    try:
        batches = list(one_by_one(rows))
    except NotFromSumsError:
        return None
    coded = any(place.column.coded for place in batches[0].known.places)
    return None if coded else _scales(table, entries, batches)


def _scales(table: Table, entries: Entries, batches: Sequence[Batch]) -> Scales | None:
    """The scales; None where gaps are left."""
    features = entries_of(batches[0].known.places)
    numbers = table.numbers.shape[1]
    cells = np.column_stack([table.numbers, entries.rows(slice(None))[:, numbers:]])[:, features]
    with_gaps: Flags = np.asarray(np.isnan(cells).any(axis=0))
    varies = np.asarray(with_gaps | (np.ptp(cells, axis=0) > 0), bool)
    features, cells, with_gaps = features[varies], cells[:, varies], with_gaps[varies]
    known = ((batch.known.offset, batch.known.scale, batch.known.fill) for batch in batches)
    offset, scale, fill = (np.concatenate(parts)[:, features] for parts in zip(*known, strict=True))
    if np.isnan(fill[:, with_gaps]).any():
        return None
    refused = np.concatenate([batch.doubtful for batch in batches])
    scale[refused] = 1.0
    flat = scale == 0
    unit = np.where(flat, np.inf, 1.0 / np.where(flat, 1.0, scale))
    filled = entries.origin_of(features) + offset + fill / np.where(flat, 1.0, scale)
    filled = np.where(with_gaps & ~flat, filled, 0.0)
    usual = np.median(filled, axis=0)
    filled[refused] = usual
    gaps = np.isnan(cells)
    largest = np.abs(table.numbers[:, np.isnan(table.numbers).any(axis=0)])
    size = np.nanmax(largest, initial=0.0) * (with_gaps & (features < numbers)) / unit
    return Scales(np.where(gaps, usual, cells), gaps.astype(np.float64), filled - usual, unit, size, refused)
