"""What decision-tree says of itself: rules, the path of a row, and the gain of every candidate split."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from mlcli.core import findings
from mlcli.core.moments import quotient
from mlcli.core.schema import Column
from mlcli.core.tables import Rows
from mlcli.engines.trees.findings import (
    MOST_LEAVES,
    OR_MISSING,
    NamedTree,
    bound,
    importance_table,
    importances,
    rules,
    use_of_columns,
)
from mlcli.engines.trees.growing import Grower
from mlcli.engines.trees.structure import Trees, is_ordered

if TYPE_CHECKING:
    from mlcli.kernels.trees.records import PackedTargets

CANDIDATE_DEPTH = 2
"""Candidate splits are shown for nodes down to this depth."""
Candidate = tuple[str, float, str, str, float, float]
"""A node, its impurity, a split of it, "taken" or "", the gain of the split and its split information."""


def explain_tree(
    tree: Trees, columns: Sequence[Column], answers: Sequence[str], leaves_grown: int
) -> findings.Explanation:
    """Rules, classes as an OR of ANDs while there are few leaves, and what columns are worth."""
    named = NamedTree(tree, columns, answers)
    sections: list[findings.Finding] = [rules(named, leaves_grown=leaves_grown)]
    if tree.value.shape[1] > 1 and tree.leaves.sum() <= MOST_LEAVES:
        sections.append(class_rules(named))
    if not tree.leaves[0]:
        share, depth = use_of_columns(tree, len(columns))
        more = {"share of rows split": share, "depth of first split": np.nan_to_num(depth).astype(int)}
        sections.append(importance_table(columns, importances(tree, len(columns)), more, share > 0))
    return tuple(sections)


def class_rules(named: NamedTree) -> findings.Lines:
    """Each class as an OR of ANDs, one path to it per line."""
    ways: dict[str, list[str]] = {}
    for node, path in named.paths():
        if named.tree.leaves[node]:
            in_brackets = (f"({part})" if part.endswith(OR_MISSING) and len(path) > 1 else part for part in path)
            ways.setdefault(named.answers[node], []).append(f"({' AND '.join(in_brackets) or 'always'})")
    lines = []
    for answer, paths in ways.items():
        lines += [f"{answer} = {paths[0]}", *(f"  OR {path}" for path in paths[1:])]
    return findings.Lines("Rules of each class (disjunctive normal form)", tuple(lines))


def path_to(named: NamedTree, node: int, outputs: Sequence[str]) -> findings.Table:
    """The conditions that lead to a node, with the training rows and the prediction at each step."""
    tree, path, parent = named.tree, [node], named.tree.parent
    while parent[path[-1]] != path[-1]:
        path.append(int(parent[path[-1]]))
    path.reverse()
    conditions = ["all rows", *(dict(named.branches(above))[below] for above, below in pairwise(path))]
    of_classes = tree.value.shape[1] > 1
    counted = tree.value * tree.weight[:, None] if of_classes else tree.value
    lines = []
    for condition, step in zip(conditions, path, strict=True):
        gain = None if tree.leaves[step] else float(tree.gain[step] / tree.weight[step])
        lines.append((condition, float(tree.weight[step]), *counted[step].tolist(), gain, named.answers[step]))
    header = ("", "training rows", *outputs, "gain of the split", "answer")
    return findings.Table("Path through the tree", header, tuple(lines))


@dataclass(frozen=True)
class Cut:
    """The best way to split some rows by one column: a threshold, a level, or NaN for a branch for each level."""

    column: int
    at: float
    impurity: float
    gain: float
    information: float
    """The entropy of the weights of the branches (C4.5's split information)."""


def cuts(grower: Grower, targets: PackedTargets, rows: Rows) -> Iterator[Cut]:
    """Every split of rows by a nominal column, and the best threshold of the others; none if rows are pure."""
    from mlcli.kernels.trees.records import Binned

    columns = grower.binned
    for column, ordered in enumerate(columns.ordered):
        codes = columns.bins[column]
        if ordered or grower.each_level:
            yield from _best_cut(grower, targets, rows, column)
            continue
        levels = np.unique(codes[rows])
        for level in levels if len(levels) > 2 else levels[:1]:
            ends = np.zeros((1, 2))
            alone = Binned((codes != level)[None].astype(np.uint16), np.array([2]), np.array([True]), ends, ends)
            for cut in _best_cut(replace(grower, binned=alone), targets, rows, 0):
                yield replace(cut, column=column, at=float(level))


def _best_cut(grower: Grower, targets: PackedTargets, rows: Rows, column: int) -> Iterator[Cut]:
    """The only split of a tree of depth 1 that may use one column, whatever it gains."""
    own = replace(grower, limits=grower.limits._replace(max_depth=1, min_gain=-np.inf, purity=1.0, gated=False))
    tree = own.to_trees([own.grow(targets, rows, np.array([column]))[0]], targets.scale)
    if not tree.leaves[0]:
        shares = tree.weight[1:] / tree.weight[0]
        at, impurity, gain = map(float, (tree.threshold[0], tree.impurity[0], tree.gain[0] / tree.weight[0]))
        yield Cut(column, at, impurity, gain, float(-(shares * np.log2(shares)).sum()))


def candidates(named: NamedTree, grower: Grower, targets: PackedTargets, nodes: Rows) -> tuple[Candidate, ...]:
    """The candidate splits of the first nodes, the largest gains first; rows end at ``nodes``."""
    tree, results = named.tree, list[Candidate]()
    parent, depth = tree.parent, int(tree.depths().max())
    for node, path in sorted(named.paths(), key=lambda path: len(path[1])):
        if len(path) > CANDIDATE_DEPTH:
            break
        node_of_row = nodes
        for _ in range(depth):  # climb until this node is reached
            node_of_row = np.where(node_of_row == node, node, parent[node_of_row])
        rows = np.flatnonzero(node_of_row == node)
        for cut in sorted(cuts(grower, targets, rows), key=lambda cut: -cut.gain):
            taken = tree.feature[node] == cut.column and (np.isnan(cut.at) or tree.threshold[node] == cut.at)
            where, word = " AND ".join(path) or "all rows", "taken" if taken else ""
            split = _split_text(named.columns[cut.column], cut.at)
            results.append((where, cut.impurity, split, word, cut.gain, cut.information))
    return tuple(results)


def _split_text(column: Column, at: float) -> str:
    if np.isnan(at):
        return f"{column.name}: each level"
    if is_ordered(column):
        return f"{column.name} is known" if np.isinf(at) else f"{column.name} ≤ {bound(at, column)}"
    return f"{column.name} = {[*column.levels, 'missing'][int(at)]}"


def candidate_table(results: tuple[Candidate, ...], measure: str) -> findings.Table:
    """All candidates; a gain ratio only of entropies, where bits are divided by bits."""
    header: tuple[str, ...] = ("node", measure, "split", "", f"decrease of {measure}")
    rows: tuple[tuple[findings.Entry, ...], ...] = tuple(candidate[:5] for candidate in results)
    if measure == "entropy":
        header = (*header, "split information", "gain ratio")
        gains, information = np.array([candidate[4:] for candidate in results]).T
        ratios = quotient(gains, information).tolist()
        rows = tuple((*candidate, ratio) for candidate, ratio in zip(results, ratios, strict=True))
    note = f"of impure nodes down to depth {CANDIDATE_DEPTH}"
    return findings.Table("Gain of every candidate split", header, rows, note=note)
