"""SVDD: a row is odd outside of the smallest ball that holds most rows (support vector data description).

Formula:
    Minimise R² + 1/(ν Σω) Σ ωᵢξᵢ with ‖φ(xᵢ) − a‖² ≤ R² + ξᵢ, ξᵢ ≥ 0, by its dual: maximise
    Σ αᵢ K(xᵢ, xᵢ) − ΣΣ αᵢαⱼ K(xᵢ, xⱼ) with 0 ≤ αᵢ ≤ ωᵢ/(ν Σω) and Σα = 1, by SMO; a = Σ αᵢ φ(xᵢ).
    s(x) = ‖φ(x) − a‖² − R², above 0 outside of the ball; ωᵢ are weights, 1 for each row if there are none.

Assumes:
    With a linear kernel good rows fill one round cloud, with others the shape that the kernel gives. Columns on
    one scale, so they are standardised unless steps are given.

Cost:
    That of ``one-class-svm``: n² kernel values once, then some times n moves that cost n each.

Choices:
    With the Gaussian kernel, for which K(x, x) = 1, ball and plane part the same rows: scores are twice those of
    ``one-class-svm``. ν in place of the C of the paper, C = 1/(ν n). R² is the mean over rows on the ball. What
    a column adds is the square of how far a row lies from the mean of the support vectors (by α) in it. No kernel
    is precomputed: a matrix lacks K(x, x) of the predicted rows.
"""

from __future__ import annotations

import numpy as np

from mlcli.core.abilities import ComparesPairs, RowExplainer
from mlcli.core.findings import Explanation
from mlcli.core.params import param
from mlcli.core.registry import register
from mlcli.core.tables import Array, Table
from mlcli.engines.kernel_functions import SQUARED_LENGTHS
from mlcli.models.anomaly.one_class_svm import OneClassKernel
from mlcli.tasks.anomaly import Detector


@register("svdd", reference="Tax & Duin 2004, Support vector data description", revision=3)
class SupportVectorDescription(OneClassKernel, Detector, ComparesPairs, RowExplainer):
    """A ball round most rows, in the space of a kernel."""

    bytes_per_pair = 12.0

    kernel: str = param("gaussian", "how alike two rows are", choices=tuple(SQUARED_LENGTHS))

    def target_of(self, K: Array) -> Array:
        """Half of K(x, x), so that the dual is half of the one above."""
        return np.asarray(np.diagonal(K) / 2.0, np.float64)

    def score_rows(self, table: Table) -> Array:
        """The squared distance to the centre, beyond the squared radius."""
        own = SQUARED_LENGTHS[self.kernel](self.function, self.seen(table))
        return np.asarray(own - 2.0 * (self.responses(table, self.coefficients_) + self.level_))

    def explain_answer(self, table: Table) -> Explanation:
        """What each support vector takes off the squared length of the row beyond the radius."""
        own = float(SQUARED_LENGTHS[self.kernel](self.function, self.seen(table))[0])
        return (self.terms_of_points(table, ("score",), -2.0 * self.coefficients_, own - 2.0 * self.level_),)
