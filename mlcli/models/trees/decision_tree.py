"""Decision tree: splits rows by one column after another, each time by the split that leaves the purest nodes.

Formula:
    A split of a node with rows Q into branches Q_b gains H(Q) − Σ_b (W_b / W) H(Q_b), where H is an impurity of
    the weighted shares p_k: gini 1 − Σ p², entropy −Σ p log2 p (its gain: information gain), misclassification 1 −
    max p; or of values: their variance (squared-error). CART takes the largest gain, all branches two: x ≤
    threshold against x > threshold, or one level against the rest. ID3 takes the largest gain, with a branch for
    every level of a nominal column. C4.5 takes, among the columns that gain at least as much as the average one,
    the largest gain ratio gain / −Σ_b (W_b / W) log2 (W_b / W). A leaf predicts its class shares, or its mean.
    Pruning makes a leaf of a node, from the bottom up, where that costs no more than what is below it. A leaf
    costs its loss on a ``validation`` share of the rows, from which no split is learned (reduced-error); or W·U,
    with P(Binomial(W, U) ≤ its errors) = ``confidence`` (pessimistic); or (W/n)·H(Q) + ``prune_alpha``
    (cost-complexity). Or it makes a leaf of each node without splits below it, if its split gains at most
    ``prune_gain`` or has a branch of fewer than ``prune_rows`` rows (small).

Assumes:
    The target depends on columns one at a time and in steps; a straight line takes many splits, and where no
    single column gains anything (XOR, parity) the tree stops. Without limits it fits noise: limit depth or leaves.

Cost:
    n log n per column once, then n per column and level, in compiled loops. With ``bins``, large nodes take
    less time and less memory.

Choices:
    Thresholds lie midway between two values, and the value itself goes left. Ordinal columns are split like
    numbers. Of equal gains (to 1e-12) the first column in the file wins, then the lowest threshold or level, so
    the order of rows does not matter. A split must gain more than ``min_gain``, which is compared to the gain, or
    under C4.5 to the gain ratio; that is 0 where the split information is 0. C4.5's threshold of a column is the
    one that gains most. ``min_leaf`` and ``min_split`` count rows by their weight, and ``min_leaf`` holds for
    every branch; their smallest values, 1 and 2, set no limit. ``purity`` is the largest class share, or for
    squared-error the share of the root's variance that is gone. A missing level is a level of its own; missing
    numbers go left or right, whichever gains more, and known against missing is a split as well. ``most-frequent``
    fills with the most frequent value of the training rows instead: of equally frequent ones the first level, or
    the middle number. A row that no branch fits (a level not seen in the node, a missing number where training had
    none) stops at the node, which predicts it; one level against the rest sends it to the rest. With ``bins``,
    thresholds of a column lie between bins that hold about the same weight each; a column with no more distinct
    values than bins has one for each, and a tree of such columns is the same. Gini and misclassification are at
    most 1 − 1/K (the notes print 1, and 1/K).
    ``prune: auto`` is C4.5's pessimistic pruning for its trees of classes and none for others. No subtree is ever
    raised, as Quinlan's program may. Under reduced-error, leaves predict from the rows that they were learned
    from. ``prune_gain`` is compared as ``min_gain`` is, which forbids a split of low gain above good ones, too:
    ``small`` keeps such a split.
    Without ``prune_alpha`` the one with the least loss in ``folds`` folds is taken, of equals the largest, among
    the geometric means of neighbouring ones at which the tree of all rows changes (of 50 at most).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from mlcli.core import findings
from mlcli.core.abilities import CountsParameters, HasImportances, RowExplainer, Unstable
from mlcli.core.moments import quotient
from mlcli.core.params import TASK, explain_param, learned, param
from mlcli.core.ranges import Range, log_range
from mlcli.core.registry import register
from mlcli.core.schema import Accepts, Column
from mlcli.core.tables import Array, Rows, Table, is_missing
from mlcli.engines.trees.findings import (
    MOST_LEAVES,
    OR_MISSING,
    NamedTree,
    bound,
    importance_table,
    importances,
    rules,
    use_of_columns,
)
from mlcli.engines.trees.growing import MOST_BINS, Grower, Targets, bin_columns, bin_every_value, in_units
from mlcli.engines.trees.structure import Cells, Trees, cells_of, is_ordered, level_counts
from mlcli.models.trees._pruning import PRUNINGS, cut_back
from mlcli.tasks.supervised import Classifier, LabelledRows, Regressor, SupervisedRows

if TYPE_CHECKING:
    from mlcli.kernels.trees.records import PackedTargets

CRITERIA = {"gini": (0, True), "entropy": (1, True), "misclassification": (2, True), "squared-error": (0, False)}
"""The code of each impurity in the compiled search, and whether it is one of class shares."""
ALGORITHMS = {"cart": "gini", "id3": "entropy", "c45": "entropy"}
"""The default criterion of each algorithm."""
STABLE_LEAF = 10
"""Leaves with this many rows hardly change if a few rows do."""
CANDIDATE_DEPTH = 2
"""Candidate splits are shown for nodes down to this depth."""
Candidate = tuple[str, float, str, str, float, float]
"""A node, its impurity, a split of it, "taken" or "", the gain of the split and its split information."""


def _default_pruning(tree: DecisionTree, task: str) -> str:
    """The pruning that ``auto`` stands for."""
    return "pessimistic" if tree.algorithm == "c45" and task != "regressor" else "none"


def _default_criterion(tree: DecisionTree, task: str) -> str:
    """The criterion if none is given."""
    return "squared-error" if task == "regressor" else ALGORITHMS[tree.algorithm]


@register(
    "decision-tree",
    reference="Breiman et al. 1984 (CART); Quinlan 1986 (ID3), 1993 (C4.5), 1987 (pruning)",
    revision=2,
)
class DecisionTree(Classifier, Regressor, CountsParameters, HasImportances, RowExplainer, Unstable):
    """A tree grown greedily from the root."""

    algorithm: str = param("cart", "how columns branch and compete", choices=ALGORITHMS)
    criterion: str | None = param(
        None,
        "the impurity; none: the algorithm's own; the gain ratio is algorithm=c45",
        choices=CRITERIA,
        matters_when={TASK: "classifier"},
        default_means=_default_criterion,
    )
    gate: str = param(
        "mean-gain",
        "which columns may compete under c45",
        choices=("mean-gain", "none"),
        matters_when={"algorithm": "c45"},
    )
    max_depth: int | None = param(None, "the depth of a tree at most", ge=1, tune=Range(1, 20, simpler="low"))
    min_leaf: int = param(1, "how many rows a leaf holds at least", ge=1, tune=log_range(1, 50, simpler="high"))
    min_split: int = param(2, "how many rows a node needs to be split", ge=2)
    min_gain: float = param(0.0, "what a split must gain more than", ge=0.0)
    purity: float = param(1.0, "a node at least this pure is a leaf", gt=0.0, le=1.0)
    bins: int | None = param(
        None, "into how many bins numbers are sorted at most; none: every value is tried", ge=2, le=MOST_BINS
    )
    missing: str = param("own-value", "what an empty cell counts as", choices=("own-value", "most-frequent"))
    prune: str = param(
        "auto",
        "how the grown tree is cut back; auto: what suits the algorithm",
        choices=("auto", *PRUNINGS),
        if_given=True,
        default_means=_default_pruning,
    )
    prune_alpha: float | None = param(
        None, "what a leaf costs under cost-complexity; none: what inner folds find best", ge=0, if_given=True
    )
    confidence: float = param(
        0.25,
        "how unlikely the errors are that pessimistic fears",
        gt=0,
        lt=1,
        if_given=True,
        matters_when={"prune": "pessimistic", TASK: "classifier"},
    )
    validation: float = param(
        0.25,
        "the share of rows that reduced-error holds out",
        gt=0,
        lt=1,
        if_given=True,
        matters_when={"prune": "reduced-error"},
    )
    folds: int = param(
        5,
        "how many folds cost-complexity splits the rows into",
        ge=2,
        if_given=True,
        matters_when={"prune": ("cost-complexity", "pessimistic"), "prune_alpha": None},
    )
    prune_rows: int = param(
        5, "how many rows small leaves in every branch", ge=1, if_given=True, matters_when={"prune": "small"}
    )
    prune_gain: float = param(
        0.0, "what a split must gain more than under small", ge=0, if_given=True, matters_when={"prune": "small"}
    )
    detail: str = explain_param("full: show the gain of every candidate split at the first nodes, too")

    fills_: Array = learned("columns")
    tree_: Trees = learned(structure=Trees)
    leaves_grown_: int = learned()
    """The number of leaves before pruning."""
    candidates_: tuple[Candidate, ...] = learned()

    def conflicts(self) -> list[str]:
        """A price of leaves without cost-complexity pruning."""
        if self.prune_alpha is None or self.prune == "cost-complexity":
            return []
        return [f"prune_alpha is of prune=cost-complexity; prune is {self.prune}"]

    @property
    def unstable(self) -> bool:
        """Whether nothing limits or prunes the tree."""
        pruned = self.prune != "none" and (self.prune != "auto" or self.algorithm == "c45")
        return not pruned and self.max_depth is None and self.min_leaf < STABLE_LEAF

    @property
    def accepts(self) -> Accepts:
        """Anything."""
        return Accepts(nominal=True, missing=True, weights=True)

    def fit(self, data: SupervisedRows, rng: np.random.Generator) -> None:
        """Fill missing cells, grow the tree, then prune it."""
        data = data.counted()
        self.fills_ = np.full(len(data.table.columns), np.nan)
        if self.missing == "most-frequent":
            self.fills_ = most_frequent_values(data.table, data.weights)
        task = "classifier" if isinstance(data, LabelledRows) else "regressor"
        pruning = _default_pruning(self, task) if self.prune == "auto" else self.prune
        grown, leaf = PRUNINGS[pruning](self, data, rng)
        self.tree_ = cut_back(grown, leaf) if leaf.any() else grown
        self.leaves_grown_ = int(grown.leaves.sum())
        self.candidates_ = ()
        if self.detail == "full":
            nodes = self.tree_.nodes_of(self.cells(data.table))[0]
            self.candidates_ = candidates(NamedTree(self.tree_, self.columns_, ()), *self._grower(data), nodes)

    def cells(self, table: Table) -> Cells:
        """A table as trees read it."""
        return cells_of(table, self.fills_)

    def grow(self, data: SupervisedRows) -> Trees:
        """The tree of some rows before any pruning."""
        grower, targets = self._grower(data)
        grown, _ = grower.grow(targets, np.flatnonzero(data.weights))
        return grower.to_trees([grown], targets.scale)

    def _grower(self, data: SupervisedRows) -> tuple[Grower, PackedTargets]:
        """What grows the tree, and what rows add to its nodes."""
        from mlcli.kernels.trees.records import NO_LIMIT, Limits

        criterion = "squared-error"
        if isinstance(data, LabelledRows):
            criterion = self.criterion or ALGORITHMS[self.algorithm]
        limits = Limits(
            *CRITERIA[criterion],
            max_depth=self.max_depth or NO_LIMIT,
            min_leaf=self.min_leaf if self.min_leaf > 1 else 0,
            min_split=self.min_split if self.min_split > 2 else 0,
            min_gain=self.min_gain,
            purity=self.purity,
            by_ratio=self.algorithm == "c45",
            gated=self.algorithm == "c45" and self.gate == "mean-gain",
        )
        cells, targets = self.cells(data.table), Targets.of(data.outputs)
        if self.bins is None:
            binned = bin_every_value(data.table, cells)
        else:
            binned = bin_columns(cells, self.bins, data.weights, wide=True)
        grower = Grower(binned, limits, targets.slots, each_level=self.algorithm != "cart")
        return grower, targets.packed(*in_units(data.weights))

    def predict_proba(self, table: Table) -> Array:
        """The class shares of each row's node."""
        return self.tree_.predict(self.cells(table))

    def predict_values(self, table: Table) -> Array:
        """The mean of each row's node."""
        return self.predict_proba(table)[:, 0]

    def adjustable_parameters(self, table: Table) -> float | None:
        """The leaves."""
        return float(self.tree_.leaves.sum())

    def importances(self) -> Array:
        """Per column the share of all gains."""
        return importances(self.tree_, len(self.columns_))

    def explain(self) -> findings.Explanation:
        """The tree as rules, each class as an OR of ANDs while that is short, and what each column is worth."""
        tree, columns = self.tree_, self.columns_
        named = NamedTree(tree, columns, self._answers())
        sections: list[findings.Finding] = [rules(named, leaves_grown=self.leaves_grown_)]
        if tree.value.shape[1] > 1 and tree.leaves.sum() <= MOST_LEAVES:
            sections.append(class_rules(named))
        if not tree.leaves[0]:
            share, depth = use_of_columns(tree, len(columns))
            more = {"share of rows split": share, "depth of first split": np.nan_to_num(depth).astype(int)}
            sections.append(importance_table(columns, self.importances(), more, share > 0))
        if self.candidates_:
            measure = "variance" if self.classes_ is None else self.criterion or ALGORITHMS[self.algorithm]
            sections.append(candidate_table(self.candidates_, measure))
        return tuple(sections)

    def _answers(self) -> list[str]:
        """The prediction of each node."""
        if self.classes_ is None:
            return [f"{mean:.6g}" for mean in self.tree_.value[:, 0]]
        return [self.classes_[code] for code in self.decide(self.tree_.value)]

    def explain_answer(self, table: Table) -> findings.Explanation:
        """The path to the row's node: each condition with its training rows and the prediction so far."""
        tree, parent = self.tree_, self.tree_.parent
        named = NamedTree(tree, self.columns_, self._answers())
        path = [int(tree.nodes_of(self.cells(table))[0, 0])]
        while parent[path[-1]] != path[-1]:
            path.append(int(parent[path[-1]]))
        path.reverse()
        conditions = ["all rows", *(dict(named.branches(node))[child] for node, child in pairwise(path))]
        outputs = [self.target_] if self.classes_ is None else self.classes_
        of_classes = tree.value.shape[1] > 1
        values = tree.value * tree.weight[:, None] if of_classes else tree.value
        lines = []
        for condition, node in zip(conditions, path, strict=True):
            gain = None if tree.leaves[node] else float(tree.gain[node] / tree.weight[node])
            lines.append((condition, float(tree.weight[node]), *values[node].tolist(), gain, named.answers[node]))
        header = ("", "training rows", *outputs, "gain of the split", "answer")
        return (findings.Table("Path through the tree", header, tuple(lines)),)

    def check_learned(self) -> None:
        """Refuse a tree that does not fit these columns."""
        levels = level_counts(self.columns_)
        if ((levels > 0) & ((self.fills_ < 0) | (self.fills_ >= levels))).any():
            raise ValueError("the saved tree fills with levels that are not there")
        if len(self.tree_) != 1 or self.leaves_grown_ < 1:
            raise ValueError("the saved tree is not one")
        self.tree_.check(levels, 1 if self.classes_ is None else len(self.classes_))


