"""What every split would have gained at the first nodes of a tree, as it is worked out by hand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from mlcli.core import findings
from mlcli.core.moments import quotient
from mlcli.core.tables import Rows
from mlcli.engines.trees.cells import is_ordered
from mlcli.engines.trees.findings import NamedTree, bound
from mlcli.engines.trees.growing import Grower
from mlcli.engines.trees.structure import Trees

if TYPE_CHECKING:
    from mlcli.kernels.trees.records import PackedTargets

DEPTH = 2
"""How many questions lead to a node at most whose candidates are shown."""
Candidate = tuple[str, float, str, str, float, float]
"""A node, its impurity, a split of it, whether it was taken, what it gains and its split information."""


@dataclass(frozen=True)
class Cut:
    """The best way to split some rows by one column: a threshold, a level, or NaN for a branch for each."""

    column: int
    at: float
    impurity: float
    gain: float
    information: float
    """The entropy of the branches' weights (C4.5's split information)."""


def candidates(named: NamedTree, grower: Grower, targets: PackedTargets, reached: Rows) -> tuple[Candidate, ...]:
    """Those of a tree whose rows reached some nodes; at each node those that gain most first."""
    tree, results = named.tree, list[Candidate]()
    for node, path in sorted(named.paths(), key=lambda path: len(path[1])):
        if len(path) > DEPTH:
            break
        rows = _rows_of(tree, node, reached)
        for cut in sorted(cuts(grower, targets, rows), key=lambda cut: -cut.gain):
            taken = tree.feature[node] == cut.column and (np.isnan(cut.at) or tree.threshold[node] == cut.at)
            here = " AND ".join(path) or "all rows", cut.impurity
            results.append((*here, _split(named, cut), "taken" if taken else "", cut.gain, cut.information))
    return tuple(results)


def _rows_of(tree: Trees, node: int, reached: Rows) -> Rows:
    """The rows that came to a node, or through it to the ones that they reached."""
    parent, at = tree.parent, reached
    for _ in range(int(tree.depths().max())):
        at = np.where(at == node, node, parent[at])
    return np.flatnonzero(at == node)


def candidate_table(results: tuple[Candidate, ...], measure: str) -> findings.Table:
    """All of them; only bits are divided by bits."""
    header: tuple[str, ...] = ("node", measure, "split", "", f"decrease of {measure}")
    rows: tuple[tuple[findings.Entry, ...], ...] = tuple(one[:5] for one in results)
    if measure == "entropy":
        header = (*header, "split information", "gain ratio")
        rows = tuple((*one, float(quotient(*np.array([one[4:]]).T)[0])) for one in results)
    note = f"of impure nodes down to depth {DEPTH}"
    return findings.Table("Gain of every candidate split", header, rows, note=note)


def cuts(grower: Grower, targets: PackedTargets, rows: Rows) -> Iterator[Cut]:
    """Every branching of nominal columns, and the best threshold of the others; none of rows that are pure."""
    from mlcli.kernels.trees.records import Binned

    columns = grower.binned
    for column, ordered in enumerate(columns.ordered):
        codes = columns.bins[column]
        if ordered or grower.each_level:
            yield from _stump(grower, targets, rows, column)
            continue
        names = np.unique(codes[rows])
        for level in names if len(names) > 2 else names[:1]:
            ends = np.zeros((1, 2))
            alone = Binned((codes != level)[None].astype(np.uint16), np.array([2]), np.array([True]), ends, ends)
            for cut in _stump(replace(grower, binned=alone), targets, rows, 0):
                yield replace(cut, column=column, at=float(level))


def _stump(grower: Grower, targets: PackedTargets, rows: Rows, column: int) -> Iterator[Cut]:
    """The only question of a tree that may ask for one column, whatever it gains."""
    own = replace(grower, limits=grower.limits._replace(max_depth=1, min_gain=-np.inf, purity=1.0, gated=False))
    tree = own.trees([own.grown(targets, rows, np.array([column]))[0]], targets.scale)
    if not tree.leaves[0]:
        parts = tree.weight[1:] / tree.weight[0]
        at, impurity, gain = map(float, (tree.threshold[0], tree.impurity[0], tree.gain[0] / tree.weight[0]))
        yield Cut(column, at, impurity, gain, float(-(parts * np.log2(parts)).sum()))


def _split(named: NamedTree, cut: Cut) -> str:
    """A split in words."""
    name = named.columns[cut.column]
    if np.isnan(cut.at):
        return f"{name.name}: each level"
    if is_ordered(name):
        return f"{name.name} is known" if np.isinf(cut.at) else f"{name.name} ≤ {bound(cut.at, name)}"
    return f"{name.name} = {[*name.levels, 'missing'][int(cut.at)]}"
