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

import numpy as np

from mlcli.core.findings import Explanation
from mlcli.core.registry import register
from mlcli.core.tables import Array, Table
from mlcli.engines.one_class import OneClassKernel
from mlcli.tasks.anomaly import Detector


@register("one-class-svm", reference="Schölkopf, Platt, Shawe-Taylor, Smola & Williamson 2001", revision=2)
class OneClassSvm(OneClassKernel, Detector):
    """A plane between most rows and the origin, in the space of a kernel."""

    def target_of(self, K: Array) -> Array:
        """Nothing is to be reached but the plane."""
        return np.zeros(len(K))

    def score_rows(self, table: Table) -> Array:
        """How far a row lies on the side of the origin, in units of ‖w‖; the level is −ρ."""
        return np.asarray(-self.level_ - self.responses(table, self.coefficients_))

    def explain(self) -> Explanation:
        """Where the training rows lie, and the weights of columns where the kernel is linear."""
        return *super().explain(), *self.weights_of_columns(["weight"], self.coefficients_[:, None])
