"""Pruning a grown tree: nodes whose questions do not repay become leaves, from the bottom up.

Which ones, a cost for every node says: errors on rows held out, errors that training rows make plausible, or the
price of a leaf that would outweigh what the questions below take away (Breiman et al. 1984).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from mlcli.core.errors import MlcliWarning
from mlcli.core.tables import Array, Flags
from mlcli.core.tolerances import CLOSE
from mlcli.engines.content_seeds import order_of_content
from mlcli.engines.inner_validation import inner_folds, inner_holdout, parts_of_folds
from mlcli.engines.trees.structure import LEAF, NOTES, PER_NODE, STOPS, Trees
from mlcli.tasks.classification import LabelledRows
from mlcli.tasks.supervised import SupervisedRows

if TYPE_CHECKING:
    from mlcli.models.trees.decision_tree import DecisionTree

MOST_PRICES = 50
"""How many prices of a leaf are tried at most."""
Pruned = tuple[Trees, Flags]
"""A grown tree, and which of its nodes become leaves."""


def grown_out(model: DecisionTree, data: SupervisedRows, rng: np.random.Generator) -> Pruned:
    """The tree as it is grown."""
    tree = model.grow(data)
    return tree, np.zeros(len(tree.feature), bool)


def by_reduced_error(model: DecisionTree, data: SupervisedRows, rng: np.random.Generator) -> Pruned:
    """A tree of some rows, cut back where nodes cost the others, which are held out, no more as leaves."""
    data = data.take(order_of_content(data))
    held = inner_holdout(data, model.validation, rng)
    if held.all() or not held.any():
        text = f"{len(data)} rows are too few to hold some out: the tree is not pruned"
        warnings.warn(text, MlcliWarning, stacklevel=3)
        return grown_out(model, data, rng)
    tree, rest = model.grow(data.take(np.flatnonzero(~held))), data.take(np.flatnonzero(held))
    rows, at = np.arange(len(rest)), tree.nodes_of(model.cells(rest.table))[0]
    own, parent = np.zeros(len(tree.feature)), tree.parent
    stopped = np.bincount(at, _losses(model, rest, tree.value[at]), len(own)).astype(np.float64)
    while len(rows):
        own += np.bincount(at, _losses(model, rest.take(rows), tree.value[at]), len(own))
        climbs = parent[at] != at
        rows, at = rows[climbs], parent[at[climbs]]
    return tree, where_leaves_cost_no_more(tree, own, stopped)


def by_cost_complexity(model: DecisionTree, data: SupervisedRows, rng: np.random.Generator) -> Pruned:
    """A tree whose questions take away at least the price of the leaves that they add."""
    tree = model.grow(data)
    result = prices(tree)
    price = model.prune_alpha if model.prune_alpha is not None else _best_price(model, data, result, rng)
    return tree, result <= price


def _best_price(model: DecisionTree, data: SupervisedRows, result: Array, rng: np.random.Generator) -> float:
    """The price with the least loss on folds that trees of the others are asked about; of equals the largest."""
    data = data.take(order_of_content(data))
    tried, parts = prices_between(result), parts_of_folds(inner_folds(data, model.folds, rng))
    if not parts:
        return 0.0
    loss = np.zeros(len(tried))
    for train, test in parts:
        tree = model.grow(data.take(train))
        rest, own = data.take(test), prices(tree)
        cells = model.cells(rest.table)
        for index, price in enumerate(tried):
            loss[index] += _losses(model, rest, cut_back(tree, own <= price).predict(cells)).sum()
    return float(tried[np.flatnonzero(loss <= loss.min() * (1 + 1e-12))[-1]])


def by_pessimism(model: DecisionTree, data: SupervisedRows, rng: np.random.Generator) -> Pruned:
    """A tree whose leaves are plausibly wrong about fewer training rows than the nodes above them."""
    if not isinstance(data, LabelledRows):
        text = f"pessimistic counts errors of classes, but {data.target} is a number: cost-complexity is used"
        warnings.warn(text, MlcliWarning, stacklevel=3)
        return by_cost_complexity(model, data, rng)
    tree = model.grow(data)
    errors = tree.weight * (1 - tree.value.max(axis=1))
    return tree, where_leaves_cost_no_more(tree, tree.weight * upper_limit(errors, tree.weight, model.confidence))


def by_smallness(model: DecisionTree, data: SupervisedRows, rng: np.random.Generator) -> Pruned:
    """A tree without questions that gain little or have a branch of few rows, but for those above better ones."""
    tree = model.grow(data)
    gain, parent, weight = tree.gain / tree.weight, tree.parent, tree.weight
    if model.algorithm == "c45":
        share = weight[1:] / weight[parent[1:]]
        information = np.bincount(parent[1:], -share * np.log2(share), len(weight))
        gain = np.divide(gain, information, out=np.zeros(len(gain)), where=information > 0)
    fewest = np.full(len(weight), np.inf)
    np.minimum.at(fewest, parent[1:], weight[1:])
    small = (gain <= model.prune_gain * (1 + CLOSE)) | (fewest < model.prune_rows * (1 - CLOSE))
    asked_below = np.zeros(len(weight), bool)
    for node in range(len(weight) - 1, 0, -1):  # children before their parents
        asked_below[parent[node]] |= not tree.leaves[node] and (asked_below[node] or not small[node])
    return tree, small & ~asked_below & ~tree.leaves


def _losses(model: DecisionTree, data: SupervisedRows, answers: Array) -> Array:
    """What answers about rows cost, by their weight."""
    return np.asarray(data.weights * data.task.losses(model, data, answers))


PRUNINGS: dict[str, Callable[[DecisionTree, SupervisedRows, np.random.Generator], Pruned]] = {
    "none": grown_out,
    "reduced-error": by_reduced_error,
    "cost-complexity": by_cost_complexity,
    "pessimistic": by_pessimism,
    "small": by_smallness,
}


def cut_back(tree: Trees, leaf: Flags) -> Trees:
    """The same tree, in which some nodes ask nothing any more; what was below them is gone."""
    kept, parent, depths = np.ones(len(leaf), bool), tree.parent, tree.depths()
    for depth in range(1, int(depths.max()) + 1):
        here = np.flatnonzero(depths == depth)
        kept[here] = kept[parent[here]] & ~leaf[parent[here]]
    number = np.append(np.where(kept, kept.cumsum() - 1, STOPS), STOPS).astype(np.int32)  # at -1: of no child
    inner = (~tree.leaves & ~leaf)[kept]
    arrays: dict[str, Any] = {name: getattr(tree, name)[kept] for name in PER_NODE}
    arrays |= {name: note[kept] if len(note := getattr(tree, name)) else note for name in ("value", *NOTES)}
    for name in ("left", "missing"):
        arrays[name] = number[arrays[name]]
    for name in PER_NODE:
        empty = np.nan if name == "threshold" else LEAF
        arrays[name] = np.where(inner, arrays[name], empty).astype(arrays[name].dtype)
    if len(arrays["gain"]):
        arrays["gain"] = np.where(inner, arrays["gain"], 0.0)
    return Trees(**arrays, roots=tree.roots, child_of=number[tree.child_of])


def where_leaves_cost_no_more(tree: Trees, own: Array, stopped: Array | float = 0.0) -> Flags:
    """Which nodes cost no more as leaves than what is below them does, once that is pruned itself.

    ``own`` is what each node costs as a leaf, ``stopped`` what rows cost that no branch of it fits.
    """
    below, parent, leaf = np.zeros(len(own)) + stopped, tree.parent, tree.leaves.copy()
    for node in range(len(own) - 1, -1, -1):  # children before their parents
        leaf[node] |= own[node] <= below[node] * (1 + CLOSE) + CLOSE**2
        cost = own[node] if leaf[node] else below[node]
        if node:
            below[parent[node]] += cost
    return leaf & ~tree.leaves


def upper_limit(errors: Array, rows: Array, confidence: float) -> Array:
    """The share of errors so large that so few would be seen with a probability of ``confidence`` only."""
    from scipy.special import betaincinv

    limit, subset = np.ones(len(rows)), errors < rows * (1 - CLOSE)
    limit[subset] = betaincinv(errors[subset] + 1, rows[subset] - errors[subset], 1 - confidence)
    return limit


def prices(tree: Trees) -> Array:
    """The price of a leaf from which on each node is a leaf or gone; infinite for those that are leaves anyway.

    Weakest-link pruning: again and again the node goes whose questions take away least for each leaf they add.
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
    """One price for each tree that weakest-link pruning leads to, or for some of them; 0 the first."""
    steps = np.unique(np.append(result[np.isfinite(result)], 0.0))
    middle = np.append(np.sqrt(steps[:-1] * steps[1:]), steps[-1])
    shown = np.linspace(0, len(middle) - 1, min(MOST_PRICES, len(middle))).round().astype(int)
    return np.asarray(middle[shown])
