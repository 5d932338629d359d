"""Whole trees grown by compiled loops: the arrays that they work on, and what they leave behind as a tree."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mlcli.core.tables import Array, Rows
from mlcli.models.trees._growing import Rules
from mlcli.models.trees._levels import Targets
from mlcli.models.trees._structure import Ids, Tree

MOST_WHOLE = 2.0**26
"""Up to this total weight the squares of whole numbers are exact."""


def grown_by_loops(cells: Array, levels: Rows, targets: Targets, rules: Rules, root: Rows | None = None) -> Tree:
    """The tree of some cells (n × F); or several as one, ``root`` being that of each row."""
    from mlcli.kernels import tree_growing as kernel

    n, width = cells.shape
    columns = np.ascontiguousarray(cells.T)
    places, described = _placed(columns, levels)
    branch = np.zeros(n, np.intp) if root is None else root.astype(np.intp)
    facts = np.stack([targets.weight, targets.weight, targets.output], axis=1)
    roots = int(branch.max()) + 1
    nodes, settled = _planted(branch, roots, targets.slots)
    count = kernel.grow(
        roots, columns, places, targets.slot if targets.slots > 1 else None, facts,
        levels if levels.any() else None, described, _numbers(rules, targets), nodes, settled, branch,
        np.empty((4, targets.slots)), np.empty((width, 2)),
    )  # fmt: skip
    return _numbered(roots, nodes[:count], settled, levels, rules)


def _placed(columns: Array, levels: Rows) -> tuple[NDArray[np.int64], Rows]:
    """The rows in ascending order of every column, as the loops want them, and what is known of each column."""
    from mlcli.kernels.tree_growing import MISSING_RANK, SIDE, rank_rows

    width, n = columns.shape
    rows = np.arange(n)
    places = np.empty((2, width + 1, n), np.int64)
    described, ranks = np.empty((width, SIDE + 1), np.intp), np.empty(n, np.intp)
    for j, (column, codes) in enumerate(zip(columns, levels.tolist(), strict=True)):
        order = rows if codes else column.argsort()
        ends = np.empty(max(n, codes) + 1, np.intp)
        described[j, MISSING_RANK] = rank_rows(columns, order, j, codes, places, ends, ranks)
    places[0, width] = rows
    return places, described


def _planted(root: Rows, roots: int, slots: int) -> tuple[NDArray[np.int64], Array]:
    """Room for all nodes and what is known of them, with the rows of the roots and of the node behind them."""
    from mlcli.kernels.tree_growing import BEGIN, BUFFER, DEPTH, END, MEAN, WAITING

    most = 2 * len(root) + 1
    nodes = np.empty((most, WAITING + 1), np.int64)
    sizes = np.bincount(root, minlength=roots)
    ends = sizes.cumsum()
    nodes[:roots, BEGIN], nodes[:roots, END] = ends - sizes, ends
    nodes[roots, BEGIN], nodes[roots, END], nodes[roots, BUFFER], nodes[roots, DEPTH] = 0, len(root), 0, -1
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


def _numbered(roots: int, nodes: NDArray[np.int64], settled: Array, levels: Rows, rules: Rules) -> Tree:
    """The nodes as a tree, level by level."""
    from mlcli.kernels.tree_growing import MEAN, SPREAD, THRESHOLD, WEIGHT, map_levels, number

    count = len(nodes)
    order, asked = np.empty(count, np.intp), np.empty((5, count), np.int32)
    child_of: Ids = np.empty(number(roots, count, nodes, levels, order, asked), np.int32)
    if len(child_of):
        map_levels(nodes, levels, order, asked, child_of)
    feature, left, children, missing, offset = asked
    settled = settled[order]
    value = np.ascontiguousarray(settled[:, MEAN:])
    return Tree(
        feature=feature,
        threshold=np.ascontiguousarray(settled[:, THRESHOLD]),
        left=left,
        children=children,
        missing=missing,
        offset=offset,
        child_of=child_of,
        value=value,
        weight=np.ascontiguousarray(settled[:, WEIGHT]),
        impurity=rules.criterion.impurity(value, settled[:, SPREAD]),
    )
