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
from dataclasses import dataclass

import numpy as np

from mlcli.core import findings
from mlcli.core.accepts import Accepts
from mlcli.core.errors import MlcliWarning
from mlcli.core.findings import Explanation
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.tables import Array, Rows
from mlcli.models.linear._classes import LinearMargins, plane_of_side
from mlcli.tasks.classification import Classifier, LabelledRows


def _zero(data: LabelledRows, side: Array, rng: np.random.Generator) -> Array:
    return np.zeros(data.table.numbers.shape[1] + 1)


def _random(data: LabelledRows, side: Array, rng: np.random.Generator) -> Array:
    return np.asarray(rng.normal(size=data.table.numbers.shape[1] + 1))


def _linear(data: LabelledRows, side: Array, rng: np.random.Generator) -> Array:
    plane = plane_of_side(data, side, 0.0)
    slopes = plane.design.coefficients(plane.slopes)
    found: Array = np.append(slopes, plane.level - slopes @ plane.design.centre)
    return found


STARTS = {"zero": _zero, "random": _random, "linear": _linear}
NOT_SETTLED = (
    "{} has not settled after {} passes: no plane separates the classes, or a larger max_passes would help; "
    "pocket keeps the best plane"
)


@register("perceptron", reference="Rosenblatt 1958; Novikoff 1962")
@dataclass(kw_only=True, eq=False)
class Perceptron(LinearMargins, Classifier):
    """Corrections by the rows that are wrong."""

    start: str = param("zero", "the weights before the first pass", choices=STARTS)
    learning_rate: float = param(1.0, "how far a wrong row moves the plane", gt=0)
    max_passes: int = param(100, "how often all rows are gone through at most", ge=1)
    order: str = param("shuffled", "how the rows of a pass come", choices=("shuffled", "given"))

    errors_: tuple[tuple[int, ...], ...] = learned()
    """For each output, how many rows were corrected in each pass."""

    @property
    def unsteady(self) -> bool:
        """What the last mistake has left."""
        return True

    @property
    def accepts(self) -> Accepts:
        """Numbers; far columns would take many passes."""
        return Accepts(prefers_scaled=True)

    def fit(self, data: LabelledRows, rng: np.random.Generator) -> None:
        """Correct a plane for each side until it is right about all rows."""
        X = np.ascontiguousarray(data.table.numbers)
        planes, counts = np.zeros((0, X.shape[1] + 1)), list[tuple[int, ...]]()
        seed = rng.integers(2**32)
        for side in self.sides(data):
            own = np.random.default_rng(seed)  # the same for all sides, so that names of classes do not matter
            w, wrong = self.corrected(X, side, STARTS[self.start](data, side, own), own)
            planes, counts = np.vstack([planes, w]), [*counts, wrong]
        self.errors_ = tuple(counts)
        self.learn_scores(data, planes[:, :-1], planes[:, -1], np.zeros(X.shape[1]))

    def corrected(
        self, X: Array, side: Array, w: Array, rng: np.random.Generator
    ) -> tuple[Array, tuple[int, ...]]:
        """The plane after all passes, and how many rows each has corrected."""
        from mlcli.kernels.linear.perceptron import perceptron_pass

        wrong = list[int]()
        for rows in self.passes(len(X), rng):
            wrong.append(perceptron_pass(X, side, rows, self.learning_rate, w))
            if wrong[-1] == 0:
                return w, tuple(wrong)
        warnings.warn(NOT_SETTLED.format(self.id, self.max_passes), MlcliWarning, stacklevel=2)
        return w, tuple(wrong)

    def passes(self, rows: int, rng: np.random.Generator) -> Iterator[Rows]:
        """The order of rows in each pass."""
        for _ in range(self.max_passes):
            yield rng.permutation(rows) if self.order == "shuffled" else np.arange(rows)

    def explain(self) -> Explanation:
        """The coefficients, and how many rows each pass has corrected."""
        most = max(map(len, self.errors_), default=0)
        points = tuple(float(k + 1) for k in range(most))
        lines = ((*map(float, wrong), *(None,) * (most - len(wrong))) for wrong in self.errors_)
        named = tuple(zip(self.output_names(), lines, strict=True))
        table = self.coefficient_table("Where intercept + coefficients × columns is above 0, it is that class.")
        return table, findings.Curve("Rows corrected in each pass", "pass", points, named)
