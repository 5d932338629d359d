"""Kernel perceptron: rows that were answered wrongly stand for their class from then on.

Formula:
    f_k(x) = Σᵢ βᵢₖ K(xᵢ, x), at first 0. Visit the rows in turn: where f of the row's class is not above f of
    every other class, add 1 to its β for its class and take 1 off for the largest other one. Go on until a pass
    has no mistake, or for ``passes``. Averaged, β is its mean over all visits. The class is the one with the
    largest f.

Assumes:
    Classes that a plane in the space of the kernel separates, or nearly.

Cost:
    n² kernel values once, then n for each mistake. To predict a row takes a kernel value for each row that was
    ever a mistake.

Choices:
    With two classes this is the perceptron: y·f ≤ 0 is a mistake. There is no b; instead 1 is added to every
    kernel value, which is the same as a constant column. Rows are visited in an order that follows from their
    content. Without averaging the last mistake decides, which on overlapping classes is as good as any other
    moment; the mean is much steadier (Freund & Schapire 1999). Probabilities are a softmax of a·f; a maximises
    the likelihood of every third row, with coefficients that are learned from the other rows.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice, product

import numpy as np

from mlcli.core import findings
from mlcli.core.abilities import ComparesPairs, RowExplainer, Unstable
from mlcli.core.errors import MlcliWarning
from mlcli.core.params import explain_param, learned, param
from mlcli.core.registry import register
from mlcli.core.schema import Accepts
from mlcli.core.tables import Array, Codes, Table
from mlcli.engines.calibration import of_all_classes, slope, softmax
from mlcli.engines.kernel_models import KernelModel, distinct_rows
from mlcli.tasks.supervised import Classifier, LabelledRows

FIELDS = 5
"""The number of fields of a stored visit, beside f of each class."""


@register("kernel-perceptron", reference="Aizerman, Braverman & Rozonoer 1964; averaged: Freund & Schapire 1999")
class KernelPerceptron(KernelModel, Classifier, ComparesPairs, RowExplainer, Unstable):
    """Sums over mistakes."""

    bytes_per_pair = 8.0

    passes: int = param(20, "maximum number of passes over the rows", ge=1, le=10_000, tune=(1, 100))
    average: bool = param(True, "whether coefficients are averaged over all visits")
    detail: str = explain_param("full: also show what each of the first visits to rows has changed")

    coefficients_: Array = learned("points", "present")
    """β of each mistake (rows × classes that had rows)."""
    slope_: float = learned()
    levels_: Array = learned("present")
    visited_: tuple[int, int, int] = learned()
    """Passes, rows that were ever a mistake, mistakes of the last pass."""
    visits_: Array = learned()
    """The first visits: pass, row, class, rival, whether it was a mistake, and f of each class before."""

    @property
    def unstable(self) -> bool:
        """Without averaging, the last mistake decides."""
        return not self.average

    @property
    def accepts(self) -> Accepts:
        """As other kernel methods, but without weights: a mistake is a mistake."""
        return replace(super().accepts, weights=False)

    def fit(self, data: LabelledRows, rng: np.random.Generator) -> None:
        """Pass over the rows; another perceptron, fitted to two thirds of them, calibrates the probabilities."""
        rows = distinct_rows(data)
        points, K = self.kernel_of(rows)
        K = K + K.dtype.type(1.0)  # in place of b
        # Classes as they come: between equal rivals the first is taken, whatever its name.
        present, first = np.unique(rows.y, return_index=True)
        classes = rows.y[np.sort(first)]
        y = np.argsort(classes)[np.searchsorted(present, rows.y)].astype(np.int32)
        beta, passes, mistakes = self._learn(K, y, len(classes))
        if mistakes and not self.average:
            message = f"{mistakes} of {len(rows)} rows were mistakes in the last of {passes} passes"
            message += ": take the average, more passes or another kernel"
            warnings.warn(message, MlcliWarning, stacklevel=2)
        calibration = np.arange(len(y)) % 3 == 2
        self.slope_ = 1.0
        if len(classes) > 1 and calibration.any():
            others, _, _ = self._learn(K[np.ix_(~calibration, ~calibration)], y[~calibration], len(classes))
            scores = (others @ K[np.ix_(~calibration, calibration)]).T
            self.slope_ = slope(scores, y[calibration], np.ones(int(calibration.sum())))
        beta = beta[np.argsort(classes)].T
        used = np.flatnonzero(beta.any(axis=1))
        self.points_, self.coefficients_, self.levels_ = points[used], beta[used], beta.sum(axis=0)
        self.rows_ = rows.rows[used]
        self.visited_ = passes, len(used), mistakes
        shown = 200 if self.detail == "full" and len(classes) > 1 else 0
        visits = islice(_visits(K, y, passes, classes, (rows.rows + 1).tolist()), shown)
        self.visits_ = np.array(list(visits)).reshape(-1, FIELDS + len(classes))

    def _learn(self, K: Array, y: Codes, classes: int) -> tuple[Array, int, int]:
        """The coefficients (classes × rows), the number of passes, and the mistakes of the last one."""
        from mlcli.kernels.linear.perceptron import perceive

        scores, beta, timed = (np.zeros((classes, len(y))) for _ in range(3))
        if classes < 2:
            return beta, 0, 0
        visits, passes, mistakes = perceive(K, y, self.passes, scores, beta, timed)
        return ((visits + 1) * beta - timed) / visits if self.average else beta, passes, mistakes

    def predict_proba(self, table: Table) -> Array:
        """The softmax of the sums of the classes that had rows."""
        sums = self.responses(table, self.coefficients_) + self.levels_
        return of_all_classes(softmax(self.slope_ * sums), self.class_totals_)

    def explain(self) -> findings.Explanation:
        """How the passes went, the weights if there are any, and the first visits with what each has changed."""
        passes, used, mistakes = self.visited_
        lines = (
            ("passes", passes),
            ("rows that were ever a mistake", used),
            ("mistakes in the last pass", mistakes),
        )
        note = "Without a mistake in the last pass, all training rows are on the right side of what it ended with."
        names = self._class_names()
        tables = [findings.Table("Passes", ("what", "count"), lines, note=note)]
        if len(self.visits_):
            visits = []
            for number, row, own, rival, wrong, *f in self.visits_.tolist():
                label, other = self.classes_[int(own)], self.classes_[int(rival)]
                change = f"β +1 for {label}, −1 for {other}" if wrong else ""
                visits.append((int(number), int(row), label, *f, change))
            header = ("pass", "row", self.target_, *(f"f of {name}" for name in names), "mistake")
            tables.append(findings.Table("Row by row", header, tuple(visits)))
        return (tables[0], *self.weights(names, self.coefficients_, "β"), *tables[1:])

    def _class_names(self) -> list[str]:
        return [name for name, total in zip(self.classes_, self.class_totals_, strict=True) if total > 0]

    def explain_answer(self, table: Table) -> findings.Explanation:
        """The contribution of each row that was a mistake."""
        return (self.terms_of_points(table, self._class_names(), self.coefficients_, self.levels_),)

    def check_learned(self) -> None:
        """A coefficient for each point and class that had rows."""
        self.check_points(self.coefficients_)
        present = int((self.class_totals_ > 0).sum())
        if len(self.levels_) != present:
            raise ValueError("the coefficients of kernel-perceptron do not fit its classes")
        sides = np.isin(self.visits_[:, 2:4], np.arange(len(self.classes_)))
        if self.visits_.shape[1:] != (FIELDS + present,) or not sides.all():
            raise ValueError("the visits of kernel-perceptron do not fit its classes")


def _visits(
    K: Array, y: Codes, passes: int, classes: Codes, numbers: Sequence[int]
) -> Iterator[tuple[float, ...]]:
    """The same visits again, row by row; ``classes`` in the order in which they come."""
    scores, order = np.zeros((len(classes), len(y))), np.argsort(classes)
    for number, row in product(range(1, passes + 1), range(len(y))):
        before, own = scores[:, row].copy(), y[row]
        others = np.where(np.arange(len(before)) == own, -np.inf, before)
        rival = int(others.argmax())
        wrong = before[own] <= before[rival]
        yield number, numbers[row], classes[own], classes[rival], wrong, *before[order]
        if wrong:
            scores[own] += K[row]
            scores[rival] -= K[row]
