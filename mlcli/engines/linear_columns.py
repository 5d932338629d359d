"""Columns as steps leave them, known by sums over training rows alone, for many sets of such rows at once.

What impute, standardise and one-hot do to a row is linear in its entries; what they learn follows from weight,
mean and squares of the columns before them. A step that can say so has a method ``from_sums``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from mlcli.core.moments import Spread
from mlcli.core.tables import Array, Flags, Rows
from mlcli.engines.entries import NONE, Entries, Place, entries_of

UNCERTAIN = 1e-10
"""A column that varies, but by less than this share of its size, is left to the rows themselves."""
FARTHEST = 1e5
"""A number that fills gaps so many deviations from 0 is rounded by too much."""


@dataclass(frozen=True, eq=False)
class LinearColumns:
    """An entry of a row has become (entry − offset) · scale, and ``fill`` where it is empty (sets × entries)."""

    places: tuple[Place, ...]
    """The columns as they are now, and their entries."""
    raw: Spread
    """Of the entries before any step (sets × classes × entries)."""
    total: Array
    """The weight of each class of each set."""
    offset: Array
    scale: Array
    fill: Array
    """NaN where an empty cell stays empty."""
    complete: tuple[Rows, ...] = ()
    """Entries that are numeric columns now, and indicate all levels of one column."""

    @classmethod
    def of(cls, entries: Entries, raw: Spread, total: Array) -> LinearColumns:
        """The columns of a table before any step."""
        shape = len(total), entries.width
        return cls(entries.places, raw, total, np.zeros(shape), np.ones(shape), np.full(shape, np.nan))

    def doubtful(self, entries: Entries) -> Flags:
        """The sets in which a column varies by next to nothing, is empty, or has gaps and is far away."""
        numbers = slice(0, entries.numbers.shape[1])
        weight, mean, squares = self.overall.at(numbers)
        size = (entries.origin + mean) ** 2
        with_gaps = self.gap != NONE
        flat = (squares > 0) & (squares <= weight * UNCERTAIN**2 * size)
        far = with_gaps[numbers] & (weight * size > FARTHEST**2 * squares)
        return np.asarray((flat | far).any(axis=1) | (self.overall.weight[:, with_gaps] <= 0).any(axis=1))

    @cached_property
    def by_class(self) -> Spread:
        """Of the entries as they are now (sets × classes × entries)."""
        scale = self.scale[:, None]
        known = Spread(
            self.raw.weight, (self.raw.mean - self.offset[:, None]) * scale, self.raw.squares * scale**2
        )
        filled = ~np.isnan(self.fill)
        if not filled.any():
            return known
        gaps = np.where(filled[:, None], np.maximum(self.total[:, :, None] - self.raw.weight, 0.0), 0.0)
        fill = np.where(filled, self.fill, 0.0)[:, None]
        return known.merged(Spread(gaps, np.broadcast_to(fill, gaps.shape), np.zeros_like(gaps)))

    @cached_property
    def overall(self) -> Spread:
        """Of all classes together (sets × entries)."""
        return self.by_class.together(axis=1)

    @cached_property
    def numbers(self) -> Rows:
        """The entries of numeric columns."""
        return entries_of(place for place in self.places if not place.column.coded)

    @cached_property
    def gap(self) -> Rows:
        """For each entry the one that is 1 where it is empty; NONE where it never is."""
        gap: Rows = np.full(self.offset.shape[1], NONE, np.intp)
        for place in self.places:
            gap[place.entries] = place.gap if place.empty else NONE
        gap[gap == np.arange(len(gap))] = NONE  # a gap that has become a level is never empty
        return gap

    def may_be_empty(self, place: Place) -> bool:
        """Whether cells of a column may still be empty."""
        return place.gap != NONE and bool(np.isnan(self.fill[:, place.entries]).all())

    def deviation(self, entries: Rows, ddof: int) -> Array:
        """The standard deviation of entries (sets × entries); 0 where there is nothing to divide by."""
        return np.sqrt(self.overall.at(entries).moments(ddof).variance)

    def filled(self, entries: Rows, value: Array) -> LinearColumns:
        """The same with a value (sets × entries) in the place of empty cells."""
        return replace(self, fill=_put(self.fill, entries, value))

    def rescaled(self, entries: Rows, offset: Array, unit: Array) -> LinearColumns:
        """The same with (value − offset) / unit (sets × entries); 0 where the unit is 0."""
        by = np.divide(1.0, unit, out=np.zeros_like(unit), where=unit > 0)
        scale = self.scale[:, entries]
        moved = np.divide(offset, scale, out=np.zeros_like(offset), where=scale != 0)
        return replace(
            self,
            offset=_put(self.offset, entries, self.offset[:, entries] + moved),
            scale=_put(self.scale, entries, scale * by),
            fill=_put(self.fill, entries, (self.fill[:, entries] - offset) * by),
        )

    def arranged(self, places: Iterable[Place], complete: Iterable[Rows] = ()) -> LinearColumns:
        """The same entries as other columns."""
        return replace(self, places=tuple(places), complete=(*self.complete, *complete))

    def take(self, sets: Rows) -> LinearColumns:
        """Some of the sets of training rows."""
        arrays = {name: getattr(self, name)[sets] for name in ("total", "offset", "scale", "fill")}
        return replace(self, raw=self.raw.of(sets), **arrays)

    def mapped(self, features: Rows) -> LinearMap:
        """Some entries as functions of a row's."""
        gap = self.gap[features]
        return LinearMap(
            features,
            np.where(gap == NONE, features, gap),
            gap != NONE,
            self.offset[:, features],
            self.scale[:, features],
            self.fill[:, features],
        )

    def constant(self, features: Rows) -> Array:
        """For each complete set of levels how much of each feature adds up to 1 (sets × m × features)."""
        shares = np.zeros((len(self.total), len(self.complete), len(features)))
        scale, squares = self.scale[:, features], self.overall.squares[:, features]
        for k, entries in enumerate(self.complete):
            there = np.isin(features, entries) & (squares > 0)
            shares[:, k] = np.divide(1.0, scale, out=np.zeros_like(scale), where=there & (scale != 0))
        return shares


