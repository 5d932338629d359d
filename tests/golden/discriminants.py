"""Rows with classes, posteriors of a model, and the rule of Bayes, for golden cases of discriminants."""

from __future__ import annotations

from typing import Any

import numpy as np

from mlcli.core.tables import Array
from tests.golden.asking import answered
from tests.support.rows import labelled, table_of

PRIORS = (0.2, 0.3, 0.5)


def rows(X: Array, y: Any, weight: Any = None) -> Any:
    """Rows of numbers with a class each."""
    table = table_of({f"x{j}": column for j, column in enumerate(X.T.tolist())})
    return labelled(table, [f"c{code}" for code in y], weight=weight)


def probabilities(model: Any, X: Array, y: Any) -> Array:
    """What the model says of the rows that it learned from."""
    return np.asarray(answered(model, rows(X, y)).probabilities)


def bayes(joint: Any) -> Array:
    """Joint probabilities, a list per class, as posteriors."""
    columns = np.column_stack(joint)
    return np.asarray(columns / columns.sum(axis=1, keepdims=True))
