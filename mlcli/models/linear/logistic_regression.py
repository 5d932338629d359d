"""Logistic regression: class probabilities whose log-odds are weighted sums of the columns.

Formula:
    Two classes: P(second class) = 1 / (1 + e^−(b + w·x)). More: P(k) = e^(b_k + w_k·x) / Σ_j e^(b_j + w_j·x)
    (softmax), or one such model of each class against the rest, with probabilities made to sum to 1.
    Minimise the cross-entropy and penalties, Σ −log P(y_i | x_i) + l2/2·‖w‖² + l1·|w|₁.
    Other links take the place of 1 / (1 + e^−z): the normal distribution function (probit), ½ + arctan(z)/π
    (cauchit), and the generalised logistic function (1 + e^−z)^−power; more than two classes are then separated
    one against the rest.

Assumes:
    Log-odds that are linear in the columns. Where columns separate the classes and l2 = 0, no finite coefficients
    are best; a warning then says so. The penalty is fair only between columns of one scale.

Cost:
    n·p·K for each step. Newton takes some five to ten, each with n·p²·K²/2 for its curvature (long tables are
    solved for every eighth row first); L-BFGS some dozens without; gradient descent hundreds; sgd hundreds to
    thousands of passes, or some dozens to a tolerance of 1e-3 where columns are hardly correlated. ``auto`` is
    Newton where curvatures are cheap, else L-BFGS.

Choices:
    The notes call the logistic function (sigmoid) logit, which is its inverse. Softmax of +w·x; with the minus of
    the notes only the sign of the weights would change. Logarithms are natural. l2 is 1/C of other programs:
    losses are summed, not averaged, and intercepts are not penalised. Softmax has a weight vector for each class;
    they sum to 0, as do the intercepts. Two classes have one vector, so that softmax and one against the rest are
    then the same. ``tolerance`` is compared with the gradient per row of training, in columns of unit variance, so
    that it depends neither on the number of rows nor on units. Standard errors are those of the curvature at the
    end, penalty included; there are none with an l1. ``learning_rate`` is what the gradient per row is multiplied
    by, in columns of unit variance. The arctan link is not convex: the nearest minimum is given.
"""

from __future__ import annotations

import math
import warnings
from functools import partial

import numpy as np

from mlcli.core import findings
from mlcli.core.abilities import EstimatesFitTime
from mlcli.core.errors import MlcliWarning
from mlcli.core.params import learned, param
from mlcli.core.ranges import log_range
from mlcli.core.registry import register
from mlcli.core.schema import Accepts
from mlcli.core.tables import Array, Table
from mlcli.engines.linear_objective import (
    ARCTAN,
    LOGISTIC,
    NORMAL,
    CrossEntropy,
    LinearObjective,
    Link,
    LinkLoss,
    Loss,
    Penalty,
    generalised_logistic,
)
from mlcli.engines.solvers import DESCENTS, SOLVERS, Minimum, complaint, inverse_curvature, never_ends
from mlcli.models.linear._classification import LinearLikelihood, Subproblem
from mlcli.models.linear._design import Design, wald_test
from mlcli.tasks.supervised import Classifier, LabelledRows

LINKS = {
    "logistic": lambda power: LOGISTIC,
    "normal": lambda power: NORMAL,
    "arctan": lambda power: ARCTAN,
    "generalised-logistic": generalised_logistic,
}


