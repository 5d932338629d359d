"""Least squares, ridged or not, for every part of a round: from sums over the rows outside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mlcli.core.held_out import HeldOut, Round
from mlcli.core.step import Step
from mlcli.core.tables import Array
from mlcli.engines.expansion import NONE, Expansion, Recipe, expanded, of_expansion, prepared
from mlcli.engines.sums import Sums, outside
from mlcli.tasks.regression import ValuedRows

WELL_CONDITIONED = 1e5
"""Up to this condition (1-norm, of correlations) sums give the slopes to ten digits."""
LARGEST_SUMS = 2e7
"""How many numbers the sums of all parts may be."""


@dataclass(frozen=True, eq=False)
class Plane:
    """A linear function of the columns that never change."""

    slopes: Array
    centre: Array
    level: float

    def at(self, columns: Array) -> Array:
        """Its value for rows."""
        values: Array = (columns - self.centre) @ self.slopes + self.level
        return values


@dataclass(frozen=True, eq=False)
class Basis:
    """The columns that never change, the target last, and the sums of the rows that each part is answered from.

    Where every row is a part there is one sum, of all rows.
    """

    expansion: Expansion
    columns: Array
    sums: list[Sums]

    @classmethod
    def of(cls, data: ValuedRows, round_: Round, steps: Sequence[Step]) -> Basis | None:
        """The basis of a round; None where steps do not follow from sums, or these take too much room."""
        expansion = expanded(data.table, steps)
        parts = 1 if round_.one_by_one else round_.parts
        if expansion is None or parts * (expansion.columns.shape[1] + 1) ** 2 > LARGEST_SUMS:
            return None
        columns = np.column_stack([expansion.columns, data.y])
        if round_.one_by_one:
            return cls(expansion, columns, [Sums.of(columns, data.weight)])
        return cls(expansion, columns, outside(columns, data.weight, round_))


def by_parts(basis: Basis, recipe: Recipe, round_: Round, l2: float) -> HeldOut:
    """The answer to every part by the plane nearest to the rows outside it."""
    columns = basis.columns[:, :-1]
    answers, refused = np.zeros(len(columns)), np.ones(round_.parts, bool)
    for part, sums in enumerate(basis.sums):
        plane = plane_from(recipe, sums, l2)
        if plane is not None:
            rows = round_.rows_of[part]
            answers[rows], refused[part] = plane.at(columns[rows]), False
    return HeldOut(answers, refused, "merged sums")


def plane_from(recipe: Recipe, sums: Sums, l2: float) -> Plane | None:
    """The plane nearest to rows with such sums, the target last; None where only the rows themselves can tell."""
    found = prepared(recipe, sums)
    if found is None or (l2 == 0 and (found.constant & (recipe.whole != NONE)).any()):
        return None
    varying = ~found.constant
    unit = found.unit[varying]
    gram = found.scatter[np.ix_(varying, varying)] / np.outer(unit, unit)
    toward = (sums.scatter[-1, recipe.main] + found.shift * sums.scatter[-1, recipe.gap])[varying] / unit
    inverse = inverse_of(gram + l2 * np.eye(len(unit)))
    if inverse is None:
        return None
    slopes = np.zeros(len(varying))
    slopes[varying] = inverse @ toward
    in_columns = of_expansion(recipe, found, slopes, len(sums.mean) - 1)
    return Plane(in_columns, sums.mean[:-1], float(sums.mean[-1]))


def inverse_of(gram: Array, largest_condition: float = WELL_CONDITIONED) -> Array | None:
    """The inverse, by correlations; None where the columns are too nearly collinear for it."""
    norms = np.sqrt(gram.diagonal())
    if not len(norms):
        return gram
    sizes = np.multiply.outer(norms, norms)
    correlations = gram / sizes
    try:
        inverse = np.asarray(np.linalg.inv(correlations), np.float64)
    except np.linalg.LinAlgError:
        return None
    condition = _norm(correlations) * _norm(inverse)
    inverse /= sizes
    return inverse if condition <= largest_condition else None


def _norm(matrix: Array) -> float:
    """The largest sum of a column, by size."""
    return float(np.abs(matrix).sum(axis=0).max())
