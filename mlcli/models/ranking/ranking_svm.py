"""Ranking SVM: a weighted sum of the columns that puts the pairs of each group in order, with a margin.

Formula:
    s(x) = w·x. Minimise ½‖w‖² + c Σ max(0, 1 − (s_a − s_b)) over all pairs of one group with a more relevant than
    b, or the same with the square of each max (``loss: squared-hinge``).

Assumes:
    That one weight vector serves all groups. The penalty is fair only between columns of one scale. A column that
    is the same for all rows of every group cannot order them, and gets the weight 0.

Cost:
    `squared-hinge` takes some 10 steps of rows × p × (p + log₂ levels), whatever the number of pairs; `hinge`
    takes 10 to 50 steps of m·p², m being the number of pairs, up to Σ over groups of (its rows)²/2. Of more than
    about 250,000 pairs only those near their margin are listed at once, in several rounds. Memory does not grow
    with the number of pairs.

Choices:
    Section 5.5.6 of the notes, "the loss is calculated on each pair": the order a > b > c > d is 6 pairs. The
    notes have a weight vector for each of a fixed set of options; here options are rows, and one vector serves
    all; a nominal column that names the option gives it a score of its own to start from. There is no
    intercept, since it would cancel. Pairs of equally relevant rows are left out. A pair counts the product of
    the weights of its rows, and every pair counts alike, so that a group of 20 rows matters more than one of 2.
    The hinge of Joachims 2002 is the default; either loss is minimised to a proven gap: ‖w − w*‖² is at most
    twice that gap.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from mlcli.core import findings
from mlcli.core.accepts import Accepts
from mlcli.core.errors import MlcliWarning
from mlcli.core.findings import Explanation
from mlcli.core.pair_sums import share_in_order
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.tables import Array, Table
from mlcli.models.ranking._pair_losses import PairSums, least_hinge, least_squared_hinge
from mlcli.tasks.ranking import GroupedRows, Ranker

LOSSES = {"hinge": least_hinge, "squared-hinge": least_squared_hinge}


@register("ranking-svm", reference="Herbrich, Graepel & Obermayer 2000; Joachims 2002")
@dataclass(kw_only=True, eq=False)
class RankingSVM(Ranker):
    """Pairs as rows of a support vector machine."""

    c: float = param(1.0, "what a pair costs for each unit that it lacks of its margin", gt=0, tune=(1e-3, 1e3))
    loss: str = param("hinge", "how the lack of a pair is counted", choices=LOSSES)
    tolerance: float = param(1e-12, "the duality gap, as a share of the objective, at which to stop", gt=0)
    max_iterations: int = param(200, "how many steps at most", ge=1)

    weights_: Array = learned()
    pairs_: int = learned()
    in_order_: float = learned()
    """The share of the training pairs, by weight, that are in the right order."""
    objective_: float = learned()
    gap_: float = learned()
    iterations_: int = learned()

    @property
    def accepts(self) -> Accepts:
        """Numbers and weights; the penalty is fair only between columns of one scale."""
        return Accepts(weights=True, prefers_scaled=True)

    def fit(self, data: GroupedRows, rng: np.random.Generator) -> None:
        """Minimise the loss of all pairs."""
        rows = PairSums.of(data, self.c)
        found = LOSSES[self.loss](rows, self.tolerance, self.max_iterations)
        if found.gap > self.tolerance * found.value:
            reached = f"stopped after {found.iterations} steps with a gap of {found.gap / found.value:.1e}"
            text = f"{self.id} {reached}, above the tolerance {self.tolerance:g}"
            warnings.warn(f"{text}; columns of one scale or a smaller c would help", MlcliWarning, stacklevel=2)
        self.weights_, self.objective_, self.gap_ = found.w, found.value, found.gap
        self.iterations_, self.pairs_ = found.iterations, rows.pairs()
        self.in_order_ = share_in_order(rows.relevance, rows.group, rows.X @ found.w, rows.weights)

    def score_rows(self, table: Table) -> Array:
        """w·x, summed row by row: equal rows get equal scores wherever they stand."""
        return np.asarray((table.numbers * self.weights_).sum(axis=1))

    def check_learned(self) -> None:
        """One weight per column."""
        if np.shape(self.weights_) != (len(self.columns_),):
            raise ValueError("weights that do not fit the columns")

    def explain(self) -> Explanation:
        """The weight of each column, and how the training pairs lie."""
        rows = tuple((column.name, float(w)) for column, w in zip(self.columns_, self.weights_, strict=True))
        note = "What one unit more (a standard deviation, if standardised) adds to the score of a row."
        lines = (
            f"{self.pairs_} training pairs, {100 * self.in_order_:.1f} % of them in the right order",
            f"{self.loss}: objective {self.objective_:.6g} after {self.iterations_} steps, "
            f"at most {self.gap_:.1e} above the least",
        )
        return findings.Table("Weights", ("column", "weight"), rows, note=note), findings.Lines("Pairs", lines)