@register("logistic-regression", reference="Cox 1958; Böhning 1992")
class LogisticRegression(LinearLikelihood, Classifier, EstimatesFitTime):
    """Penalised maximum likelihood."""

    multiclass: str = param(
        "softmax",
        "how more than two classes share the probability",
        choices=("softmax", "one-against-rest"),
        matters_when={"link": "logistic"},
    )
    l2: float = param(
        1.0,
        "L2 penalty: the cost of half a squared coefficient, in log-loss",
        ge=0,
        tune=log_range(1e-3, 1e3, simpler="high"),
    )
    l1: float = param(
        0.0, "L1 penalty: the cost of a unit of |coefficient|, in log-loss; leaves columns out", ge=0
    )
    link: str = param("logistic", "how a score becomes a probability", choices=LINKS)
    power: float = param(
        1.0, "the power of the generalised logistic function", gt=0, matters_when={"link": "generalised-logistic"}
    )
    intercept: bool = param(True, "whether the log-odds at the origin are free; without it, they are 0")
    standard_errors: bool = param(
        True, "whether odds ratios get intervals, for one more curvature", changes_answers=False
    )
    solver: str = param("auto", "the solver", choices=SOLVERS)
    learning_rate: float | None = param(
        None,
        "the learning rate η of descent: what the gradient is multiplied by; none: safe steps",
        gt=0,
        matters_when={"solver": ("gradient-descent", "sgd")},
        if_given=True,
    )
    tolerance: float = param(1e-10, "the tolerance: the gradient per row at which to stop", gt=0)
    max_iterations: int = param(10_000, "how many steps at most", ge=1)

    iterations_: tuple[int, ...] = learned()
    steepness_: tuple[float, ...] = learned()
    losses_: tuple[float, ...] = learned()
    """The mean cross-entropy of the training rows, of each subproblem."""
    errors_: Array = learned()
    """Standard errors of the slopes of each score (scores × columns), NaN where there are none."""

    accepts = Accepts(weights=True, prefers_scaled=True)

    def conflicts(self) -> list[str]:
        """A solver that lacks what it needs."""
        loss = CrossEntropy if self.link == "logistic" else LinkLoss
        mismatch = SOLVERS[self.solver].mismatch(self.solver, loss, self.l1 > 0)
        return [mismatch] if mismatch else []

    @property
    def link_function(self) -> Link:
        """From scores to probabilities."""
        return LINKS[self.link](self.power)

    @property
    def strategy(self) -> str:
        """Links other than the logistic one separate a class from the rest."""
        return self.multiclass if self.link == "logistic" else "one-against-rest"

    def fit_seconds(self, rows: int, columns: int, classes: int) -> float:
        """Some dozens of passes over the rows, with a score for each class."""
        return 1e-7 * rows * columns * (classes if classes > 2 else 1)

    def fit(self, data: LabelledRows, rng: np.random.Generator) -> None:
        """Minimise each subproblem of the scheme, over the classes that are there."""
        data = data.counted()
        subproblems = self.subproblems(data, sparse=self.l1 > 0)
        design = Design.of(data, self.intercept, in_row_space=not self.l1)
        objectives = [self._objective(design, problem, data.weights / design.total) for problem in subproblems]
        minimise = SOLVERS[self.solver].minimise
        if self.learning_rate is not None and self.solver in DESCENTS:
            minimise = partial(DESCENTS[self.solver], learning_rate=self.learning_rate)
        minima = [
            minimise(objective, objective.start, self.tolerance, self.max_iterations) for objective in objectives
        ]
        if unfinished := complaint(minima, self.tolerance):
            advice = "another learning_rate or solver would help"
            if self.learning_rate is None:
                advice = SOLVERS[self.solver].advice
            warnings.warn(f"{self.id} {unfinished}; {advice}", MlcliWarning, stacklevel=2)
        elif self.l2 == 0 and self.l1 == 0 and any(map(never_ends, objectives, minima)):
            text = (
                "the columns separate some classes perfectly, so without a penalty ever larger coefficients fit "
                "ever better; they stopped growing at the tolerance; an l2 above 0 makes them unique"
            )
            warnings.warn(text, MlcliWarning, stacklevel=2)
        solved = list(zip(subproblems, objectives, minima, strict=True))
        self.learn_coefficients(design, np.concatenate([problem.spread @ end.at.w for problem, _, end in solved]))
        self.iterations_ = tuple(minimum.iterations for minimum in minima)
        self.steepness_ = tuple(minimum.at.steepness for minimum in minima)
        self.losses_ = tuple(objective.loss.at(end.at.scores)[0] for _, objective, end in solved)
        self.errors_ = np.concatenate([self._errors(design, objective, end) for _, objective, end in solved])

    def _objective(self, design: Design, problem: Subproblem, shares: Array) -> LinearObjective:
        """Mean loss and penalty per row, in columns of unit variance; the intercept is free."""
        penalty = Penalty.of(self.l2, self.l1, design.scale, design.total)
        loss: Loss = CrossEntropy(problem.outcomes, shares)
        if self.link != "logistic" and len(problem.outcomes):
            loss = LinkLoss(problem.outcomes, shares, self.link_function)
        return LinearObjective(design.standard, loss, penalty, problem.mixing, self.intercept)

    def _errors(self, design: Design, objective: LinearObjective, minimum: Minimum) -> Array:
        """Standard errors of the slopes of scores: of all classes but the first against it, or of one side."""
        errors = np.full((len(objective.mixing), len(design.varying)), np.nan)
        size, width = minimum.at.w.size, minimum.at.w.shape[1]
        defined = self.standard_errors and not self.l1 and design.basis is None
        # Above 5e7 the curvature takes too long for what standard errors tell.
        if not defined or not size or len(objective.X) * size**2 > 5e7:
            return errors
        covariance = inverse_curvature(objective, minimum.at) / design.total
        blocks = covariance.reshape(-1, width, size // width, width)
        variances = np.einsum("ja,apbp,jb->jp", objective.mixing, blocks, objective.mixing)[:, :-1]
        errors[:, design.varying] = np.sqrt(np.maximum(variances, 0.0)) / design.scale
        return errors

    def adjustable_parameters(self, table: Table) -> float | None:
        """The coefficients that are not 0, and a level for each score."""
        return float(np.count_nonzero(self.coefficients_) + len(self.level_) * self.intercept)

    def explain(self) -> findings.Explanation:
        """Coefficients of each output, the odds they stand for, and how the solver ended."""
        if self.link != "logistic":
            note = f"The {self.link} function of intercept + coefficients × columns is the probability."
        elif self.scores_are_log_odds:
            note = "Intercept + coefficients × columns is the logarithm of the odds."
        else:
            note = (
                "Intercept + coefficients × columns is a class's score; "
                "probabilities are in proportion to e^score."
            )
        absent = [name for k, name in enumerate(self.classes_) if k not in self.present_]
        if absent:
            note += f" Without training rows, so of probability 0: {', '.join(absent)}."
        coefficients = self.coefficient_table(note, self.intercept)
        solver = findings.Table(
            f"Solver {self.solver}",
            header=("iterations", "largest entry of the gradient", "cross-entropy"),
            rows=tuple(zip(self.iterations_, self.steepness_, self.losses_, strict=True)),
            note="Per training row: the gradient in columns of unit variance, which may stop at "
            f"{self.tolerance:g}, and the cross-entropy without the penalty.",
        )
        return (coefficients, self._odds_ratios(), solver) if self.link == "logistic" else (coefficients, solver)

    def _odds_ratios(self) -> findings.Table:
        """What a unit of each column multiplies the odds by, with its 95 % interval."""
        names, slopes = self.score_names(), self.coefficients_
        if not self.scores_are_log_odds:
            names, slopes = [f"{name} against {names[0]}" for name in names[1:]], slopes[1:] - slopes[0]
        rows = list[tuple[findings.Entry, ...]]()
        for j, column in enumerate(self.columns_):
            for name, w, error in zip(names, slopes[:, j].tolist(), self.errors_[:, j].tolist(), strict=True):
                precision: tuple[findings.Entry, ...] = (None,) * 5
                if error > 0:
                    z, p, low, high = wald_test(w, error)
                    precision = _power_of_e(low), _power_of_e(high), error, z, p
                rows.append((column.name, name, _power_of_e(w), *precision))
        note = "What one unit more (a standard deviation, if standardised) multiplies the odds by."
        if np.isnan(self.errors_).all():
            note += " No standard errors: with an l1, few rows or very many coefficients there are none."
        header = ("column", "odds of", "odds ratio", "2.5 %", "97.5 %", "standard error", "z", "p")
        return findings.Table("Odds ratios", header, tuple(rows), note=note)


def _power_of_e(coefficient: float) -> float | None:
    """e^w; None if a float cannot hold it."""
    return math.exp(coefficient) if coefficient < 709 else None
