"""Filters: keep the columns with the highest scores, each scored on its own, whatever the model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mlcli.core.accepts import Accepts
from mlcli.core.findings import Explanation
from mlcli.core.params import learned, param
from mlcli.core.schema import Column
from mlcli.core.tables import Array, Codes
from mlcli.engines.content_seeds import order_of_content
from mlcli.engines.inner_validation import inner_folds, parts_of_folds
from mlcli.prepare._selecting import (
    ALIKE,
    ByModel,
    SubsetLosses,
    best_of,
    number_kept,
    problems_with_count,
    ranked,
)
from mlcli.prepare.discretise import boundaries, codes_of, equal_frequency
from mlcli.tasks.classification import LabelledRows
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
    folds: int = param(
        5,
        "how many inner folds the training rows are split into, where `keep` is none",
        ge=2,
        matters_when={"keep": None},
    )

    scores_: Array = learned("columns")

    accepts = Accepts(missing=True, weights=True)
    """Numbers with gaps; a gap says nothing of its column."""

    def conflicts(self) -> list[str]:
        """Half a column, and a base that would not be asked."""
        if self.keep is None:
            return []
        return problems_with_count(self.keep) + (["'base' is asked only where keep is none"] if self.base else [])

    def fit(self, data: SupervisedRows, rng: np.random.Generator) -> None:
        """Score each column, and keep the best."""
        data = data.counted()
        self.scores_ = np.asarray(self.scores(data), np.float64)
        keep, columns = self.keep, len(self.columns_)
        count = self._count_by_folds(data, rng) if keep is None else number_kept(keep, columns)
        self.kept_ = best_of(self.scores_, count)

    def _count_by_folds(self, data: SupervisedRows, rng: np.random.Generator) -> int:
        """How many of the best columns serve the base best, scored and judged in inner folds."""
        data = data.take(order_of_content(data))
        parts, sizes = parts_of_folds(inner_folds(data, self.folds, rng)), _sizes(len(self.columns_))
        if not parts or not sizes:
            return len(self.columns_)
        losses, seed = np.zeros(len(sizes)), int(rng.integers(2**32))
        for train, test in parts:
            order = ranked(self.scores(data.take(train)))
            subsets = SubsetLosses(self.base_for(data), data, [(train, test)], seed)
            weight = float(data.weights[test].sum())
            losses += [weight * subsets.loss(tuple(sorted(order[:size]))) for size in sizes]
        return sizes[int(np.argmax(losses <= losses.min() * (1 + ALIKE)))]

    def scores(self, data: SupervisedRows) -> Array:
        """How much each column says of the target; NaN where that cannot be said, which is least."""
        raise TypeError(f"{type(self).__name__} does not say how it scores columns")

    def explain(self) -> Explanation:
        """The scores, highest first."""
        return (self.bars(f"Columns by {self.measure}", self.measure, self.scores_),)


@dataclass(kw_only=True, eq=False)
class LevelFilter(Filter):
    """Scores each column by how its levels, or the bins of its numbers, meet those of the target."""

    bins: int = param(5, "how many bins numbers are cut into", ge=2)

    accepts = Accepts(nominal=True, missing=True, weights=True)

    def scores(self, data: SupervisedRows) -> Array:
        """The dependence of each column and the target."""
        return np.array([self.dependence(table) for table in self.tables(data)], np.float64)

    def tables(self, data: SupervisedRows) -> Iterator[Array]:
        """The contingency table of each column and the target."""
        target = levels_of_target(data, self.bins)
        return (contingency(codes, target, data.weights) for codes in levels_of_columns(data, self.bins))

    def dependence(self, table: Array) -> float:
        """What a contingency table says, which has no empty line."""
        raise TypeError(f"{type(self).__name__} does not say how it measures dependence")


def _sizes(count: int) -> list[int]:
    """The numbers of columns that are tried."""
    sizes = list(range(1, min(count, ALL_SIZES) + 1))
    while sizes and sizes[-1] < count:
        sizes.append(min(count, sizes[-1] * 5 // 4))
    return sizes


def levels_of_columns(data: SupervisedRows, bins: int) -> Iterator[Codes]:
    """Each column as codes from 0; an empty cell is a level of its own, and numbers are cut into bins."""
    for column, cells in data.table.parts():
        yield _levels(column, cells, data.weights, bins)


def levels_of_target(data: SupervisedRows, bins: int) -> Codes:
    """The class of each row, or the bin of its value."""
    if isinstance(data, LabelledRows):
        return data.y
    return codes_of(data.y, boundaries(equal_frequency, data.y, data.weights, bins))


def _levels(column: Column, cells: NDArray[Any], weights: Array, bins: int) -> Codes:
    codes = cells if column.coded else codes_of(cells, boundaries(equal_frequency, cells, weights, bins))
    return np.asarray(codes + 1, np.int32)


def contingency(values: Codes, other: Codes, weights: Array) -> Array:
    """The weight of the rows with each level of one and each of the other; levels without rows are left out."""
    width = int(other.max(initial=0)) + 1
    flat = np.bincount(values * width + other, weights, (int(values.max(initial=0)) + 1) * width)
    table = flat.reshape(-1, width)
    return np.asarray(table[table.any(axis=1)][:, table.any(axis=0)])
