"""Support vector regression: the flattest function, where only errors beyond a tube of width epsilon cost.

Formula:
    Minimise ½‖w‖² + C Σᵢ (ξᵢ + ξᵢ') with |yᵢ − f(xᵢ)| ≤ ε + ξ on either side, ξ ≥ 0; by its dual: maximise
    Σ yᵢβᵢ − ε Σ|βᵢ| − ½ ΣΣ βᵢβⱼ K(xᵢ, xⱼ) with −C ≤ βᵢ ≤ C and Σ βᵢ = 0, by SMO. f(x) = Σ βᵢ K(xᵢ, x) + b.

Assumes:
    Errors below ε do not matter, and large ones count by their size rather than its square.

Cost:
    n² kernel values once, then usually 1 to 10 times n moves that cost n each; per predicted row a kernel value
    for each support vector. Up to 25,000 different rows.

Choices:
    C and epsilon count in standard deviations s of the target, so that the unit of the target changes nothing:
    they are C·s and ε·s for a library that takes the target as it is. A row of weight w costs C·w. b is the mean
    over rows at the edge of the tube (0 < |β| < C). Kernels, and a matrix of your own, are those of ``svm``.
"""

from __future__ import annotations

import numpy as np

from mlcli.core import findings
from mlcli.core.abilities import ComparesPairs, CountsParameters, RowExplainer
from mlcli.core.params import learned, param
from mlcli.core.ranges import log_range
from mlcli.core.registry import register
from mlcli.core.tables import Array, Table
from mlcli.engines.kernel_models import KernelModel, distinct_rows
from mlcli.engines.smo import left_out, solve
from mlcli.tasks.supervised import Regressor, ValuedRows


@register("svm-regression", reference="Drucker et al. 1997, Support vector regression machines", revision=2)
class SupportVectorRegression(KernelModel, Regressor, ComparesPairs, CountsParameters, RowExplainer):
    """A flat function through a tube."""

    bytes_per_pair = 5.0

    C: float = param(
        1.0,
        "cost of a row outside the tube, for a target of unit variance",
        gt=0,
        le=1e12,
        tune=log_range(0.01, 1000, simpler="low"),
    )
    epsilon: float = param(
        0.1,
        "half-width of the tube without cost, in standard deviations of the target",
        ge=0,
        tune=log_range(0.01, 0.5, simpler="high", unasked=False),
    )
    tolerance: float = param(1e-3, "tolerance of the minimum, in standard deviations of the target", gt=0, le=0.5)

    coefficients_: Array = learned("points")
    """β of each support vector, in units of the target."""
    level_: float = learned()
    support_: Array = learned()
    """How many rows are inside the tube, at its edge, and outside."""
    errors_: Array = learned()
    """The root of the mean squared error of training rows, by all rows and by all others."""

    def fit(self, data: ValuedRows, rng: np.random.Generator) -> None:
        """Find the flattest function for the target in units of its spread."""
        rows = distinct_rows(data)
        points, K = self.kernel_of(rows)
        middle = float(np.average(rows.y, weights=rows.weights))
        spread = float(np.sqrt(np.average((rows.y - middle) ** 2, weights=rows.weights))) or 1.0
        costs = self.C * rows.weights
        target = (rows.y - middle) / spread
        solution = solve(K, target, -costs, costs, epsilon=self.epsilon, tolerance=self.tolerance)
        used = np.flatnonzero(solution.beta)
        self.points_, self.rows_ = points[used], rows.rows[used]
        self.coefficients_ = spread * solution.beta[used]
        self.level_ = middle + spread * solution.offset
        self.support_ = np.array([len(rows) - len(used), solution.free.sum(), solution.bounded.sum()])
        missed = solution.residual - solution.offset
        errors = (missed, missed + left_out(K, solution))
        self.errors_ = np.array([spread * np.sqrt(np.average(error**2, weights=rows.weights)) for error in errors])

    def predict_values(self, table: Table) -> Array:
        """The function."""
        return np.asarray(self.responses(table, self.coefficients_) + self.level_)

    def explain(self) -> findings.Explanation:
        """Where the rows lie, how far off they are, and the weights where there are any."""
        inside, edge, outside = self.support_.tolist()
        lines = (("inside the tube", inside), ("at its edge", edge), ("outside", outside))
        errors = zip(("of the training rows", "leave-one-out, by the span"), self.errors_.tolist(), strict=True)
        note = "Rows inside the tube are no support vectors: without them the function would be the same."
        return (
            findings.Table("Support vectors", ("training rows", "count"), lines, note=note),
            findings.Table("Root mean squared error", ("error", self.target_), tuple(errors)),
            *self.weights(["weight"], self.coefficients_[:, None], "β"),
        )

    def explain_answer(self, table: Table) -> findings.Explanation:
        """What each support vector adds."""
        return (self.terms_of_points(table, (self.target_,), self.coefficients_, self.level_),)

    def adjustable_parameters(self, table: Table) -> float | None:
        """The coefficients of support vectors, and the level."""
        return float(np.count_nonzero(self.coefficients_) + 1)

    def check_learned(self) -> None:
        """A number for each point."""
        self.check_points(self.coefficients_)