def most_frequent_values(table: Table, weights: Array) -> Array:
    """The most frequent value of each column; of equally frequent ones the first level, or the middle number."""
    results = []
    for column, cells in table.parts():
        known = ~is_missing(cells)
        if not known.any():
            results.append(np.nan)
            continue
        values, index = np.unique(cells[known], return_inverse=True)
        counts = np.bincount(index, weights=weights[known])
        tied = values[counts >= counts.max() * (1 - 1e-12)]
        results.append(float(tied[0] if column.coded else tied[(len(tied) - 1) // 2]))
    return np.array(results, dtype=float)


def class_rules(named: NamedTree) -> findings.Lines:
    """Each class as an OR of ANDs, with a line for each path to it."""
    paths_by_class: dict[str, list[str]] = {}
    for node, path in named.paths():
        if named.tree.leaves[node]:
            conditions = (f"({part})" if part.endswith(OR_MISSING) and len(path) > 1 else part for part in path)
            text = f"({' AND '.join(conditions) or 'always'})"
            paths_by_class.setdefault(named.answers[node], []).append(text)
    lines = []
    for answer, paths in paths_by_class.items():
        lines += [f"{answer} = {paths[0]}", *(f"  OR {path}" for path in paths[1:])]
    return findings.Lines("Rules of each class (disjunctive normal form)", tuple(lines))


@dataclass(frozen=True)
class Cut:
    """The best split of some rows by one column."""

    column: int
    at: float
    """The threshold or level; NaN for a branch for each level."""
    impurity: float
    gain: float
    information: float
    """The entropy of the weights of the branches (C4.5's split information)."""


def cuts(grower: Grower, targets: PackedTargets, rows: Rows) -> Iterator[Cut]:
    """Every split of rows by a nominal column, and the best threshold of the others; none if rows are pure."""
    from mlcli.kernels.trees.records import Binned

    columns = grower.binned
    for column, ordered in enumerate(columns.ordered):
        codes = columns.bins[column]
        if ordered or grower.each_level:
            yield from _best_cut(grower, targets, rows, column)
            continue
        levels = np.unique(codes[rows])
        for level in levels if len(levels) > 2 else levels[:1]:
            ends = np.zeros((1, 2))
            # A single ordered column: 0 for rows of this level, 1 for the others.
            is_other = (codes != level)[None].astype(np.uint16)
            against_rest = Binned(is_other, np.array([2]), np.array([True]), ends, ends)
            for cut in _best_cut(replace(grower, binned=against_rest), targets, rows, 0):
                yield replace(cut, column=column, at=float(level))


def _best_cut(grower: Grower, targets: PackedTargets, rows: Rows, column: int) -> Iterator[Cut]:
    """The best split by one column, whatever it gains: that of a tree of depth 1."""
    limits = grower.limits._replace(max_depth=1, min_gain=-np.inf, purity=1.0, gated=False)
    stump_grower = replace(grower, limits=limits)
    grown, _ = stump_grower.grow(targets, rows, np.array([column]))
    tree = stump_grower.to_trees([grown], targets.scale)
    if not tree.leaves[0]:
        shares = tree.weight[1:] / tree.weight[0]
        at, impurity, gain = map(float, (tree.threshold[0], tree.impurity[0], tree.gain[0] / tree.weight[0]))
        yield Cut(column, at, impurity, gain, float(-(shares * np.log2(shares)).sum()))


def candidates(named: NamedTree, grower: Grower, targets: PackedTargets, nodes: Rows) -> tuple[Candidate, ...]:
    """The candidate splits of the first nodes, the largest gains first; ``nodes`` has the node of each row."""
    tree, results = named.tree, list[Candidate]()
    parent, depth = tree.parent, int(tree.depths().max())
    for node, path in sorted(named.paths(), key=lambda path: len(path[1])):
        if len(path) > CANDIDATE_DEPTH:
            break
        node_of_row = nodes
        for _ in range(depth):  # climb until this node is reached
            node_of_row = np.where(node_of_row == node, node, parent[node_of_row])
        rows = np.flatnonzero(node_of_row == node)
        for cut in sorted(cuts(grower, targets, rows), key=lambda cut: -cut.gain):
            taken = tree.feature[node] == cut.column and (np.isnan(cut.at) or tree.threshold[node] == cut.at)
            split = _split_text(named.columns[cut.column], cut.at)
            node_text, mark = " AND ".join(path) or "all rows", "taken" if taken else ""
            results.append((node_text, cut.impurity, split, mark, cut.gain, cut.information))
    return tuple(results)


def _split_text(column: Column, at: float) -> str:
    if np.isnan(at):
        return f"{column.name}: each level"
    if is_ordered(column):
        return f"{column.name} is known" if np.isinf(at) else f"{column.name} ≤ {bound(at, column)}"
    return f"{column.name} = {[*column.levels, 'missing'][int(at)]}"


def candidate_table(results: tuple[Candidate, ...], measure: str) -> findings.Table:
    """All candidates; a gain ratio only of entropies, where bits are divided by bits."""
    header: tuple[str, ...] = ("node", measure, "split", "", f"decrease of {measure}")
    rows: tuple[tuple[findings.Entry, ...], ...] = tuple(candidate[:5] for candidate in results)
    if measure == "entropy":
        header = (*header, "split information", "gain ratio")
        gains, information = np.array([candidate[4:] for candidate in results]).T
        ratios = quotient(gains, information).tolist()
        rows = tuple((*candidate, ratio) for candidate, ratio in zip(results, ratios, strict=True))
    note = f"of impure nodes down to depth {CANDIDATE_DEPTH}"
    return findings.Table("Gain of every candidate split", header, rows, note=note)
