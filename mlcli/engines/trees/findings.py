"""A tree in words: indented rules, each class as an OR of ANDs, and what each column is worth."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from mlcli.core import findings
from mlcli.core.schema import Column
from mlcli.core.tables import Array
from mlcli.engines.trees.cells import is_ordered
from mlcli.engines.trees.structure import Trees

MOST_LEAVES = 16
"""Up to how many leaves classes are shown as an OR of ANDs."""
MOST_NAMES = 10
"""How many columns that are not asked for are named."""

OR_MISSING = " or missing"


@dataclass(frozen=True, eq=False)
class Words:
    """A tree with the names of its columns and what each node answers."""

    tree: Trees
    columns: Sequence[Column]
    answers: Sequence[str]

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

    def nodes(self) -> Iterator[tuple[int, int, str]]:
        """Each node with its depth and the condition that leads to it, before those below it."""
        waiting = [(0, 0, "")]
        while waiting:
            node, depth, condition = waiting.pop()
            yield node, depth, condition
            if not self.tree.leaves[node]:
                waiting += [(child, depth + 1, text) for child, text in self.branches(node)][::-1]

    def paths(self) -> Iterator[tuple[str, str]]:
        """For each leaf its answer and the conditions that lead to it, joined by AND."""
        waiting: list[tuple[int, tuple[str, ...]]] = [(0, ())]
        while waiting:
            node, path = waiting.pop()
            if self.tree.leaves[node]:
                yield self.answers[node], _all_of(path) or "always"
            else:
                waiting += [(child, (*path, condition)) for child, condition in self.branches(node)][::-1]


def _all_of(conditions: Sequence[str]) -> str:
    """Conditions joined by AND, those with an OR of their own in brackets."""
    if len(conditions) == 1:
        return conditions[0]
    return " AND ".join(f"({one})" if one.endswith(OR_MISSING) else one for one in conditions)


def bound(threshold: float, column: Column) -> str:
    """A threshold, or the level at or below it."""
    return column.levels[int(threshold)] if column.coded else f"{threshold:.6g}"


def explained(
    tree: Trees, columns: Sequence[Column], answers: Sequence[str], leaves_grown: int
) -> findings.Explanation:
    """Rules, classes as OR of ANDs while there are few leaves, and what columns are worth."""
    words = Words(tree, columns, answers)
    sections: list[findings.Finding] = [_rules(words, leaves_grown)]
    if tree.value.shape[1] > 1 and tree.leaves.sum() <= MOST_LEAVES:
        sections.append(_classes(words))
    if not tree.leaves[0]:
        sections.append(_worth(tree, columns))
    return tuple(sections)


def _rules(words: Words, leaves_grown: int) -> findings.Tree:
    tree, leaves = words.tree, int(words.tree.leaves.sum())
    pruned = f", pruned from {leaves_grown}" if leaves_grown > leaves else ""
    shares = ", before them the share of the class if that is not all" if tree.value.shape[1] > 1 else ""
    order, depths, conditions = zip(*words.nodes(), strict=True)
    sure = tree.value.max(axis=1) if tree.value.shape[1] > 1 else np.ones(len(order))
    return findings.Tree(
        "Tree",
        depths,
        conditions,
        tuple(words.answers[node] for node in order),
        tuple(sure[list(order)].tolist()),
        tuple(tree.weight[list(order)].tolist()),
        note=f"{leaves} leaves{pruned}, depth {max(depths)}; in brackets the training rows{shares}",
    )


def _classes(words: Words) -> findings.Lines:
    """Each class as an OR of ANDs, one way to it per line."""
    ways: dict[str, list[str]] = {}
    for answer, path in words.paths():
        ways.setdefault(answer, []).append(f"({path})")
    lines = []
    for answer, paths in ways.items():
        lines += [f"{answer} = {paths[0]}", *(f"  OR {path}" for path in paths[1:])]
    return findings.Lines("Classes as an OR of ANDs", tuple(lines))


def _worth(tree: Trees, columns: Sequence[Column]) -> findings.Table:
    worth, (share, depth) = importances(tree, len(columns)), control(tree, len(columns))
    used = [j for j in np.argsort(-worth, kind="stable") if share[j] > 0]
    rows = tuple((columns[j].name, float(worth[j]), float(share[j]), int(depth[j])) for j in used)
    header = ("column", "share of all gains", "share of rows asked", "first asked at depth")
    unused = [column.name for j, column in enumerate(columns) if j not in used]
    return findings.Table("Feature importance", header, rows, note=not_asked(unused))


def path_of(words: Words, node: int, outputs: Sequence[str]) -> findings.Table:
    """The conditions that lead to a node, with what is known at each step."""
    tree, path = words.tree, [node]
    while (above := int(tree.parent[path[-1]])) != path[-1]:
        path.append(above)
    path.reverse()
    conditions = ["all rows", *(dict(words.branches(at))[below] for at, below in pairwise(path))]
    of_classes = tree.value.shape[1] > 1
    counted = tree.value * tree.weight[:, None] if of_classes else tree.value
    lines = tuple(
        (condition, float(tree.weight[at]), *counted[at].tolist(), _gain(tree, at), words.answers[at])
        for condition, at in zip(conditions, path, strict=True)
    )
    header = ("", "training rows", *outputs, "gain of its question", "answer")
    return findings.Table("Path through the tree", header, lines)


def _gain(tree: Trees, node: int) -> float | None:
    """The impurity that a node's question takes away, per row; nothing of a leaf."""
    return None if tree.leaves[node] else float(tree.gain[node] / tree.weight[node])


def not_asked(names: Sequence[str]) -> str:
    """A note that names the columns that are not asked for, or the first of them."""
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return f"not asked for: {', '.join(names[:MOST_NAMES])}{more}" if names else ""


def importances(trees: Trees, width: int) -> Array:
    """Per column the weighted impurity that its questions take away, as a share of all."""
    taken = trees.gains(width)
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
