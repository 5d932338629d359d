"""Linear SVM: a plane with a wide margin, found by the hinge loss in the columns themselves.

Formula:
    Minimise ½‖w‖² + C Σ max(0, 1 − y_i (b + w·x_i)), or with the square of each max, or with |w|₁ for ½‖w‖²
    (the L1-norm SVM); h(x) = sign(b + w·x). More than two classes: one plane of each class against the rest, or
    all at once by ½‖W‖² + C Σ_i Σ_{j ≠ y_i} max(0, 1 + s_j − s_{y_i}) of the scores s = W x + b (Weston &
    Watkins), or with the largest of these terms for their sum (Crammer & Singer).

Assumes:
    Classes that a plane tells apart but for some rows. The penalty is fair only between columns of one scale.

Cost:
    The hinge takes 10 to 40 steps of an interior point method, n·p² each (n·p²·K² for all classes at once); the
    squared hinge as many of Newton's or L-BFGS.

Choices:
    The multiclass loss has the penalty too, which the notes leave out. The intercept is not penalised; LIBLINEAR
    penalises it. A score of 0 is the first class. The margin is 1 / ‖w‖; rows with y (b + w·x) ≤ 1 are support
    vectors. Probabilities are softmax of sharpened scores, which order rows by their distance.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from mlcli.core import findings
from mlcli.core.errors import MlcliWarning
from mlcli.core.params import learned, param
from mlcli.core.ranges import log_range
from mlcli.core.registry import register
from mlcli.core.schema import Accepts
from mlcli.core.tables import Array, Rows
from mlcli.engines.interior_point import Matrix, PiecewiseLinear, interior_point
from mlcli.engines.linear_objective import LinearObjective, Penalty, SquaredHinge, weighted_gram
from mlcli.engines.solvers import SOLVERS
from mlcli.models.linear._classification import LinearMargins, contrasts
from mlcli.models.linear._design import Design
from mlcli.tasks.supervised import Classifier, LabelledRows

ALL_AT_ONCE = ("weston-watkins", "crammer-singer")


@register(
    "linear-svm", reference="Cortes & Vapnik 1995; Weston & Watkins 1999; Crammer & Singer 2001; Zhu et al. 2003"
)
class LinearSVM(LinearMargins, Classifier):
    """The hinge in the primal."""

    C: float = param(
        1.0, "what each unit costs that a row lacks of the margin", gt=0, tune=log_range(1e-3, 1e3, simpler="low")
    )
    loss: str = param(
        "hinge", "the loss: how what a row lacks of the margin is counted", choices=("hinge", "squared-hinge")
    )
    penalty: str = param(
        "l2", "the penalty: half the squares of the coefficients, or their sizes", choices=("l2", "l1")
    )
    multiclass: str | None = param(
        None,
        "how several classes are separated; none: weston-watkins, else one-against-rest",
        choices=("one-against-rest", *ALL_AT_ONCE),
        default_means=lambda model, task: model.multiclass_used,
    )

    norms_: Array = learned()
    support_: tuple[int, ...] = learned()
    """For each output, the training rows on its margin or beyond."""

    accepts = Accepts(weights=True, prefers_scaled=True)

    def conflicts(self) -> list[str]:
        """All classes at once are there for the hinge with squares of coefficients."""
        if self.multiclass in ALL_AT_ONCE and (self.loss, self.penalty) != ("hinge", "l2"):
            return [
                f"multiclass {self.multiclass} goes with loss hinge and penalty l2; one-against-rest takes all"
            ]
        return []

    @property
    def multiclass_used(self) -> str:
        """How several classes are separated, by default if not given."""
        default = "weston-watkins" if (self.loss, self.penalty) == ("hinge", "l2") else "one-against-rest"
        return self.multiclass or default

    def fit(self, data: LabelledRows, rng: np.random.Generator) -> None:
        """Minimise for each side, or for all classes at once."""
        data = data.counted()
        sides = self.sides(data)
        design = Design.of(data, True, in_row_space=self.penalty == "l2")
        if self.multiclass_used in ALL_AT_ONCE and len(sides) > 1:
            w = self._all_classes(design, np.searchsorted(self.present_, data.y), data.weights)
        else:
            solve = self._hinge if self.loss == "hinge" else self._squared_hinge
            planes = [solve(design, side, data.weights) for side in sides]
            w = np.array(planes).reshape(len(sides), len(design.scale) + 1)
        coefficients = design.coefficients(w[:, :-1] / design.scale)
        self.learn_scores(data, coefficients, w[:, -1], design.centre)
        self.norms_ = np.sqrt((coefficients**2).sum(axis=1))
        within = sides * self.scores(data.table).T <= 1 + 1e-6
        self.support_ = tuple(within.sum(axis=1).tolist())

    def _hinge(self, design: Design, side: Array, weights: Array) -> Array:
        """One side by the interior point method; |w| is one more corner for each coefficient."""
        width = len(design.scale)
        rows = side[:, None] * np.column_stack([design.standard, np.ones(len(side))])
        cost, free = self.C * weights, np.append(design.scale**-2.0, 0.0)
        if self.penalty == "l2":
            return self._solve(PiecewiseLinear(Matrix(rows), cost, np.ones(len(side)), free, np.zeros(width + 1)))
        sizes = np.append(1 / design.scale, 0.0)
        terms = Matrix(np.vstack([rows, np.eye(width + 1)[:-1]]))
        margins = np.append(np.ones(len(side)), np.zeros(width))
        return self._solve(PiecewiseLinear(terms, np.append(cost, 2 * sizes[:-1]), margins, 0 * free, sizes))

    def _squared_hinge(self, design: Design, side: Array, weights: Array) -> Array:
        """One side by Newton's method or L-BFGS, in units of the total weight."""
        l2, l1 = (1.0, 0.0) if self.penalty == "l2" else (0.0, 1.0)
        penalty = Penalty.of(l2 / self.C, l1 / self.C, design.scale, design.total)
        loss = SquaredHinge(side[None], weights / design.total)
        objective = LinearObjective(design.standard, loss, penalty, np.eye(1))
        minimum = SOLVERS["auto"].minimise(objective, objective.start, 1e-10, 10_000)
        if not minimum.converged:
            self._warn(f"with a gradient of {minimum.at.steepness:.1e}")
        return np.asarray(minimum.at.w[0])

    def _all_classes(self, design: Design, index: Rows, weights: Array) -> Array:
        """The scores of all classes, which add up to 0."""
        classes = len(self.present_)
        X, spread = np.column_stack([design.standard, np.ones(len(index))]), contrasts(classes)
        free = np.tile(np.append(design.scale**-2.0, 0.0), classes - 1)
        margins = (np.arange(classes) != index[:, None]).astype(float).ravel()
        cost = self.C * (weights if self.multiclass_used == "crammer-singer" else np.repeat(weights, classes))
        w = self._solve(PiecewiseLinear(ClassPairs(X, spread, index), cost, margins, free, np.zeros(len(free))))
        return np.asarray(spread @ w.reshape(classes - 1, -1))

    def _solve(self, problem: PiecewiseLinear) -> Array:
        """The minimum to a duality gap of 1e-10 of it; a gap above 1e-6 is warned of."""
        minimum = interior_point(problem, 1e-10, 200)
        if minimum.gap > 1e-6 * abs(minimum.value):
            self._warn(f"with a gap of {minimum.gap / abs(minimum.value):.1e}")
        return minimum.w

    def _warn(self, how: str) -> None:
        text = f"{self.id} stopped {how}; columns of one scale or a smaller C would help"
        warnings.warn(text, MlcliWarning, stacklevel=2)

    def explain(self) -> findings.Explanation:
        """The coefficients, and the margin of each output with its support vectors."""
        margins = tuple(
            (name, float(1 / norm) if norm > 0 else None, count)
            for name, norm, count in zip(self.score_names(), self.norms_, self.support_, strict=True)
        )
        return (
            self.coefficient_table("Intercept + coefficients × columns is 1 on the margin."),
            findings.Table("Margins", ("score", "margin 1 / ‖w‖", "support vectors"), margins),
        )


