"""One-class SVM: a row is odd on the side of the origin of a plane that holds most rows away from it.

Formula:
    Minimise ½‖w‖² + 1/(ν Σωᵢ) Σ ωᵢξᵢ − ρ with w·φ(xᵢ) ≥ ρ − ξᵢ, ξᵢ ≥ 0, by its dual: minimise ½ ΣΣ αᵢαⱼ K(xᵢ, xⱼ)
    with 0 ≤ αᵢ ≤ ωᵢ/(ν Σω) and Σα = 1, by SMO. s(x) = ρ − Σ αᵢ K(xᵢ, x), above 0 outside of the plane; ωᵢ are
    weights, 1 for each row if there are none.

Assumes:
    Good rows fill regions of a width of about 1/√γ; with the Gaussian kernel all rows lie on a sphere, of which
    the plane cuts off the part that holds them. A linear kernel has good rows that are standardised round the
    origin itself, and finds little.

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
from mlcli.core.abilities import ComparesPairs, RowExplainer
from mlcli.core.findings import Explanation
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.tables import Array, Table
from mlcli.engines.kernel_models import PRECOMPUTED, KernelModel, distinct_rows
from mlcli.engines.smo import solve
from mlcli.tasks.anomaly import Detector, ScreenedRows

SAME = 1e-9
"""Scores that differ by less are those of one row, whose cells were rounded for the solver."""


@dataclass(kw_only=True, eq=False)
class OneClassKernel(KernelModel, Detector):
    """Coefficients α of the training rows, which sum to 1 and are at most ωᵢ/(ν Σω)."""

    nu: float = param(0.1, "the share of training rows that may lie outside", gt=0, le=1, tune=(0.01, 0.5))
    tolerance: float = param(1e-3, "how exactly the minimum is found, for the mean of a row's costs", gt=0, le=0.5)

    coefficients_: Array = learned("points")
    """α of each support vector."""
    level_: float = learned()
    """What Σ α K lacks of the target at the boundary."""
    support_: Array = learned(3)
    """What share of the weight of training rows is inside, on the boundary, and outside."""
    edge_: float = learned()
    """Up to which score a row is on the boundary, which the solver finds within its tolerance."""

    def fit(self, data: ScreenedRows, rng: np.random.Generator) -> None:
        """Find the boundary; the search begins with the first rows at their bounds."""
        rows = distinct_rows(data)
        points, K = self.kernel_of(rows)
        weights = rows.weights / rows.weights.mean()
        total = self.nu * len(weights)
        start = np.diff(np.minimum(np.cumsum(weights), total), prepend=0.0)
        target = total * self.target_of(K)
        solution = solve(K, target, np.zeros(len(K)), weights, start=start, tolerance=self.tolerance)
        used = np.flatnonzero(solution.beta)
        self.points_, self.coefficients_ = points[used], solution.beta[used] / total
        self.rows_ = rows.rows[used]
        self.level_ = solution.offset / total
        share = rows.weights / rows.weights.sum()
        edge, outside = share[solution.free].sum(), share[solution.bounded].sum()
        self.support_ = np.array([1.0 - edge - outside, edge, outside])
        on_boundary = self.score_rows(rows.take(np.flatnonzero(solution.free)).table)
        self.edge_ = float(np.max(on_boundary, initial=0.0)) * (1 + SAME) + SAME

    def target_of(self, K: Array) -> Array:
        """What α is multiplied by in the dual."""
        raise TypeError(f"{type(self).__name__} does not say what it encloses rows by")

    def own_limit(self) -> tuple[float, str]:
        """The boundary, with the rows on it."""
        return self.edge_, "rows outside of the boundary"

    def deviations(self, table: Table) -> Array:
        """Squared distances from the mean of the support vectors, with the sign of the deviation."""
        if self.kernel == PRECOMPUTED:
            return np.zeros(table.numbers.shape)
        apart = table.numbers - self.coefficients_ @ self.points_
        return np.asarray(apart * np.abs(apart))

    def explain(self) -> findings.Explanation:
        """Where the training rows lie."""
        inside, edge, outside = self.support_.tolist()
        lines = (("inside", inside), ("on the boundary", edge), ("outside", outside))
        note = f"A score above {self.edge_:.2g} lies outside; there are {len(self.points_)} support vectors."
        return (findings.Table("Training rows", ("where", "share"), lines, note=note),)

    def check_learned(self) -> None:
        """Points of the columns."""
        super().check_learned()
        self.check_points(self.coefficients_)


@register("one-class-svm", reference="Schölkopf, Platt, Shawe-Taylor, Smola & Williamson 2001", revision=3)
class OneClassSvm(OneClassKernel, Detector, ComparesPairs, RowExplainer):
    """A plane between most rows and the origin, in the space of a kernel."""

    bytes_per_pair = 12.0

    def target_of(self, K: Array) -> Array:
        """Nothing is to be reached but the plane."""
        return np.zeros(len(K))

    def score_rows(self, table: Table) -> Array:
        """How far a row lies on the side of the origin, in units of ‖w‖; the level is −ρ."""
        return np.asarray(-self.level_ - self.responses(table, self.coefficients_))

    def explain_answer(self, table: Table) -> Explanation:
        """ρ, and what each support vector takes off."""
        return (self.terms_of_points(table, ("score",), -self.coefficients_, -self.level_),)

    def explain(self) -> Explanation:
        """Where the training rows lie, and the weights of columns where the kernel is linear."""
        return *super().explain(), *self.weights(["weight"], self.coefficients_[:, None])
