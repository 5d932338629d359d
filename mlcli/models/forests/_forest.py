"""What random-forest and extra-trees share: the parameters, learning, answers, and what is said of them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from mlcli.core.accepts import Accepts
from mlcli.core.explanation import Explanation
from mlcli.core.params import learned, param
from mlcli.core.tables import Array, Rows, Table
from mlcli.engines.bags import Bag, order_of_content
from mlcli.models.forests import _words
from mlcli.models.forests._growing import Nursery, Plant, Seeds, Shape
from mlcli.models.forests._out_of_bag import Tally, Truth
from mlcli.models.forests._trees import Trees
from mlcli.models.trees._binning import MOST_BINS, binned
from mlcli.models.trees._features import features, level_counts, ordered
from mlcli.models.trees._levels import Targets
from mlcli.models.trees._shared_bins import Shared
from mlcli.tasks.classification import Classifier
from mlcli.tasks.regression import Regressor
from mlcli.tasks.supervised import SupervisedRows

SHARES: dict[str, Callable[[int], int]] = {
    "sqrt": math.isqrt,
    "log2": lambda columns: columns.bit_length(),
    "all": lambda columns: columns,
}
"""How many of so many columns a node draws; ⌊log2 F + 1⌋ is the number of binary digits of F."""


MEASURES = {True: ("error", "error"), False: ("root mean squared error", "squared error")}
"""What errors out of the bag are, and what shuffling adds to, of classes or of values."""


@dataclass(kw_only=True, eq=False)
class Forest(Classifier, Regressor):
    """Trees that differ by the rows they learn from and the columns they may ask for, and answer by their mean."""

    trees: int = param(100, "how many trees", ge=1, tune=(50, 500))
    features: float | str | None = param(
        None,
        "columns drawn at a node: a share, sqrt, log2 or all; none: sqrt for classes, a third for numbers",
        gt=0.0,
        le=1.0,
    )
    max_depth: int | None = param(None, "how many questions a row is asked at most", ge=1)
    max_leaves: int | None = param(
        None, "how many leaves a tree has at most; those that gain most come first", ge=2
    )
    min_leaf: int = param(1, "how many rows a leaf holds at least", ge=1, tune=(1, 20))
    bins: int = param(MOST_BINS, "into how many bins numbers are sorted at most", ge=2, le=MOST_BINS)
    bootstrap: bool = param(True, "whether a tree learns from as many rows drawn with replacement, or from all")
    shuffle: bool = param(False, "whether columns are also valued by shuffling them out of the bag (slow)")

    random_cuts: ClassVar[bool] = False

    nodes_: dict[str, Array] = learned()
    gained_: Array = learned()
    shuffled_: Array = learned()
    curve_: Array = learned()

    @property
    def accepts(self) -> Accepts:
        """Anything."""
        return Accepts(nominal=True, missing=True, weights=True)

    def conflicts(self) -> list[str]:
        """A name of a number of columns that is none, and shuffling without rows to shuffle."""
        found = []
        if isinstance(self.features, str) and self.features not in SHARES:
            found.append(f"features is a share, {', '.join(SHARES)} or none; was given {self.features!r}")
        if self.shuffle and not self.bootstrap:
            found.append("shuffle needs bootstrap: without it no rows are out of the bag")
        return found

    def fit(self, data: SupervisedRows, rng: np.random.Generator) -> None:
        """Sort cells into bins once, then grow tree after tree."""
        data = data.counted()
        order = order_of_content(data)
        shared, data = Shared.of(data.table, order), data.take(order)
        by_threshold, levels = ordered(self.columns_), level_counts(self.columns_)
        cells = features(data.table, np.full(len(levels), np.nan))
        truth = Truth(cells, by_threshold, Targets.of(data.outputs, data.weights), self._by_size(), self.shuffle)
        nursery = Nursery(
            binned=binned(cells, by_threshold, levels, self.bins, uneven(data.weights), shared),
            truth=truth,
            bag=Bag.of(data.weights) if self.bootstrap else None,
            shape=self._shape(len(levels)),
        )
        self._learn_from(nursery, rng.integers(0, 2**62, self.trees), Tally(truth))

    def _learn_from(self, nursery: Nursery, seeds: Seeds, tally: Tally) -> None:
        plants: list[Plant] = []
        for plant in nursery.grown(seeds):
            plants.append(plant)
            if plant.outside is not None:
                tally.add(plant.tree, plant.outside)
        self.nodes_ = Trees.joined([plant.tree for plant in plants]).arrays()
        self.gained_ = np.mean([shares(plant.worth) for plant in plants], axis=0)
        outside = [plant.outside.worse for plant in plants if plant.outside is not None and self.shuffle]
        self.shuffled_ = np.mean(outside, axis=0) if outside else np.empty(0)
        self.curve_ = np.array(tally.curve)
        self.__dict__.pop("_trees", None)

    def _by_size(self) -> Rows:
        sizes = np.zeros(1) if self.classes_ is None else self.class_totals_
        return np.argsort(-sizes, kind="stable")

    def _shape(self, columns: int) -> Shape:
        return Shape(self._drawn(columns), self.random_cuts, self.min_leaf, self.max_depth, self.max_leaves)

    def _drawn(self, columns: int) -> int:
        """How many columns a node draws."""
        wanted = self.features
        if wanted is None:
            wanted = "sqrt" if self.classes_ is not None else 1 / 3
        count = SHARES[wanted](columns) if isinstance(wanted, str) else int(wanted * columns + 1e-9)
        return min(max(count, 1), columns)

    @cached_property
    def _trees(self) -> Trees:
        return Trees.restored(self.nodes_)

    def predict_proba(self, table: Table) -> Array:
        """The mean of the class shares of each row's leaves."""
        cells = features(table, np.full(len(self.columns_), np.nan))
        return self._trees.answers(cells, ordered(self.columns_))

    def predict_values(self, table: Table) -> Array:
        """The mean of each row's leaves."""
        return self.predict_proba(table)[:, 0]

    def explain(self) -> Explanation:
        """How large the forest is, how wrong out of the bag, and what columns are worth."""
        measure, loss = MEASURES[self.classes_ is not None]
        sections = [_words.size(self._trees, self._drawn(len(self.columns_)))]
        if len(self.curve_):
            sections.append(_words.errors(self.curve_, measure))
        return (*sections, _words.worth(self.columns_, self.gained_, self.shuffled_, loss))

    def check_learned(self) -> None:
        """The trees must be ones, over these columns."""
        Trees.restored(self.nodes_).check(len(self.columns_), 1 if self.classes_ is None else len(self.classes_))
        shuffled = self.shuffled_.shape in ((0,), self.gained_.shape)
        if self.gained_.shape != (len(self.columns_),) or not shuffled or self.curve_.ndim != 1:
            raise ValueError("the saved forest values other columns")


def shares(worth: Array) -> Array:
    """Parts of the whole; zeros where there is none."""
    total = worth.sum()
    return worth / total if total > 0 else worth


def uneven(weights: Array) -> Array | None:
    """The weights, or None if all are the same."""
    return None if (weights == weights[0]).all() else weights
