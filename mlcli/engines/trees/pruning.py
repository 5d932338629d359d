"""Pruning a grown tree: nodes whose questions do not repay become leaves, from the bottom up.

Which ones, a cost for every node says: errors on rows held out, errors that training rows make plausible, or the
price of a leaf that would outweigh what the questions below take away (Breiman et al. 1984).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mlcli.core.tables import Array, Codes, Flags, Rows
from mlcli.engines.trees.structure import LEAF, NOTES, PER_NODE, STOPS, Trees

ROUNDING = 1e-9
"""Costs that differ by no more than this share count as equal, and equal costs prune."""
MOST_PRICES = 50
"""How many prices of a leaf are tried at most."""

Losses = Callable[[Rows, Array], Array]
"""What it costs to answer some rows, by their numbers, with values (rows × K)."""


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
        leaf[node] |= own[node] <= below[node] * (1 + ROUNDING) + ROUNDING**2
        cost = own[node] if leaf[node] else below[node]
        if node:
            below[parent[node]] += cost
    return leaf & ~tree.leaves


def by_held_out_rows(tree: Trees, reached: Codes, losses: Losses) -> Flags:
    """Reduced-error pruning: which nodes cost rows held out, that reached some nodes, no more as leaves."""
    own, parent, rows, at = np.zeros(len(tree.feature)), tree.parent, np.arange(len(reached)), reached
    stopped = np.bincount(at, losses(rows, tree.value[at]), len(own)).astype(np.float64)
    while len(rows):
        own += np.bincount(at, losses(rows, tree.value[at]), len(own))
        climbs = parent[at] != at
        rows, at = rows[climbs], parent[at[climbs]]
    return where_leaves_cost_no_more(tree, own, stopped)


def upper_limit(errors: Array, rows: Array, confidence: float) -> Array:
    """The share of errors so large that so few would be seen with a probability of ``confidence`` only."""
    from scipy.special import betaincinv

    limit, some = np.ones(len(rows)), errors < rows * (1 - ROUNDING)
    limit[some] = betaincinv(errors[some] + 1, rows[some] - errors[some], 1 - confidence)
    return limit


def by_plausible_errors(tree: Trees, confidence: float) -> Flags:
    """Pessimistic pruning: which nodes are plausibly wrong about no more training rows as leaves."""
    errors = tree.weight * (1 - tree.value.max(axis=1))
    return where_leaves_cost_no_more(tree, tree.weight * upper_limit(errors, tree.weight, confidence))


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
    found, price = np.full(len(own), np.inf), 0.0
    while np.isfinite(link[0]):
        weakest = int(np.argmin(link))
        found[weakest] = price = max(price, float(link[weakest]))
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
    return found


def prices_between(found: Array) -> Array:
    """One price for each tree that weakest-link pruning leads to, or for some of them; 0 the first."""
    steps = np.unique(np.append(found[np.isfinite(found)], 0.0))
    middle = np.append(np.sqrt(steps[:-1] * steps[1:]), steps[-1])
    shown = np.linspace(0, len(middle) - 1, min(MOST_PRICES, len(middle))).round().astype(int)
    return np.asarray(middle[shown])
