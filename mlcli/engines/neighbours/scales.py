"""What steps make of columns by the rows outside each part of a round: what fills gaps, and what a unit is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mlcli.core.held_out import Round, totals_outside
from mlcli.core.step import Step
from mlcli.core.tables import Array, Flags, Table
from mlcli.engines.expansion import FREQUENCY_ROUNDING, NONE, UNCERTAIN, UNSCALED, Expansion, Recipe, expanded

KEPT_DIGITS = 1e-2
"""A column whose scatter is a smaller share of the squares it is taken from has lost too many digits."""
LARGEST_SCALES = 2e7
"""How many numbers the units of all parts may be."""
MOST_CELLS_READ = 5e7
"""How many cells may be read to see whether columns are constant outside a part."""


@dataclass(frozen=True, eq=False)
class Scales:
    """Columns (n × m), filled as most parts would, and how each part (parts × m) differs."""

    columns: Array
    gaps: Array
    """1 where a cell was empty."""
    fill: Array
    """What is to be added where a cell was empty."""
    unit: Array
    """Infinite where a column is constant outside the part."""
    size: Array
    """What a filling was taken from may be so large (parts × m, in units): it rounds accordingly."""
    refused: Flags

    @cached_property
    def filled(self) -> bool:
        """Whether any cell was empty."""
        return bool(self.gaps.any())

    @cached_property
    def exact(self) -> bool:
        """Whether the columns are the cells as they stand, in every part."""
        return not self.filled and bool((self.unit == 1.0).all())


def scales_outside(table: Table, steps: Sequence[Step], weights: Array, round_: Round) -> Scales | None:
    """The scales of every part; None where only the rows themselves can tell, or there would be too many."""
    expansion = expanded(table, steps)
    if expansion is None:
        return None
    recipe = Recipe.of(expansion)
    if round_.parts * len(recipe.main) > LARGEST_SCALES:
        return None
    recipe = recipe.without(_constant(expansion.columns, recipe))
    sums = _Outside.of(expansion, recipe, weights, round_)
    fill = _fills(recipe, sums)
    freedom = sums.weight[:, None] - np.maximum(recipe.ddof, 0)
    if fill is None or (freedom <= 0).any():
        return None
    scatter, squares = sums.scatter(fill)
    scaled = recipe.ddof != UNSCALED
    unit = np.where(scaled, np.sqrt(np.maximum(scatter, 0.0) / freedom), 1.0)
    lost = scaled & (scatter <= KEPT_DIGITS * squares)
    if lost.sum() * len(weights) > MOST_CELLS_READ:
        return None
    refused = np.zeros(round_.parts, bool)
    for part, column in zip(*np.nonzero(lost), strict=True):
        outside = (round_.part != part) & (weights > 0)
        cells, gaps = sums.raw[outside, column], sums.gaps[outside, column]
        unit[part, column] = np.inf
        refused[part] |= bool(gaps.any()) or cells.min() < cells.max()
    usual = np.median(fill, axis=0)
    size = _largest_beside_gaps(table) * (recipe.has_gap & (recipe.fills == NONE)) / unit
    return Scales(sums.main + usual * sums.gaps, sums.gaps, fill - usual, unit, size, refused)


def _largest_beside_gaps(table: Table) -> float:
    """The largest number of the columns with gaps, by size."""
    with_gaps = np.isnan(table.numbers).any(axis=0)
    return float(np.abs(np.nan_to_num(table.numbers[:, with_gaps])).max(initial=0.0))


def _constant(columns: Array, recipe: Recipe) -> Flags:
    """Columns that tell no rows apart."""
    return np.asarray((np.ptp(columns, axis=0) == 0)[recipe.main] & ~recipe.has_gap)


@dataclass(frozen=True, eq=False)
class _Outside:
    """Means (parts × m) over the rows outside each part, of columns that are centred if they are to be scaled."""

    raw: Array
    main: Array
    gaps: Array
    centre: Array
    weight: Array
    mean: Array
    square: Array
    gap: Array
    product: Array
    levels: tuple[Array, ...]
    """For each source of levels, the share of each."""

    @classmethod
    def of(cls, expansion: Expansion, recipe: Recipe, weights: Array, round_: Round) -> _Outside:
        raw = expansion.columns[:, recipe.main]
        gaps = expansion.columns[:, recipe.gap] * recipe.has_gap
        centre = np.where(recipe.ddof != UNSCALED, weights @ raw / weights.sum(), 0.0)
        main = raw - centre
        filled = recipe.has_gap
        parts = [main, main**2, gaps[:, filled], (main * gaps)[:, filled]]
        sources = [list(levels) for levels in recipe.sources] if filled.any() else []
        parts += [expansion.columns[:, levels] for levels in sources]
        totals = totals_outside(weights[:, None] * np.column_stack([np.ones(len(weights)), *parts]), round_)
        weight = totals[:, 0]
        means = totals[:, 1:] / np.where(weight > 0, weight, 1.0)[:, None]
        mean, square, *beside = np.split(means, np.cumsum([part.shape[1] for part in parts])[:-1], axis=1)
        gap, product = np.zeros_like(mean), np.zeros_like(mean)
        gap[:, filled], product[:, filled] = beside[0], beside[1]
        return cls(raw, main, gaps, centre, weight, mean, square, gap, product, tuple(beside[2:]))

    def scatter(self, fill: Array) -> tuple[Array, Array]:
        """The scatter of the filled columns, and the sum of squares that it was taken from."""
        centred = self.square - self.mean**2
        beside = self.product - self.mean * self.gap
        between = self.gap - self.gap**2
        scatter = centred + 2 * fill * beside + fill**2 * between
        return self.weight[:, None] * scatter, self.weight[:, None] * (self.square + fill**2 * self.gap)


def _fills(recipe: Recipe, sums: _Outside) -> Array | None:
    """What fills the gaps of each column outside each part; None where a column is empty there."""
    fill = np.zeros_like(sums.mean)
    known = 1 - sums.gap
    if (known[:, recipe.has_gap] <= UNCERTAIN).any() or (sums.weight <= 0).any():
        return None
    numeric = recipe.has_gap & (recipe.fills == NONE)
    fill[:, numeric] = ((sums.centre + sums.mean) / known)[:, numeric]
    for column in np.flatnonzero(recipe.has_gap & (recipe.fills != NONE)):
        source = recipe.fills[column]
        shares = sums.levels[source]
        most = np.argmax(shares >= shares.max(axis=1, keepdims=True) * (1 - FREQUENCY_ROUNDING), axis=1)
        fill[:, column] = np.array(recipe.sources[source])[most] == recipe.main[column]
    return fill
