"""A tree in words: indented rules, each class as an OR of ANDs, and what each column is worth."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from mlcli.core import findings
from mlcli.core.errors import MlcliWarning
from mlcli.core.names import counted
from mlcli.core.schema import Column
from mlcli.core.tables import Array, Flags, Rows
from mlcli.engines.trees.cells import is_ordered
from mlcli.engines.trees.structure import Trees

MOST_LEAVES = 16
"""Up to how many leaves classes are shown as an OR of ANDs."""
MOST_NAMES = 10
"""How many columns that are not asked for are named."""

OR_MISSING = " or missing"


def warn_without_split(trees: Trees, method: str, min_leaf: int, y: Array) -> None:
    """Say so where targets differ, but leaves must be so large that no tree has a split."""
    if min_leaf == 1 or not trees.leaves.all() or np.ptp(y) == 0:
        return
    text = f"{method}: no tree has a split, so that every row has the same answer"
    why = f"leaves hold at least {min_leaf} rows (min_leaf) of {len(y)}"
    advice = f"min_leaf={min(2, min_leaf - 1, max(1, len(y) // 2))} would help"
    warnings.warn(f"{text}: {why}; {advice}", MlcliWarning, stacklevel=4)


@dataclass(frozen=True, eq=False)
class NamedTree:
    """A tree, one of several by its root, with the names of its columns and what each node answers."""

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
            return self._levels(node, child, column)
        left = child == self.tree.left[node]
        if math.isinf(self.tree.threshold[node]):
            return "is known" if left else "is missing"
        sign = "≤" if left else ">"
        missing = OR_MISSING if self.tree.missing[node] == child else ""
        return f"{sign} {bound(self.tree.threshold[node], column)}{missing}"

    def _levels(self, node: int, child: int, column: Column) -> str:
        """The levels that lead to a child, or the one that does not; "missing" only where cells can be."""
        names = [*column.levels, "missing"]
        offset, left = int(self.tree.offset[node]), int(self.tree.left[node])
        reached = self.tree.child_of[offset : offset + len(names)]
        if offset < 0:
            reached = np.where(np.arange(len(names)) == self.tree.threshold[node], left, left + 1)
        shown = len(names) if column.missing else len(names) - 1
        inside = [name for name, where in zip(names[:shown], reached, strict=False) if where == child]
        outside = [name for name, where in zip(names[:shown], reached, strict=False) if where != child]
        if len(inside) == 1:
            return f"= {inside[0]}"
        return f"≠ {outside[0]}" if len(outside) == 1 else f"in {{{', '.join(inside)}}}"

    def paths(self) -> Iterator[tuple[int, tuple[str, ...]]]:
        """Each node with the conditions that lead to it, before those below it."""
        waiting: list[tuple[int, tuple[str, ...]]] = [(self.root, ())]
        while waiting:
            node, path = waiting.pop()
            yield node, path
            if not self.tree.leaves[node]:
                waiting += [(child, (*path, condition)) for child, condition in self.branches(node)][::-1]


def _all_of(conditions: Sequence[str]) -> str:
    """Conditions joined by AND, those with an OR of their own in brackets."""
    if len(conditions) == 1:
        return conditions[0]
    return " AND ".join(
        f"({condition})" if condition.endswith(OR_MISSING) else condition for condition in conditions
    )


def bound(threshold: float, column: Column) -> str:
    """A threshold, or the level at or below it."""
    return column.levels[int(threshold)] if column.coded else f"{threshold:.6g}"


def explained(
    tree: Trees, columns: Sequence[Column], answers: Sequence[str], leaves_grown: int
) -> findings.Explanation:
    """Rules, classes as OR of ANDs while there are few leaves, and what columns are worth."""
    named = NamedTree(tree, columns, answers)
    sections: list[findings.Finding] = [rules(named, leaves_grown=leaves_grown)]
    if tree.value.shape[1] > 1 and tree.leaves.sum() <= MOST_LEAVES:
        sections.append(_classes(named))
    if not tree.leaves[0]:
        sections.append(_importance_table(tree, columns))
    return tuple(sections)


def rules(named: NamedTree, title: str = "Tree", leaves_grown: int = 0) -> findings.Tree:
    """Each node with the condition that leads to it."""
    tree, (order, paths) = named.tree, zip(*named.paths(), strict=True)
    leaves = int(tree.leaves[list(order)].sum())
    size = counted(leaves, "leaf", "leaves") + (f", pruned from {leaves_grown}" if leaves_grown > leaves else "")
    shares = ", before them the share of the class if that is not all" if tree.value.shape[1] > 1 else ""
    depths = tuple(map(len, paths))
    sure = tree.value.max(axis=1) if tree.value.shape[1] > 1 else np.ones(len(tree.weight))
    return findings.Tree(
        title,
        depths,
        tuple(path[-1] if path else "" for path in paths),
        tuple(named.answers[node] for node in order),
        tuple(sure[list(order)].tolist()),
        tuple(tree.weight[list(order)].tolist()),
        note=f"{size}, depth {max(depths)}; in brackets the training rows{shares}",
    )


def _classes(named: NamedTree) -> findings.Lines:
    """Each class as an OR of ANDs, one way to it per line."""
    ways: dict[str, list[str]] = {}
    for node, path in named.paths():
        if named.tree.leaves[node]:
            ways.setdefault(named.answers[node], []).append(f"({_all_of(path) or 'always'})")
    lines = []
    for answer, paths in ways.items():
        lines += [f"{answer} = {paths[0]}", *(f"  OR {path}" for path in paths[1:])]
    return findings.Lines("Rules of each class (disjunctive normal form)", tuple(lines))


def _importance_table(tree: Trees, columns: Sequence[Column]) -> findings.Table:
    share, depth = control(tree, len(columns))
    more = {"share of rows split": share, "depth of first split": np.nan_to_num(depth).astype(int)}
    return importance_table(columns, importances(tree, len(columns)), more, share > 0)


def importance_table(
    columns: Sequence[Column], gained: Array, more: Mapping[str, Array | Rows], asked: Flags, note: str = ""
) -> findings.Table:
    """What the columns that are asked for have gained, and more about them; those that gain most first."""
    shown = [j for j in np.argsort(-gained, kind="stable") if asked[j]]
    figures = [gained.tolist(), *(figure.tolist() for figure in more.values())]
    rows = tuple(
        (columns[j].name, *(None if math.isnan(figure[j]) else figure[j] for figure in figures)) for j in shown
    )
    unused = [column.name for column, own in zip(columns, asked, strict=True) if not own]
    others = f" and {len(unused) - MOST_NAMES} more" if len(unused) > MOST_NAMES else ""
    note = f"not split on: {', '.join(unused[:MOST_NAMES])}{others}" if unused else note
    return findings.Table(
        "Feature importance", ("column", "share of total gain", *more), rows, note=note, code="importance"
    )


def path_of(named: NamedTree, node: int, outputs: Sequence[str]) -> findings.Table:
    """The conditions that lead to a node, with what is known at each step."""
    tree, path, parent = named.tree, [node], named.tree.parent
    while parent[path[-1]] != path[-1]:
        path.append(int(parent[path[-1]]))
    path.reverse()
    conditions = ["all rows", *(dict(named.branches(at))[below] for at, below in pairwise(path))]
    of_classes = tree.value.shape[1] > 1
    counted = tree.value * tree.weight[:, None] if of_classes else tree.value
    lines = tuple(
        (condition, float(tree.weight[at]), *counted[at].tolist(), _gain(tree, at), named.answers[at])
        for condition, at in zip(conditions, path, strict=True)
    )
    header = ("", "training rows", *outputs, "gain of the split", "answer")
    return findings.Table("Path through the tree", header, lines)


def _gain(tree: Trees, node: int) -> float | None:
    """The impurity that a node's question takes away, per row; nothing of a leaf."""
    return None if tree.leaves[node] else float(tree.gain[node] / tree.weight[node])


