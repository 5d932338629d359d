"""Whole trees grown by compiled loops: the arrays that they work on, and what they leave behind as a tree."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mlcli.core.tables import Array, Rows
from mlcli.models.trees._growing import Rules
from mlcli.models.trees._levels import Targets
from mlcli.models.trees._searched import Cells, InBins, Searched
from mlcli.models.trees._shared_bins import Shared
from mlcli.models.trees._structure import Ids, Tree

MOST_WHOLE = 2.0**26
"""Up to this total weight the squares of whole numbers are exact."""


def grown_by_loops(cells: Array, levels: Rows, targets: Targets, rules: Rules, root: Rows | None = None) -> Tree:
    """The tree of some cells (n × F); or several as one, ``root`` being that of each row."""
    root = np.zeros(len(cells), np.intp) if root is None else root.astype(np.intp)
    return _grown(Cells.of(cells, levels), levels, targets, rules, root)


def grown_on_bins(
    cells: Array, levels: Rows, targets: Targets, rules: Rules, most: int, shared: Shared | None = None
) -> Tree:
    """The tree of some cells (n × F) whose ordered columns have at most so many bins."""
    data = InBins.of(cells, levels, most, targets.weight, shared)
    return _grown(data, levels, targets, rules, np.zeros(len(cells), np.intp))


def _grown(data: Searched, levels: Rows, targets: Targets, rules: Rules, root: Rows) -> Tree:
    from mlcli.kernels.tree_growing import grow

    roots = int(root.max()) + 1
    nodes, settled = _planted(root, roots, targets.slots, data.places is data.dealt)
    facts = np.stack([targets.weight, targets.weight, targets.output], axis=1)
    bins, used, counts = data.in_bins
    histogram = None if bins is None else np.zeros((len(counts), max(targets.slots, 2)))
    count = grow(
        roots, data.places, data.dealt, bins, targets.slot if targets.slots > 1 else None, facts,
        levels if levels.any() else None, data.described, _numbers(rules, targets), nodes, settled, root,
        np.empty((4, targets.slots)), np.empty((len(levels), 2)), histogram, used, counts,
    )  # fmt: skip
    return _numbered(roots, nodes[:count], settled, levels, rules, data)


def _planted(root: Rows, roots: int, slots: int, ordered: bool) -> tuple[NDArray[np.int64], Array]:
    """Room for all nodes and what is known of them, with the rows of the roots and of the node behind them."""
    from mlcli.kernels.tree_layout import BEGIN, BUFFER, DEPTH, END, MEAN, ORDERED, WAITING

    most = 2 * len(root) + 1
    nodes = np.empty((most, WAITING + 1), np.int64)
    sizes = np.bincount(root, minlength=roots)
    ends = sizes.cumsum()
    nodes[:roots, BEGIN], nodes[:roots, END] = ends - sizes, ends
    nodes[roots, BEGIN], nodes[roots, END], nodes[roots, BUFFER], nodes[roots, DEPTH] = 0, len(root), 0, -1
    nodes[roots, ORDERED] = ordered
    return nodes, np.empty((most, MEAN + slots))


def _numbers(rules: Rules, targets: Targets) -> Array:
    """The rules as the loops read them."""
    weight = targets.weight
    whole = rules.criterion.code == 0 and weight.sum() <= MOST_WHOLE and (weight == np.floor(weight)).all()
    algorithm, limits = rules.algorithm, rules.limits
    return np.array(
        [
            rules.criterion.code,
            rules.criterion.of_shares,
            algorithm.each_level,
            algorithm.by_ratio,
            algorithm.gated and rules.gate != "none",
            whole,
            np.inf if limits.max_depth is None else limits.max_depth,
            limits.fewest,
            limits.least,
            limits.min_gain,
            limits.purity,
        ],
        float,
    )


def _numbered(
    roots: int, nodes: NDArray[np.int64], settled: Array, levels: Rows, rules: Rules, data: Searched
) -> Tree:
    """The nodes as a tree, level by level."""
    from mlcli.kernels.tree_layout import ABOVE, BELOW, MEAN, SPREAD, WEIGHT
    from mlcli.kernels.tree_numbers import map_levels, number

    count = len(nodes)
    order, asked = np.empty(count, np.intp), np.empty((5, count), np.int32)
    child_of: Ids = np.empty(number(roots, count, nodes, levels, order, asked), np.int32)
    if len(child_of):
        map_levels(nodes, levels, order, asked, child_of)
    feature, left, children, missing, offset = asked
    settled, asks = settled[order], np.flatnonzero((feature >= 0) & (offset < 0))
    threshold = np.full(count, np.nan)
    threshold[asks] = data.between(
        feature[asks].astype(np.intp), nodes[order[asks], BELOW], nodes[order[asks], ABOVE]
    )
    value = np.ascontiguousarray(settled[:, MEAN:])
    return Tree(
        feature=feature,
        threshold=threshold,
        left=left,
        children=children,
        missing=missing,
        offset=offset,
        child_of=child_of,
        value=value,
        weight=np.ascontiguousarray(settled[:, WEIGHT]),
        impurity=rules.criterion.impurity(value, settled[:, SPREAD]),
    )
