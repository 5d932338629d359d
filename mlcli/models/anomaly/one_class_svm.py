"""One-class SVM: a row is odd on the side of the origin of a plane that holds most rows away from it.

Formula:
    Minimise ½‖w‖² + 1/(ν Σωᵢ) Σ ωᵢξᵢ − ρ with w·φ(xᵢ) ≥ ρ − ξᵢ, ξᵢ ≥ 0, by its dual: minimise ½ ΣΣ αᵢαⱼ K(xᵢ, xⱼ)
    with 0 ≤ αᵢ ≤ ωᵢ/(ν Σω) and Σα = 1, by SMO. s(x) = ρ − Σ αᵢ K(xᵢ, x), above 0 outside of the plane; ωᵢ are
    weights, 1 for each row if there are none.

Assumes:
    Good rows fill regions of a width of about 1/√γ; with the Gaussian kernel all rows lie on a sphere, of which
    the plane cuts off the part that holds them. Columns on one scale, so they are standardised unless steps are
    given; a linear kernel then has the good rows round the origin itself, and finds little.

Cost:
    n² kernel values once, then some times n moves that cost n each; a kernel value for each support vector per row
    asked. Up to 25,000 different rows.

Choices:
    ν bounds the share of training rows that lie outside, and is at most the share of support vectors. α sums to 1
    as in the paper, so that scores do not grow with the rows: those of LIBSVM are −ν n s(x). ρ is the mean of
    w·φ(x) over rows on the plane. What a column adds is the square of how far a row lies from the mean of the
    support vectors (by α) in it; nothing is known of the columns of a precomputed kernel.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mlcli.core import findings
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.tables import Array, Table
from mlcli.engines.kernel_models import PRECOMPUTED, KernelModel, distinct_rows
from mlcli.engines.smo import Solution, solve
from mlcli.tasks.anomaly import Detector, ScreenedRows


@register("one-class-svm", reference="Schölkopf, Platt, Shawe-Taylor, Smola & Williamson 2001")
@dataclass(kw_only=True, eq=False)
class OneClassSvm(KernelModel, Detector):
    """A plane between most rows and the origin, in the space of a kernel."""

    nu: float = param(0.1, "the share of training rows that may lie outside", gt=0, le=1, tune=(0.01, 0.5))
    tolerance: float = param(1e-3, "how exactly the minimum is found, for the mean of a row's costs", gt=0, le=0.5)

    coefficients_: Array = learned()
    """α of each support vector."""
    rho_: float = learned()
    support_: Array = learned()
    """What share of the weight of training rows is inside, on the plane, and outside."""

    def fit(self, data: ScreenedRows, rng: np.random.Generator) -> None:
        """Find the plane that is farthest from the origin."""
        rows = distinct_rows(data)
        points, K = self.kernel_of(rows)
        solution = self._plane(K, rows.weights / rows.weights.mean())
        used = np.flatnonzero(solution.beta)
        total = solution.beta.sum()
        self.points_, self.coefficients_ = points[used], solution.beta[used] / total
        self.rho_ = -solution.offset / total
        share = rows.weights / rows.weights.sum()
        edge, outside = share[solution.free].sum(), share[solution.bounded].sum()
        self.support_ = np.array([1.0 - edge - outside, edge, outside])

    def _plane(self, K: Array, weights: Array) -> Solution:
        """The minimum for Σα = ν n, which begins with the first rows at their bounds."""
        reached = np.minimum(np.cumsum(weights), self.nu * len(weights))
        zeros = np.zeros(len(weights))
        start = np.diff(reached, prepend=0.0)
        return solve(K, zeros, zeros, weights, start=start, tolerance=self.tolerance)

    def score_rows(self, table: Table) -> Array:
        """How far a row lies on the side of the origin, in units of ‖w‖."""
        return np.asarray(self.rho_ - self.responses(table, self.coefficients_))

    def deviations(self, table: Table) -> Array:
        """Squared distances from the mean of the support vectors, with the sign of the deviation."""
        if self.kernel == PRECOMPUTED:
            return np.zeros(table.numbers.shape)
        apart = table.numbers - self.coefficients_ @ self.points_
        return np.asarray(apart * np.abs(apart))

    def explain(self) -> findings.Explanation:
        """Where the training rows lie, and the weights of columns where there are any."""
        inside, edge, outside = self.support_.tolist()
        lines = (("inside", inside), ("on the plane", edge), ("outside", outside))
        note = f"A score above 0 lies outside; {len(self.points_)} support vectors, ρ = {self.rho_:.6g}."
        return (
            findings.Table("Training rows", ("where", "share"), lines, note=note),
            *self.weights_of_columns(["weight"], self.coefficients_[:, None]),
        )

    def check_learned(self) -> None:
        """A coefficient for each point."""
        super().check_learned()
        self.check_points(self.coefficients_)
        if self.coefficients_.ndim != 1 or not np.isfinite(self.coefficients_).all() or len(self.support_) != 3:
            raise ValueError("the coefficients of one-class-svm do not fit its points")
