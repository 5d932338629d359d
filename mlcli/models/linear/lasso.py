"""Lasso: least squares with a penalty on the size of the coefficients, which leaves columns out.

Formula:
    Minimise ½ Σ (y_i − b − w·x_i)² + l1·Σ_j |w_j|.

Assumes:
    The target is linear in a few of the columns. The penalty depends on units, so columns are best standardised
    first. Of columns that say nearly the same, one is kept and the others are left out, by chance of the sample;
    elastic-net shares between them.

Cost:
    n·p² for the products of columns, then p for each coefficient that moves; beyond 3,000 columns n for each. The
    whole path of 100 penalties costs little more than its last one, as each starts where the one before has ended.

Choices:
    Scikit-learn's alpha is l1 / n, as it divides the squares by n. In words of a prior, l1 = λσ² for independent
    Laplace priors of rate λ and noise of variance σ² (those of ridge are normal). The intercept is not penalised.
    Where no l1 is given, Akaike's criterion (with its correction for few rows) chooses one on the path, since no
    number would suit all units of a target. A weight counts a row that many times.
"""

from __future__ import annotations

import numpy as np

from mlcli.core.findings import Explanation
from mlcli.core.params import param
from mlcli.core.ranges import ByRows
from mlcli.core.registry import register
from mlcli.core.schema import Accepts
from mlcli.models.linear.elastic_net import PenaltyPath
from mlcli.tasks.supervised import Regressor, ValuedRows


@register("lasso", reference="Tibshirani 1996; Friedman, Hastie & Tibshirani 2010", revision=2)
class Lasso(PenaltyPath, Regressor):
    """Squares and absolute coefficients, by coordinate descent."""

    l1: float | None = param(
        None,
        "L1 penalty: the cost of |w|, in half squared errors; none: by the path",
        gt=0,
        tune=ByRows(simpler="high"),
    )

    accepts = Accepts(weights=True, prefers_scaled=True)

    def fit(self, data: ValuedRows, rng: np.random.Generator) -> None:
        """Solve for the path of penalties, then for the one that is given or chosen."""
        self.learn_path(data, self.l1, share=1.0)

    def explain(self) -> Explanation:
        """The coefficients, and what they are at other penalties."""
        return self.coefficient_table(self.left_out()), self.path_curve("l1")
