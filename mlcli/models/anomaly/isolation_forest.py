"""Isolation forest: a row is odd when few cuts drawn at random set it apart from the others.

Formula:
    Each tree cuts a sample of ψ rows: a column drawn at random, at a number drawn between the smallest and the
    largest value of the node. h(x) = questions on the way of x + c(rows of the training sample in its leaf).
    s(x) = 2^(−E h(x) / c(ψ)), with E over the trees and c(n) = 2 H(n − 1) − 2 (n − 1)/n, H(i) = 1 + ½ + … + 1/i:
    about ½ for ordinary rows, near 1 for odd ones.

Assumes:
    Anomalies are few and different. An anomaly that is odd only by a combination of columns takes many cuts. The
    unit of a column, and any linear scale of it, decides nothing.

Cost:
    trees × ψ log ψ to fit, however many rows there are; trees × log ψ per predicted row.

Choices:
    The notes score a row by its number of conditions, of which fewer are odder; here the larger score is. Columns
    that are constant in a node are not drawn. H is exact where the paper and scikit-learn have ln(i) + 0.5772.
    Trees end at ⌈log2 ψ⌉ questions, beyond which c estimates the rest. The sample is drawn without replacement; a
    row of weight w is as likely as w rows. What a column adds is the fall of the score when its cell is replaced
    by the mean of the training rows.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from mlcli.core import findings
from mlcli.core.abilities import RowExplainer
from mlcli.core.errors import FitError
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.schema import Accepts
from mlcli.core.tables import Array, Rows, Table
from mlcli.engines.content_seeds import Bag, as_repeats
from mlcli.engines.trees.growing import Grower, Targets, bin_columns
from mlcli.engines.trees.structure import Cells, Trees
from mlcli.tasks.anomaly import Detector, ScreenedRows, occlusion

SHARES = (0.5, 0.9, 0.99, 1.0)


@register("isolation-forest", reference="Liu, Ting & Zhou 2008, Isolation forest")
class IsolationForest(Detector, RowExplainer):
    """Trees of random cuts; the mean number of questions tells how odd a row is."""

    trees: int = param(100, "how many trees", ge=1, tune=(50, 500))
    sample: int = param(256, "rows that a tree is grown from; all where there are fewer", ge=2, tune=(32, 1024))
    max_depth: int | None = param(None, "the depth of a tree at most; none: the logarithm of the sample", ge=1)

    trees_: Trees = learned(structure=Trees)
    """The value of a node is the length of the way to it, and what c adds there."""
    sample_: int = learned()
    usual_: Array = learned("columns")
    scores_: Array = learned(len(SHARES))
    """What shares of the training rows score less than."""

    accepts = Accepts(weights=True)

    def fit(self, data: ScreenedRows, rng: np.random.Generator) -> None:
        """Grow each tree from a sample of its own."""
        data = as_repeats(data)
        X, weights = data.table.numbers, data.weights
        if len(X) < 2 or not X.shape[1]:
            raise FitError("isolation-forest needs at least two training rows and a column to cut")
        self.sample_ = min(self.sample, len(X))
        bag = Bag.of(weights, self.sample_ / len(X), replacement=False)
        samples = (X[np.flatnonzero(bag.repeats(rng))] for _ in range(self.trees))
        trees = self._grow(samples, rng)
        lengths = trees.depths() + mean_path(np.rint(trees.weight).astype(np.intp))
        self.trees_ = replace(trees, value=lengths[:, None]).without_gains()
        self.usual_ = np.average(X, axis=0, weights=weights)
        self.scores_ = np.quantile(self.score_rows(data.table), SHARES)

    def _grow(self, samples: Iterable[Array], rng: np.random.Generator) -> Trees:
        """Trees of random cuts: with a random target for each row, every cut of a node gains something."""
        from mlcli.kernels.trees.records import Limits

        depth = int(np.ceil(np.log2(self.sample_))) if self.max_depth is None else self.max_depth
        limits, trees, thresholds = Limits(features=1, max_depth=depth), [], []
        for X in samples:
            packed = Targets.of(rng.random((len(X), 1))).packed(np.ones(len(X), np.int64), 1.0)
            grower = Grower(bin_columns(_cells(X), most=None, wide=True), limits, random_cuts=True)
            tree, _ = grower.grow(packed, np.arange(len(X)), seed=int(rng.integers(1, 2**32)))
            trees.append(tree)
            thresholds.append(grower.thresholds(tree.nodes))
        return grower.to_trees(trees, packed.scale, thresholds)

    def path_lengths(self, X: Array) -> Array:
        """E h(x) of each row."""
        return np.asarray(self.trees_.predict(_cells(X))[:, 0] / len(self.trees_))

    def score_rows(self, table: Table) -> Array:
        """2^(−E h / c) of each row."""
        return self._score(table.numbers)

    def _score(self, X: Array) -> Array:
        return np.asarray(2.0 ** (-self.path_lengths(X) / self._usual_length))

    @property
    def _usual_length(self) -> float:
        return float(mean_path(np.array([self.sample_]))[0])

    def explain_answer(self, table: Table) -> findings.Explanation:
        """After how many conditions the row is isolated, and the score that this makes."""
        path, usual = float(self.path_lengths(table.numbers)[0]), self._usual_length
        rows = (
            ("mean path length E h(x)", path),
            ("c: average path length until a row is isolated", usual),
            ("score 2^(−E h(x) / c)", 2 ** (-path / usual)),
        )
        return (findings.Table("Isolation of the row", ("what", "value"), rows),)

    def deviations(self, table: Table) -> Array:
        """How much of the score goes when a cell is replaced by the mean of the training rows."""
        return occlusion(self._score, table.numbers, self.usual_)

    def explain(self) -> findings.Explanation:
        """How large the trees are, and how many questions a score stands for."""
        usual = self._usual_length
        size = (
            ("trees", len(self.trees_)),
            ("rows in the sample of each", self.sample_),
            ("mean leaves of a tree", float(self.trees_.leaves.sum() / len(self.trees_))),
            ("c: average path length until a row is isolated", usual),
        )
        rows = tuple(
            (share, float(score), float(-usual * np.log2(score)))
            for share, score in zip(SHARES, self.scores_, strict=True)
        )
        header = ("share", "is at most", "mean path length")
        note = "A row that is isolated after half the average path length scores 0.71; ordinary rows about 0.5."
        return (
            findings.Table("Forest", ("what", "value"), size),
            findings.Table("Scores of the training rows", header, rows, note=note),
        )

    def check_learned(self) -> None:
        """The trees ask for columns of the model."""
        super().check_learned()
        self.trees_.check(np.zeros(len(self.columns_), np.intp), 1)
        if self.sample_ < 2:
            raise ValueError("the trees of isolation-forest grew from no sample")


def mean_path(rows: Rows) -> Array:
    """c(n): the mean number of questions after which one of n rows is alone; 0 for one row."""
    harmonic = np.concatenate([[0.0], np.cumsum(1.0 / np.arange(1, max(int(rows.max()), 2)))])
    return np.asarray(2.0 * harmonic[rows - 1] - 2.0 * (rows - 1) / rows)


def _cells(X: Array) -> Cells:
    """Every column is split by a threshold."""
    return Cells(X, np.zeros(X.shape[1], np.intp))