def importances(trees: Trees, width: int) -> Array:
    """Per column the weighted impurity that its questions take away, as a share of all."""
    inner = ~trees.leaves
    taken = np.bincount(trees.feature[inner], trees.gain[inner], width).astype(np.float64)
    return taken / taken.sum() if taken.sum() > 0 else taken


def mean_importances(trees: Trees, width: int) -> Array:
    """The same as shares of all in one tree, averaged over trees."""
    inner = np.flatnonzero(~trees.leaves)
    place = trees.tree_of(inner) * width + trees.feature[inner]
    taken = np.bincount(place, trees.gain[inner], len(trees) * width).reshape(len(trees), width)
    total = taken.sum(axis=1, keepdims=True)
    return np.asarray((taken / np.where(total > 0, total, 1.0)).mean(axis=0))


def control(trees: Trees, width: int) -> tuple[Array, Array]:
    """Per column the share of training rows that a tree asks for it, and after how many questions first.

    Both are means over trees, the second over those that ask for the column; without any it is NaN.
    """
    parent, depths, inner = trees.parent, trees.depths(), np.flatnonzero(~trees.leaves)
    own, tree = trees.feature[inner], trees.tree_of(inner)
    anew, at = np.ones(len(inner), bool), inner
    for _ in range(int(depths.max())):
        above = parent[at]
        anew &= (above == at) | (trees.feature[above] != own)
        at = above
    share = np.bincount(own[anew], (trees.weight[inner] / trees.weight[at])[anew], width) / len(trees)
    first = np.full((len(trees), width), np.inf)
    np.minimum.at(first, (tree, own), depths[inner])
    asking = np.isfinite(first)
    total = np.where(asking, first, 0).sum(axis=0)
    return share, np.where(asking.any(axis=0), total / np.maximum(asking.sum(axis=0), 1), np.nan)
