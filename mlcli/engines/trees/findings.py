"""Findings about trees: their rules in words, and what each column is worth."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from mlcli.core import findings
from mlcli.core.errors import MlcliWarning
from mlcli.core.names import counted
from mlcli.core.schema import Column
from mlcli.core.tables import Array, Flags, Rows
from mlcli.engines.trees.structure import Trees, is_ordered

MOST_LEAVES = 16
"""Trees with more leaves are not written out in full where there is a shorter way."""
OR_MISSING = " or missing"


def warn_without_split(trees: Trees, method: str, min_leaf: int, y: Array) -> None:
    """Warn if targets differ, but ``min_leaf`` is so large that no tree has a split."""
    if min_leaf == 1 or not trees.leaves.all() or np.ptp(y) == 0:
        return
    text = f"{method}: no tree has a split, so that every row has the same answer"
    why = f"leaves hold at least {min_leaf} rows (min_leaf) of {len(y)}"
    advice = f"min_leaf={min(2, min_leaf - 1, max(1, len(y) // 2))} would help"
    warnings.warn(f"{text}: {why}; {advice}", MlcliWarning, stacklevel=4)


@dataclass(frozen=True, eq=False)
class NamedTree:
    """A tree, given by its root, with the names of its columns and the prediction of each node."""

    tree: Trees
    columns: Sequence[Column]
    answers: Sequence[str]
    root: int = 0

    def branches(self, node: int) -> Iterator[tuple[int, str]]:
        """Each child with the condition that leads to it."""
        column = self.columns[self.tree.feature[node]]
        first = int(self.tree.left[node])
        for child in range(first, first + int(self.tree.children[node])):
            yield child, f"{column.name} {self._condition(node, child, column)}"

    def _condition(self, node: int, child: int, column: Column) -> str:
        if not is_ordered(column):
            return self._level_condition(node, child, column)
        goes_left = child == self.tree.left[node]
        if math.isinf(self.tree.threshold[node]):
            return "is known" if goes_left else "is missing"
        missing = OR_MISSING if self.tree.missing[node] == child else ""
        return f"{'≤' if goes_left else '>'} {bound(self.tree.threshold[node], column)}{missing}"

    def _level_condition(self, node: int, child: int, column: Column) -> str:
        """The levels that lead to a child, or the one that does not; "missing" only if cells can be."""
        names = [*column.levels, "missing"]
        offset, left = int(self.tree.offset[node]), int(self.tree.left[node])
        children = self.tree.child_of[offset : offset + len(names)]
        if offset < 0:
            children = np.where(np.arange(len(names)) == self.tree.threshold[node], left, left + 1)
        shown = list(zip(names, children, strict=False))[: len(names) if column.missing else -1]
        inside = [name for name, level_child in shown if level_child == child]
        outside = [name for name, level_child in shown if level_child != child]
        if len(inside) == 1:
            return f"= {inside[0]}"
        return f"≠ {outside[0]}" if len(outside) == 1 else f"in {{{', '.join(inside)}}}"

    def paths(self) -> Iterator[tuple[int, tuple[str, ...]]]:
        """Each node with the conditions that lead to it, before the nodes below it."""
        waiting: list[tuple[int, tuple[str, ...]]] = [(self.root, ())]
        while waiting:
            node, path = waiting.pop()
            yield node, path
            if not self.tree.leaves[node]:
                waiting += [(child, (*path, condition)) for child, condition in self.branches(node)][::-1]


def bound(threshold: float, column: Column) -> str:
    """A threshold, or the level at or below it."""
    return column.levels[int(threshold)] if column.coded else f"{threshold:.6g}"


def rules(named: NamedTree, title: str = "Tree", leaves_grown: int = 0) -> findings.Tree:
    """Each node with the condition that leads to it."""
    tree, (nodes, paths) = named.tree, zip(*named.paths(), strict=True)
    order, of_classes = list(nodes), tree.value.shape[1] > 1
    leaves = int(tree.leaves[order].sum())
    size = counted(leaves, "leaf", "leaves") + (f", pruned from {leaves_grown}" if leaves_grown > leaves else "")
    shares = ", before them the share of the class if that is not all" if of_classes else ""
    depths = tuple(map(len, paths))
    certainty = tree.value.max(axis=1) if of_classes else np.ones(len(tree.weight))
    return findings.Tree(
        title,
        depths,
        tuple(path[-1] if path else "" for path in paths),
        tuple(named.answers[node] for node in order),
        tuple(certainty[order].tolist()),
        tuple(tree.weight[order].tolist()),
        note=f"{size}, depth {max(depths)}; in brackets the training rows{shares}",
    )


def importance_table(
    columns: Sequence[Column], gains: Array, more: Mapping[str, Array | Rows], used: Flags, note: str = ""
) -> findings.Table:
    """The share of the total gain of each column that is used, and more about it; the largest shares first."""
    figures = [gains.tolist(), *(figure.tolist() for figure in more.values())]
    rows = tuple(
        (columns[j].name, *(None if math.isnan(figure[j]) else figure[j] for figure in figures))
        for j in np.argsort(-gains, kind="stable")
        if used[j]
    )
    unused, most_names = [column.name for column, is_used in zip(columns, used, strict=True) if not is_used], 10
    if unused:
        others = f" and {len(unused) - most_names} more" if len(unused) > most_names else ""
        note = f"not split on: {', '.join(unused[:most_names])}{others}"
    header = ("column", "share of total gain", *more)
    return findings.Table("Feature importance", header, rows, note=note, code="importance")


def importances(trees: Trees, width: int) -> Array:
    """Per column the weighted impurity that its splits remove, as a share of all."""
    inner = ~trees.leaves
    removed = np.bincount(trees.feature[inner], trees.gain[inner], width).astype(np.float64)
    return removed / removed.sum() if removed.sum() > 0 else removed


def use_of_columns(trees: Trees, width: int) -> tuple[Array, Array]:
    """Per column the share of training rows that a tree splits on it, and the depth of its first split.

    Both are means over trees, the second over those that split on the column; without any it is NaN.
    """
    parent, depths, inner = trees.parent, trees.depths(), np.flatnonzero(~trees.leaves)
    feature, tree = trees.feature[inner], trees.tree_of(inner)
    # Climb from every split to its root; rows count once where nodes above have split on the same column before.
    is_first, node = np.ones(len(inner), bool), inner
    for _ in range(int(depths.max())):
        above = parent[node]
        is_first &= (above == node) | (trees.feature[above] != feature)
        node = above
    root_shares = trees.weight[inner] / trees.weight[node]
    share = np.bincount(feature[is_first], root_shares[is_first], width) / len(trees)
    first = np.full((len(trees), width), np.inf)
    np.minimum.at(first, (tree, feature), depths[inner])
    used = np.isfinite(first)
    total = np.where(used, first, 0).sum(axis=0)
    return share, np.where(used.any(axis=0), total / np.maximum(used.sum(axis=0), 1), np.nan)
