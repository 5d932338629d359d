"""A linear function that answers numbers: what every linear regression learns, answers and shows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mlcli.core import findings
from mlcli.core.params import learned, param
from mlcli.core.tables import Array, Table
from mlcli.engines.linear_design import Design
from mlcli.engines.linear_scores import linear_scores, terms
from mlcli.engines.score_terms import linear_terms
from mlcli.tasks.regression import Regressor


@dataclass(kw_only=True, eq=False)
class LinearValues(Regressor):
    """ŷ = level + coefficients · (x − centre)."""

    intercept: bool = param(True, "whether the answer at the origin is free; without it, it is 0")

    coefficients_: Array = learned("columns")
    centre_: Array = learned("columns")
    level_: float = learned()

    def learn_slopes(self, design: Design, slopes: Array, level: float) -> None:
        """Take over the slopes of a design's columns, and the value at its centre."""
        self.centre_, self.level_ = design.centre, level
        self.coefficients_ = design.coefficients(slopes)

    def predict_values(self, table: Table) -> Array:
        """The weighted sum of the columns."""
        return linear_scores(table.numbers, self.centre_, self.coefficients_, self.level_, abs(self.level_))

    def adjustable_parameters(self, table: Table) -> float | None:
        """The coefficients that are not 0, and the intercept."""
        return float(np.count_nonzero(self.coefficients_)) + self.intercept

    def explain_answer(self, table: Table) -> findings.Explanation:
        """The sum that is answered, term by term."""
        of_row = self.coefficients_, self.centre_, self.level_
        return (linear_terms(table, *of_row, (self.target_,), "The answer term by term"),)

    def coefficient_table(self, note: str) -> findings.Table:
        """The coefficients by column."""
        named = terms(self.columns_, self.coefficients_, self.centre_, self.level_, self.intercept)
        rows = tuple((name, float(value)) for name, value in named)
        return findings.Table("Coefficients", ("column", "coefficient"), rows, note=note)
