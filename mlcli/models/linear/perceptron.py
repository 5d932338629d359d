"""Perceptron: a plane that is moved by each row on its wrong side, one row after another.

Formula:
    h(x) = sign(b + w·x). For a row with y (b + w·x) ≤ 0: w ← w + η y x, b ← b + η y; until a pass over all rows
    meets none, or the passes are used up. More than two classes: one plane of each class against the rest, and the
    largest score says the class.

Assumes:
    That a plane separates the classes: then it ends after finitely many corrections (Novikoff 1962), with no
    largest margin. Else it never settles, and what the last pass leaves is as good as chance has it: see pocket,
    which keeps the best.

Cost:
    n·p for each pass.

Choices:
    A row on the plane is an error. From zero the learning rate only scales w and b; it matters from other starts:
    random numbers, or the linear classifier. Rows come in another order in each pass, or in theirs. Probabilities
    are softmax of sharpened scores.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from itertools import islice

import numpy as np

from mlcli.core import findings
from mlcli.core.abilities import Unstable
from mlcli.core.errors import MlcliWarning
from mlcli.core.params import explain_param, learned, param
from mlcli.core.registry import register
from mlcli.core.schema import Accepts
from mlcli.core.tables import Array, Rows
from mlcli.engines.linear_scores import INTERCEPT
from mlcli.models.linear._classification import LinearMargins
from mlcli.models.linear._regression import least_squares_to_side
from mlcli.tasks.supervised import Classifier, LabelledRows

FIELDS = 8
"""The numbers that are stored of a visit, beside the coefficients of columns."""


@register("perceptron", reference="Rosenblatt 1958; Novikoff 1962")
class Perceptron(LinearMargins, Classifier, Unstable):
    """Corrections by the rows that are wrong."""

    start: str = param("zero", "the weights before the first pass", choices=("zero", "random", "linear"))
    learning_rate: float = param(1.0, "how far a wrong row moves the plane", gt=0)
    max_passes: int = param(100, "how often all rows are gone through at most", ge=1)
    order: str = param("shuffled", "how the rows of a pass come", choices=("shuffled", "given"))
    detail: str = explain_param("full: tell of the first visits to rows what each has changed, too")

    errors_: tuple[tuple[int, ...], ...] = learned()
    """For each output, how many rows were corrected in each pass."""
    visits_: Array = learned()
    """Of the first visits output, pass, row, side, score, whether it was wrong; weights and rows wrong then."""

    accepts = Accepts(prefers_scaled=True)
    """Numbers; far columns would take many passes."""

    @property
    def unstable(self) -> bool:
        """What the last mistake has left."""
        return True

    def fit(self, data: LabelledRows, rng: np.random.Generator) -> None:
        """Correct a plane for each side until it is right about all rows."""
        X = np.ascontiguousarray(data.table.numbers)
        seed = rng.integers(2**32)
        planes, counts, visits = np.zeros((0, X.shape[1] + 1)), list[tuple[int, ...]](), list[tuple[float, ...]]()
        for output, side in enumerate(self.sides(data)):
            # One seed for all sides, so that the names of classes do not matter.
            side_rng = np.random.default_rng(seed)
            plane, wrong = self.correct(X, side, self._first_plane(data, side, side_rng), side_rng)
            planes, counts = np.vstack([planes, plane]), [*counts, wrong]
            if self.detail == "full":
                side_rng = np.random.default_rng(seed)
                replay = self._replay(X, side, self._first_plane(data, side, side_rng), len(wrong), side_rng)
                visits += ((output, *visit) for visit in islice(replay, 200))
        self.errors_ = tuple(counts)
        self.visits_ = np.array(visits).reshape(len(visits), FIELDS + X.shape[1])
        self.learn_scores(data, planes[:, :-1], planes[:, -1], np.zeros(X.shape[1]))

    def _first_plane(self, data: LabelledRows, side: Array, rng: np.random.Generator) -> Array:
        """Coefficients and intercept before the first pass."""
        columns = data.table.numbers.shape[1]
        if self.start == "zero":
            return np.zeros(columns + 1)
        if self.start == "random":
            return np.asarray(rng.normal(size=columns + 1))
        fit = least_squares_to_side(data, side, 0.0)
        return np.asarray(np.append(fit.coefficients, fit.level - fit.coefficients @ fit.centre))

    def correct(self, X: Array, side: Array, w: Array, rng: np.random.Generator) -> tuple[Array, tuple[int, ...]]:
        """The plane after all passes, and how many rows each has corrected."""
        from mlcli.kernels.linear.perceptron import perceptron_pass

        wrong = list[int]()
        for rows in self.passes(rng, len(X)):
            wrong.append(perceptron_pass(X, side, rows, self.learning_rate, w))
            if wrong[-1] == 0:
                return w, tuple(wrong)
        text = (
            f"{self.id} has not converged after {self.max_passes} passes: no plane separates the classes, "
            "or a larger max_passes would help; pocket keeps the best plane"
        )
        warnings.warn(text, MlcliWarning, stacklevel=2)
        return w, tuple(wrong)

    def passes(self, rng: np.random.Generator, rows: int) -> Iterator[Rows]:
        """The order of rows in each pass."""
        for _ in range(self.max_passes):
            yield rng.permutation(rows) if self.order == "shuffled" else np.arange(rows)

    def _replay(
        self, X: Array, side: Array, w: Array, passes: int, rng: np.random.Generator
    ) -> Iterator[tuple[float, ...]]:
        """The same corrections again, one row after another, as by hand."""
        orders = self.passes(rng, len(X))
        X = np.column_stack([np.ones(len(X)), X])
        w = np.roll(w, 1)
        for number, rows in enumerate(islice(orders, passes), start=1):
            for row in rows.tolist():
                score = float(X[row] @ w)
                wrong = side[row] * score <= 0
                w = w + self.learning_rate * side[row] * X[row] if wrong else w
                remaining = float(np.count_nonzero(side * (X @ w) <= 0))
                yield number, row + 1, float(side[row]), score, float(wrong), *w.tolist(), remaining

    def explain(self) -> findings.Explanation:
        """The coefficients, how many rows each pass has corrected, and what single visits did, if requested."""
        table = self.coefficient_table("Where intercept + coefficients × columns is above 0, it is that class.")
        if not self.errors_:  # one class has no plane
            return (table,)
        passes = max(map(len, self.errors_))
        series = tuple(
            (name, (*map(float, wrong), *(None,) * (passes - len(wrong))))
            for name, wrong in zip(self.score_names(), self.errors_, strict=True)
        )
        points = tuple(float(number) for number in range(1, passes + 1))
        curve = findings.Curve("Mistakes in each pass", "pass", points, series)
        outputs = np.unique(self.visits_[:, 0]).astype(int).tolist()
        return (table, curve, *(self._visit_table(output) for output in outputs))

    def _visit_table(self, output: int) -> findings.Table:
        """The rows that one plane met, and what became of it."""
        weights = [f"{name} then" for name in (INTERCEPT, *(column.name for column in self.columns_))]
        rows = tuple(
            (int(number), int(row), f"{side:+.0f}", score, "mistake" if wrong else "", *w)
            for _, number, row, side, score, wrong, *w in self.visits_[self.visits_[:, 0] == output].tolist()
        )
        more = sum(self.errors_[output]) - sum(row[4] != "" for row in rows)
        note = f"The first {len(rows)} visits; {more} mistakes more follow." if more else ""
        header = ("pass", "row", "y", "score", "", *weights, "rows wrong")
        return findings.Table(f"Row by row: {self.score_names()[output]}", header, rows, note=note)

    def check_learned(self) -> None:
        """Refuse arrays that do not fit the columns, the classes or each other."""
        super().check_learned()
        shape = len(self.visits_), FIELDS + len(self.columns_)
        if self.visits_.shape != shape or not np.isin(self.visits_[:, 0], np.arange(len(self.errors_))).all():
            raise ValueError("visits that do not fit the columns and outputs")
