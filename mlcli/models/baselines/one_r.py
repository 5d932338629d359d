"""One-R: answers by the one column whose values tell the classes apart best.

Formula:
    A column's rule answers, for each of its values v, the class k with the largest Σ w_i [x_i = v][y_i = k]; the
    column whose rule is wrong least often in training is taken. P(k | v) is the share of the class among the rows
    with that value.

    Numbers are cut into intervals first: in ascending order, an interval takes values until one class has
    `min_bucket` rows in it, and as long as that class is the largest in the values that follow; then neighbours
    with the same class become one. The cuts lie halfway between values.

Assumes:
    That one column is enough; it shows what methods that use more columns have to beat.

Cost:
    A sort per numeric column to fit, one look-up per row to predict.

Choices:
    Columns that are wrong equally often: the first in the file. Classes that tie inside a value: the one with more
    training rows. A missing cell is a value of its own, and a level that is not declared counts as missing. A
    value that no training row has answers the overall shares. Where rows have weights, `min_bucket` counts weight.
    Equal numbers go into an interval together, so that the order of the rows does not matter.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from mlcli.core import ROUNDING, findings
from mlcli.core.abilities import CountsParameters, EstimatesFitTime
from mlcli.core.errors import FitError
from mlcli.core.names import did_you_mean
from mlcli.core.params import learned, param
from mlcli.core.ranges import Range
from mlcli.core.registry import register
from mlcli.core.schema import Accepts, Column
from mlcli.core.tables import MISSING_CODE, Array, Codes, Rows, Table
from mlcli.tasks.supervised import Classifier, LabelledRows

NO_COLUMN = Column("no column", "nominal")
"""Stands in for the columns of a table without any; all its cells are missing, so that a rule on it is zero-r."""


@dataclass(frozen=True, eq=False)
class ColumnRule:
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


@register("one-r", reference="Holte 1993, Very simple classification rules perform well")
class OneR(Classifier, CountsParameters, EstimatesFitTime):
    """One rule on one column."""

    feature: str | None = param(None, "the column to use; the one that is wrong least often when none is named")
    min_bucket: int = param(
        6, "how many rows of its class an interval of numbers needs", ge=1, tune=Range(1, 20, simpler="high")
    )

    feature_: Column = learned()
    cuts_: Array = learned()
    totals_: Array = learned()
    wrong_: Array = learned()

    accepts = Accepts(nominal=True, missing=True, weights=True)

    def fit_seconds(self, rows: int, columns: int, classes: int) -> float:
        """Each number is sorted, and looked at in Python, once."""
        # measured on 2,000 × 20 and 20,000 × 50 numbers
        return 3e-7 * rows * columns

    def fit(self, data: LabelledRows, rng: np.random.Generator) -> None:
        """Make a rule on every column and keep the one that is wrong least often."""
        parts = list(data.table.parts()) or [(NO_COLUMN, _missing_cells(data.table))]
        rules = [rule_on(column, cells, data, self.min_bucket) for column, cells in parts]
        self.wrong_ = np.array([rule.wrong for rule in rules])
        if self.feature is None:
            # Sums of weights round: columns that tie on paper must tie here.
            least = self.wrong_.min() + ROUNDING * self.class_totals_.sum()
            rule = rules[int(np.argmax(self.wrong_ <= least))]
        else:
            by_name = {rule.column.name: rule for rule in rules}
            if self.feature not in by_name:
                hint = did_you_mean(self.feature, by_name, "columns")
                raise FitError(f"one-r: there is no column '{self.feature}'", hint=hint)
            rule = by_name[self.feature]
        self.feature_, self.cuts_, self.totals_ = rule.column, rule.cuts, rule.totals

    def predict_proba(self, table: Table) -> Array:
        """The class shares of the training rows with the same value, or of all if there are none."""
        cells = _missing_cells(table) if self.feature_ == NO_COLUMN else table.cells(self.feature_.name)
        return self._shares()[value_of(self.feature_, cells, self.cuts_)]

    def _shares(self) -> Array:
        empty = self.totals_.sum(axis=1) == 0
        totals = np.where(empty[:, None], self.class_totals_, self.totals_)
        return np.asarray(totals / totals.sum(axis=1, keepdims=True))

    def adjustable_parameters(self, table: Table) -> float | None:
        """An answer for each value that training rows had, and the cuts between intervals."""
        return float((self.totals_.sum(axis=1) > 0).sum() + len(self.cuts_))

    def check_learned(self) -> None:
        """As many rows of totals as the column has values."""
        shape = (value_count(self.feature_, self.cuts_) + 1, len(self.classes_))
        if self.feature_ not in (*self.columns_, NO_COLUMN) or np.shape(self.totals_) != shape:
            raise ValueError("a rule that does not fit its column")

    def explain(self) -> findings.Explanation:
        """The rule, and how often the rule on each column is wrong in training."""
        names = (column.name for column in self.columns_ or (NO_COLUMN,))
        errors = self.wrong_ / self.class_totals_.sum()
        columns = findings.Table(
            "Rule on each column",
            ("column", "rows wrong", "error in training"),
            tuple(zip(names, self.wrong_.tolist(), errors.tolist(), strict=True)),
        )
        return self._rule_table(), columns

    def _rule_table(self) -> findings.Table:
        shares, weights = self._shares(), self.totals_.sum(axis=1).tolist()
        predictions = [self.classes_[code] for code in self.decide(shares)]
        names = value_names(self.feature_, self.cuts_)
        lines = zip(names, predictions, shares.max(axis=1).tolist(), weights, strict=True)
        rows = tuple(line for line in lines if line[-1] > 0)
        overall = self.classes_[int(self.decide(self.class_totals_[None, :])[0])]
        if self.feature_.coded:
            note = f"any other value: {overall}"
        else:
            note = "" if weights[-1] > 0 else f"an empty cell: {overall}"
        header = (self.feature_.name, self.target_, "share", "rows")
        return findings.Table(f"One rule on {self.feature_.name}", header, rows, note=note)


def _missing_cells(table: Table) -> Codes:
    return np.full(len(table), MISSING_CODE, np.int32)


def rule_on(column: Column, cells: NDArray[np.generic], data: LabelledRows, min_bucket: float) -> ColumnRule:
    """The rule that training rows give for one column."""
    cuts = np.empty(0) if column.coded else _cuts(cells.astype(np.float64), data, min_bucket)
    slots = value_count(column, cuts) + 1
    which = value_of(column, cells, cuts)
    totals = _totals(np.where(which < 0, slots - 1, which), slots, data.y, data.weights, len(data.classes))
    return ColumnRule(column, cuts, totals)


def _totals(which: Rows, slots: int, y: Codes, weights: Array, classes: int) -> Array:
    """The weight of each class in each slot."""
    counted = np.bincount(which * classes + y, weights, slots * classes)
    return np.asarray(counted, np.float64).reshape(slots, classes)


def value_count(column: Column, cuts: Array) -> int:
    """How many values the rule on a column tells apart, missing aside."""
    return len(column.levels) if column.coded else len(cuts) + 1


def value_of(column: Column, cells: NDArray[np.generic], cuts: Array) -> Rows:
    """The value of each cell as the row of ``totals`` it belongs to; a cell on a cut is below it."""
    if column.coded:
        return cells.astype(np.intp)
    numbers = cells.astype(np.float64)
    return np.where(np.isnan(numbers), -1, np.searchsorted(cuts, numbers, side="left"))


def value_names(column: Column, cuts: Array) -> tuple[str, ...]:
    """The values in words, with "missing" at the end."""
    if column.coded:
        return (*column.levels, "missing")
    if len(cuts) == 0:
        return ("any", "missing")
    middle = (f"{low:.10g} to {high:.10g}" for low, high in pairwise(cuts))
    return (f"≤ {cuts[0]:.10g}", *middle, f"> {cuts[-1]:.10g}", "missing")


def _cuts(cells: Array, data: LabelledRows, min_bucket: float) -> Array:
    """Where Holte cuts a column; the larger class stands first, so that it wins the ties inside an interval."""
    counted = ~np.isnan(cells) & (data.weights > 0)
    values, which = np.unique(cells[counted], return_inverse=True)
    totals = _totals(which, len(values), data.y[counted], data.weights[counted], len(data.classes))
    totals = totals[:, np.argsort(-data.class_totals, kind="stable")]
    ends = _without_equal_neighbours(_interval_ends(totals, min_bucket), totals)[:-1]
    below, above = values[ends - 1], values[ends]
    halfway = below + (above - below) / 2
    # Between two neighbouring floats there is no number halfway; the lower one then is the cut.
    return np.asarray(np.where(halfway < above, halfway, below))


def _interval_ends(totals: Array, min_bucket: float) -> Rows:
    """The position after the last value of each interval, from the class totals of sorted values (n × K)."""
    reached = np.concatenate([np.zeros((totals.shape[1], 1)), np.cumsum(totals.T, axis=1)], axis=1).tolist()
    leaders = totals.argmax(axis=1).tolist()
    ends, end = [], 0
    while end < len(totals):
        start = end
        filled = min(bisect_left(of_class, of_class[start] + min_bucket, start) for of_class in reached)
        # Beside huge weights an interval's few rows may vanish; it takes a value all the same.
        end = min(max(filled, start + 1), len(totals))
        gained = [of_class[end] - of_class[start] for of_class in reached]
        leader = gained.index(max(gained))
        while end < len(totals) and leaders[end] == leader:
            end += 1
        ends.append(end)
    return np.array(ends, np.intp)


def _without_equal_neighbours(ends: Rows, totals: Array) -> Rows:
    """The ends that are left when neighbouring intervals with the same leader become one."""
    if len(ends) == 0:
        return ends
    leaders = np.add.reduceat(totals, np.concatenate([[0], ends[:-1]]), axis=0).argmax(axis=1)
    return np.asarray(ends[np.append(leaders[1:] != leaders[:-1], True)])
