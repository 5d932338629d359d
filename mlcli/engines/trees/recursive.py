"""Growing a tree by recursion, in NumPy: the multiway trees of ID3 and C4.5, and small trees of any kind.

An ordered column is cut at a threshold. A nominal one has a branch for every level (ID3, C4.5), or one level is
split from the rest (CART); a missing level is a level.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from mlcli.core.moments import quotient
from mlcli.core.tables import Array, Rows
from mlcli.engines.trees.binning import Binned
from mlcli.engines.trees.criteria import Criterion, Limits, plogp
from mlcli.engines.trees.structure import LEAF, STOPS, Trees, trees_of
from mlcli.engines.trees.targets import Targets

SMALLEST = (8 * np.finfo(float).eps) ** 2
"""A spread is rounding if it is at most this times the squared mean."""


@dataclass(frozen=True, eq=False)
class Cut:
    """The best way to split a node by one column: what it gains (-inf where there is none).

    Of an ordered column, bins up to ``low`` go left, those from ``high`` on right, and missing ones left where
    ``missing_left``. Of one level against the rest, ``low`` is the level.
    """

    gain: float = -np.inf
    information: float = 0.0
    """The entropy of the branches' weights (C4.5's split information)."""
    low: int = 0
    high: int = 0
    missing_left: bool = False


@dataclass(frozen=True, eq=False)
class Node:
    """The rows of a node, what they sum up to, and how impure they are."""

    rows: Rows
    amounts: Array
    """What each row adds to the sums (rows × K); values are counted from the mean, to keep digits."""
    weights: Array
    mean: Array
    spread: float
    impurity: float

    @staticmethod
    def of(targets: Targets, rows: Rows, criterion: Criterion) -> Node:
        """The node of some rows."""
        weights, slot = targets.weight[rows], targets.slot[rows]
        outputs = np.zeros((len(rows), targets.slots))
        outputs[np.arange(len(rows)), slot] = targets.output[rows]
        sums = weights @ outputs
        mean = sums / (sums.sum() if targets.slots > 1 else weights.sum())
        spread = float(weights @ ((outputs - mean) ** 2).sum(axis=1) / weights.sum())
        spread = spread if spread > SMALLEST * float(mean @ mean) else 0.0
        centred = outputs if targets.slots > 1 else outputs - mean
        impurity = float(criterion.impurity(mean[None], np.array([spread]))[0])
        return Node(rows, centred * weights[:, None], weights, mean, spread, impurity)


@dataclass(frozen=True, eq=False)
class Runs:
    """The rows of a node by the bins of one column, ascending: what each bin sums up to."""

    names: Rows
    sums: Array
    weights: Array

    @staticmethod
    def of(codes: Rows, node: Node) -> Runs:
        """From the bin of each row."""
        order = np.argsort(codes, kind="stable")
        ascending = codes[order]
        starts = np.flatnonzero(np.r_[True, ascending[1:] != ascending[:-1]])
        sums = np.add.reduceat(node.amounts[order], starts, axis=0)
        return Runs(ascending[starts], sums, np.add.reduceat(node.weights[order], starts))

    def gains(self, sums: Array, weights: Array, criterion: Criterion, least: float) -> Array:
        """What is taken away if ``sums`` and ``weights`` go left, for each way; -inf if a side is too light."""
        whole, weight = self.sums.sum(axis=0), self.weights.sum()
        rest = weight - weights
        after = criterion.total(sums, weights) + criterion.total(whole - sums, rest)
        before = criterion.total(whole[None], np.array([weight]))
        possible = (weights >= least) & (rest >= least) & (weights > 0) & (rest > weight * 1e-15)
        return np.where(possible, (before - after) / weight, -np.inf)


def at_a_threshold(runs: Runs, known: int, criterion: Criterion, least: float, tolerance: float) -> Cut:
    """Everything up to a bin against the rest, missing rows (bin ``known``) on either side."""
    missing = runs.names[-1] == known
    places = len(runs.names) - 1
    if not places:
        return Cut()
    sums, weights = runs.sums.cumsum(axis=0)[:-1], runs.weights.cumsum()[:-1]
    gains = np.full((places, 2), -np.inf)
    gains[:, 0] = runs.gains(sums, weights, criterion, least)
    if missing:
        gains[:-1, 1] = runs.gains(sums + runs.sums[-1], weights + runs.weights[-1], criterion, least)[:-1]
    gain, best = first_of_the_best(gains.ravel(), tolerance)
    place, side = divmod(best, 2)
    left = weights[place] + side * runs.weights[-1]
    low, high = runs.names[place], runs.names[place + 1]
    return Cut(gain, information(np.array([left, runs.weights.sum() - left])), int(low), int(high), side == 1)


def one_against_the_rest(runs: Runs, known: int, criterion: Criterion, least: float, tolerance: float) -> Cut:
    """One level of a nominal column against all others."""
    if len(runs.names) < 2:
        return Cut()
    gain, best = first_of_the_best(runs.gains(runs.sums, runs.weights, criterion, least), tolerance)
    left = runs.weights[best]
    return Cut(gain, information(np.array([left, runs.weights.sum() - left])), int(runs.names[best]))


def one_branch_each(runs: Runs, known: int, criterion: Criterion, least: float, tolerance: float) -> Cut:
    """A branch for every level of a nominal column that the node holds."""
    if len(runs.names) < 2 or runs.weights.min() < least:
        return Cut()
    whole, weight = runs.sums.sum(axis=0, keepdims=True), runs.weights.sum(keepdims=True)
    gain = criterion.total(whole, weight) - criterion.total(runs.sums, runs.weights).sum()
    return Cut(float(gain[0] / weight[0]), information(runs.weights))


def first_of_the_best(gains: Array, tolerance: float) -> tuple[float, int]:
    """The first of the largest but for rounding, and where it stands."""
    best = int(np.argmax(gains >= gains.max() - tolerance))
    return float(gains[best]), best


def information(weights: Array) -> float:
    """The entropy of branches by their weights."""
    return float(-plogp(weights / weights.sum()).sum())


GATES: dict[str, Callable[[Array], float]] = {
    "mean-gain": lambda gains: gains.sum() / max(len(gains), 1),
    "none": lambda gains: -np.inf,
}
"""What a split must gain to compete, by what all possible ones gain."""


@dataclass(frozen=True)
class Algorithm:
    """One way to grow a tree: how nominal columns branch, which impurity is its own, and how columns compete."""

    criterion: str
    each_level: bool = True
    """Whether every level has a branch, or one is split from the rest."""
    gate: str | None = "none"
    """The gate, where a parameter cannot choose another."""
    score: Callable[[Array, Array], Array] = lambda gain, information: gain

    def choose(self, gain: Array, information: Array, tolerance: float, gate: str, min_gain: float) -> int:
        """The first column with the best score, or LEAF if it is not above ``min_gain``."""
        if not len(gain):
            return LEAF
        possible = gain > -np.inf
        allowed = possible & (gain >= GATES[self.gate or gate](gain[possible]) - tolerance)
        score = np.where(allowed, self.score(gain, information), -np.inf)
        rounding = self.score(np.full(len(gain), tolerance), information)
        first = int(np.argmax(score + rounding >= score.max()))
        return first if score.max() > min_gain + tolerance else LEAF


ALGORITHMS = {
    "cart": Algorithm("gini", each_level=False),
    "id3": Algorithm("entropy"),
    "c45": Algorithm("entropy", gate=None, score=quotient),
}


@dataclass(frozen=True, eq=False)
class RecursiveGrower:
    """Binned rows with their targets, and the rules of a tree."""

    binned: Binned
    levels: Rows
    targets: Targets
    criterion: Criterion
    algorithm: Algorithm
    gate: str
    limits: Limits

    def grow(self) -> Trees:
        """Split node after node, each before those below it."""
        root = Node.of(self.targets, np.arange(len(self.targets.slot)), self.criterion)
        waiting, grown, count = [(root, 0, 0)], dict[int, dict[str, Any]](), 1
        child_of = np.empty(0, np.int32)
        while waiting:
            node, place, depth = waiting.pop()
            weight = node.weights.sum()
            grown[place] = {"value": node.mean, "weight": weight, "impurity": node.impurity}
            column, cut = self._split(node, depth, root.spread)
            if column == LEAF:
                continue
            branches, question = self._branches(node, column, cut, count)
            if "child_of" in question:
                question["offset"], child_of = len(child_of), np.append(child_of, question.pop("child_of"))
            grown[place] |= question | {"gain": cut.gain * weight}
            below = [Node.of(self.targets, rows, self.criterion) for rows in branches]
            waiting += [(one, count + k, depth + 1) for k, one in enumerate(below)][::-1]
            count += len(branches)
        arrays = trees_of(count, self.targets.slots) | {"child_of": child_of}
        for place, described in grown.items():
            for name, one in described.items():
                arrays[name][place] = one
        return Trees(**arrays)

    def _split(self, node: Node, depth: int, root_spread: float) -> tuple[int, Cut]:
        """The column that a node asks for, and its cut; or LEAF."""
        limits, criterion = self.limits, self.criterion
        impure = criterion.impurer_than(limits.purity, node.mean, node.spread, root_spread)
        deep = limits.max_depth is not None and depth >= limits.max_depth
        if deep or not impure or node.weights.sum() < limits.fewest:
            return LEAF, Cut()
        tolerance = criterion.tolerance(node.impurity)
        cuts = list(self.cuts(node, tolerance))
        gain, information = np.array([[cut.gain, cut.information] for cut in cuts]).reshape(-1, 2).T
        column = self.algorithm.choose(gain, information, tolerance, self.gate, limits.min_gain)
        return column, Cut() if column == LEAF else cuts[column]

    def cuts(self, node: Node, tolerance: float) -> Iterator[Cut]:
        """The best cut by each column."""
        codes = self.binned.bins[:, node.rows]
        nominal = one_branch_each if self.algorithm.each_level else one_against_the_rest
        for column, known in enumerate(self.binned.known):
            search = nominal if self.levels[column] else at_a_threshold
            yield search(Runs.of(codes[column], node), int(known), self.criterion, self.limits.least, tolerance)

    def _branches(self, node: Node, column: int, cut: Cut, first: int) -> tuple[list[Rows], dict[str, Any]]:
        """The rows of each child, numbered from ``first``, and what is noted of the question."""
        codes, known = self.binned.bins[column, node.rows].astype(np.intp), self.binned.known[column]
        question: dict[str, Any] = {"feature": column, "left": first}
        if self.algorithm.each_level and self.levels[column]:
            present, branch = np.unique(codes, return_inverse=True)
            question["child_of"] = np.full(self.levels[column], STOPS, np.int32)
            question["child_of"][present] = first + np.arange(len(present))
            return [node.rows[branch == k] for k in range(len(present))], question
        if self.levels[column]:
            question["threshold"], goes_left = float(cut.low), codes == cut.low
        else:
            at = np.array([column]), np.array([cut.low]), np.array([cut.high])
            question["threshold"], empty = float(self.binned.between(*at)[0]), codes == known
            goes_left = np.where(empty, cut.missing_left, codes <= cut.low)
            if empty.any():
                question["missing"] = first if cut.missing_left else first + 1
        return [node.rows[goes_left], node.rows[~goes_left]], question
