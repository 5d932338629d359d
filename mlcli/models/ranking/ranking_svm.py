"""Ranking SVM: a weighted sum of the columns that puts the pairs of each group in order, with a margin.

Formula:
    s(x) = w·x. Minimise ½‖w‖² + C Σ max(0, 1 − (s_a − s_b)) over all pairs of one group with a more relevant than
    b, or the same with the square of each max (``loss: squared-hinge``). With ``option`` naming a column, each of
    its levels o has weights of its own: s(x, o) = w_o·x, with one more for the option itself.

Assumes:
    That one weight vector (for each option) serves all groups. The penalty is fair only between columns of one
    scale. A column that is the same for all rows of every group cannot order them, and gets the weight 0.

Cost:
    `squared-hinge` takes some 10 steps of rows × p × (p + log₂ levels), whatever the number of pairs; `hinge`
    takes 10 to 50 steps of m·p², m being the number of pairs, up to Σ over groups of (its rows)²/2. Of more than
    about 250,000 pairs only those near their margin are listed at once, in several rounds. Memory does not grow
    with the number of pairs.

Choices:
    Section 5.5.6 of the notes, "the loss is calculated on each pair": the order a > b > c > d is 6 pairs. The
    notes have a weight vector for each of a fixed set of options; that is ``option: COLUMN``, by which columns
    that are the same for all rows of a group (who chooses) can tell its options apart. Without it one vector
    serves all, and a nominal column that names the option gives it a score of its own to start from. There is no
    intercept, since it would cancel. Pairs of equally relevant rows are left out. A pair counts the product of
    the weights of its rows, and every pair counts alike, so that a group of 20 rows matters more than one of 2.
    The hinge of Joachims 2002 is the default; either loss is minimised to a proven gap: ‖w − w*‖² is at most
    twice that gap.
"""

from __future__ import annotations

import warnings

import numpy as np

from mlcli.core import findings
from mlcli.core.accepts import Accepts
from mlcli.core.errors import FitError, MlcliWarning
from mlcli.core.pair_sums import share_in_order
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.tables import Array, Table
from mlcli.models.ranking._pair_losses import PairSums, least_hinge, least_squared_hinge
from mlcli.tasks.ranking import GroupedRows, Ranker

OF_OPTION = "(option)"
LOSSES = {"hinge": least_hinge, "squared-hinge": least_squared_hinge}


@register("ranking-svm", reference="Herbrich, Graepel & Obermayer 2000; Joachims 2002")
class RankingSVM(Ranker):
    """Pairs as rows of a support vector machine."""

    C: float = param(1.0, "what a pair costs for each unit that it lacks of its margin", gt=0, tune=(1e-3, 1e3))
    loss: str = param("hinge", "the loss: how what a pair lacks of its margin is counted", choices=LOSSES)
    option: str | None = param(None, "the nominal column of which every level has weights of its own")
    tolerance: float = param(1e-12, "the duality gap, as a share of the objective, at which to stop", gt=0)
    max_iterations: int = param(200, "how many steps at most", ge=1)

    weights_: Array = learned()
    """Of the columns; or of each option and, for each column, of its product with each option."""
    pairs_: int = learned()
    in_order_: float = learned()
    """The share of the training pairs, by weight, that are in the right order."""
    objective_: float = learned()
    gap_: float = learned()
    iterations_: int = learned()

    accepts = Accepts(weights=True, prefers_scaled=True)

    def fit(self, data: GroupedRows, rng: np.random.Generator) -> None:
        """Minimise the loss of all pairs."""
        data = data.counted()
        rows = PairSums.of(data, self._seen(data.table), self.C)
        found = LOSSES[self.loss](rows, self.tolerance, self.max_iterations)
        if found.gap > self.tolerance * found.value:
            reached = f"stopped after {found.iterations} steps with a gap of {found.gap / found.value:.1e}"
            text = f"{self.id} {reached}, above the tolerance {self.tolerance:g}"
            warnings.warn(f"{text}; columns of one scale or a smaller C would help", MlcliWarning, stacklevel=2)
        self.weights_, self.objective_, self.gap_ = found.w, found.value, found.gap
        self.iterations_, self.pairs_ = found.iterations, rows.pairs()
        self.in_order_ = share_in_order(rows.relevance, rows.group, rows.X @ found.w, rows.weights)

    def score_rows(self, table: Table) -> Array:
        """w·x, summed row by row: equal rows get equal scores wherever they stand."""
        return np.asarray((self._seen(table) * self.weights_).sum(axis=1))

    def _options(self) -> tuple[list[int], list[int]]:
        """The columns that indicate options, and the others."""
        names = [column.name for column in self.columns_]
        of_option = [j for j, name in enumerate(names) if name.startswith(f"{self.option}=")]
        return of_option, [j for j in range(len(names)) if j not in of_option]

    def _seen(self, table: Table) -> Array:
        """The columns; with options the options themselves, then each other column times each option."""
        if self.option is None:
            return table.numbers
        of_option, others = self._options()
        if not of_option:
            what = f"{self.id}: there is no nominal column '{self.option}' of options"
            raise FitError(
                what, hint="option names the column whose levels are ranked, such as the mode of travel"
            )
        options = table.numbers[:, of_option]
        if len(of_option) == 1:
            options = np.hstack([1 - options, options])
        crossed = table.numbers[:, others, None] * options[:, None, :]
        return np.hstack([options, crossed.reshape(len(table), -1)])

    def check_learned(self) -> None:
        """One weight per column, or per option and column."""
        if np.shape(self.weights_) != (
            self._seen(Table.of([(c, np.empty(0)) for c in self.columns_], 0)).shape[1],
        ):
            raise ValueError("weights that do not fit the columns")

    def explain(self) -> findings.Explanation:
        """The weight of each column, and how the training pairs lie."""
        note = "What one unit more (a standard deviation, if standardised) adds to the score of a row."
        lines = (
            f"{self.pairs_} training pairs, {100 * self.in_order_:.1f} % of them in the right order",
            f"{self.loss}: objective {self.objective_:.6g} after {self.iterations_} steps, "
            f"at most {self.gap_:.1e} above the least",
        )
        header, rows = self._weight_rows()
        return findings.Table("Weights", header, rows, note=note), findings.Lines("Pairs", lines)

    def _weight_rows(self) -> tuple[tuple[str, ...], tuple[tuple[findings.Entry, ...], ...]]:
        """A line for each column, with a weight for each option."""
        names = [column.name for column in self.columns_]
        if self.option is None:
            return ("column", "weight"), tuple(zip(names, self.weights_.tolist(), strict=True))
        of_option, others = self._options()
        options = [names[j] for j in of_option]
        options = [f"not {options[0]}", *options] if len(options) == 1 else options
        lines = zip([OF_OPTION, *(names[j] for j in others)], self.weights_.reshape(-1, len(options)), strict=True)
        return ("column", *options), tuple((name, *weights.tolist()) for name, weights in lines)
