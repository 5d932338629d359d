"""What every split would have gained at the first nodes of a tree, as it is worked out by hand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from mlcli.core import findings
from mlcli.core.tables import Array, Rows
from mlcli.engines.trees.cells import is_ordered
from mlcli.engines.trees.findings import Words, bound
from mlcli.engines.trees.recursive import (
    Cut,
    Node,
    RecursiveGrower,
    Runs,
    at_a_threshold,
    by_gain_ratio,
    information,
    one_branch_each,
)
from mlcli.engines.trees.structure import Trees

DEPTH = 2
"""How many questions lead to a node at most whose candidates are shown."""
FIELDS = 5


@dataclass(frozen=True, eq=False)
class Candidates:
    """A row for each split of a node: node, column, threshold or level (NaN: all levels), gain, information."""

    rows: Array

    @staticmethod
    def none() -> Candidates:
        """No splits."""
        return Candidates(np.empty((0, FIELDS)))

    @staticmethod
    def of(tree: Trees, grower: RecursiveGrower, reached: Rows) -> Candidates:
        """Those of a tree whose rows reached some nodes."""
        rows = [
            (node, column, at, cut.gain, cut.information)
            for node, own in _first_nodes(tree, grower, reached)
            for column, at, cut in _cuts(grower, own)
            if cut.gain > -np.inf
        ]
        return Candidates(np.array(rows).reshape(-1, FIELDS))

    def finding(self, words: Words, measure: str) -> findings.Table:
        """Each with its node in words, those that gain most first."""
        paths = {node: " AND ".join(path) or "all rows" for node, path in words.paths()}
        shown = list[tuple[findings.Entry, ...]]()
        for place in np.lexsort((-self.rows[:, 3], self.rows[:, 0])):
            node, column = self.rows[place, :2].astype(int)
            at, gain, held = self.rows[place, 2:]
            taken = words.tree.feature[node] == column and (np.isnan(at) or words.tree.threshold[node] == at)
            ratio = by_gain_ratio(np.array([gain]), np.array([held])).tolist()
            split = _split(words, column, at), "taken" if taken else ""
            shown.append((paths[node], *split, float(gain), float(held), *ratio))
        header: tuple[str, ...] = ("node", "split", "", f"{measure} taken away", "split information", "gain ratio")
        if measure != "entropy":  # only bits are divided by bits
            header, shown = header[:4], [row[:4] for row in shown]
        note = f"of nodes with at most {DEPTH} questions above them that are not pure"
        return findings.Table("What every split would gain", header, tuple(shown), note=note)

    def check(self, tree: Trees, levels: Rows) -> None:
        """Refuse (ValueError) what is not of a tree over columns with so many levels."""
        if self.rows.ndim != 2 or self.rows.shape[1] != FIELDS:
            raise ValueError("the saved candidates are no splits")
        node, column, at = self.rows[:, 0], self.rows[:, 1], self.rows[:, 2]
        if not (np.isin(node, np.arange(len(tree.feature))) & np.isin(column, np.arange(len(levels)))).all():
            raise ValueError("the saved candidates are of other nodes")
        nominal = (levels[column.astype(int)] > 0) & ~np.isnan(at)
        if (at[nominal] >= levels[column[nominal].astype(int)]).any() or (at[nominal] < 0).any():
            raise ValueError("the saved candidates are of other levels")


def _first_nodes(tree: Trees, grower: RecursiveGrower, reached: Rows) -> Iterator[tuple[int, Node]]:
    """Each node near the root with its rows, unless it is pure."""
    depths, parent = tree.depths(), tree.parent
    for depth in range(DEPTH + 1):
        at = reached
        while (depths[at] > depth).any():
            at = np.where(depths[at] > depth, parent[at], at)
        for node in np.flatnonzero(depths == depth):
            rows = np.flatnonzero(at == node)
            if len(rows) and (own := Node.of(grower.targets, rows, grower.criterion)).impurity > 0:
                yield int(node), own


def _cuts(grower: RecursiveGrower, node: Node) -> Iterator[tuple[int, float, Cut]]:
    """Every branching of nominal columns, and the best threshold of the others."""
    binned, criterion, least = grower.binned, grower.criterion, grower.limits.least
    tolerance = float(criterion.tolerance(np.array(node.impurity)))
    for column, known in enumerate(binned.known):
        runs = Runs.of(binned.bins[column, node.rows], node)
        if not grower.levels[column]:
            cut = at_a_threshold(runs, int(known), criterion, least, tolerance)
            at = binned.between(np.array([column]), np.array([cut.low]), np.array([cut.high]))
            yield column, float(at[0]), cut
        elif grower.algorithm.each_level:
            yield column, np.nan, one_branch_each(runs, int(known), criterion, least, tolerance)
        elif len(runs.names) > 1:
            gains, whole = runs.gains(runs.sums, runs.weights, criterion, least), runs.weights.sum()
            for place, level in enumerate(runs.names if len(runs.names) > 2 else runs.names[:1]):
                held = information(np.array([runs.weights[place], whole - runs.weights[place]]))
                yield column, float(level), Cut(float(gains[place]), held)


def _split(words: Words, column: int, at: float) -> str:
    """A split in words."""
    one = words.columns[column]
    if np.isnan(at):
        return f"{one.name}: each level"
    if is_ordered(one):
        return f"{one.name} is known" if np.isinf(at) else f"{one.name} ≤ {bound(at, one)}"
    return f"{one.name} = {[*one.levels, 'missing'][int(at)]}"
