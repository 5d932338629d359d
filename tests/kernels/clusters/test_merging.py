"""Compiled merging makes the tree that merging by a matrix in NumPy makes, by every linkage."""

from __future__ import annotations

import numpy as np
import pytest

from mlcli.models.clusters.agglomerative import LINKAGES, merged_by_loops, merged_by_matrix


@pytest.mark.parametrize("linkage", LINKAGES)
@pytest.mark.parametrize("rows", [2, 3, 60])
def test_merges_and_heights_are_those_of_the_matrix(linkage: str, rows: int) -> None:
    X = np.random.default_rng(rows).normal(size=(rows, 3))
    (pairs, heights), (twin, expected) = merged_by_loops(X, linkage), merged_by_matrix(X, linkage)
    order = np.argsort(heights, kind="stable") if linkage == "single" else np.arange(len(heights))
    assert heights[order] == pytest.approx(expected, rel=1e-9)
    if linkage != "single":  # a spanning tree names other rows of the same clusters
        assert np.array_equal(pairs, twin)


@pytest.mark.parametrize("linkage", LINKAGES)
def test_equal_rows_merge_first(linkage: str) -> None:
    X = np.array([[0.1, 1e6], [5.0, 1e6], [0.1, 1e6], [5.0, 1e6]])
    assert np.sort(merged_by_loops(X, linkage)[1])[:2].tolist() == [0.0, 0.0]
