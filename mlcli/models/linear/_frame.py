"""Columns that are the same for every part of a round, and what the model's columns of each part are in them.

What steps learn from the rows outside a part (what fills gaps, what a unit is) only moves a filled column by a
share of the column of its gap, and changes what the penalty makes of a coefficient.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from mlcli.core.held_out import Round, totals_outside
from mlcli.core.moments import extent
from mlcli.core.step import Step
from mlcli.core.tables import Array, Flags, Rows
from mlcli.engines.expansion import FREQUENCY_ROUNDING, NONE, UNCERTAIN, UNSCALED, Recipe, expanded
from mlcli.tasks.supervised import SupervisedRows

LOST = 1e-6
"""What must be left of the variance of a column outside a part, to keep enough digits."""
LEAST_KNOWN = 1e-10
"""A column with a smaller share of cells that are not empty is as good as empty."""

Totals = Callable[[Array], Array]
"""The weighted sums (sets × columns) of columns over sets of rows."""


@dataclass(frozen=True, eq=False)
class Units:
    """What steps learn of sets of rows (lines), for each column of the model."""

    share: Array
    """How much of its gap's column is added to a column."""
    strength: Array
    """The penalty on half a squared coefficient, where l2 is 1."""
    sound: Flags
    """Whether there are digits enough to tell, for each set."""


@dataclass(frozen=True, eq=False)
class Frame:
    """``columns`` have mean 0 and variance 1; the last is of ones."""

    columns: Array
    recipe: Recipe
    raw: Array
    scale: Array
    weights: Array

    @classmethod
    def of(cls, data: SupervisedRows, steps: Sequence[Step]) -> Self | None:
        """The frame of rows; None where what steps learn does not follow from sums."""
        expansion = expanded(data.table, steps)
        if expansion is None:
            return None
        raw, shares = expansion.columns, data.weights / data.weights.sum()
        mean = shares @ raw
        columns = np.ones((len(raw), raw.shape[1] + 1))
        centred = np.subtract(raw, mean, out=columns[:, :-1])
        centred -= shares @ centred
        scale = np.sqrt(np.einsum("i,ij,ij->j", shares, centred, centred))
        low, high = extent(raw, data.weights)
        varies = low < high
        if (varies & (scale <= UNCERTAIN * np.abs(mean))).any():
            return None
        scale = np.where(varies, scale, 1.0)
        centred *= varies / scale
        recipe = Recipe.of(expansion)
        constant = ~varies[recipe.main] & ~(recipe.has_gap & varies[recipe.gap])
        return cls(columns, recipe.without(constant), raw, scale, data.weights)

    @property
    def of_everything(self) -> Units:
        """What steps learn of all rows."""
        return self._units(lambda values: (self.weights @ values)[None, :])

    def outside(self, round_: Round) -> Units:
        """What steps learn of the rows outside each part."""
        return self._units(lambda values: totals_outside(values * self.weights[:, None], round_))

    def filled(self, share: Array) -> Array:
        """The model's columns, with such shares of their gaps' columns, and ones."""
        recipe = self.recipe
        if np.array_equal(recipe.main, np.arange(self.columns.shape[1] - 1)) and not recipe.has_gap.any():
            return self.columns
        inside = self.columns[:, recipe.main] + share * self.columns[:, recipe.gap]
        return np.column_stack([inside, np.ones(len(inside))])

    def spread(self, w: Array, share: Array) -> Array:
        """Coefficients (sets × outputs × the model's columns and ones) as those of ``columns``."""
        spread = np.zeros((*w.shape[:-1], self.columns.shape[1]))
        spread[..., self.recipe.main] = w[..., :-1]
        spread[..., -1] = w[..., -1]
        for j in np.flatnonzero(self.recipe.has_gap):
            spread[..., self.recipe.gap[j]] += w[..., j] * share[:, j, None]
        return spread

    def gathered(self, slopes: Array, share: Array) -> Array:
        """Slopes in coefficients of ``columns`` as those in coefficients of the model's columns and ones."""
        inside = slopes[..., self.recipe.main] + share[:, None, :] * slopes[..., self.recipe.gap]
        return np.concatenate([inside, slopes[..., -1:]], axis=2)

    def _units(self, totals: Totals) -> Units:
        recipe, weight = self.recipe, totals(np.ones((len(self.raw), 1)))
        share, known = self._shares(totals, weight)
        main, gap = self.columns[:, recipe.main], self.columns[:, recipe.gap]
        mean, square = totals(main), totals(main**2)
        if recipe.has_gap.any():
            mean = mean + share * totals(gap)
            square = square + share * (2 * totals(main * gap) + share * totals(gap**2))
        with np.errstate(divide="ignore", invalid="ignore"):
            variance = square / weight - (mean / weight) ** 2
            deviation = variance * weight / (weight - np.maximum(recipe.ddof, 0))
        strength = np.where(recipe.ddof == UNSCALED, self.scale[recipe.main] ** -2.0, deviation)
        sound = known & (variance > LOST).all(axis=1) & np.isfinite(strength).all(axis=1)
        return Units(share, strength, sound)

    def _shares(self, totals: Totals, weight: Array) -> tuple[Array, Flags]:
        """What fills the gap of each column, in standard units; and whether there is anything to do so."""
        recipe = self.recipe
        filling = np.zeros((len(weight), len(recipe.main)))
        sound = np.ones(len(weight), bool)
        by_mean: Rows = np.flatnonzero(recipe.has_gap & (recipe.fills == NONE))
        if len(by_mean):
            known = totals(1 - self.raw[:, recipe.gap[by_mean]])
            sound = np.asarray((known > LEAST_KNOWN * weight).all(axis=1))
            filling[:, by_mean] = totals(self.raw[:, recipe.main[by_mean]]) / np.where(known > 0, known, 1.0)
        for source in np.unique(recipe.fills[recipe.has_gap & (recipe.fills != NONE)]):
            levels = np.array(recipe.sources[source])
            counts = totals(self.raw[:, levels])
            most = levels[
                np.argmax(counts >= counts.max(axis=1, keepdims=True) * (1 - FREQUENCY_ROUNDING), axis=1)
            ]
            filling += (recipe.fills == source) & (recipe.main == most[:, None])
        return filling * self.scale[recipe.gap] / self.scale[recipe.main] * recipe.has_gap, sound
