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
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from mlcli.core import findings
from mlcli.core.accepts import Accepts
from mlcli.core.errors import MlcliWarning
from mlcli.core.params import learned, param
from mlcli.core.ranges import log_range
from mlcli.core.registry import register
from mlcli.core.tables import Array, Rows
from mlcli.engines.linear_objective import LinearObjective, Penalty, weighted_gram
from mlcli.engines.losses import SquaredHinge
from mlcli.engines.solvers.interior_point import Matrix, PiecewiseLinear, PiecewiseMinimum, interior_point
from mlcli.engines.solvers.table import SOLVERS
from mlcli.models.linear._classes import LinearMargins, contrasts
from mlcli.models.linear._design import Design
from mlcli.tasks.classification import Classifier, LabelledRows

GAP, NEAR_ENOUGH, MOST_STEPS = 1e-10, 1e-6, 200
"""The duality gap that is aimed at, as a share of the objective, and the one that is not spoken of."""
STEEPNESS = 1e-10
ON_MARGIN = 1e-6


ALL_AT_ONCE = ("weston-watkins", "crammer-singer")
MULTICLASS = ("one-against-rest", *ALL_AT_ONCE)


@dataclass(frozen=True, eq=False)
class ClassPairs:
    """Terms s_y − s_j of each row for the other classes j, in coordinates of scores that add up to 0."""

    X: Array
    spread: Array
    place: Rows

    @property
    def own(self) -> tuple[Rows, Rows]:
        """Where the class of each row is among the scores."""
        return np.arange(len(self.place)), self.place

    def times(self, w: Array) -> Array:
        """How much higher the own class scores than each class; for itself 0."""
        scores = self.X @ w.reshape(self.spread.shape[1], -1).T @ self.spread.T
        return np.asarray(scores[self.own][:, None] - scores).ravel()

    def back(self, value: Array) -> Array:
        """A value of each term, gathered by coefficients."""
        pulled = -value.reshape(len(self.X), -1)
        pulled[self.own] -= pulled.sum(axis=1)
        return np.asarray(self.spread.T @ (pulled.T @ self.X)).ravel()

    def gram(self, blocks: Array) -> Array:
        """Σ over rows of the blocks between the terms, each term a difference of two classes."""
        apart = self.spread[self.place][:, None] - self.spread[None]
        if len(blocks) == len(self.X):
            return weighted_gram(np.einsum("nka,nkl,nlb->abn", apart, blocks, apart, optimize=True), self.X)
        values = blocks.reshape(apart.shape[:2])
        return weighted_gram(np.einsum("nk,nka,nkb->abn", values, apart, apart, optimize=True), self.X)


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
        choices=MULTICLASS,
        default_means=lambda model, task: model._multiclass,
    )

    norms_: Array = learned()
    support_: tuple[int, ...] = learned()
    """For each output, the training rows on its margin or beyond."""

    accepts = Accepts(weights=True, prefers_scaled=True)

    def conflicts(self) -> list[str]:
        """All classes at once are there for the hinge with squares of coefficients."""
        if self.multiclass in ALL_AT_ONCE and not self._can_be_all_at_once:
            return [
                f"multiclass {self.multiclass} goes with loss hinge and penalty l2; one-against-rest takes all"
            ]
        return []

    @property
    def _can_be_all_at_once(self) -> bool:
        return (self.loss, self.penalty) == ("hinge", "l2")

    @property
    def _multiclass(self) -> str:
        return self.multiclass or ("weston-watkins" if self._can_be_all_at_once else "one-against-rest")

    def fit(self, data: LabelledRows, rng: np.random.Generator) -> None:
        """Minimise for each side, or for all classes at once."""
        data = data.counted()
        sides = self.sides(data)
        design = (Design.by_column if self.penalty == "l1" else Design.of)(data, True)
        if self._multiclass in ALL_AT_ONCE and len(sides) > 1:
            w = self._all_classes(design, np.searchsorted(self.present_, data.y), data.weights)
        else:
            of_side = self._hinge if self.loss == "hinge" else self._squared_hinge
            found = [of_side(design, side, data.weights) for side in sides]
            w = np.array(found).reshape(len(sides), len(design.scale) + 1)
        coefficients = design.coefficients(w[:, :-1] / design.scale)
        self.learn_scores(data, coefficients, w[:, -1], design.centre)
        self.norms_ = np.sqrt((coefficients**2).sum(axis=1))
        beyond = sides * self.scores(data.table).T <= 1 + ON_MARGIN
        self.support_ = tuple(beyond.sum(axis=1).tolist())

    def _hinge(self, design: Design, side: Array, weights: Array) -> Array:
        """One side by the interior point method; |w| is one more corner for each coefficient."""
        width = len(design.scale)
        rows = side[:, None] * np.column_stack([design.standard, np.ones(len(side))])
        cost, free = self.C * weights, np.append(design.scale**-2.0, 0.0)
        if self.penalty == "l2":
            return self._solved(PiecewiseLinear(Matrix(rows), cost, np.ones(len(side)), free, np.zeros(width + 1)))
        sizes = np.append(1 / design.scale, 0.0)
        terms = Matrix(np.vstack([rows, np.eye(width + 1)[:-1]]))
        margins = np.append(np.ones(len(side)), np.zeros(width))
        return self._solved(PiecewiseLinear(terms, np.append(cost, 2 * sizes[:-1]), margins, 0 * free, sizes))

    def _squared_hinge(self, design: Design, side: Array, weights: Array) -> Array:
        """One side by Newton's method or L-BFGS, in units of all weight."""
        l2, l1 = {"l2": (1.0, 0.0), "l1": (0.0, 1.0)}[self.penalty]
        penalty = Penalty.of(l2 / self.C, l1 / self.C, design.scale, design.total)
        loss = SquaredHinge(side[None], weights / design.total)
        objective = LinearObjective(design.standard, loss, penalty, np.eye(1))
        found = SOLVERS["auto"].minimise(objective, objective.start, STEEPNESS, 10_000)
        if not found.converged:
            self._warn(f"with a gradient of {found.at.steepness:.1e}")
        return np.asarray(found.at.w[0])

    def _all_classes(self, design: Design, place: Rows, weights: Array) -> Array:
        """The scores of all classes, which add up to 0."""
        classes = len(self.present_)
        X, spread = np.column_stack([design.standard, np.ones(len(place))]), contrasts(classes)
        free = np.tile(np.append(design.scale**-2.0, 0.0), classes - 1)
        margins = (np.arange(classes) != place[:, None]).astype(float).ravel()
        cost = self.C * (weights if self._multiclass == "crammer-singer" else np.repeat(weights, classes))
        w = self._solved(PiecewiseLinear(ClassPairs(X, spread, place), cost, margins, free, np.zeros(len(free))))
        return np.asarray(spread @ w.reshape(classes - 1, -1))

    def _solved(self, problem: PiecewiseLinear) -> Array:
        found: PiecewiseMinimum = interior_point(problem, GAP, MOST_STEPS)
        if found.gap > NEAR_ENOUGH * abs(found.value):
            self._warn(f"with a gap of {found.gap / abs(found.value):.1e}")
        return found.w

    def _warn(self, how: str) -> None:
        text = f"{self.id} stopped {how}; columns of one scale or a smaller C would help"
        warnings.warn(text, MlcliWarning, stacklevel=2)

    def explain(self) -> findings.Explanation:
        """The coefficients, and the margin of each output with its support vectors."""
        table = self.coefficient_table("Intercept + coefficients × columns is 1 on the margin.")
        return table, findings.Table(
            "Margins", ("score", "margin 1 / ‖w‖", "support vectors"), tuple(self._margins())
        )

    def _margins(self) -> Iterator[tuple[findings.Entry, ...]]:
        for name, norm, count in zip(self.score_names(), self.norms_, self.support_, strict=True):
            yield name, float(1 / norm) if norm > 0 else None, count
