"""Logistic regression: class probabilities whose log-odds are weighted sums of the columns.

Formula:
    Two classes: P(second class) = 1 / (1 + e^−(b + w·x)). More: P(k) = e^(b_k + w_k·x) / Σ_j e^(b_j + w_j·x)
    (softmax), or one such model of each class against the rest, with probabilities made to sum to 1.
    Minimise Σ −log P(y_i | x_i) + l2/2·‖w‖².

Assumes:
    Log-odds that are linear in the columns. Where columns separate the classes and l2 = 0, no finite coefficients
    are best; a warning then says so. The penalty is fair only between columns of one scale.

Cost:
    n·p·K for each step. Newton takes some five to ten, and three or four times n·p²·K²/2 for their curvature; long
    tables are solved for every eighth row first, and many coefficients by n·p·K for each of a few dozen products.

Choices:
    Decision 1: softmax of +w·x; with the minus of the notes only the sign of the weights would change. Decision
    28: natural logarithms. l2 is 1/C of other programs: losses are summed, not averaged, and intercepts are not
    penalised. Softmax has a weight vector for each class; they sum to 0, as do the intercepts. Two classes have
    one vector, so that softmax and one against the rest are then the same. ``tolerance`` is compared with the
    gradient per row of training, in columns of unit variance, so that it depends neither on the number of rows nor
    on units.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from mlcli.core import findings
from mlcli.core.accepts import Accepts
from mlcli.core.errors import MlcliWarning
from mlcli.core.findings import Explanation
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.tables import Array, Codes, Table
from mlcli.engines.linear_design import Design
from mlcli.engines.linear_objective import LinearObjective
from mlcli.engines.linear_scores import check_shapes, linear_scores, terms
from mlcli.engines.losses import CrossEntropy
from mlcli.engines.penalties import Penalty
from mlcli.engines.solvers.minimum import Minimum, complaint
from mlcli.engines.solvers.newton import never_ends
from mlcli.engines.solvers.table import SOLVERS
from mlcli.models.linear._classes import FORMS, FORMS_OF_FEW, Form, Part
from mlcli.tasks.classification import Classifier, LabelledRows

LARGEST_EXPONENT = 709.0
SEPARATED = (
    "the columns separate some classes perfectly, so without a penalty ever larger coefficients fit ever better; "
    "they stopped growing at the tolerance; an l2 above 0 makes them unique"
)

SAID_OF_LOG_ODDS = "Intercept + coefficients × columns is the logarithm of the odds."
SAID_OF_SCORES = (
    "Intercept + coefficients × columns is a class's score; probabilities are in proportion to e^score."
)


@register("logistic-regression", reference="Cox 1958; Böhning 1992")
@dataclass(kw_only=True, eq=False)
class LogisticRegression(Classifier):
    """Penalised maximum likelihood."""

    multiclass: str = param("softmax", "how more than two classes share the probability", choices=FORMS)
    l2: float = param(1.0, "the cost of half a unit of squared coefficient, in log-loss", ge=0, tune=(1e-4, 1e4))
    intercept: bool = param(True, "whether the log-odds at the origin are free; without it, they are 0")
    solver: str = param("auto", "how the minimum is found", choices=SOLVERS)
    tolerance: float = param(1e-10, "the gradient per row at which to stop", gt=0)
    max_iterations: int = param(10_000, "how many steps at most", ge=1)

    coefficients_: Array = learned()
    """Outputs × columns."""
    centre_: Array = learned()
    level_: Array = learned()
    """The scores at the centre."""
    present_: Codes = learned()
    """The classes with training rows."""
    iterations_: tuple[int, ...] = learned()
    steepness_: tuple[float, ...] = learned()

    @property
    def accepts(self) -> Accepts:
        """Numbers and weights; the penalty is fair only between columns of one scale."""
        return Accepts(weights=True, prefers_scaled=True)

    @property
    def _form(self) -> Form:
        return FORMS_OF_FEW.get(len(self.present_), FORMS[self.multiclass])

    def fit(self, data: LabelledRows, rng: np.random.Generator) -> None:
        """Minimise each part of the form, over the classes that are there."""
        self.present_ = np.flatnonzero(data.class_totals > 0).astype(np.int32)
        place = np.zeros(len(data.classes), np.int32)
        place[self.present_] = np.arange(len(self.present_))
        parts = self._form.parts(place[data.y], len(self.present_))
        design = Design.of(data, self.intercept)
        objectives = [self._objective(design, part, data.weights / design.total) for part in parts]
        minima = [self._minimum(objective) for objective in objectives]
        self._warn(objectives, minima)
        w = np.concatenate([part.spread @ found.at.w for part, found in zip(parts, minima, strict=True)])
        self.centre_, self.level_ = design.centre, w[:, -1]
        self.coefficients_ = design.coefficients(w[:, :-1] / design.scale)
        self.iterations_ = tuple(found.iterations for found in minima)
        self.steepness_ = tuple(found.at.steepness for found in minima)

    def _objective(self, design: Design, part: Part, shares: Array) -> LinearObjective:
        """Mean loss and penalty per row, in columns of unit variance; the intercept is free."""
        penalty = Penalty.of(self.l2, 0.0, design.scale, design.total)
        loss = CrossEntropy(part.outcomes, shares)
        return LinearObjective(design.standard, loss, penalty, part.mixing, self.intercept)

    def _minimum(self, objective: LinearObjective) -> Minimum:
        """Start from the class shares: the best answer that looks at no column."""
        return SOLVERS[self.solver].minimise(objective, objective.start, self.tolerance, self.max_iterations)

    def _warn(self, objectives: Sequence[LinearObjective], minima: Sequence[Minimum]) -> None:
        unfinished = complaint(minima, self.tolerance)
        if unfinished:
            advice = SOLVERS[self.solver].advice
            warnings.warn(f"{self.id} {unfinished}; {advice}", MlcliWarning, stacklevel=2)
        elif self.l2 == 0 and any(map(never_ends, objectives, minima)):
            warnings.warn(SEPARATED, MlcliWarning, stacklevel=2)

    def predict_proba(self, table: Table) -> Array:
        """Probabilities from linear scores; a class without training rows gets 0."""
        unit = 1 + np.abs(self.level_)
        raw = linear_scores(table.numbers, self.centre_, self.coefficients_, self.level_, unit)
        found = self._form.probabilities(raw)
        if len(self.present_) == len(self.classes_):
            return found
        probabilities = np.zeros((len(table), len(self.classes_)))
        probabilities[:, self.present_] = found
        return probabilities

    def check_learned(self) -> None:
        """Refuse arrays that do not fit the columns, the classes or each other."""
        check_shapes(self.columns_, self.coefficients_, self.centre_)
        if not len(self.present_) or not np.isin(self.present_, np.arange(len(self.classes_))).all():
            raise ValueError("classes that are not there")
        if {self.coefficients_.shape[:-1], self.level_.shape} != {(len(self._outputs()),)}:
            raise ValueError(f"learned arrays that do not fit {len(self._outputs())} outputs")

    def _outputs(self) -> Sequence[str]:
        return self._form.outputs([self.classes_[k] for k in self.present_])

    def explain(self) -> Explanation:
        """Coefficients of each output, the odds they stand for, and how the solver ended."""
        outputs = self._outputs()
        named = terms(self.columns_, self.coefficients_, self.centre_, self.level_, self.intercept)
        coefficients = findings.Table(
            "Coefficients",
            header=("column", *outputs),
            rows=tuple((name, *map(float, values)) for name, values in named),
            note=" ".join(self._notes()),
        )
        odds = findings.Table(
            "Odds ratios",
            header=("column", *outputs),
            rows=tuple((name, *map(_odds, values)) for name, values in named[int(self.intercept) :]),
            note="What one unit more (a standard deviation, if standardised) multiplies the odds by.",
        )
        ends = zip(self.iterations_, self.steepness_, strict=True)
        solver = findings.Table(
            f"Solver {self.solver}",
            header=("iterations", "largest entry of the gradient"),
            rows=tuple(ends),
            note=f"The gradient is per row, in columns of unit variance; it may stop at {self.tolerance:g}.",
        )
        return (coefficients, odds, solver) if self._form.log_odds else (coefficients, solver)

    def _notes(self) -> Iterator[str]:
        yield SAID_OF_LOG_ODDS if self._form.log_odds else SAID_OF_SCORES
        absent = [name for k, name in enumerate(self.classes_) if k not in self.present_]
        if absent:
            yield f"Without training rows, so of probability 0: {', '.join(absent)}."


def _odds(coefficient: float) -> float | None:
    """e^w, or nothing where it is too large for a number."""
    return math.exp(coefficient) if coefficient < LARGEST_EXPONENT else None
