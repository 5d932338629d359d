"""Similarity: the answers of the training rows, each weighted by how similar its row is to the one asked.

Formula:
    K(x, xᵢ) is a kernel of u = γ‖x − xᵢ‖²: gaussian e^(−u) with γ = 1/(2σ²), laplacian e^(−√u), cauchy
    1/(1 + u), epanechnikov 1 − u and triangular 1 − √u, which are 0 from u = 1 on. ``normalised`` h(x) =
    Σ K(x, xᵢ) oᵢ / Σ K(x, xᵢ) (Nadaraya & Watson), ``plain`` h(x) = Σ K(x, xᵢ) oᵢ. The sums go over all training
    rows or over some of them, the landmarks; oᵢ are values, or indicators of the class, of which the shares are
    the probabilities.

Assumes:
    Rows that are near have similar targets. Plain sums of values grow with the number of rows near, so that they
    suit a few landmarks.

Cost:
    n² distances of at most 1,500 rows to choose gamma, nothing else to fit; n·p per row asked.

Choices:
    ``gamma: none`` takes, of powers of two times 1 / (columns × variance), the one whose mean squared error is
    least when each row is answered by the others. Far from all rows, and where a kernel has ended, the normalised
    answer is that of the nearest row, since shares are formed from differences of logarithms. Equal shares go to
    the class with more training rows. Landmarks are drawn at random, or rows of the file that ``landmark_rows``
    numbers from 1 on; a split that holds some of them out does without these.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mlcli.core import findings
from mlcli.core.abilities import RowExplainer
from mlcli.core.accepts import Accepts
from mlcli.core.names import listed
from mlcli.core.params import learned, param
from mlcli.core.ranges import warn_at_edge
from mlcli.core.registry import register
from mlcli.core.tables import Array, Rows, Table
from mlcli.engines.centres import squared_from_mean
from mlcli.engines.kernel_functions import BLOCK_CELLS, LOG_KERNELS, named_landmarks, one_width, scale
from mlcli.engines.kernel_models import distinct_rows
from mlcli.engines.linear_scores import terms_of_points
from mlcli.tasks.classification import Classifier
from mlcli.tasks.regression import Regressor
from mlcli.tasks.supervised import SupervisedRows

POWERS = tuple(range(-3, 9))
TRIED_ROWS = 1_500
"""As many rows, in an order that looks random, decide about gamma."""


SHOWN = 20
"""So many landmarks are shown."""


def _shares(powers: Array, weights: Array) -> Array:
    """Weight times likeness as shares of the row; where all are very small, by their differences."""
    likeness = np.exp(powers - powers.max(axis=1, keepdims=True)) * weights
    return np.asarray(likeness / likeness.sum(axis=1, keepdims=True))


def _sums(powers: Array, weights: Array) -> Array:
    """Weight times likeness."""
    return np.asarray(np.exp(powers) * weights)


Likeness = Callable[[Array, Array], Array]
FORMS: dict[str, Likeness] = {"normalised": _shares, "plain": _sums}


@register("similarity", reference="Nadaraya 1964; Watson 1964, Smooth regression analysis")
class Similarity(Classifier, Regressor, RowExplainer):
    """Stores landmarks; all work is done when it is asked."""

    form: str = param("normalised", "whether answers are shares of all likeness, or sums", choices=FORMS)
    kernel: str = param(
        "gaussian", "how alike two rows are, by their distance", choices=LOG_KERNELS, if_given=True
    )
    gamma: float | None = param(
        None, "times squared distances; none: what is best for rows that are left out", gt=0, tune=(0.01, 100)
    )
    sigma: float | None = param(None, "the width of the kernel in place of gamma = 1/(2σ²)", gt=0)
    landmarks: int | None = param(None, "how many training rows, drawn at random, give answers; none: all", ge=1)
    landmark_rows: tuple[int, ...] | None = param(
        None, "the rows of the file that give answers, numbered from 1: [1, 5, 9]", ge=1, if_given=True
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
        both = self.landmarks is not None and self.landmark_rows is not None
        text = "landmarks says how many are drawn, landmark_rows which rows they are: give one of them"
        return one_width(self.gamma, self.sigma) + [text] * both

    def fit(self, data: SupervisedRows, rng: np.random.Generator) -> None:
        """Store the landmarks, and settle the width."""
        rows = distinct_rows(data)
        self.errors_ = np.empty((0, 2))
        self.gamma_ = self._width(rows)
        if self.landmark_rows is not None:
            rows = distinct_rows(data.take(named_landmarks(data.rows, self.landmark_rows)))
        elif self.landmarks is not None and self.landmarks < len(rows):
            rows = rows.take(np.sort(rng.choice(len(rows), self.landmarks, replace=False)))
        self.points_, self.outputs_, self.weights_ = rows.table.numbers, rows.outputs, rows.weights
        self.rows_ = rows.rows

    def _width(self, rows: SupervisedRows) -> float:
        if self.sigma is not None:
            return 1.0 / (2.0 * self.sigma**2)
        if self.gamma is not None:
            return self.gamma
        unit = scale(rows.table.numbers, rows.weights)
        some = rows.take(slice(0, TRIED_ROWS))
        if len(some) < 2:
            return unit
        tried = [unit * 2.0**power for power in POWERS]
        squared = squared_from_mean(some.table.numbers, some.table.numbers)
        np.fill_diagonal(squared, np.inf)
        log_kernel = LOG_KERNELS[self.kernel]
        answers = [_shares(log_kernel(gamma * squared), some.weights) @ some.outputs for gamma in tried]
        errors = [
            np.average(((answer - some.outputs) ** 2).sum(axis=1), weights=some.weights) for answer in answers
        ]
        self.errors_ = np.column_stack([tried, errors])
        if max(errors) == 0:
            return unit
        chosen = tried[int(np.argmin(np.round(np.array(errors) / max(errors), 9)))]
        warn_at_edge(f"the gamma that {self.id} chose", chosen, tried)
        return chosen

    def _answers(self, table: Table, likeness: Likeness) -> Array:
        """What the landmarks answer, each as much as its likeness to the row."""
        step = max(1, BLOCK_CELLS // len(self.points_))
        blocks = (table.numbers[at : at + step] for at in range(0, max(1, len(table)), step))
        powers = (self._log_kernel(X) for X in blocks)
        return np.concatenate([likeness(power, self.weights_) @ self.outputs_ for power in powers])

    def _log_kernel(self, X: Array) -> Array:
        """The logarithm of the kernel of rows with landmarks."""
        return LOG_KERNELS[self.kernel](self.gamma_ * squared_from_mean(X, self.points_))

    def predict_values(self, table: Table) -> Array:
        """The sum, or the mean by likeness."""
        return np.asarray(self._answers(table, FORMS[self.form])[:, 0])

    def predict_proba(self, table: Table) -> Array:
        """The share of each class in the likeness, be it normalised before or after."""
        return self._answers(table, _shares)

    def explain(self) -> findings.Explanation:
        """What is stored, and how the width was chosen."""
        lines = (("landmarks", len(self.points_)), ("gamma", self.gamma_), ("width σ", (2 * self.gamma_) ** -0.5))
        stored = findings.Table("Stored rows", ("what", "value"), lines)
        if not len(self.errors_):
            return stored, self._landmarks()
        tried, errors = self.errors_.T.tolist()
        note = "Each row is answered by all others; the width of the least error is taken."
        return (
            stored,
            self._landmarks(),
            findings.Curve(
                "Leave-one-out mean squared error",
                "gamma",
                tuple(tried),
                (("error", tuple(errors)),),
                note=note,
            ),
        )

    def _landmarks(self) -> findings.Table:
        """The first landmarks, with their columns as the method sees them."""
        order = np.argsort(self.rows_, kind="stable")[:SHOWN]
        answers = [
            self.classes_[code] if self.classes_ else value
            for code, value in zip(
                self.outputs_.argmax(axis=1)[order], self.outputs_[order, 0].tolist(), strict=True
            )
        ]
        cells = zip(self.rows_[order].tolist(), self.points_[order].tolist(), answers, strict=True)
        rows = tuple(
            (row + 1, *(float(f"{number:.8g}") for number in numbers), answer) for row, numbers, answer in cells
        )
        notes = ["rows of the file, with the columns as they are after the steps"]
        notes += [f"the first {SHOWN} of {len(self.rows_):,}"] * (len(self.rows_) > SHOWN)
        absent = [str(row) for row in self.landmark_rows or () if row - 1 not in self.rows_]
        notes += [f"rows {listed(absent, SHOWN)} are no training rows, or equal to others"] if absent else []
        header = ("row", *(column.name for column in self.columns_), self.target_)
        return findings.Table("Landmarks", header, rows, note="; ".join(notes))

    def explain_answer(self, table: Table) -> findings.Explanation:
        """What each landmark adds, as much as it is like the row."""
        powers = self._log_kernel(table.numbers[:1])
        likeness = _shares if self.classes_ else FORMS[self.form]
        added = likeness(powers, self.weights_)[0][:, None] * self.outputs_
        names = [f"training row {row + 1}" for row in self.rows_.tolist()]
        outputs = self.classes_ or (self.target_,)
        return (terms_of_points(names, np.exp(powers[0]), added, None, outputs, "Contribution of each landmark"),)

    def check_learned(self) -> None:
        """Weights and a width above 0."""
        if not len(self.points_) or not (self.weights_ > 0).all() or not self.gamma_ > 0:
            raise ValueError("the landmarks of similarity have weights or a width that cannot be")
