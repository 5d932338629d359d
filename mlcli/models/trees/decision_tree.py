"""Decision tree: one question after another, each the one that leaves the purest groups.

Formula:
    A split of a node with rows Q into branches Q_b gains H(Q) − Σ_b (W_b / W) H(Q_b), where H is an impurity of
    the weighted shares p_k: gini 1 − Σ p², entropy −Σ p log2 p, misclassification 1 − max p; or of values:
    their variance (squared-error). CART takes the largest gain, all branches two: x ≤ threshold against x >
    threshold, or one level against the rest. ID3 takes the largest gain, with a branch for every level of a
    nominal column. C4.5 takes, among the columns that gain at least as much as the average one, the largest
    gain ratio gain / −Σ_b (W_b / W) log2 (W_b / W). A leaf answers its class shares, or its mean.

Assumes:
    The target depends on columns one at a time and in steps; a straight line costs many questions, and where no
    single column gains anything (XOR, parity) the tree stops. Grown out, it fits noise: limit depth or leaves.

Cost:
    n log n per column once, then n per column and level, in compiled loops once loading them pays: on tables of
    more than some ten thousand cells, or after some dozens of trees. With ``bins``, nodes of more than a thousand
    rows cost less, and less memory is worked in.

Choices:
    Thresholds lie midway between two values, and the value itself goes left. Ordinal columns are split like
    numbers. Of equal gains (to 1e-12) the first column in the file wins, then the lowest threshold or level, so
    the order of rows does not matter. A split must gain more than ``min_gain``, which is compared to the gain,
    or under C4.5 to the gain ratio; that is 0 where the split information is 0. C4.5's threshold of a column is
    the one that gains most. ``min_leaf`` and ``min_split`` count rows by their weight, and ``min_leaf`` holds
    for every branch; their smallest values, 1 and 2, set no limit. ``purity`` is the largest class share, or
    for squared-error the share of the root's variance that is gone. A missing level is a level of its own;
    missing numbers go left or right, whichever gains more, and known against missing is a split as well.
    ``most-frequent`` fills with the most frequent value of the training rows instead: of equally frequent ones
    the first level, or the middle number. A row that no branch fits (a level not seen in the node, a missing
    number where training had none) stops there and is answered by the node; one level against the rest sends it
    to the rest. With ``bins``, thresholds of a column lie between bins that hold about the same weight each;
    a column with no more distinct values than bins has one for each, and a tree of such columns is the same.
    Gini and misclassification are at most 1 − 1/K (the notes print 1, and 1/K).
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from mlcli.core.accepts import Accepts
from mlcli.core.errors import MlcliWarning
from mlcli.core.findings import Explanation
from mlcli.core.held_out import HeldOut, Round
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.step import Step
from mlcli.core.tables import Array, Table
from mlcli.models.trees._algorithms import ALGORITHMS, GATES
from mlcli.models.trees._binning import MOST_BINS
from mlcli.models.trees._compiled import grown_on_bins
from mlcli.models.trees._criteria import CRITERIA, Criterion
from mlcli.models.trees._features import FILLS, features, level_counts
from mlcli.models.trees._growing import Limits, Rules
from mlcli.models.trees._grown_together import MOST_TOGETHER, grown_together
from mlcli.models.trees._levels import Targets
from mlcli.models.trees._predicting import node_of
from mlcli.models.trees._routes import grown
from mlcli.models.trees._rules import explained
from mlcli.models.trees._shared_bins import Shared
from mlcli.models.trees._structure import Tree
from mlcli.tasks.classification import Classifier, LabelledRows
from mlcli.tasks.regression import Regressor
from mlcli.tasks.supervised import SupervisedRows


@register("decision-tree", reference="Breiman et al. 1984 (CART); Quinlan 1986 (ID3); Quinlan 1993 (C4.5)")
@dataclass(kw_only=True, eq=False)
class DecisionTree(Classifier, Regressor):
    """A tree grown greedily from the root."""

    algorithm: str = param("cart", "how columns branch and compete", choices=ALGORITHMS)
    criterion: str | None = param(None, "the impurity; none: the algorithm's own", choices=CRITERIA)
    gate: str = param("mean-gain", "which columns may compete under c45", choices=GATES)
    max_depth: int | None = param(None, "how many questions a row is asked at most", ge=1, tune=(1, 20))
    min_leaf: int = param(1, "how many rows a leaf holds at least", ge=1, tune=(1, 50))
    min_split: int = param(2, "how many rows a node needs to be split", ge=2)
    min_gain: float = param(0.0, "what a split must gain more than", ge=0.0)
    purity: float = param(1.0, "a node at least this pure is a leaf", gt=0.0, le=1.0)
    bins: int | None = param(
        None, "into how many bins numbers are sorted at most; none: every value is tried", ge=2, le=MOST_BINS
    )
    missing: str = param("own-value", "what an empty cell counts as", choices=FILLS)

    fills_: Array = learned()
    nodes_: dict[str, Array] = learned()

    @property
    def accepts(self) -> Accepts:
        """Anything."""
        return Accepts(nominal=True, missing=True, weights=True)

    def fit(self, data: SupervisedRows, rng: np.random.Generator) -> None:
        """Fill what is to be filled, then grow."""
        data = data.counted()
        self.fills_ = FILLS[self.missing](data.table, data.weights)
        cells = features(data.table, self.fills_)
        targets = Targets.of(data.outputs, data.weights)
        levels, rules = level_counts(self.columns_), self._rules(data)
        if self.bins is None:
            self.nodes_ = grown(cells, levels, targets, rules).arrays()
        else:
            filled = not np.isnan(self.fills_).all()
            shared = None if filled else Shared.of(data.table, np.arange(len(data)))
            self.nodes_ = grown_on_bins(cells, levels, targets, rules, self.bins, shared).arrays()

    def _rules(self, data: Any) -> Rules:
        limits = Limits(self.max_depth, self.min_split, self.min_leaf, self.min_gain, self.purity)
        return Rules(self._criterion(data), ALGORITHMS[self.algorithm], self.gate, limits)

    def held_out(self, data: Any, round_: Round, steps: tuple[Step, ...]) -> HeldOut | None:
        """Small trees of many splits are grown together, level by level; None where each may be grown as fast."""
        alike = self.missing == "own-value" and self.purity == 1.0 and self.bins is None
        if not alike or len(data) * len(data.table.columns) > MOST_TOGETHER:
            return None
        return grown_together(self._rules(data), data, round_, steps)

    def _criterion(self, data: Any) -> Criterion:
        of_classes = isinstance(data, LabelledRows)
        own = ALGORITHMS[self.algorithm].criterion if of_classes else "squared-error"
        criterion = CRITERIA[self.criterion or own]
        if criterion.of_shares and not of_classes:
            message = f"{self.criterion} is of classes, but {data.target} is a number: squared-error is used"
            warnings.warn(message, MlcliWarning, stacklevel=3)
            return CRITERIA["squared-error"]
        return criterion

    @property
    def tree(self) -> Tree:
        """What was grown."""
        return Tree.restored(self.nodes_)

    def predict_proba(self, table: Table) -> Array:
        """The class shares of each row's node."""
        tree = self.tree
        shares: Array = tree.value[node_of(tree, features(table, self.fills_))]
        return shares

    def predict_values(self, table: Table) -> Array:
        """The mean of each row's node."""
        return self.predict_proba(table)[:, 0]

    def explain(self) -> Explanation:
        """The tree as rules, each class as an OR of ANDs while that is short, and what each column is worth."""
        value = self.tree.value
        if self.classes_ is None:
            return explained(self.tree, self.columns_, [f"{mean:.6g}" for mean in value[:, 0]])
        return explained(self.tree, self.columns_, [self.classes_[code] for code in self.decide(value)])

    def check_learned(self) -> None:
        """The tree must be one, over these columns."""
        levels = level_counts(self.columns_)
        if self.fills_.shape != levels.shape:
            raise ValueError("the saved tree has fills for other columns")
        if ((levels > 0) & ((self.fills_ < 0) | (self.fills_ >= levels))).any():
            raise ValueError("the saved tree fills with levels that are not there")
        self.tree.check(levels, 1 if self.classes_ is None else len(self.classes_))
