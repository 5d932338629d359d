"""Pruning a grown tree: splits that do not pay become leaves, from the bottom up.

A cost of every node as a leaf decides: its loss on rows held out, the errors that training rows make plausible, or
its loss on training rows plus the price of a leaf (Breiman et al. 1984).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from mlcli.core import CLOSE, ROUNDING
from mlcli.core.errors import MlcliWarning
from mlcli.core.tables import Array, Flags
from mlcli.engines.content_seeds import order_of_content
from mlcli.engines.inner_validation import inner_folds, inner_holdout, parts_of_folds
from mlcli.engines.trees.structure import LEAF, STOPS, Trees
from mlcli.tasks.supervised import LabelledRows, SupervisedRows

if TYPE_CHECKING:
    from mlcli.models.trees.decision_tree import DecisionTree

Pruned = tuple[Trees, Flags]
"""A grown tree, and which of its nodes become leaves."""


def grown_out(model: DecisionTree, data: SupervisedRows, rng: np.random.Generator) -> Pruned:
    """The tree without pruning."""
    tree = model.grow(data)
    return tree, np.zeros(len(tree.feature), bool)


def by_reduced_error(model: DecisionTree, data: SupervisedRows, rng: np.random.Generator) -> Pruned:
    """A tree of some rows; nodes become leaves if that costs no more on the others, which are held out."""
    data = data.take(order_of_content(data))
    is_test = inner_holdout(data, model.validation, rng)
    if is_test.all() or not is_test.any():
        text = f"{len(data)} rows are too few to hold some out: the tree is not pruned"
        warnings.warn(text, MlcliWarning, stacklevel=3)
        return grown_out(model, data, rng)
    tree, test = model.grow(data.take(np.flatnonzero(~is_test))), data.take(np.flatnonzero(is_test))
    rows, node = np.arange(len(test)), tree.nodes_of(model.cells(test.table))[0]
    cost, parent = np.zeros(len(tree.feature)), tree.parent
    stopped = np.bincount(node, _losses(model, test, tree.value[node]), len(cost)).astype(np.float64)
    while len(rows):  # climb from the leaves: every row counts at all nodes on its way
        cost += np.bincount(node, _losses(model, test.take(rows), tree.value[node]), len(cost))
        climbs = parent[node] != node
        rows, node = rows[climbs], parent[node[climbs]]
    return tree, where_leaves_cost_no_more(tree, cost, stopped)


def by_cost_complexity(model: DecisionTree, data: SupervisedRows, rng: np.random.Generator) -> Pruned:
    """A tree whose splits remove at least the price of the leaves that they add.

    Without a given price, it is the one with the least loss in inner folds; of equal ones the largest.
    """
    tree = model.grow(data)
    node_prices = prices(tree)
    if model.prune_alpha is not None:
        return tree, node_prices <= model.prune_alpha
    data = data.take(order_of_content(data))
    parts = parts_of_folds(inner_folds(data, model.folds, rng))
    if not parts:
        return tree, node_prices <= 0.0
    tried = prices_between(node_prices)
    loss = np.zeros(len(tried))
    for train, test_rows in parts:
        fold_tree, test = model.grow(data.take(train)), data.take(test_rows)
        fold_prices, cells = prices(fold_tree), model.cells(test.table)
        for index, price in enumerate(tried):
            predictions = cut_back(fold_tree, fold_prices <= price).predict(cells)
            loss[index] += _losses(model, test, predictions).sum()
    best = np.flatnonzero(loss <= loss.min() * (1 + ROUNDING))[-1]
    return tree, node_prices <= float(tried[best])


def by_pessimism(model: DecisionTree, data: SupervisedRows, rng: np.random.Generator) -> Pruned:
    """A tree whose leaves have fewer plausible errors on training rows than the nodes above them."""
    if not isinstance(data, LabelledRows):
        text = f"pessimistic counts errors of classes, but {data.target} is a number: cost-complexity is used"
        warnings.warn(text, MlcliWarning, stacklevel=3)
        return by_cost_complexity(model, data, rng)
    tree = model.grow(data)
    errors = tree.weight * (1 - tree.value.max(axis=1))
    return tree, where_leaves_cost_no_more(tree, tree.weight * upper_limit(errors, tree.weight, model.confidence))


def by_smallness(model: DecisionTree, data: SupervisedRows, rng: np.random.Generator) -> Pruned:
    """A tree without splits that gain little or have a branch of few rows, unless better splits are below."""
    tree = model.grow(data)
    gain, parent, weight = tree.gain / tree.weight, tree.parent, tree.weight
    if model.algorithm == "c45":
        share = weight[1:] / weight[parent[1:]]
        information = np.bincount(parent[1:], -share * np.log2(share), len(weight))
        gain = np.divide(gain, information, out=np.zeros(len(gain)), where=information > 0)
    fewest = np.full(len(weight), np.inf)
    np.minimum.at(fewest, parent[1:], weight[1:])
    small = (gain <= model.prune_gain * (1 + CLOSE)) | (fewest < model.prune_rows * (1 - CLOSE))
    splits_below = np.zeros(len(weight), bool)
    for node in range(len(weight) - 1, 0, -1):  # children before their parents
        splits_below[parent[node]] |= not tree.leaves[node] and (splits_below[node] or not small[node])
    return tree, small & ~splits_below & ~tree.leaves


def _losses(model: DecisionTree, data: SupervisedRows, predictions: Array) -> Array:
    """The weighted loss of each row."""
    return np.asarray(data.weights * data.task.losses(model, data, predictions))


PRUNINGS: dict[str, Callable[[DecisionTree, SupervisedRows, np.random.Generator], Pruned]] = {
    "none": grown_out,
    "reduced-error": by_reduced_error,
    "cost-complexity": by_cost_complexity,
    "pessimistic": by_pessimism,
    "small": by_smallness,
}


def cut_back(tree: Trees, leaf: Flags) -> Trees:
    """The tree in which some nodes are leaves, without the nodes below them."""
    kept, parent, depths = np.ones(len(leaf), bool), tree.parent, tree.depths()
    for depth in range(1, int(depths.max()) + 1):
        nodes = np.flatnonzero(depths == depth)
        kept[nodes] = kept[parent[nodes]] & ~leaf[parent[nodes]]
    number = np.append(np.where(kept, kept.cumsum() - 1, STOPS), STOPS).astype(np.int32)  # at -1: no child
    inner = (~tree.leaves & ~leaf)[kept]
    gain = tree.gain[kept] if len(tree.gain) else tree.gain
    return replace(
        tree,
        feature=np.where(inner, tree.feature[kept], LEAF).astype(np.int32),
        threshold=np.where(inner, tree.threshold[kept], np.nan),
        left=np.where(inner, number[tree.left[kept]], LEAF).astype(np.int32),
        missing=np.where(inner, number[tree.missing[kept]], STOPS).astype(np.int32),
        offset=np.where(inner, tree.offset[kept], -1).astype(np.int32),
        child_of=number[tree.child_of],
        value=tree.value[kept],
        weight=tree.weight[kept] if len(tree.weight) else tree.weight,
        impurity=tree.impurity[kept] if len(tree.impurity) else tree.impurity,
        gain=np.where(inner, gain, 0.0) if len(gain) else gain,
    )


def where_leaves_cost_no_more(tree: Trees, cost: Array, stopped: Array | float = 0.0) -> Flags:
    """Which nodes cost no more as leaves than the pruned subtrees below them.

    ``cost`` is the cost of each node as a leaf, ``stopped`` that of the rows that no branch of it fits.
    """
    below, parent, leaf = np.zeros(len(cost)) + stopped, tree.parent, tree.leaves.copy()
    for node in range(len(cost) - 1, -1, -1):  # children before their parents
        leaf[node] |= cost[node] <= below[node] * (1 + CLOSE) + CLOSE**2
        if node:
            below[parent[node]] += cost[node] if leaf[node] else below[node]
    return leaf & ~tree.leaves


def upper_limit(errors: Array, rows: Array, confidence: float) -> Array:
    """The upper confidence limit of the error rate: so few errors or fewer have the probability ``confidence``."""
    from scipy.special import betaincinv

    limit, some_right = np.ones(len(rows)), errors < rows * (1 - CLOSE)
    errors, rows = errors[some_right], rows[some_right]
    limit[some_right] = betaincinv(errors + 1, rows - errors, 1 - confidence)
    return limit


def prices(tree: Trees) -> Array:
    """The price of a leaf from which on each node is a leaf or gone; infinite for nodes that are leaves anyway.

    Weakest-link pruning: again and again the node becomes a leaf whose splits gain least for each leaf they add.
    """
    own = tree.weight * tree.impurity / tree.weight[0]
    parent, inner, first, count = tree.parent, ~tree.leaves, tree.left, tree.children
    below, leaves = np.where(inner, 0.0, own), np.where(inner, 0, 1)
    for node in range(len(own) - 1, 0, -1):  # children before their parents
        below[parent[node]] += below[node]
        leaves[parent[node]] += leaves[node]
    link = np.full(len(own), np.inf)
    link[inner] = (own - below)[inner] / (leaves - 1)[inner]
    result, price = np.full(len(own), np.inf), 0.0
    while np.isfinite(link[0]):
        weakest = int(np.argmin(link))
        result[weakest] = price = max(price, float(link[weakest]))
        gone = [weakest]
        while gone:
            node = gone.pop()
            link[node] = np.inf
            gone.extend(child for child in range(first[node], first[node] + count[node]) if link[child] < np.inf)
        worse, fewer, node = own[weakest] - below[weakest], leaves[weakest] - 1, weakest
        while node:
            node = parent[node]
            below[node] += worse
            leaves[node] -= fewer
            link[node] = (own[node] - below[node]) / (leaves[node] - 1)
    return result


def prices_between(result: Array) -> Array:
    """A price for each tree of weakest-link pruning, or for 50 of them; the first is 0."""
    steps = np.unique(np.append(result[np.isfinite(result)], 0.0))
    middle = np.append(np.sqrt(steps[:-1] * steps[1:]), steps[-1])
    shown = np.linspace(0, len(middle) - 1, min(50, len(middle))).round().astype(int)
    return np.asarray(middle[shown])
