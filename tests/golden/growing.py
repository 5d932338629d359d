"""The stages of growing a tree, called one by one for golden cases."""

from __future__ import annotations

from typing import Any

import numpy as np

from mlcli.engines.trees.binning import WIDE, binned
from mlcli.engines.trees.cells import features, level_counts, ordered
from mlcli.engines.trees.criteria import CRITERIA, Limits
from mlcli.engines.trees.recursive import ALGORITHMS, Node, RecursiveGrower
from mlcli.engines.trees.targets import Targets


def root_of(data: Any, criterion: str) -> Node:
    """All rows as one node."""
    return Node.of(Targets.of(data.outputs, data.weights), np.arange(len(data)), CRITERIA[criterion])


def root_impurity(data: Any, criterion: str) -> float:
    """The impurity of all rows."""
    return root_of(data, criterion).impurity


def tolerance_at_root(data: Any, criterion: str) -> float:
    """How much two gains of the root may differ by rounding alone."""
    return CRITERIA[criterion].tolerance(root_impurity(data, criterion))


def cuts_at_root(data: Any, algorithm: str, criterion: str) -> tuple[Any, Any]:
    """What the best split of all rows by each column gains, and the information in its branches."""
    columns = data.table.columns
    cells = features(data.table, np.full(len(columns), np.nan))
    rows = binned(cells, ordered(columns), level_counts(columns), None, kinds=WIDE)
    targets = Targets.of(data.outputs, data.weights)
    grower = RecursiveGrower(
        rows, level_counts(columns), targets, CRITERIA[criterion], ALGORITHMS[algorithm], "none", Limits()
    )
    cuts = list(grower.cuts(root_of(data, criterion), tolerance_at_root(data, criterion)))
    return np.array([cut.gain for cut in cuts]), np.array([cut.information for cut in cuts])


def gains_at_root(data: Any, algorithm: str, criterion: str) -> Any:
    """What the best split by each column gains."""
    return cuts_at_root(data, algorithm, criterion)[0]
