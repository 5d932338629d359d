"""Training size: folds tested by models fitted to ever more of the other rows, which gives a learning curve.

Computed:
    Every fold is tested once for each of ``sizes``: shares (up to 1) or numbers (above 1) of the rows that can be
    learned from beside the largest fold. What is learned from for a smaller size is learned from for a larger one,
    too. Classes have their share in every size, each at least one row; groups are never cut, so that a size may be
    exceeded. Scores, intervals and tests of difference are of the largest size; every size has its own below them.

Cost:
    folds × repeats × sizes fits.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from mlcli.core.answers import Coordinate
from mlcli.core.errors import DataError, Problem, raise_all
from mlcli.core.params import param
from mlcli.core.registry import register
from mlcli.core.rows import SplitInfo
from mlcli.core.tables import Rows
from mlcli.protocols._base import TRAINING_ROWS, Split, Units, by_class_if_any, problems_with_list
from mlcli.protocols.k_fold import KFold


@register(
    "training-size", reference="Cortes et al. 1994, Learning curves: asymptotic values and rate of convergence"
)
class TrainingSize(KFold):
    """Folds for one number of training rows after another."""

    kinds: ClassVar[tuple[str, ...]] = (
        *("classification", "regression", "sequence-labelling", "ranking", "anomaly", "density"),
        *("recommendation", "association", "clustering", "projection"),
    )

    folds: int = param(5, "how many parts, each tested once for each size", ge=2)
    sizes: tuple[float, ...] = param(
        (0.1, 0.2, 0.4, 0.7, 1.0), "shares of the training rows, or numbers of them above 1", gt=0
    )

    def units(self, info: SplitInfo) -> Units:
        """The rows or groups, by class where there are classes."""
        return by_class_if_any(info)

    def conflicts(self) -> list[str]:
        """No size at all, a size twice, or half a row."""
        broken = [size for size in self.sizes if size > 1 and size != int(size)]
        if broken:
            return [f"a size above 1 is a number of rows, was given {broken[0]:g}"]
        return problems_with_list("sizes", "size", self.sizes)

    def problems_with_rows(self, info: SplitInfo) -> list[Problem]:
        """Fewer rows, or groups, than folds, or a size that there are not enough rows for."""
        problems = super().problems_with_rows(info)
        return problems or self._problems_with_sizes(info.rows - math.ceil(info.rows / self.folds))

    def divided(self, info: SplitInfo, rng: np.random.Generator) -> Sequence[Split]:
        """The folds of the smallest size, then those of the next."""
        folds = super().divided(info, rng)
        units = self.units(info)
        ordered = [_in_stratified_order(fold.train, units, rng) for fold in folds]
        most = min(map(len, ordered))
        raise_all(DataError, self._problems_with_sizes(most))
        # at least two rows
        counts = {max(2, round(size * most)) if size <= 1 else int(size) for size in self.sizes}
        splits = []
        for count in sorted(counts):
            for fold, rows in zip(folds, ordered, strict=True):
                unit = units.of_row[rows]
                end = int(np.flatnonzero(unit == unit[count - 1])[-1]) + 1  # the last group is not cut
                coordinate = Coordinate(TRAINING_ROWS, float(count))
                label = f"{count} training rows, {fold.label}"
                splits.append(Split(np.sort(rows[:end]), fold.test, label, coordinate=coordinate))
        return splits

    def _problems_with_sizes(self, most: int) -> list[Problem]:
        if max(self.sizes) <= max(most, 1):
            return []
        what = f"{self.id}: a size of {max(self.sizes):g} rows, and there are {most} to learn from beside a fold"
        return [Problem(what, hint=f"sizes up to {most}, or shares up to 1, would work")]


def _in_stratified_order(train: Rows, units: Units, rng: np.random.Generator) -> Rows:
    """Training rows, unit after unit, in an order in which every start has its share of each class."""
    present = np.unique(units.of_row[train])
    position = np.empty(len(present))
    for stratum in np.unique(units.stratum[present]):
        of_class = rng.permutation(np.flatnonzero(units.stratum[present] == stratum))
        position[of_class] = (np.arange(len(of_class)) + 0.5) / len(of_class)
        position[of_class[0]] = 0.0
    rank = np.empty(len(units), np.intp)
    rank[present[np.lexsort((rng.random(len(present)), position))]] = np.arange(len(present))
    ordered: Rows = train[np.argsort(rank[units.of_row[train]], kind="stable")]
    return ordered
