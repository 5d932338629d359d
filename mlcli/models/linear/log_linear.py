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
from dataclasses import dataclass, replace

import numpy as np

from mlcli.core import findings
from mlcli.core.abilities import RowExplainer
from mlcli.core.errors import FitError, MlcliWarning
from mlcli.core.names import did_you_mean
from mlcli.core.params import learned, param
from mlcli.core.ranges import log_range
from mlcli.core.registry import register
from mlcli.core.schema import Accepts
from mlcli.core.tables import Array, Table
from mlcli.engines.calibration import softmax
from mlcli.engines.linear_objective import CrossEntropy, Iterate, LinearObjective, Penalty
from mlcli.engines.linear_scores import SCORES, STEPPED, sum_of_terms
from mlcli.engines.solvers import complaint, lbfgs
from mlcli.tasks.supervised import Classifier, LabelledRows

Features = tuple[tuple[str, ...], Array]
"""Names of features, and their values for each row."""


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
        total, (classes, width) = float(data.weights.sum()), (len(data.classes), X.shape[1])
        together = (data.outputs * data.weights[:, None]).T @ (X != 0)
        mask = np.zeros((classes, width + 1))  # the last column is the intercept, which stays 0
        mask[:, :-1] = (together >= self.least) & (data.class_totals > 0)[:, None]
        objective = MaskedObjective(
            X,
            CrossEntropy(np.ascontiguousarray(data.outputs[:, 1:].T), data.weights / total),
            Penalty(np.full(width + 1, self.l2 / total), np.zeros(width + 1)),
            # Scores are measured from the first class.
            mixing=np.hstack([-np.ones((classes - 1, 1)), np.eye(classes - 1)]),
            intercept=False,
            mask=mask,
        )
        minimum = lbfgs(objective, np.zeros((classes, width + 1)), self.tolerance, self.max_iterations)
        if unfinished := complaint([minimum], self.tolerance):
            warnings.warn(f"{self.id} {unfinished}; a larger l2 would help", MlcliWarning, stacklevel=2)
        self.weights_, self.steps_ = minimum.at.w[:, :-1], minimum.iterations

    def predict_proba(self, table: Table) -> Array:
        """Softmax of the summed weights; a class without training rows gets 0."""
        _, X = self._features(table)
        absent = np.where(self.class_totals_ > 0, 0.0, -np.inf)
        return softmax(X @ self.weights_.T + absent)

    def _features(self, table: Table) -> Features:
        """The class alone, every column (its number, or one feature for each level), and every conjunction.

        An empty cell has no feature.
        """
        blocks = dict[str, Features]()
        for column, cells in table.parts():
            if column.coded:
                names = tuple(f"{column.name}={level}" for level in column.levels)
                blocks[column.name] = names, np.asarray(cells[:, None] == np.arange(len(names)), np.float64)
            else:
                number = np.nan_to_num(cells.astype(np.float64), nan=0.0)
                blocks[column.name] = (column.name,), number[:, None]
        features = [(("(class)",), np.ones((len(table), 1))), *blocks.values()]
        for text in self.conjunctions:
            columns = [name.strip() for name in text.split("*")]
            for name in columns:
                if name not in blocks:
                    problem = f"{self.id}: conjunction '{text}' names '{name}', which is no column"
                    raise FitError(problem, hint=did_you_mean(name, list(blocks), "columns"))
            names, X = blocks[columns[0]]
            for name in columns[1:]:
                other_names, other = blocks[name]
                names = tuple(f"{first} & {second}" for first in names for second in other_names)
                X = (X[:, :, None] * other[:, None, :]).reshape(len(X), len(names))
            features.append((names, X))
        return tuple(name for names, _ in features for name in names), np.hstack([X for _, X in features])

    def _feature_names(self) -> tuple[str, ...]:
        no_rows = Table.of([(column, np.empty(0)) for column in self.columns_], 0)
        return self._features(no_rows)[0]

    def explain_answer(self, table: Table) -> findings.Explanation:
        """The score of each class: the weights of the features that the row has."""
        names, X = self._features(table)
        present = np.flatnonzero(X[0]).tolist()
        terms = [(names[j], float(X[0, j]), self.weights_[:, j] * X[0, j]) for j in present]
        return (sum_of_terms(terms, self.classes_, SCORES, STEPPED, times="feature"),)

    def check_learned(self) -> None:
        """A weight for each class and feature."""
        if self.weights_.shape != (len(self.classes_), len(self._feature_names())):
            raise ValueError("weights that do not fit the classes and features")

    def explain(self) -> findings.Explanation:
        """The features with the largest weights, and their class."""
        names = self._feature_names()
        order = np.argsort(-np.abs(self.weights_), axis=None, kind="stable")[:20]
        pairs = [np.unravel_index(index, self.weights_.shape) for index in order]
        bars = findings.Bars(
            "Largest weights",
            ("feature → class", "weight"),
            labels=tuple(f"{names[j]} → {self.classes_[k]}" for k, j in pairs),
            values=tuple(float(self.weights_[k, j]) for k, j in pairs),
            note=f"Of {np.count_nonzero(self.weights_)} weights, after {self.steps_} steps.",
        )
        return (bars,)


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
