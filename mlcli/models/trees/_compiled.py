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
    places, missing_rank = _placed(columns, levels)
    roots = 1 if root is None else int(root.max()) + 1
    most = 2 * n + 1
    nodes, facts = np.empty((most, 9), np.int64), np.empty((most, 3))
    means = np.empty((most, targets.slots))
    branch = np.zeros(n, np.intp) if root is None else root.astype(np.intp)
    _plant(nodes, facts, np.bincount(branch, minlength=roots), roots)
    count = kernel.grow(
        roots, columns, places, targets.slot, targets.output, targets.weight, levels, missing_rank,
        rules.limits.numbers, _ways(rules, targets), nodes, facts, means, np.empty(n), branch,
        np.empty(max(roots, int(levels.max(initial=0))), np.intp), np.empty((4, targets.slots)),
        np.empty((width, 2)), np.empty((width, 2), np.intp), np.empty(most, np.intp),
    )  # fmt: skip
    return _numbered(roots, nodes[:count], facts, means, levels, rules)


def _placed(columns: Array, levels: Rows) -> tuple[NDArray[np.int64], Rows]:
    """The rows in ascending order of every column, as the loops want them, and the ranks of missing cells."""
    from mlcli.kernels.tree_growing import rank_rows

    width, n = columns.shape
    rows = np.arange(n)
    places = np.empty((2, width + 1, n), np.int64)
    missing_rank, ranks = np.empty(width, np.intp), np.empty(n, np.intp)
    for j, (column, codes) in enumerate(zip(columns, levels.tolist(), strict=True)):
        order = rows if codes else column.argsort()
        ends = np.empty(max(n, codes) + 1, np.intp)
        missing_rank[j] = rank_rows(columns, order, j, codes, places, ends, ranks)
    places[0, width] = rows
    return places, missing_rank


def _plant(nodes: NDArray[np.int64], facts: Array, sizes: Rows, roots: int) -> None:
    """Describe the roots, and the node behind them that deals them their rows."""
    from mlcli.kernels.tree_growing import BEGIN, BUFFER, DEPTH, END, THRESHOLD

    nodes[: roots + 1] = -1
    ends = sizes.cumsum()
    nodes[:roots, BEGIN], nodes[:roots, END], nodes[:roots, BUFFER] = ends - sizes, ends, 1
    nodes[roots, BEGIN], nodes[roots, END], nodes[roots, BUFFER] = 0, ends[-1], 0
    nodes[:roots, DEPTH] = 0
    facts[:roots, THRESHOLD] = np.nan


def _ways(rules: Rules, targets: Targets) -> Rows:
    """The rules as the loops read them."""
    weight = targets.weight
    whole = bool(weight.sum() <= MOST_WHOLE and (weight == np.floor(weight)).all())
    algorithm, criterion = rules.algorithm, rules.criterion
    gated = algorithm.gated and rules.gate != "none"
    return np.array(
        [criterion.code, criterion.of_shares, algorithm.each_level, algorithm.by_ratio, gated, whole], np.intp
    )


def _numbered(
    roots: int, nodes: NDArray[np.int64], facts: Array, means: Array, levels: Rows, rules: Rules
) -> Tree:
    from mlcli.kernels.tree_growing import SPREAD, THRESHOLD, WEIGHT, map_levels, number

    count = len(nodes)
    order, asked = np.empty(count, np.intp), np.empty((5, count), np.int32)
    mapped = number(roots, count, nodes, levels, order, asked)
    child_of: Ids = np.empty(mapped, np.int32)
    if mapped:
        map_levels(nodes, levels, order, asked, child_of)
    value = means[order]
    known = facts[order]
    feature, left, children, missing, offset = asked
    return Tree(
        feature=feature,
        threshold=known[:, THRESHOLD].copy(),
        left=left,
        children=children,
        missing=missing,
        offset=offset,
        child_of=child_of,
        value=value,
        weight=known[:, WEIGHT].copy(),
        impurity=rules.criterion.impurity(value, known[:, SPREAD]),
    )
