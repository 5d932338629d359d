"""What every split would have gained at the first nodes of a tree, as it is worked out by hand."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mlcli.core import findings
from mlcli.core.moments import quotient
from mlcli.core.tables import Rows
from mlcli.engines.trees.cells import is_ordered
from mlcli.engines.trees.findings import Words, bound
from mlcli.engines.trees.recursive import (
    Cut,
    Node,
    RecursiveGrower,
    Runs,
    at_a_threshold,
    information,
    one_branch_each,
)
from mlcli.engines.trees.structure import Trees

DEPTH = 2
"""How many questions lead to a node at most whose candidates are shown."""
Candidate = tuple[str, str, str, float, float]
"""A node and a split of it in words, whether it was taken, what it gains and its split information."""


def candidates(words: Words, grower: RecursiveGrower, reached: Rows) -> tuple[Candidate, ...]:
    """Those of a tree whose rows reached some nodes; at each node those that gain most first."""
    tree, paths, found = words.tree, dict(words.paths()), list[Candidate]()
    for node, own in _first_nodes(tree, grower, reached):
        cuts = (one for one in _cuts(grower, own) if one[2].gain > -np.inf)
        for column, at, cut in sorted(cuts, key=lambda one: -one[2].gain):
            taken = tree.feature[node] == column and (np.isnan(at) or tree.threshold[node] == at)
            path, split = " AND ".join(paths[node]) or "all rows", _split(words, column, at)
            found.append((path, split, "taken" if taken else "", cut.gain, cut.information))
    return tuple(found)


def shown(found: tuple[Candidate, ...], measure: str) -> findings.Table:
    """All of them; only bits are divided by bits."""
    header: tuple[str, ...] = ("node", "split", "", f"{measure} taken away")
    rows: tuple[tuple[findings.Entry, ...], ...] = tuple(one[:4] for one in found)
    if measure == "entropy":
        header = (*header, "split information", "gain ratio")
        rows = tuple((*one, float(quotient(*np.array([one[3:]]).T)[0])) for one in found)
    note = f"of nodes with at most {DEPTH} questions above them that are not pure"
    return findings.Table("What every split would gain", header, rows, note=note)


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
    tolerance = criterion.tolerance(node.impurity)
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
