"""Similarity: the answers of the training rows, each weighted by how similar its row is to the one asked.

Formula:
    K(x, xᵢ) is a kernel of u = γ‖x − xᵢ‖²: gaussian e^(−u) with γ = 1/(2σ²), laplacian e^(−√u), cauchy
    1/(1 + u), epanechnikov 1 − u and triangular 1 − √u, which are 0 from u = 1 on. ``normalised`` h(x) =
    Σ K(x, xᵢ) oᵢ / Σ K(x, xᵢ) (Nadaraya & Watson), ``plain`` h(x) = Σ K(x, xᵢ) oᵢ. The sums go over all training
    rows or over some of them, the landmarks; oᵢ are values, or indicators of the class, of which the shares are
    the probabilities.

Assumes:
    Rows that are near have similar targets. Plain sums of values grow with the number of near rows, so they suit
    a few landmarks.

Cost:
    n² distances of at most 1,500 rows to choose gamma, nothing else to fit; n·p to predict a row.

Choices:
    ``gamma: none`` tries powers of two times 1 / (columns × variance) and takes the one with the least
    leave-one-out mean squared error. Far from all rows, and where a kernel is 0, the normalised answer is that
    of the nearest row, since shares are computed from differences of logarithms. Equal shares go to the class
    with more training rows. Landmarks are drawn at random, or are the rows of the file that ``landmark_rows``
    numbers from 1 on; landmarks among the test rows of a split are left out of its fit.
"""

from __future__ import annotations

import numpy as np

from mlcli.core import findings
from mlcli.core.abilities import RowExplainer
from mlcli.core.names import listed
from mlcli.core.params import learned, param
from mlcli.core.ranges import warn_at_edge
from mlcli.core.registry import register
from mlcli.core.schema import Accepts
from mlcli.core.tables import Array, Rows, Table
from mlcli.engines.centres import squared_from_mean
from mlcli.engines.kernel_functions import BLOCK_CELLS, LOG_KERNELS, named_landmarks, one_width, scale
from mlcli.engines.kernel_models import distinct_rows
from mlcli.engines.linear_scores import terms_of_points
from mlcli.tasks.supervised import Classifier, Regressor, SupervisedRows


