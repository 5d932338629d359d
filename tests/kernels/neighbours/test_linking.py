"""Rows linked on a k-d tree are those that a matrix of distances links."""

from __future__ import annotations

import numpy as np
import pytest

from mlcli.engines.neighbours.search import KDTree
from mlcli.models.clusters.dbscan import linked_by


@pytest.mark.parametrize(
    ("rows", "columns", "limit"), [(1, 2, 0.1), (2, 1, 1.0), (300, 2, 0.06), (400, 5, 0.35), (300, 1, 1e-9)]
)
def test_sets_are_those_of_the_matrix(rows: int, columns: int, limit: float) -> None:
    X = np.random.default_rng(rows).random((rows, columns))
    X[rows // 2 :: 3] = X[0]
    near = np.sqrt(((X[:, None] - X) ** 2).sum(axis=2)) <= limit
    expected = linked_by(rows, lambda some, others: near[np.ix_(some, others)])
    found = KDTree.of(X).linked(limit)
    pairs = set(zip(expected.tolist(), found.tolist(), strict=True))
    assert len(pairs) == len(set(expected.tolist())) == len(set(found.tolist()))
