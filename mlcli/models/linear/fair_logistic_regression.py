"""Fair logistic regression: logistic regression in which groups whose scores differ on average cost more.

Formula:
    Minimise mean of −log P(y_i | x_i) + l2/(2n)·‖w‖² + strength/2 · Σ_g share_g · ‖w·(x̄_g − x̄)‖².
    The last term is the variance between groups of the mean score (log-odds): over all rows for demographic
    parity, over those of the last class for equal opportunity, over those of each class for equalised odds. As
    strength grows it is the constraint that these means are equal.

Assumes:
    Log-odds that are linear in the columns. Groups of equal mean score are still answered unlike where their
    scores spread unlike, or where a threshold cuts them at different places.

Cost:
    That of logistic regression by Newton's method, and one pass for the means of groups.

Choices:
    The covariance constraint of Zafar et al., which is linear in the coefficients, as a penalty: the problem stays
    convex, and `strength` leads from no constraint (0) to all of it (1e6) without a break. The groups are needed
    in training only: unseen rows need no sensitive column. `by` names the columns that make groups together;
    without it all sensitive columns do. Where no column is sensitive, this is logistic regression, and says so.
    More than two classes share the probability by softmax, and the scores of all classes count. l2 is as in
    `logistic-regression`.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace

import numpy as np

from mlcli.core import findings
from mlcli.core.errors import MlcliWarning
from mlcli.core.params import learned, param
from mlcli.core.ranges import log_range
from mlcli.core.registry import register
from mlcli.core.rows import Groups, sensitive_groups
from mlcli.core.schema import Accepts
from mlcli.core.tables import Array, Flags
from mlcli.engines.linear_objective import CrossEntropy, Iterate, LinearObjective, Penalty
from mlcli.engines.solvers import complaint, newton
from mlcli.models.linear._classification import LinearLikelihood
from mlcli.models.linear._design import Design
from mlcli.tasks.supervised import Classifier, LabelledRows

ALL_ROWS, LAST_CLASS, EACH_CLASS = "demographic-parity", "equal-opportunity", "equalised-odds"
CRITERIA = (ALL_ROWS, LAST_CLASS, EACH_CLASS)


@register("fair-logistic-regression", reference="Zafar et al. 2017, Fairness constraints")
class FairLogisticRegression(LinearLikelihood, Classifier):
    """Penalised likelihood with a cost of unlike groups."""

    criterion: str = param(ALL_ROWS, "which rows are to have the same mean score in all groups", choices=CRITERIA)
    strength: float = param(
        1.0, "the cost of variance between groups", ge=0, le=1e9, tune=log_range(1e-2, 1e3, simpler="low")
    )
    by: tuple[str, ...] | None = param(
        None, "the columns that make groups together; none: all sensitive ones", if_given=True
    )
    l2: float = param(1.0, "L2 penalty: the cost of half a squared coefficient, in log-loss", ge=0)
    tolerance: float = param(1e-10, "the tolerance: the gradient per row at which to stop", gt=0)
    max_iterations: int = param(1_000, "how many steps at most", ge=1)

    labels_: tuple[str, ...] = learned("groups")
    means_: Array = learned("groups", "outputs")
    """The mean scores of groups (groups × outputs)."""

    accepts = Accepts(weights=True, prefers_scaled=True)

    def fit(self, data: LabelledRows, rng: np.random.Generator) -> None:
        """Minimise the objective from the class shares."""
        data = data.counted()
        groups = sensitive_groups((data.context,), self.by, len(data))
        (problem,) = self.subproblems(data)
        design = Design.of(data, True)
        objective = WithParity(
            design.standard,
            CrossEntropy(problem.outcomes, data.weights / design.total),
            Penalty.of(self.l2, 0.0, design.scale, design.total),
            problem.mixing,
            shifts=self._shifts(design, groups, data),
            strength=self.strength,
        )
        minimum = newton(objective, objective.start, self.tolerance, self.max_iterations)
        if unfinished := complaint([minimum], self.tolerance):
            text = f"{self.id} {unfinished}; a larger max_iterations or l2 would help"
            warnings.warn(text, MlcliWarning, stacklevel=2)
        self.learn_coefficients(design, problem.spread @ minimum.at.w)
        members = groups.members * data.weights[:, None]
        self.labels_ = groups.labels
        self.means_ = (members.T @ self.scores(data.table)) / members.sum(axis=0)[:, None]

    def _shifts(self, design: Design, groups: Groups, data: LabelledRows) -> Array:
        """The shifts of groups among the rows of the criterion."""
        if self.criterion == ALL_ROWS:
            subsets = [np.ones(len(data), bool)]
        else:
            last = len(data.classes) - 1
            subsets = [data.y == k for k in ([last] if self.criterion == LAST_CLASS else range(last + 1))]
        return np.vstack([mean_shifts(design.standard, groups, data.weights, subset) for subset in subsets])

    def explain(self) -> findings.Explanation:
        """Coefficients of each output, and the mean score that they give each group."""
        means = tuple((label, *line) for label, line in zip(self.labels_, self.means_.tolist(), strict=True))
        alone = len(self.labels_) < 2
        note = "There is one group only, so that nothing was constrained." if alone else "Of the training rows."
        return (
            self.coefficient_table(),
            findings.Table("Mean score of each group", ("group", *self.score_names()), means, note=note),
        )


def mean_shifts(columns: Array, groups: Groups, weights: Array, subset: Flags) -> Array:
    """How far the mean of each group is from that of all, among some rows, times the root of its share."""
    counted = np.where(subset, weights, 0.0)
    totals = np.bincount(groups.codes, counted, len(groups.labels))
    present = totals > 0
    sums = (groups.members * counted[:, None]).T @ columns
    means = sums[present] / totals[present, None]
    shares = totals[present] / totals.sum() if present.any() else totals[present]
    return np.asarray(np.sqrt(shares)[:, None] * (means - shares @ means))


@dataclass(frozen=True, eq=False, kw_only=True)
class WithParity(LinearObjective):
    """A linear objective with the cost of mean scores that differ."""

    shifts: Array
    """The ``mean_shifts`` of standard columns."""
    strength: float

    def at(self, w: Array) -> Iterate:
        """The objective at some coefficients."""
        here = super().at(w)
        apart = self.shifts @ w[:, :-1].T
        gradient = here.gradient.copy()
        gradient[:, :-1] += self.strength * (apart.T @ self.shifts)
        value = here.value + self.strength / 2 * float((apart**2).sum())
        return replace(here, value=value, gradient=gradient, steepness=self.penalty.steepness(w, gradient))

    def curvature(self, here: Iterate) -> Array:
        """Its second derivative."""
        width = self.X.shape[1] + 1
        block = np.zeros((width, width))
        block[:-1, :-1] = self.strength * (self.shifts.T @ self.shifts)
        return np.asarray(super().curvature(here) + np.kron(np.eye(len(here.w)), block))
