"""Filters: keep the columns with the highest scores, each scored on its own, whatever the model."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import ClassVar

import numpy as np

from mlcli.core.accepts import Accepts
from mlcli.core.findings import Bars, Explanation
from mlcli.core.params import learned, param
from mlcli.core.tables import Array
from mlcli.engines.draws import order_of_content
from mlcli.engines.inner_splits import inner_folds
from mlcli.prepare._selecting import ALIKE, MOST_BARS, ByModel, Usefulness, best_of, ranked
from mlcli.tasks.supervised import SupervisedRows

ALL_SIZES = 20
"""Up to so many columns each number is tried; beyond, each a quarter larger than the one before."""


@dataclass(kw_only=True, eq=False)
class Filter(ByModel):
    """Keeps the columns with the highest scores, each scored on its own, whatever the model."""

    measure: ClassVar[str]
    """What the score is."""

    keep: float | None = param(
        0.5, "how many are kept; below 1: which share; none: as many as serve `base` best", gt=0, tune=(0.1, 0.9)
    )
    folds: int = param(5, "into how many inner folds training rows are dealt, where `keep` is none", ge=2)

    scores_: Array = learned("columns")

    accepts = Accepts(missing=True, weights=True)
    """Numbers with gaps; a gap says nothing of its column."""

    def conflicts(self) -> list[str]:
        """Half a column, and a base that would not be asked."""
        if self.keep is None:
            return []
        whole = self.keep < 1 or self.keep % 1 == 0
        found = [] if whole else [f"keep is a whole number, or a share below 1; was given {self.keep:g}"]
        return found + (["'base' is asked only where keep is none"] if self.base else [])

    def fit(self, data: SupervisedRows, rng: np.random.Generator) -> None:
        """Score each column, and keep the best."""
        data = data.counted()
        self.scores_ = np.asarray(self.scores(data), np.float64)
        count = self._count_by_folds(data, rng) if self.keep is None else self._count(self.keep)
        self.kept_ = best_of(self.scores_, count)

    def _count(self, keep: float) -> int:
        columns = len(self.columns_)
        return min(columns, ceil(keep * columns - ALIKE) if keep < 1 else int(keep))

    def _count_by_folds(self, data: SupervisedRows, rng: np.random.Generator) -> int:
        """How many of the best columns serve the base best, scored and judged in inner folds."""
        data = data.take(order_of_content(data))
        folds, every = inner_folds(data, self.folds, rng), np.arange(len(data))
        sizes = _sizes(len(self.columns_))
        if len(np.unique(folds)) < 2 or not sizes:
            return len(self.columns_)
        losses, seed = np.zeros(len(sizes)), int(rng.integers(2**32))
        for fold in np.unique(folds):
            train, test = every[folds != fold], every[folds == fold]
            order = ranked(self.scores(data.take(train)))
            useful = Usefulness(self.base_for(data), data, [(train, test)], seed)
            weight = float(data.weights[test].sum())
            losses += [weight * useful.loss(tuple(sorted(order[:size]))) for size in sizes]
        return sizes[int(np.argmax(losses <= losses.min() * (1 + ALIKE)))]

    def scores(self, data: SupervisedRows) -> Array:
        """How much each column says of the target; NaN where that cannot be said, which is least."""
        raise TypeError(f"{type(self).__name__} does not say how it scores columns")

    def explain(self) -> Explanation:
        """The scores, highest first."""
        order = ranked(self.scores_)[:MOST_BARS]
        scores = np.nan_to_num(self.scores_[order])
        names, said = [column.name for column in self.columns_], np.where(self.kept_, "kept", "left out")
        note = f"{int(self.kept_.sum())} of {len(names)} columns are kept"
        return (
            Bars(
                f"Columns by {self.measure}",
                ("column", self.measure, ""),
                tuple(names[place] for place in order),
                tuple(scores.tolist()),
                (tuple(said[order].tolist()),),
                note=note + (f"; bars of the first {MOST_BARS}" if len(names) > MOST_BARS else ""),
            ),
        )


def _sizes(count: int) -> list[int]:
    """The numbers of columns that are tried."""
    sizes = list(range(1, min(count, ALL_SIZES) + 1))
    while sizes and sizes[-1] < count:
        sizes.append(min(count, sizes[-1] * 5 // 4))
    return sizes
