"""Elastic net: least squares with a penalty on size and squared size, which leaves columns out in groups.

Formula:
    Minimise ½ Σ (y_i − b − w·x_i)² + strength·(share·Σ_j |w_j| + (1 − share)/2·Σ_j w_j²).

Assumes:
    The target is linear in some of the columns. The penalty depends on units, so columns are best standardised
    first. Columns that say nearly the same get nearly the same coefficients, where lasso would keep one of them.

Cost:
    n·p² for the products of columns, then p for each coefficient that moves; beyond 3,000 columns n for each. The
    whole path of 100 strengths costs little more than its last one.

Choices:
    Scikit-learn's l1_ratio is share, its alpha is strength / n, as it divides the squares by n. A share of 1 is
    lasso; towards 0 it becomes ridge with l2 = strength. The intercept is not penalised. Where no strength is
    given, Akaike's criterion (with its correction for few rows) chooses one on the path. A weight counts a row
    that many times.
"""

from __future__ import annotations

import numpy as np

from mlcli.core.accepts import Accepts
from mlcli.core.findings import Explanation
from mlcli.core.params import param
from mlcli.core.ranges import Among, ByRows
from mlcli.core.registry import register
from mlcli.engines.penalty_path import PenaltyPath
from mlcli.tasks.regression import Regressor, ValuedRows


@register("elastic-net", reference="Zou & Hastie 2005; Friedman, Hastie & Tibshirani 2010")
class ElasticNet(PenaltyPath, Regressor):
    """Squares, absolute and squared coefficients, by coordinate descent."""

    strength: float | None = param(
        None, "the cost of w, in half squared errors; none: by the path", gt=0, tune=ByRows(simpler="high")
    )
    share: float = param(
        0.5, "the share of the cost that is on sizes, not on squares", gt=0, le=1, tune=Among((1.0, 0.5, 0.1))
    )

    accepts = Accepts(weights=True, prefers_scaled=True)

    def fit(self, data: ValuedRows, rng: np.random.Generator) -> None:
        """Solve for the path of strengths, then for the one that is given or chosen."""
        self.learn_path(data, self.strength, self.share)

    def explain(self) -> Explanation:
        """The coefficients, and what they are at other strengths."""
        return self.coefficient_table(self.left_out()), self.path_curve("strength")
