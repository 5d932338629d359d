"""The stages of growing a tree, called one by one for golden cases."""

from __future__ import annotations

from typing import Any

import numpy as np

from mlcli.models.trees._algorithms import ALGORITHMS
from mlcli.models.trees._criteria import CRITERIA
from mlcli.models.trees._features import features, level_counts, ordered, own_value
from mlcli.models.trees._levels import Level, NodeSums, Targets, descend, level_of, node_sums
from mlcli.models.trees._presort import presort
from mlcli.models.trees._runs import Cuts
from mlcli.models.trees._search import search


def root_sums(data: Any) -> NodeSums:
    """Weight, mean output and spread of all rows."""
    return node_sums(Targets.of(data.outputs, data.weights), np.zeros(len(data), np.intp), 1, np.arange(len(data)))


def root_impurity(data: Any, criterion: str) -> float:
    """The impurity of all rows."""
    known = root_sums(data)
    return float(CRITERIA[criterion].impurity(known.mean, known.spread)[0])


def level_for(data: Any, criterion: str, node: Any = None) -> Level:
    """All rows as one level, in one open node unless told which (-1: in none)."""
    table = data.table
    cells = features(table, own_value(table, data.weights))
    sorted_once = presort(cells, ordered(table.columns), level_counts(table.columns))
    targets = Targets.of(data.outputs, data.weights)
    node = np.zeros(len(data), np.intp) if node is None else node
    held = np.flatnonzero(node >= 0)
    known = node_sums(targets, node[held], int(node.max()) + 1, held)
    tolerance = CRITERIA[criterion].tolerance(CRITERIA[criterion].impurity(known.mean, known.spread))
    return level_of(sorted_once, targets, node, descend(sorted_once.order, node), known, tolerance)


def cuts_of(level: Level, algorithm: str, criterion: str, least: float = 0.0) -> Cuts:
    """The best cut of every open node by every column."""
    return search(level, ALGORITHMS[algorithm].nominal_cuts, CRITERIA[criterion], least)


def gains_at_root(data: Any, algorithm: str, criterion: str) -> Any:
    """What the best split by each column gains."""
    return cuts_of(level_for(data, criterion), algorithm, criterion).gain[0]
