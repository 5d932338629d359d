"""A rule on one column: which classes its values go with."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mlcli.core.schema import Column
from mlcli.core.tables import Array, Codes, Rows
from mlcli.models.baselines._buckets import cuts_between
from mlcli.tasks.classification import LabelledRows


@dataclass(frozen=True, eq=False)
class Rule:
    """``totals`` (weight by value and class) has a row per value of the column and a last one for missing cells.

    The values of a coded column are its levels, those of a numeric one the intervals between ``cuts``.
    """

    column: Column
    cuts: Array
    totals: Array

    @property
    def wrong(self) -> float:
        """The weight of the training rows that the rule gets wrong."""
        return float(self.totals.sum() - self.totals.max(axis=1).sum())


def rule_on(column: Column, cells: NDArray[Any], data: LabelledRows, min_bucket: float) -> Rule:
    """The rule that training rows give for one column."""
    cuts = np.empty(0) if column.coded else _cuts(cells, data, min_bucket)
    slots = value_count(column, cuts) + 1
    which = value_of(column, cells, cuts)
    totals = _totals(np.where(which < 0, slots - 1, which), slots, data.y, data.weights, len(data.classes))
    return Rule(column, cuts, totals)


def _totals(which: Rows, slots: int, y: Codes, weights: Array, classes: int) -> Array:
    """The weight of each class in each slot."""
    counted = np.bincount(which * classes + y, weights, slots * classes)
    return np.asarray(counted, np.float64).reshape(slots, classes)


def value_count(column: Column, cuts: Array) -> int:
    """How many values the rule on a column tells apart, missing aside."""
    return len(column.levels) if column.coded else len(cuts) + 1


def value_of(column: Column, cells: NDArray[Any], cuts: Array) -> Rows:
    """The value of each cell as the row of ``totals`` it belongs to; a cell on a cut is below it."""
    if column.coded:
        return cells.astype(np.intp)
    return np.where(np.isnan(cells), -1, np.searchsorted(cuts, cells, side="left"))


def value_names(column: Column, cuts: Array) -> tuple[str, ...]:
    """The values in words, with "missing" at the end."""
    if column.coded:
        return (*column.levels, "missing")
    if len(cuts) == 0:
        return ("any", "missing")
    middle = (f"{low:.10g} to {high:.10g}" for low, high in pairwise(cuts))
    return (f"≤ {cuts[0]:.10g}", *middle, f"> {cuts[-1]:.10g}", "missing")


def _cuts(cells: Array, data: LabelledRows, min_bucket: float) -> Array:
    """Holte's cuts; the larger class stands first, so that it wins the ties inside a bucket."""
    counted = ~np.isnan(cells) & (data.weights > 0)
    values, which = np.unique(cells[counted], return_inverse=True)
    totals = _totals(which, len(values), data.y[counted], data.weights[counted], len(data.classes))
    return cuts_between(values, totals[:, np.argsort(-data.class_totals, kind="stable")], min_bucket)
