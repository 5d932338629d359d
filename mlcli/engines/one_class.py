"""What methods that enclose most rows in the space of a kernel share: ν, the solution, and what is said of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mlcli.core import findings
from mlcli.core.params import learned, param
from mlcli.core.tables import Array, Table
from mlcli.engines.kernel_models import PRECOMPUTED, KernelModel, distinct_rows
from mlcli.engines.smo import solve
from mlcli.tasks.anomaly import Detector, ScreenedRows


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

    def target_of(self, K: Array) -> Array:
        """What α is multiplied by in the dual."""
        raise TypeError(f"{type(self).__name__} does not say what it encloses rows by")

    def own_limit(self) -> tuple[float, str]:
        """The boundary."""
        return 0.0, "rows outside of the boundary"

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
        note = f"A score above 0 lies outside; there are {len(self.points_)} support vectors."
        return (findings.Table("Training rows", ("where", "share"), lines, note=note),)

    def check_learned(self) -> None:
        """Points of the columns."""
        super().check_learned()
        self.check_points(self.coefficients_)
