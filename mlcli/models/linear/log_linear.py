"""Log-linear model (maximum entropy): probabilities in proportion to e^(sum of weights of features).

Formula:
    P(y | x) = e^(w·φ(x, y)) / Σ_y' e^(w·φ(x, y')). Maximise Σ log P(y_i | x_i) − l2/2·‖w‖².
    A feature of φ belongs to one class: 1 for the class alone; 1 where a column has a level; the value of a
    number; and for a conjunction of columns the product of such features.

Assumes:
    That evidence adds up in the exponent. Numbers are best on one scale, since all weights are penalised alike.

Cost:
    rows × features × classes for each of some dozens of steps of L-BFGS.

Choices:
    Every pair of a feature and a class has a weight, as logistic regression has, whose intercept however is free;
    with `least` only those that so many training rows have together (by weight), so that what was never seen says
    nothing, which answers worse where rows are few. A cell that is empty, or of a level that training lacks, has
    no feature.
    At the maximum the model expects each feature as often as training has it, less l2 times its weight.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mlcli.core import findings
from mlcli.core.abilities import RowExplainer
from mlcli.core.accepts import Accepts
from mlcli.core.errors import FitError, MlcliWarning
from mlcli.core.names import did_you_mean
from mlcli.core.params import learned, param
from mlcli.core.ranges import log_range
from mlcli.core.registry import register
from mlcli.core.schema import Column
from mlcli.core.tables import Array, Table
from mlcli.engines.calibration import softmax
from mlcli.engines.linear_objective import Iterate, LinearObjective, Penalty, complaint
from mlcli.engines.linear_scores import SCORES, STEPPED, sum_of_terms
from mlcli.engines.losses import CrossEntropy
from mlcli.engines.solvers.lbfgs import lbfgs
from mlcli.tasks.classification import Classifier, LabelledRows

SHOWN = 20
OF_CLASS = "(class)"
Features = tuple[tuple[str, ...], Array]
"""Names of features, and what they are for each row."""


@register("log-linear", revision=3, reference="Berger, Della Pietra & Della Pietra 1996")
class LogLinear(Classifier, RowExplainer):
    """Conditional maximum entropy."""

    l2: float = param(
        1.0,
        "L2 penalty: the cost of ½ squared weight, in log-likelihood",
        ge=0,
        tune=log_range(1e-3, 1e3, simpler="high"),
    )
    conjunctions: tuple[str, ...] = param((), "columns that make features together, such as outlook*windy")
    least: float = param(0.0, "in how many training rows a feature and a class must occur together", ge=0)
    tolerance: float = param(1e-10, "the tolerance: the gradient per row at which to stop", gt=0)
    max_iterations: int = param(10_000, "how many steps at most", ge=1)

    weights_: Array = learned()
    """Classes × features."""
    steps_: int = learned()

    accepts = Accepts(nominal=True, missing=True, weights=True, prefers_scaled=True)
    """Anything; a penalty on all weights wants numbers of one scale."""

    def fit(self, data: LabelledRows, rng: np.random.Generator) -> None:
        """Climb the penalised likelihood of the features that occur."""
        data = data.counted()
        _, X = self._features(data.table)
        indicators, total, width = data.outputs, float(data.weights.sum()), X.shape[1]
        together = (indicators * data.weights[:, None]).T @ (X != 0)
        mask = (together >= self.least) & (data.class_totals > 0)[:, None]
        # The first class is the one that scores are measured from.
        mixing = np.hstack([-np.ones((len(mask) - 1, 1)), np.eye(len(mask) - 1)])
        penalty = Penalty(np.full(width + 1, self.l2 / total), np.zeros(width + 1))
        loss = CrossEntropy(np.ascontiguousarray(indicators[:, 1:].T), data.weights / total)
        learned_ones = np.hstack([mask, np.zeros((len(mask), 1))])
        objective = MaskedObjective(X, loss, penalty, mixing, intercept=False, mask=learned_ones)
        found = lbfgs(objective, np.zeros((len(mask), width + 1)), self.tolerance, self.max_iterations)
        if unfinished := complaint([found], self.tolerance):
            warnings.warn(f"{self.id} {unfinished}; a larger l2 would help", MlcliWarning, stacklevel=2)
        self.weights_, self.steps_ = found.at.w[:, :-1], found.iterations

    def predict_proba(self, table: Table) -> Array:
        """Softmax of the summed weights; a class without training rows gets 0."""
        _, X = self._features(table)
        absent = np.where(self.class_totals_ > 0, 0.0, -np.inf)
        return softmax(X @ self.weights_.T + absent)

    def _features(self, table: Table) -> Features:
        """The class alone, every column, and every conjunction."""
        blocks = {column.name: _block(column, cells) for column, cells in table.parts()}
        parts = [((OF_CLASS,), np.ones((len(table), 1))), *blocks.values()]
        parts += [reduce(_together, self._named(text, blocks)) for text in self.conjunctions]
        names = tuple(name for part, _ in parts for name in part)
        return names, np.hstack([values for _, values in parts])

    def _named(self, text: str, blocks: dict[str, Features]) -> Iterator[Features]:
        for name in map(str.strip, text.split("*")):
            if name not in blocks:
                what = f"{self.id}: conjunction '{text}' names '{name}', which is no column"
                raise FitError(what, hint=did_you_mean(name, list(blocks), "columns"))
            yield blocks[name]

    def explain_answer(self, table: Table) -> findings.Explanation:
        """The score of each class: the weights of the features that the row has."""
        names, X = self._features(table)
        has = np.flatnonzero(X[0])
        terms = [(names[j], float(X[0, j]), self.weights_[:, j] * X[0, j]) for j in has.tolist()]
        return (sum_of_terms(terms, self.classes_, SCORES, STEPPED, times="feature"),)

    def check_learned(self) -> None:
        """A weight for each class and feature."""
        names, _ = self._features(_no_rows(self.columns_))
        if self.weights_.shape != (len(self.classes_), len(names)):
            raise ValueError("weights that do not fit the classes and features")

    def explain(self) -> findings.Explanation:
        """The features that say most, with their class."""
        names, _ = self._features(_no_rows(self.columns_))
        order = np.argsort(-np.abs(self.weights_), axis=None, kind="stable")[:SHOWN]
        pairs = [np.unravel_index(k, self.weights_.shape) for k in order]
        labels = tuple(f"{names[j]} → {self.classes_[k]}" for k, j in pairs)
        values = tuple(float(self.weights_[k, j]) for k, j in pairs)
        used, note = int(np.count_nonzero(self.weights_)), f"after {self.steps_} steps."
        header = ("feature → class", "weight")
        return (findings.Bars("Largest weights", header, labels, values, note=f"Of {used} weights, {note}"),)


@dataclass(frozen=True, eq=False, kw_only=True)
class MaskedObjective(LinearObjective):
    """An objective of which some coefficients stay 0."""

    mask: Array
    """1 for a coefficient that is learned, else 0."""

    def at(self, w: Array) -> Iterate:
        """The objective at some coefficients, whose gradient is 0 along those that stay."""
        here = super().at(w * self.mask)
        gradient = here.gradient * self.mask
        return replace(here, w=w, gradient=gradient, steepness=self.penalty.steepness(w, gradient))


def _block(column: Column, cells: NDArray[Any]) -> Features:
    """A feature for each level, or the number; an empty cell has none."""
    if not column.coded:
        return (column.name,), np.nan_to_num(cells.astype(np.float64), nan=0.0)[:, None]
    names = tuple(f"{column.name}={level}" for level in column.levels)
    return names, np.asarray(cells[:, None] == np.arange(len(names)), np.float64)


def _together(features: Features, other: Features) -> Features:
    """Each feature of one with each of the other."""
    names = tuple(f"{first} & {second}" for first in features[0] for second in other[0])
    return names, (features[1][:, :, None] * other[1][:, None, :]).reshape(len(features[1]), len(names))


def _no_rows(columns: Sequence[Column]) -> Table:
    return Table.of([(column, np.empty(0)) for column in columns], 0)
