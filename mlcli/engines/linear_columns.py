"""Columns as steps leave them, known by sums over training rows alone, for many sets of such rows at once.

What impute, standardise and one-hot do to a row is linear in its entries; what they learn follows from weight,
mean and squares of the columns before them. A step that can say so has a method ``from_sums``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from mlcli.core.moments import Spread, quotient
from mlcli.core.tables import Array, Flags, Rows
from mlcli.engines.entries import NONE, ColumnEntries, Entries, entries_of

UNCERTAIN = 1e-10
"""A column that varies, but by less than this share of its size, is left to the rows themselves."""
FARTHEST = 1e5
"""A number that fills gaps so many deviations from 0 is rounded by too much."""


@dataclass(frozen=True, eq=False)
class LinearColumns:
    """An entry of a row has become (entry − offset) · scale, and ``fill`` where it is empty (sets × entries)."""

    places: tuple[ColumnEntries, ...]
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
        with_gaps = self.gap != np.arange(entries.width)
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
        """For each entry the one that is 1 where it is empty; itself where it never is."""
        gap = np.arange(self.offset.shape[1])
        for place in self.places:
            if place.empty:
                gap[place.entries] = place.gap
        return gap

    def may_be_empty(self, place: ColumnEntries) -> bool:
        """Whether cells of a column may still be empty."""
        return place.gap != NONE and bool(np.isnan(self.fill[:, place.entries]).all())

    def filled(self, entries: Rows, value: Array) -> LinearColumns:
        """The same with a value (sets × entries) in the place of empty cells."""
        return replace(self, fill=_put(self.fill, entries, value))

    def rescaled(self, entries: Rows, offset: Array, unit: Array) -> LinearColumns:
        """The same with (value − offset) / unit (sets × entries); 0 where the unit is 0."""
        by, scale = quotient(np.ones_like(unit), unit), self.scale[:, entries]
        moved = quotient(offset, scale)
        return replace(
            self,
            offset=_put(self.offset, entries, self.offset[:, entries] + moved),
            scale=_put(self.scale, entries, scale * by),
            fill=_put(self.fill, entries, (self.fill[:, entries] - offset) * by),
        )

    def arranged(self, places: Iterable[ColumnEntries], complete: Iterable[Rows] = ()) -> LinearColumns:
        """The same entries as other columns."""
        return replace(self, places=tuple(places), complete=(*self.complete, *complete))

    def take(self, sets: Rows) -> LinearColumns:
        """Some of the sets of training rows."""
        arrays = {name: getattr(self, name)[sets] for name in ("total", "offset", "scale", "fill")}
        return replace(self, raw=self.raw.of(sets), **arrays)

    def rows(self, features: Rows, entries: Array) -> Array:
        """Rows of entries (sets × rows × entries) as they are now by each set, of some entries only."""
        offset, scale, fill = (one[:, None, features] for one in (self.offset, self.scale, self.fill))
        cells = entries[..., features]
        found = (cells - offset) * scale
        return np.where(np.isnan(cells), fill, found) if (self.gap[features] != features).any() else found

    def slopes(self, features: Rows) -> tuple[Array, Array]:
        """What some entries have of themselves, and of those of their gaps; what is constant has nothing."""
        varies = self.by_class.at(features).squares.sum(axis=-2) > 0
        offset, scale, fill = (one[:, features] for one in (self.offset, self.scale, self.fill))
        at_gap = np.where((self.gap[features] != features) & varies, fill + offset * scale, 0.0)
        return np.where(varies, scale, 0.0), at_gap

    def scatter(self, features: Rows, scatters: Array) -> Array:
        """The scatter of some entries as they are now (sets × k × features²) from that of all as they were."""
        gap, (scale, at_gap) = self.gap[features], (one[:, None] for one in self.slopes(features))
        found = scatters[..., features[:, None], features] * scale[..., :, None] * scale[..., None, :]
        if at_gap.any():
            beside = scatters[..., gap[:, None], features] * at_gap[..., :, None] * scale[..., None, :]
            both = scatters[..., gap[:, None], gap] * at_gap[..., :, None] * at_gap[..., None, :]
            found = found + beside + np.swapaxes(beside, -1, -2) + both
        return np.asarray(found)

    def constant(self, features: Rows) -> Array:
        """For each complete set of levels how much of each feature adds up to 1 (sets × m × features)."""
        shares = np.zeros((len(self.total), len(self.complete), len(features)))
        scale, squares = self.scale[:, features], self.overall.squares[:, features]
        for k, entries in enumerate(self.complete):
            there = np.isin(features, entries) & (squares > 0)
            shares[:, k] = quotient(there.astype(np.float64), scale)
        return shares


def _put(values: Array, entries: Rows, new: Array) -> Array:
    """A copy with other numbers for some entries."""
    changed = values.copy()
    changed[..., entries] = new
    return changed
