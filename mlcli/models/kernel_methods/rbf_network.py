"""RBF network: a weighted sum of Gaussians around centres, for values and for classes.

Formula:
    h(x) = b + Σ_k w_k exp(−γ_k ‖x − μ_k‖²). The centres μ are those of k-means, or all training rows. Then in
    turn: with the γ fixed, w and b by one step of least squares, w = Φ⁺ y (with all rows as centres and no b this
    interpolates exactly); with w fixed, a step down the gradient of Σ (h(xᵢ) − yᵢ)² by log γ. Of classes the
    outputs are ±1; of two the class is the sign of h, of more the one with the largest h.

Assumes:
    A smooth target, or classes in clusters. The target has no influence on where the centres are.

Cost:
    ``rounds`` times n·centres² at most; n·centres to predict a row. With all rows as centres ``rounds`` times
    n³, up to 3,000 different rows.

Choices:
    Without ``centres`` there are 30, or five for each class or one for every 20 rows if that is more, but at
    most 100: more overfit small tables, and with fewer small classes have none. ``gamma: none`` starts at 1 /
    (columns × variance). The pseudo-inverse leaves out directions in which the Gaussians hardly differ
    (``cutoff``), so that wide ones get no huge weights; with 0 it interpolates whatever it can. b is fitted with
    the weights and not penalised; without it, answers far from all centres are 0. Probabilities are a softmax of
    a·h; a maximises the likelihood of leave-one-out values (from the diagonal of the hat matrix, with centres
    and γ as they are); it is 1 if every row is interpolated.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mlcli.core import findings
from mlcli.core.abilities import RowExplainer
from mlcli.core.errors import FitError
from mlcli.core.params import learned, param
from mlcli.core.ranges import log_range
from mlcli.core.registry import register
from mlcli.core.schema import Accepts
from mlcli.core.tables import Array, Table
from mlcli.engines.calibration import of_present_classes, slope_of_present
from mlcli.engines.centres import means_settled, squared_from_mean
from mlcli.engines.kernel_functions import one_width, scale
from mlcli.engines.kernel_models import distinct_rows
from mlcli.engines.linear_scores import terms_of_points
from mlcli.tasks.supervised import Classifier, LabelledRows, Regressor, SupervisedRows


@dataclass(frozen=True, eq=False)
class LeastSquares:
    """Weights of some features by least squares, b included, and the leverage of each row."""

    level: Array
    weights: Array
    answers: Array
    leverage: Array

    @staticmethod
    def of(features: Array, outputs: Array, weights: Array, bias: bool, cutoff: float) -> LeastSquares:
        """By the pseudo-inverse, without singular values below ``cutoff`` times the largest."""
        share = (weights / weights.sum())[:, None]
        middle = (share * features).sum(axis=0) if bias else np.zeros(features.shape[1])
        level = (share * outputs).sum(axis=0) if bias else np.zeros(outputs.shape[1])
        root = np.sqrt(weights)[:, None]
        U, sizes, V = np.linalg.svd(root * (features - middle), full_matrices=False)
        kept = (sizes > cutoff * sizes.max(initial=0.0)) & (sizes > 0)
        U, sizes, V = U[:, kept], sizes[kept], V[kept]
        coefficients = V.T @ ((U.T @ (root * (outputs - level))) / sizes[:, None])
        answers = level + (features - middle) @ coefficients
        leverage = (U**2).sum(axis=1) + (share[:, 0] if bias else 0.0)
        return LeastSquares(level - middle @ coefficients, coefficients, answers, leverage)

    def left_out(self, outputs: Array) -> Array:
        """The leave-one-out answer for each row; the level if the row alone decides about its answer."""
        rest = 1.0 - self.leverage
        alone = rest < 1e-8
        residuals = (outputs - self.answers) / np.where(alone, 1.0, rest)[:, None]
        return np.where(alone[:, None], self.level, outputs - residuals)


@register("rbf-network", reference="Broomhead & Lowe 1988; Moody & Darken 1989 for centres by k-means", revision=2)
class RadialBasisNetwork(Classifier, Regressor, RowExplainer):
    """Gaussians around centres."""

    centres: int | None = param(
        None, "number of centres that k-means places; none: 30 to 100", ge=1, tune=log_range(5, 200, simpler="low")
    )
    every_row: bool = param(False, "whether every training row is a centre")
    bias: bool = param(True, "whether a constant is added")
    gamma: float | None = param(None, "initial factor of squared distances; none: 1 / (columns × variance)", gt=0)
    sigma: float | None = param(None, "initial width of the Gaussians, instead of gamma = 1/(2σ²)", gt=0)
    widths: str = param("one", "whether all Gaussians have one width, or each its own", choices=("one", "each"))
    cutoff: float = param(
        1e-3, "weights leave out singular values of the Gaussians below this share of the largest", ge=0, lt=1
    )
    rounds: int = param(20, "number of rounds that learn widths and weights in turn; 0: fixed widths", ge=0)

    points_: Array = learned("centres", "columns")
    gammas_: Array = learned("centres")
    level_: Array = learned("outputs")
    weights_: Array = learned("centres", "outputs")
    slope_: float = learned()
    errors_: Array = learned()
    """The mean squared error of training rows after each round."""
    left_out_: float = learned()

    accepts = Accepts(weights=True, prefers_scaled=True)

    def conflicts(self) -> list[str]:
        """One width, and one number of centres."""
        problems = one_width(self.gamma, self.sigma)
        if self.every_row and self.centres is not None:
            problems.append("with every_row there are as many centres as rows: leave centres out")
        return problems

    def fit(self, data: SupervisedRows, rng: np.random.Generator) -> None:
        """Place the centres, then learn weights and widths in turn."""
        rows = distinct_rows(data)
        X = rows.table.numbers
        outputs = 2.0 * rows.outputs - 1.0 if isinstance(rows, LabelledRows) else rows.outputs
        self.points_ = self._place_centres(rows, rng)
        squared = squared_from_mean(X, self.points_)
        gamma = scale(X, rows.weights) if self.gamma is None else self.gamma
        self.gammas_ = np.full(len(self.points_), gamma if self.sigma is None else 1 / (2 * self.sigma**2))
        fitted = self._learn_in_turn(squared, outputs, rows.weights)
        self.level_, self.weights_ = fitted.level, fitted.weights
        left_out = fitted.left_out(outputs)
        self.left_out_ = _error(left_out, outputs, rows.weights)
        self.slope_ = 1.0
        if isinstance(rows, LabelledRows):
            self.slope_ = slope_of_present(left_out, rows.y, rows.weights)

    def _place_centres(self, rows: SupervisedRows, rng: np.random.Generator) -> Array:
        """The centres of k-means, or all rows."""
        X, most = rows.table.numbers, 3_000
        if self.every_row or self.centres is not None:
            count = self.centres or len(rows)
        else:
            classes = int(np.count_nonzero(rows.class_totals)) if isinstance(rows, LabelledRows) else 1
            count = min(100, max(30, 5 * classes, len(rows) // 20))
        if count < len(X):
            return means_settled(X, rows.weights, count, rng)
        if len(X) > most:
            message = f"{len(X):,} different rows are too many centres"
            raise FitError(message, hint=f"at most {most:,}; let k-means place fewer: -p centres=100")
        return X

    def _learn_in_turn(self, squared: Array, outputs: Array, weights: Array) -> LeastSquares:
        """Weights, widths, weights, and so on, until a round lowers the error by less than 0.01 %."""
        errors: list[float] = []
        for round_ in range(self.rounds + 1):
            fitted = LeastSquares.of(np.exp(-self.gammas_ * squared), outputs, weights, self.bias, self.cutoff)
            errors.append(_error(fitted.answers, outputs, weights))
            if round_ == self.rounds or (len(errors) > 1 and errors[-1] > (1 - 1e-4) * errors[-2]):
                break
            gammas = self._step_down(squared, fitted, outputs, weights)
            if gammas is None:
                break
            self.gammas_ = gammas
        self.errors_ = np.array(errors)
        return fitted

    def _step_down(self, squared: Array, fitted: LeastSquares, outputs: Array, weights: Array) -> Array | None:
        """The widths after a step down the gradient that lowers the error; None if no step does."""
        before, slopes = self.error_and_slopes(squared, self.gammas_, fitted, outputs, weights)
        largest, step = np.abs(slopes).max(), 0.5
        while largest > 0 and step >= 1e-3:
            gammas = self.gammas_ * np.exp(-step * slopes / largest)
            if self.error_and_slopes(squared, gammas, fitted, outputs, weights)[0] < before:
                return np.asarray(gammas)
            step /= 2
        return None

    def error_and_slopes(
        self, squared: Array, gammas: Array, fitted: LeastSquares, outputs: Array, weights: Array
    ) -> tuple[float, Array]:
        """The mean squared error with these widths and the weights as they are, and its derivatives by log γ."""
        basis = np.exp(-gammas * squared)
        residuals = fitted.level + basis @ fitted.weights - outputs
        share = (weights / weights.sum())[:, None]
        slopes = -2.0 * gammas * ((basis * squared) * ((share * residuals) @ fitted.weights.T)).sum(axis=0)
        error = float((share * residuals**2).sum())
        return error, slopes if self.widths == "each" else np.full(len(slopes), slopes.sum())

    def _outputs(self, table: Table) -> Array:
        """The network's outputs for rows."""
        squared = squared_from_mean(table.numbers, self.points_)
        return np.asarray(self.level_ + np.exp(-self.gammas_ * squared) @ self.weights_)

    def predict_values(self, table: Table) -> Array:
        """The sum of the Gaussians."""
        return np.asarray(self._outputs(table)[:, 0])

    def predict_proba(self, table: Table) -> Array:
        """The softmax of the sums of the classes that had rows."""
        return of_present_classes(self._outputs(table), self.slope_, self.class_totals_)

    def explain(self) -> findings.Explanation:
        """How the error fell, and the centres with their weights."""
        note = f"With {len(self.points_)} centres{', and a constant' if self.bias else ''}."
        lines = (
            ("of the training rows", float(self.errors_[-1])),
            ("leave-one-out, centres as they are", self.left_out_),
        )
        rounds, line = tuple(map(float, range(len(self.errors_)))), ("training rows", tuple(self.errors_.tolist()))
        names, outputs = (column.name for column in self.columns_), self.classes_ or (self.target_,)
        header = ("centre", *names, "gamma", *(f"weight of {name}" for name in outputs))
        table = np.column_stack([self.points_, self.gammas_, self.weights_]).tolist()
        centres = tuple((number, *row) for number, row in enumerate(table, 1))
        after_steps = "Centres are in the columns after the steps before the network."
        return (
            findings.Table("Mean squared error", ("error", "value"), lines, note=note),
            findings.Curve("Error by round", "round", rounds, (line,)),
            findings.Table("Hidden units", header, centres, note=after_steps),
        )

    def explain_answer(self, table: Table) -> findings.Explanation:
        """The contribution of each Gaussian."""
        alike = np.exp(-self.gammas_ * squared_from_mean(table.numbers[:1], self.points_)[0])
        names = [f"centre {number}" for number in range(1, len(alike) + 1)]
        outputs = self.classes_ or (self.target_,)
        added, level = alike[:, None] * self.weights_, self.level_ if self.bias else None
        return (terms_of_points(names, alike, added, level, outputs, "Contribution of each Gaussian"),)

    def check_learned(self) -> None:
        """A width and weights for each centre."""
        if not len(self.points_) or len(self.level_) != (len(self.classes_) if self.classes_ else 1):
            raise ValueError("the outputs of rbf-network do not fit its target")
        if not (np.isfinite(self.weights_).all() and (self.gammas_ >= 0).all()):
            raise ValueError("the weights of rbf-network are no numbers")


def _error(answers: Array, outputs: Array, weights: Array) -> float:
    """The mean squared error, of all outputs together."""
    return float(np.average(((answers - outputs) ** 2).sum(axis=1), weights=weights))
