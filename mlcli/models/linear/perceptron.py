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
from collections.abc import Callable, Iterator
from itertools import islice

import numpy as np

from mlcli.core import findings
from mlcli.core.abilities import Unstable
from mlcli.core.accepts import Accepts
from mlcli.core.errors import MlcliWarning
from mlcli.core.params import explain_param, learned, param
from mlcli.core.registry import register
from mlcli.core.tables import Array, Rows
from mlcli.engines.linear_scores import INTERCEPT
from mlcli.models.linear._classes import LinearMargins
from mlcli.models.linear._least_squares import least_squares_to_side
from mlcli.tasks.classification import Classifier, LabelledRows


def _linear(data: LabelledRows, side: Array, rng: np.random.Generator) -> Array:
    fit = least_squares_to_side(data, side, 0.0)
    return np.append(fit.coefficients, fit.level - fit.coefficients @ fit.centre)


STARTS: dict[str, Callable[[LabelledRows, Array, np.random.Generator], Array]] = {
    "zero": lambda data, side, rng: np.zeros(data.table.numbers.shape[1] + 1),
    "random": lambda data, side, rng: rng.normal(size=data.table.numbers.shape[1] + 1),
    "linear": _linear,
}
MOST_VISITS = 200
"""Of how many visits to rows it is told what they changed."""
FIELDS = 8
"""Of a visit, beside the coefficients of columns."""
NOT_SETTLED = (
    "{} has not converged after {} passes: no plane separates the classes, or a larger max_passes would help; "
    "pocket keeps the best plane"
)


@register("perceptron", reference="Rosenblatt 1958; Novikoff 1962")
class Perceptron(LinearMargins, Classifier, Unstable):
    """Corrections by the rows that are wrong."""

    start: str = param("zero", "the weights before the first pass", choices=STARTS)
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
        planes, counts = np.zeros((0, X.shape[1] + 1)), list[tuple[int, ...]]()
        seed, visits = rng.integers(2**32), list[tuple[float, ...]]()
        for output, side in enumerate(self.sides(data)):
            own = np.random.default_rng(seed)  # the same for all sides, so that names of classes do not matter
            w, wrong = self.corrected(X, side, STARTS[self.start](data, side, own), own)
            planes, counts = np.vstack([planes, w]), [*counts, wrong]
            if self.detail == "full":
                own = np.random.default_rng(seed)
                again = self._visits(X, side, STARTS[self.start](data, side, own), len(wrong), own)
                visits += ((output, *visit) for visit in islice(again, MOST_VISITS))
        self.errors_ = tuple(counts)
        self.visits_ = np.array(visits).reshape(len(visits), FIELDS + X.shape[1])
        self.learn_scores(data, planes[:, :-1], planes[:, -1], np.zeros(X.shape[1]))

    def corrected(
        self, X: Array, side: Array, w: Array, rng: np.random.Generator
    ) -> tuple[Array, tuple[int, ...]]:
        """The plane after all passes, and how many rows each has corrected."""
        from mlcli.kernels.linear.perceptron import perceptron_pass

        wrong = list[int]()
        for rows in self.passes(rng, len(X)):
            wrong.append(perceptron_pass(X, side, rows, self.learning_rate, w))
            if wrong[-1] == 0:
                return w, tuple(wrong)
        warnings.warn(NOT_SETTLED.format(self.id, self.max_passes), MlcliWarning, stacklevel=2)
        return w, tuple(wrong)

    def passes(self, rng: np.random.Generator, rows: int) -> Iterator[Rows]:
        """The order of rows in each pass."""
        for _ in range(self.max_passes):
            yield rng.permutation(rows) if self.order == "shuffled" else np.arange(rows)

    def _visits(
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
                left = float(np.count_nonzero(side * (X @ w) <= 0))
                yield number, row + 1, float(side[row]), score, float(wrong), *w.tolist(), left

    def explain(self) -> findings.Explanation:
        """The coefficients, how many rows each pass has corrected, and what single visits did, if wanted."""
        most = max(map(len, self.errors_), default=0)
        points = tuple(float(k + 1) for k in range(most))
        lines = ((*map(float, wrong), *(None,) * (most - len(wrong))) for wrong in self.errors_)
        named = tuple(zip(self.score_names(), lines, strict=True))
        table = self.coefficient_table("Where intercept + coefficients × columns is above 0, it is that class.")
        passes = findings.Curve("Mistakes in each pass", "pass", points, named)
        shown = (table, passes) if named else (table,)  # one class has no plane, and no passes
        return (*shown, *(self._visits_of(output) for output in np.unique(self.visits_[:, 0]).astype(int)))

    def _visits_of(self, output: int) -> findings.Table:
        """The rows that one plane met, and what became of it."""
        names = [column.name for column in self.columns_]
        weights = [f"{name} then" for name in (INTERCEPT, *names)]
        header = ("pass", "row", "y", "score", "", *weights, "rows wrong")
        lines = tuple(
            (int(number), int(row), f"{side:+.0f}", score, "mistake" if wrong else "", *w)
            for _, number, row, side, score, wrong, *w in self.visits_[self.visits_[:, 0] == output].tolist()
        )
        more = sum(self.errors_[output]) - sum(line[4] != "" for line in lines)
        note = f"The first {len(lines)} visits; {more} mistakes more follow." if more else ""
        return findings.Table(f"Row by row: {self.score_names()[output]}", header, lines, note=note)

    def check_learned(self) -> None:
        """Refuse arrays that do not fit the columns, the classes or each other."""
        super().check_learned()
        shape = len(self.visits_), FIELDS + len(self.columns_)
        if self.visits_.shape != shape or not np.isin(self.visits_[:, 0], np.arange(len(self.errors_))).all():
            raise ValueError("visits that do not fit the columns and outputs")
