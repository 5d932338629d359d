"""One-R: answers by the one column whose values tell the classes apart best.

Formula:
    A column's rule answers, for each of its values v, the class k with the largest Σ w_i [x_i = v][y_i = k]; the
    column whose rule is wrong least often in training is taken. P(k | v) is the share of the class among the rows
    with that value.

    Numbers are cut into intervals first: in ascending order, an interval takes values until one class has
    `min_bucket` rows in it, and as long as that class is the largest in the values that follow; then neighbours
    with the same class become one. The cuts lie halfway between values.

Assumes:
    That one column is enough; it is the yardstick for methods that use more.

Cost:
    A sort per numeric column to fit, one look-up per row to predict. The splits of a protocol share the sort.

Choices:
    Columns that are wrong equally often: the first in the file. Classes that tie inside a value: the one with more
    training rows. A missing cell is a value of its own, and a level that is not declared counts as missing. A
    value that no training row has answers the overall shares. Where rows have weights, `min_bucket` counts weight.
    Equal numbers go into an interval together, so that the order of the rows does not matter.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np

from mlcli.core.accepts import Accepts
from mlcli.core.errors import FitError
from mlcli.core.explanation import Explanation, Section
from mlcli.core.held_out import HeldOut, Round
from mlcli.core.names import did_you_mean
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.schema import Column
from mlcli.core.step import Step
from mlcli.core.tables import MISSING_CODE, Array, Codes, Table
from mlcli.models.baselines._held_out import shares_outside, sums_are_exact
from mlcli.models.baselines._rules import Rule, rule_on, value_count, value_names, value_of
from mlcli.tasks.classification import Classifier, LabelledRows

COMPILED_FROM = 2_000_000
"""From how many parts × rows × columns on loading compiled loops (0.3 s) pays."""
LOADED_FROM = 100_000
"""From how many they are faster once others are loaded."""
NO_COLUMN = Column("no column", "nominal")
"""Stands in for the columns of a table without any; all its cells are missing, so that a rule on it is zero-r."""


@register("one-r", reference="Holte 1993, Very simple classification rules perform well")
@dataclass(kw_only=True, eq=False)
class OneR(Classifier):
    """One rule on one column."""

    feature: str | None = param(None, "the column to use; the one that is wrong least often when none is named")
    min_bucket: int = param(6, "how many rows of its class an interval of numbers needs", ge=1, tune=(1, 20))

    feature_: Column = learned()
    cuts_: Array = learned()
    totals_: Array = learned()
    wrong_: Array = learned()

    @property
    def accepts(self) -> Accepts:
        """Anything: levels, intervals and missing cells are all values of a rule."""
        return Accepts(nominal=True, missing=True, weights=True)

    def fit(self, data: LabelledRows, rng: np.random.Generator) -> None:
        """Make a rule on every column and keep the one that is wrong least often."""
        parts = list(data.table.parts()) or [(NO_COLUMN, _missing_cells(data.table))]
        rules = [rule_on(column, cells, data, self.min_bucket) for column, cells in parts]
        self.wrong_ = np.array([rule.wrong for rule in rules])
        chosen = self._chosen(rules)
        self.feature_, self.cuts_, self.totals_ = chosen.column, chosen.cuts, chosen.totals

    def held_out(self, data: LabelledRows, round_: Round, steps: tuple[Step, ...]) -> HeldOut | None:
        """Each column sorted once, and the rows of each part taken from its totals; with steps, a fit to each."""
        names = [column.name for column in data.table.columns]
        work = round_.parts * len(data) * len(names)
        enough = LOADED_FROM if "mlcli.kernels" in sys.modules else COMPILED_FROM
        if steps or work < enough or not sums_are_exact(data.weights) or self.feature not in (None, *names):
            return None
        answers = shares_outside(data, round_, self.min_bucket, names.index(self.feature) if self.feature else -1)
        return None if answers is None else HeldOut(answers, np.zeros(round_.parts, bool), "columns sorted once")

    def _chosen(self, rules: list[Rule]) -> Rule:
        if self.feature is not None:
            return self._named(rules, self.feature)
        # Sums of weights round: columns that tie on paper must tie here.
        least = self.wrong_.min() + 1e-12 * self.class_totals_.sum()
        return rules[int(np.argmax(self.wrong_ <= least))]

    def _named(self, rules: list[Rule], name: str) -> Rule:
        by_name = {rule.column.name: rule for rule in rules}
        if name not in by_name:
            raise FitError(f"one-r: there is no column '{name}'", hint=did_you_mean(name, by_name, "columns"))
        return by_name[name]

    def predict_proba(self, table: Table) -> Array:
        """The class shares of the training rows with the same value, or of all when there are none."""
        known = self.feature_ != NO_COLUMN
        cells = table.cells(self.feature_.name) if known else _missing_cells(table)
        return self._shares()[value_of(self.feature_, cells, self.cuts_)]

    def _shares(self) -> Array:
        empty = self.totals_.sum(axis=1) == 0
        totals = np.where(empty[:, None], self.class_totals_, self.totals_)
        return np.asarray(totals / totals.sum(axis=1, keepdims=True))

    def check_learned(self) -> None:
        """As many rows of totals as the column has values."""
        shape = (value_count(self.feature_, self.cuts_) + 1, len(self.classes_))
        if self.feature_ not in (*self.columns_, NO_COLUMN) or np.shape(self.totals_) != shape:
            raise ValueError("a rule that does not fit its column")

    def explain(self) -> Explanation:
        """The rule, and how often the rule on each column is wrong in training."""
        return (self._rule_section(), self._columns_section())

    def _rule_section(self) -> Section:
        shares = self._shares()
        answers = [self.classes_[code] for code in self.decide(shares)]
        seen = self.totals_.sum(axis=1)
        names = value_names(self.feature_, self.cuts_)
        rows = tuple(
            (name, answer, float(share), float(weight))
            for name, answer, share, weight in zip(names, answers, shares.max(axis=1), seen, strict=True)
            if weight > 0
        )
        header = (self.feature_.name, self.target_, "share", "rows")
        overall = self.classes_[int(self.decide(self.class_totals_[None, :])[0])]
        other = "any other value" if self.feature_.coded else "an empty cell"
        note = "" if names[-1] in (row[0] for row in rows) and not self.feature_.coded else f"{other}: {overall}"
        return Section(f"One rule on {self.feature_.name}", header, rows, note=note)

    def _columns_section(self) -> Section:
        shares = self.wrong_ / self.class_totals_.sum()
        names = (column.name for column in self.columns_ or (NO_COLUMN,))
        rows = tuple(zip(names, map(float, self.wrong_), map(float, shares), strict=True))
        return Section("Rule on each column", ("column", "rows wrong", "error in training"), rows)


def _missing_cells(table: Table) -> Codes:
    return np.full(len(table), MISSING_CODE, np.int32)