@dataclass(frozen=True, eq=False)
class LinearMap:
    """What the model sees of a row, for each of some sets of training rows: its columns as functions of entries.

    A column is (entry − offset) · scale, and ``fill`` where the entry is empty (sets × columns).
    """

    main: Rows
    gap: Rows
    """The entry that is 1 where the column's own is empty; where there is none, its own."""
    has_gap: Flags
    offset: Array
    scale: Array
    fill: Array

    def rows(self, entries: Array) -> Array:
        """Rows of entries (sets × rows × entries) as the model sees them by each set."""
        cells = entries[..., self.main]
        found = (cells - self.offset[:, None]) * self.scale[:, None]
        return np.where(np.isnan(cells), self.fill[:, None], found) if self.has_gap.any() else found

    def slopes(self, varies: Flags) -> tuple[Array, Array]:
        """What a column has of its entry, and of that which says that it is empty; of a constant one nothing."""
        scale = np.where(varies, self.scale, 0.0)
        at_gap = np.where(self.has_gap & varies, self.fill + self.offset * self.scale, 0.0)
        return scale, at_gap

    def scatter(self, scatters: Array, varies: Flags) -> Array:
        """The scatter of columns (sets × k × columns²) from that of entries (sets × k × entries²)."""
        scale, at_gap = (one[:, None] for one in self.slopes(varies))
        found = scatters[..., self.main[:, None], self.main] * scale[..., :, None] * scale[..., None, :]
        if self.has_gap.any():
            beside = scatters[..., self.gap[:, None], self.main] * at_gap[..., :, None] * scale[..., None, :]
            both = scatters[..., self.gap[:, None], self.gap] * at_gap[..., :, None] * at_gap[..., None, :]
            found = found + beside + np.swapaxes(beside, -1, -2) + both
        return np.asarray(found)


def _put(values: Array, entries: Rows, new: Array) -> Array:
    """A copy with other numbers for some entries."""
    changed = values.copy()
    changed[..., entries] = new
    return changed
