"""What splits of all rows gain, for golden cases."""

from __future__ import annotations

from typing import Any

import numpy as np

from mlcli.models.trees.decision_tree import DecisionTree, cuts
from tests.golden.asking import fitted


def root_impurity(data: Any, criterion: str) -> float:
    """The impurity of all rows."""
    return float(fitted(DecisionTree(criterion=criterion), data).tree_.impurity[0])


def cuts_at_root(data: Any, algorithm: str, criterion: str) -> tuple[Any, Any]:
    """What the best split of all rows by each column gains, and the information in its branches."""
    model = DecisionTree(algorithm=algorithm, criterion=criterion)
    model.fills_, model.columns_ = np.full(len(data.table.columns), np.nan), data.table.columns
    found = np.full((len(data.table.columns), 2), [-np.inf, 0.0])
    for cut in cuts(*model._grower(data), np.arange(len(data), dtype=np.uint32)):
        if cut.gain > found[cut.column, 0]:
            found[cut.column] = cut.gain, cut.information
    return found[:, 0], found[:, 1]


def gains_at_root(data: Any, algorithm: str, criterion: str) -> Any:
    """What the best split by each column gains."""
    return cuts_at_root(data, algorithm, criterion)[0]