@dataclass(frozen=True, eq=False)
class ClassPairs:
    """Terms s_y − s_j of each row for the other classes j, in coordinates of scores that add up to 0."""

    X: Array
    spread: Array
    y: Rows
    """The class of each row."""

    def times(self, w: Array) -> Array:
        """How much higher the own class scores than each class; for itself 0."""
        scores = self.X @ w.reshape(self.spread.shape[1], -1).T @ self.spread.T
        own = scores[np.arange(len(self.y)), self.y]
        return np.asarray(own[:, None] - scores).ravel()

    def back(self, value: Array) -> Array:
        """The transpose: values of terms, summed by coefficients."""
        by_class = -value.reshape(len(self.X), -1)
        by_class[np.arange(len(self.y)), self.y] -= by_class.sum(axis=1)
        return np.asarray(self.spread.T @ (by_class.T @ self.X)).ravel()

    def gram(self, blocks: Array) -> Array:
        """Σ over rows of the blocks between the terms, each term a difference of two classes."""
        differences = self.spread[self.y][:, None] - self.spread[None]
        if len(blocks) == len(self.X):
            by_row = np.einsum("nka,nkl,nlb->abn", differences, blocks, differences, optimize=True)
        else:
            values = blocks.reshape(differences.shape[:2])
            by_row = np.einsum("nk,nka,nkb->abn", values, differences, differences, optimize=True)
        return weighted_gram(by_row, self.X)
