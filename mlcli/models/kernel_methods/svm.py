"""Support vector machine: the plane with the widest margin between classes, also in the space of a kernel.

Formula:
    For two classes y = ±1: minimise ½‖w‖² + C Σᵢ ξᵢ with yᵢ(w·Φ(xᵢ) + b) ≥ 1 − ξᵢ and ξᵢ ≥ 0, solved by its dual:
    maximise Σ αᵢ − ½ ΣΣ αᵢαⱼyᵢyⱼ K(xᵢ, xⱼ) with 0 ≤ αᵢ ≤ C and Σ αᵢyᵢ = 0, by SMO. f(x) = Σ αᵢyᵢ K(xᵢ, x) + b, and
    the class is its sign. b is the mean over the rows on the margin (0 < α < C). The margin is 1/‖w‖, f(x)/‖w‖ the
    signed distance of a row. Only K is needed of Φ (the kernel trick). ``C`` makes a soft margin, none a hard one.

Assumes:
    A C and a gamma that suit the data: `tuned` tries some, which share the kernel matrix.

Cost:
    n² kernel values once, then usually 1 to 10 times n moves that cost n each; to predict a row, a kernel value
    for each support vector. Up to 25,000 different rows. In a search by `tuned`, a machine in which no row
    reached the cost C is used for all larger C.

Choices:
    With more than two classes there is a machine for each pair (``one-against-one``), or for each class against
    all others. Probabilities are 1/(1 + exp(−a f(x))), without an offset, so that the class is the sign of f. a
    is fitted, with Platt's targets, to the leave-one-out value of each training row, which the span of the
    support vectors gives without another fit (Vapnik & Chapelle 2000). Those of pairs are coupled (Wu, Lin &
    Weng 2004), and the most probable class is predicted, while LIBSVM counts votes; one against rest has a
    softmax of a f_k(x), and the largest f_k wins. f = 0 goes to the class with more training rows. A row of
    weight w costs C·w. A precomputed kernel is a matrix in the table, one column for each row of the file; it
    must be symmetric and have no negative eigenvalue (Mercer's condition). The notes minimise the dual, have no
    α ≤ C and once give support vectors α = 0; they call all rows inside the margin misclassified.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise
from typing import NamedTuple

import numpy as np

from mlcli.core import findings
from mlcli.core.abilities import ComparesPairs, CountsParameters, EstimatesFitTime, RowExplainer
from mlcli.core.errors import MlcliWarning
from mlcli.core.params import learned, param, settings
from mlcli.core.ranges import log_range
from mlcli.core.registry import register
from mlcli.core.tables import Array, Codes, Rows, Table, blocks_of
from mlcli.engines.calibration import of_all_classes, slope, softmax, two_sided
from mlcli.engines.kernel_functions import BLOCK_CELLS, PRECISE_ROWS
from mlcli.engines.kernel_models import KernelModel, class_by_class, distinct_rows
from mlcli.engines.smo import Solution, among, left_out, slope_of_two, solve
from mlcli.engines.symmetric import pairwise_coupling
from mlcli.tasks.supervised import Classifier, LabelledRows

REST = -1
"""As a side: all other classes."""


class BinarySVM(NamedTuple):
    """The margin between the training rows of two sides, and by how much f of a row falls without the row."""

    rows: Rows
    margin: Solution
    removed: Array


@register("svm", reference="Cortes & Vapnik 1995, Support-vector networks; Fan, Chen & Lin 2005", revision=3)
class SupportVectorMachine(
    KernelModel, Classifier, ComparesPairs, CountsParameters, EstimatesFitTime, RowExplainer
):
    """Machines between two sides each, and their support vectors."""

    bytes_per_pair = 6.0

    C: float | None = param(
        1.0,
        "cost of a row inside the margin; none: a hard margin",
        gt=0,
        le=1e12,
        tune=log_range(0.01, 1000, simpler="low"),
    )
    multiclass: str = param(
        "one-against-one",
        "how several classes are split into binary problems",
        choices=("one-against-one", "one-against-rest"),
    )
    class_weight: str = param(
        "none", "balanced: all classes have the same total weight", choices=("none", "balanced")
    )
    tolerance: float = param(1e-3, "tolerance of the margin, in units of f", gt=0, le=0.5)

    sides_: Codes = learned("machines", 2)
    """For each machine the class with negative f (or -1: all others), then the class with positive f."""
    coefficients_: Array = learned("points", "machines")
    """αy (support vectors × machines)."""
    offsets_: Array = learned("machines")
    slopes_: Array = learned("machines")
    norms_: Array = learned("machines")
    support_: Array = learned()
    """For each class the number of rows on the margin, inside it, and outside."""
    errors_: Array = learned()
    """The error on training rows, and by leave-one-out."""
    distances_: Array = learned()
    """How far the training rows of two classes are from the plane: edges, then counts of each class."""

    def fit_seconds(self, rows: int, columns: int, classes: int) -> float:
        """Moves that cost a row of the matrix each, and a machine for each pair of classes."""
        classes = max(classes, 2)
        return 2e-7 * rows**2 * (2 - 2 / classes) + 5e-4 * (classes - 2) * (classes + 1) / 2

    def fit(self, data: LabelledRows, rng: np.random.Generator) -> None:
        """Fit a machine for each two sides, and calibrate its probabilities."""
        rows = self.shared("rows of svm", lambda: class_by_class(distinct_rows(data)))
        points, K = self.kernel_of(rows)
        present = np.flatnonzero(rows.class_totals)
        self.sides_ = np.array(list(combinations(present, 2)), np.int32).reshape(-1, 2)
        if self.multiclass == "one-against-rest" and len(present) > 2:
            self.sides_ = np.array([(REST, k) for k in present], np.int32)
        machines = list(self._machines(rows, K))
        self.offsets_ = np.array([machine.margin.offset for machine in machines])
        self.norms_ = np.array([machine.margin.norm for machine in machines])
        beta, scores, removed = np.zeros((3, len(rows), len(machines)))
        for index, machine in enumerate(machines):
            beta[machine.rows, index], scores[machine.rows, index] = machine.margin.beta, machine.margin.scores
            removed[machine.rows, index] = machine.removed
        used = np.flatnonzero(beta.any(axis=1) | self.compared)
        self.points_, self.coefficients_, self.rows_ = points[used], beta[used], rows.rows[used]
        self.slopes_ = self._slopes(rows, machines, scores - removed)
        if len(machines) > 1 and not self.compared:
            blocks = blocks_of(len(K), len(K), BLOCK_CELLS)
            scores = np.concatenate([K[block] @ beta for block in blocks]) + self.offsets_
        if not self.compared:
            self._describe_rows(rows, machines, scores, removed)

    def _machines(self, rows: LabelledRows, K: Array) -> Iterator[BinarySVM]:
        """A machine for each two sides; in a search, one that no cost has bent is used again."""
        costs, starts = self._costs(rows, K), [0, *(np.flatnonzero(np.diff(rows.y)) + 1).tolist(), len(rows)]
        spans = {int(rows.y[start]): slice(start, end) for start, end in pairwise(starts)}
        room = np.empty(K.size if len(self.sides_) > 1 else 0, K.dtype)
        same_but_for_C = repr({**settings(self), "C": None})
        cache: dict[int, tuple[float, BinarySVM]] = self.shared(("machines", same_but_for_C), dict)
        for index, sides in enumerate(self.sides_.tolist()):
            either = [span for k, span in spans.items() if k in sides or REST in sides]
            members = np.concatenate([np.arange(span.start, span.stop) for span in either])
            least, machine = cache.get(index, (np.inf, None))
            if machine is None or self.C is None or least > self.C:
                y, own = np.where(rows.y[members] == sides[1], 1.0, -1.0), among(K, either, room)
                margin = self._margin(own, y, costs[members])
                machine = BinarySVM(members, margin, left_out(own, margin))
                if self.C is not None and margin.converged and not margin.stopped:
                    cache[index] = self.C, machine
            yield machine

    def _costs(self, rows: LabelledRows, K: Array) -> Array:
        """The cost of each row inside the margin."""
        if self.C is None:  # no row of separable classes reaches this cost
            return np.full(len(rows), 1e7 / max(float(np.diagonal(K).mean(dtype=np.float64)), 1e-300))
        if self.class_weight == "none":
            return np.asarray(self.C * rows.weights)
        totals, present = rows.class_totals, np.count_nonzero(rows.class_totals)
        return np.asarray(self.C * rows.weights * (totals.sum() / (present * totals[rows.y])))

    def _margin(self, K: Array, sides: Array, costs: Array) -> Solution:
        """The widest margin between two sides; the solver counts the side of the first row as positive."""
        first, y = sides[0], sides[0] * sides
        bounds = np.minimum(costs * y, 0.0), np.maximum(costs * y, 0.0)
        if self.C is not None:
            return solve(K, y, *bounds, tolerance=self.tolerance).turned(first)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", MlcliWarning)
            solution = solve(K, y, *bounds, tolerance=self.tolerance, moves=200_000)
        inside = int((y * solution.scores < 1 - 2 * self.tolerance).sum())
        if inside or solution.bounded.any():
            message = f"no plane keeps all rows off a hard margin: {inside} of {len(y)} are still inside it"
            warnings.warn(f"{message}; give C to allow that, or another kernel", MlcliWarning, stacklevel=3)
        return solution.turned(first)

    def _slopes(self, rows: LabelledRows, machines: Sequence[BinarySVM], scores: Array) -> Array:
        """The slopes of probabilities, from leave-one-out scores."""
        if REST in self.sides_:
            y = np.searchsorted(self.sides_[:, 1], rows.y).astype(np.int32)
            return np.full(len(machines), slope(scores, y, rows.weights))
        slopes = [
            slope_of_two(scores[members, index], margin.target, rows.weights[members])
            for index, (members, margin, _) in enumerate(machines)
        ]
        return np.array(slopes)

    def _describe_rows(
        self, rows: LabelledRows, machines: Sequence[BinarySVM], scores: Array, removed: Array
    ) -> None:
        """Store where the training rows lie, the training error, and the leave-one-out error."""
        outside, on_margin, inside = 2, 0, 1
        role = np.full(len(rows), outside)
        for machine in machines:
            role[machine.rows[machine.margin.beta != 0]] = on_margin
        for machine in machines:
            role[machine.rows[machine.margin.bounded]] = inside
        self.support_ = np.zeros((len(rows.classes), 3))
        np.add.at(self.support_, (rows.y, role), 1.0)
        answers = self.decide(self._probabilities(np.vstack([scores, scores - removed])))
        self.errors_ = (answers.reshape(2, -1) != rows.y) @ rows.weights / rows.weights.sum()
        bins = 16
        self.distances_ = np.zeros((0, bins + 1))
        if len(self.sides_) == 1 and self.norms_[0] > 0:
            distance = scores[:, 0] / self.norms_[0]
            edges = np.linspace(distance.min(), distance.max(), bins + 1)
            counts = [np.histogram(distance[rows.y == k], edges)[0] for k in self.sides_[0]]
            self.distances_ = np.vstack([edges, np.pad(counts, ((0, 0), (0, 1)))])

    def decisions(self, table: Table) -> Array:
        """The f of each machine for each row, above 0 for its second side; machines in a search share points."""
        if not self.compared or len(self.points_) > PRECISE_ROWS:
            return np.asarray(self.responses(table, self.coefficients_) + self.offsets_)
        key = ("asked of svm", id(table), self.function)
        _, K = self.shared(key, lambda: (table, self.function(self.seen(table), self.points_)))
        return np.asarray(K @ self.coefficients_ + self.offsets_)

    def predict_proba(self, table: Table) -> Array:
        """The probabilities from the f of all machines."""
        return self._probabilities(self.decisions(table))

    def _probabilities(self, scores: Array) -> Array:
        """Probabilities of all classes from the f of each machine."""
        present, sure = np.flatnonzero(self.class_totals_), scores * self.slopes_
        if REST in self.sides_ or len(self.sides_) == 1:
            sure = sure if REST in self.sides_ else two_sided(sure[:, 0])
            return of_all_classes(softmax(sure), self.class_totals_)
        pairs = np.searchsorted(present, self.sides_).astype(np.int32)
        of_pairs = softmax(two_sided(sure.ravel()))[:, 1].reshape(sure.shape)
        return of_all_classes(pairwise_coupling(of_pairs, pairs, len(present)), self.class_totals_)

    def explain(self) -> findings.Explanation:
        """The machines, the support vectors, bounds of the error, and where the rows lie."""
        names = self._machine_names()
        used = np.count_nonzero(self.coefficients_, axis=0).tolist()
        margins = [1 / norm if norm > 0 else np.inf for norm in self.norms_.tolist()]
        machines = tuple(zip(names, margins, self.offsets_.tolist(), used, strict=True))
        header = ("classes", "margin 1/‖w‖", "b", "support vectors")
        note = "f is above 0 for the first and below 0 for the second; a row at distance 1/‖w‖ has f = ±1."
        by_class = tuple(zip(self.classes_, *self.support_.T.astype(int).tolist(), strict=True))
        where = (self.target_, "on the margin", "inside the margin", "no support vector")
        roles = "On the margin: 0 < α < C in every classifier that uses the row; inside: α = C in one."
        return (
            findings.Table("Binary classifiers", header, machines, note=note),
            findings.Table("Support vectors by class", where, by_class, note=roles),
            self._bounds(),
            *self.weights(names, self.coefficients_, "αy"),
            *self._distance_histogram(),
        )

    def _bounds(self) -> findings.Table:
        """What the support vectors promise about new rows."""
        rows, used = float(self.support_.sum()), float(self.support_[:, :2].sum())
        bound = used / max(rows - 1, 1.0)
        training, left_out = self.errors_.tolist()
        lines = (
            ("error on the training rows, E_in", training),
            ("support vectors / (N − 1)", min(bound, 1.0)),
            ("E_in + support vectors / (N − 1)", min(training + bound, 1.0)),
            ("leave-one-out error by the span", left_out),
        )
        note = (
            "The expected error on new rows is at most E[support vectors] / (N − 1): a row that is no support "
            "vector changes nothing when it is left out. The span estimates what leaving rows out would give."
        )
        return findings.Table("Bounds of the generalisation error", ("what", "share of rows"), lines, note=note)

    def _distance_histogram(self) -> tuple[findings.Histogram, ...]:
        """How far the training rows of two classes lie from the plane."""
        if not len(self.distances_):
            return ()
        edges, *counts = self.distances_.tolist()
        sides = zip((self.classes_[k] for k in self.sides_[0]), counts, strict=True)
        by_class = tuple((name, tuple(line[:-1])) for name, line in sides)
        return (findings.Histogram("Signed distance of the training rows", "f(x)/‖w‖", tuple(edges), by_class),)

    def _machine_names(self) -> list[str]:
        """The class for which f is positive, then that for which it is negative."""
        negative = ["the rest" if k == REST else self.classes_[k] for k in self.sides_[:, 0]]
        positive = [self.classes_[k] for k in self.sides_[:, 1]]
        return [f"{first} against {second}" for first, second in zip(positive, negative, strict=True)]

    def explain_answer(self, table: Table) -> findings.Explanation:
        """The contribution of each support vector to f, and the distance of the row from each plane."""
        names = self._machine_names()
        if not names:
            return ()
        f = self.decisions(table)[0]
        distance = np.divide(f, self.norms_, out=np.full_like(f, np.nan), where=self.norms_ > 0)
        lines = tuple(zip(names, f.tolist(), distance.tolist(), strict=True))
        return (
            self.terms_of_points(table, names, self.coefficients_, self.offsets_),
            findings.Table("Signed distance of the row", ("classes", "f(x)", "f(x)/‖w‖"), lines),
        )

    def adjustable_parameters(self, table: Table) -> float | None:
        """The coefficients of support vectors, and an offset for each machine."""
        return float(np.count_nonzero(self.coefficients_) + len(self.offsets_))

    def check_learned(self) -> None:
        """Sides that are classes."""
        self.check_points(self.coefficients_)
        if self.sides_.min(initial=0) < REST or self.sides_.max(initial=0) >= len(self.classes_):
            raise ValueError("the binary classifiers of svm have sides that are no classes")