@register("similarity", reference="Nadaraya 1964; Watson 1964, Smooth regression analysis")
class Similarity(Classifier, Regressor, RowExplainer):
    """Stores landmarks; all work is done when it is asked."""

    form: str = param(
        "normalised", "whether predictions are weighted means or weighted sums", choices=("normalised", "plain")
    )
    kernel: str = param(
        "gaussian", "kernel: the similarity of two rows by their distance", choices=LOG_KERNELS, if_given=True
    )
    gamma: float | None = param(
        None, "factor of squared distances; none: the best by leave-one-out error", gt=0, tune=(0.01, 100)
    )
    sigma: float | None = param(None, "width of the kernel, instead of gamma = 1/(2σ²)", gt=0)
    landmarks: int | None = param(None, "number of training rows, drawn at random, that are used; none: all", ge=1)
    landmark_rows: tuple[int, ...] | None = param(
        None, "rows of the file that are used, numbered from 1: [1, 5, 9]", ge=1, if_given=True
    )

    gamma_: float = learned()
    points_: Array = learned("points", "columns")
    outputs_: Array = learned("points", "outputs")
    weights_: Array = learned("points")
    rows_: Rows = learned("points")
    """Which rows of the file the points are."""
    errors_: Array = learned()
    """The widths that were tried, and the mean squared error of each."""

    accepts = Accepts(weights=True, prefers_scaled=True)

    def conflicts(self) -> list[str]:
        """One width, and one way to choose landmarks."""
        problems = one_width(self.gamma, self.sigma)
        if self.landmarks is not None and self.landmark_rows is not None:
            problems.append(
                "landmarks says how many are drawn, landmark_rows which rows they are: give one of them"
            )
        return problems

    def fit(self, data: SupervisedRows, rng: np.random.Generator) -> None:
        """Choose the width, and store the landmarks."""
        rows = distinct_rows(data)
        self.errors_ = np.empty((0, 2))
        if self.sigma is not None:
            self.gamma_ = 1.0 / (2.0 * self.sigma**2)
        else:
            self.gamma_ = self._choose_gamma(rows) if self.gamma is None else self.gamma
        if self.landmark_rows is not None:
            rows = distinct_rows(data.take(named_landmarks(data.rows, self.landmark_rows)))
        elif self.landmarks is not None and self.landmarks < len(rows):
            rows = rows.take(np.sort(rng.choice(len(rows), self.landmarks, replace=False)))
        self.points_, self.outputs_, self.weights_ = rows.table.numbers, rows.outputs, rows.weights
        self.rows_ = rows.rows

    def _choose_gamma(self, rows: SupervisedRows) -> float:
        """The gamma of the least leave-one-out error of 1,500 rows, which stand in an order that looks random."""
        unit = scale(rows.table.numbers, rows.weights)
        subset = rows.take(slice(0, 1_500))
        if len(subset) < 2:
            return unit
        gammas = [unit * 2.0**power for power in range(-3, 9)]
        squared = squared_from_mean(subset.table.numbers, subset.table.numbers)
        np.fill_diagonal(squared, np.inf)
        errors = []
        for gamma in gammas:
            answers = _normalised(LOG_KERNELS[self.kernel](gamma * squared), subset.weights) @ subset.outputs
            squares = ((answers - subset.outputs) ** 2).sum(axis=1)
            errors.append(np.average(squares, weights=subset.weights))
        self.errors_ = np.column_stack([gammas, errors])
        if max(errors) == 0:
            return unit
        chosen = gammas[int(np.argmin(np.round(np.array(errors) / max(errors), 9)))]
        warn_at_edge(f"the gamma that {self.id} chose", chosen, gammas)
        return chosen

    def _similarities(self, X: Array, form: str) -> tuple[Array, Array]:
        """The logarithm of the kernel of rows with landmarks, and the weight of each landmark in the answer."""
        logs = LOG_KERNELS[self.kernel](self.gamma_ * squared_from_mean(X, self.points_))
        return logs, _normalised(logs, self.weights_) if form == "normalised" else np.exp(logs) * self.weights_

    def _answers(self, table: Table, form: str) -> Array:
        """The weighted outputs of the landmarks, block by block."""
        step = max(1, BLOCK_CELLS // len(self.points_))
        blocks = (table.numbers[start : start + step] for start in range(0, max(1, len(table)), step))
        return np.concatenate([self._similarities(X, form)[1] @ self.outputs_ for X in blocks])

    def predict_values(self, table: Table) -> Array:
        """The weighted sum or mean of the values."""
        return np.asarray(self._answers(table, self.form)[:, 0])

    def predict_proba(self, table: Table) -> Array:
        """The share of each class in the similarity; it is the same for both forms."""
        return self._answers(table, "normalised")

    def explain(self) -> findings.Explanation:
        """What is stored, the first landmarks, and how the width was chosen."""
        lines = (("landmarks", len(self.points_)), ("gamma", self.gamma_), ("width σ", (2 * self.gamma_) ** -0.5))
        stored = findings.Table("Stored rows", ("what", "value"), lines)
        if not len(self.errors_):
            return stored, self._landmark_table()
        gammas, errors = self.errors_.T.tolist()
        title = "Leave-one-out mean squared error"
        note = "Each row is answered by all others; the width of the least error is taken."
        curve = findings.Curve(title, "gamma", tuple(gammas), (("error", tuple(errors)),), note=note)
        return stored, self._landmark_table(), curve

    def _landmark_table(self) -> findings.Table:
        """The first 20 landmarks, with their columns as the method sees them."""
        most = 20
        order = np.argsort(self.rows_, kind="stable")[:most]
        answers: list[findings.Entry] = self.outputs_[order, 0].tolist()
        if self.classes_:
            answers = [self.classes_[code] for code in self.outputs_.argmax(axis=1)[order]]
        cells = zip(self.rows_[order].tolist(), self.points_[order].tolist(), answers, strict=True)
        rows = tuple(
            (row + 1, *(float(f"{number:.8g}") for number in numbers), answer) for row, numbers, answer in cells
        )
        notes = ["rows of the file, with the columns as they are after the steps"]
        if len(self.rows_) > most:
            notes.append(f"the first {most} of {len(self.rows_):,}")
        absent = [str(row) for row in self.landmark_rows or () if row - 1 not in self.rows_]
        if absent:
            notes.append(f"rows {listed(absent, most)} are no training rows, or equal to others")
        header = ("row", *(column.name for column in self.columns_), self.target_)
        return findings.Table("Landmarks", header, rows, note="; ".join(notes))

    def explain_answer(self, table: Table) -> findings.Explanation:
        """The contribution of each landmark."""
        logs, weights = self._similarities(table.numbers[:1], "normalised" if self.classes_ else self.form)
        names = [f"training row {row + 1}" for row in self.rows_.tolist()]
        outputs, title = self.classes_ or (self.target_,), "Contribution of each landmark"
        contributions = weights[0][:, None] * self.outputs_
        return (terms_of_points(names, np.exp(logs[0]), contributions, None, outputs, title),)

    def check_learned(self) -> None:
        """Weights and a width above 0."""
        if not len(self.points_) or not (self.weights_ > 0).all() or not self.gamma_ > 0:
            raise ValueError("the landmarks of similarity have weights or a width that cannot be")


def _normalised(logs: Array, weights: Array) -> Array:
    """Weighted kernel values as shares of the row, by differences of logarithms in case all are very small."""
    similarity = np.exp(logs - logs.max(axis=1, keepdims=True)) * weights
    return np.asarray(similarity / similarity.sum(axis=1, keepdims=True))
