"""Agglomerative clustering beside SciPy: merges, heights, cophenetic distances and cuts, by both routes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.cluster.hierarchy import cophenet, fcluster
from scipy.cluster.hierarchy import linkage as peer
from sklearn.metrics import adjusted_rand_score

from mlcli.core.errors import FitError, MlcliWarning
from mlcli.core.findings import Dendrogram, Table
from mlcli.models.clusters import agglomerative
from mlcli.models.clusters.agglomerative import (
    LINKAGES,
    Agglomerative,
    Merges,
    dendrogram,
    merged_by_loops,
    merged_by_matrix,
    merges_of,
)
from tests.golden.asking import answered, fitted
from tests.golden.test_k_means import rows, shipped

ROUTES = [merged_by_matrix, merged_by_loops]


def scattered(n: int = 300, p: int = 4) -> Any:
    """Rows of which no two pairs are equally far."""
    return np.random.default_rng(n).normal(size=(n, p)) + np.arange(n)[:, None] % 3


def as_scipy(merges: Merges) -> Any:
    """The merges in SciPy's form."""
    return np.column_stack([merges.children, merges.heights, merges.sizes]).astype(np.float64)


@pytest.mark.parametrize("linkage", list(LINKAGES))
@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("n", [2, 3, 120])
def test_merges_and_heights_are_those_of_scipy(
    linkage: str, route: Any, n: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agglomerative, "COMPILED_FROM", 0 if route is merged_by_loops else 10**9)
    X = scattered(n)
    ours, theirs = merges_of(X, linkage), peer(X, linkage)
    assert np.array_equal(ours.children, theirs[:, :2])
    assert ours.heights == pytest.approx(theirs[:, 2], rel=1e-9)
    assert np.array_equal(ours.sizes, theirs[:, 3])


@pytest.mark.parametrize("linkage", list(LINKAGES))
@pytest.mark.parametrize("dataset", ["wine", "ruspini"])
def test_cophenetic_distances_are_those_of_scipy(linkage: str, dataset: str) -> None:
    X = shipped(dataset).table.numbers + np.random.default_rng(1).normal(
        0, 1e-6, shipped(dataset).table.numbers.shape
    )
    ours = cophenet(as_scipy(merges_of(X, linkage)))
    assert ours == pytest.approx(cophenet(peer(X, linkage)), rel=1e-9)


def test_centroid_linkage_may_merge_lower_than_before() -> None:
    """An equilateral triangle, but for a little: the third corner is nearer to the middle of the other two."""
    triangle = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, 0.9]])
    for route in ROUTES:
        _, heights = route(triangle, "centroid")
        assert heights == pytest.approx([1.0, 0.9])
    assert "1 merge lies lower" in fitted(Agglomerative(linkage="centroid"), rows(triangle)).explain()[0].note


@pytest.mark.parametrize(
    ("linkage", "height"), [("single", 8.0), ("complete", 10.0), ("average", 9.0), ("centroid", 9.0)]
)
@pytest.mark.parametrize("route", ROUTES)
def test_the_distances_of_two_clusters_are_those_of_the_worked_example(
    linkage: str, height: float, route: Any
) -> None:
    """Worked examples, section 10: the clusters 1 2 and 10 11."""
    _, heights = route(np.array([[1.0], [2.0], [10.0], [11.0]]), linkage)
    assert heights.max() == pytest.approx(height, abs=1e-12)


@pytest.mark.parametrize("linkage", list(LINKAGES))
@pytest.mark.parametrize("clusters", [1, 2, 5, 40])
def test_a_cut_by_number_leaves_so_many_clusters(linkage: str, clusters: int) -> None:
    merges = merges_of(scattered(), linkage)
    cut = merges.cut_into(clusters)
    assert len(np.unique(cut)) == clusters
    by_height = fcluster(as_scipy(merges), clusters, "maxclust")
    assert linkage == "centroid" or adjusted_rand_score(cut, by_height) == pytest.approx(1.0)


@pytest.mark.parametrize("linkage", list(LINKAGES))
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.99])
def test_a_cut_at_a_height_is_that_of_scipy(linkage: str, share: float) -> None:
    merges = merges_of(scattered(), linkage)
    height = float(np.quantile(merges.heights, share))
    theirs = fcluster(as_scipy(merges), height, "distance")
    assert adjusted_rand_score(merges.cut_at(height), theirs) == pytest.approx(1.0)


def test_the_four_clusters_of_ruspini_are_found() -> None:
    """Ruspini 1970: 23, 20, 17 and 15 rows."""
    answers = answered(Agglomerative(clusters=4), shipped("ruspini"))
    assert np.bincount(answers.cluster).tolist() == [23, 20, 17, 15]
    same = answered(Agglomerative(height=5.0), shipped("ruspini"))
    assert np.array_equal(same.cluster, answers.cluster)


def test_of_equal_distances_the_first_pair_merges() -> None:
    for linkage in LINKAGES:
        pairs, _ = merged_by_matrix(np.arange(4.0)[:, None], linkage)
        assert pairs[0].tolist() == [0, 1]


def test_equal_rows_merge_at_height_zero() -> None:
    X = np.array([[0.1, 1e6], [0.1, 1e6], [0.3, 1e6], [0.3, 1e6]])
    for linkage in LINKAGES:
        for route in ROUTES:
            assert np.sort(route(X, linkage)[1])[:2].tolist() == [0.0, 0.0]


@pytest.mark.parametrize("linkage", LINKAGES)
def test_rows_that_are_all_equal_have_a_tree_without_height(linkage: str) -> None:
    model = fitted(Agglomerative(linkage=linkage, clusters=2), rows([[1.0, 2.0]] * 5))
    assert model.heights_.tolist() == [0.0] * 4
    picture = model.explain()[0]
    assert isinstance(picture, Dendrogram)
    assert (len(picture.leaves), picture.heights) == (5, (0.0,) * 4)


def test_more_clusters_than_rows_are_said() -> None:
    with pytest.warns(MlcliWarning, match=r"fewer rows \(2\) than clusters were asked for \(3\)"):
        assert answered(Agglomerative(clusters=3), rows([1, 5])).cluster.tolist() == [0, 1]


def test_a_matrix_that_no_computer_holds_is_refused_before_it_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agglomerative, "MATRIX_AT_MOST", 1_000)
    with pytest.raises(FitError, match="average linkage of 1,600 rows needs a matrix"):
        fitted(Agglomerative(linkage="average"), rows(scattered(1_600)))
    assert len(fitted(Agglomerative(linkage="ward"), rows(scattered(1_600))).heights_) == 1_599


def test_the_dendrogram_numbers_leaves_from_the_top_and_then_what_merges_make() -> None:
    """Rows at 0, 1, 9 and 5 by single linkage: heights 1, 4 and 4; the larger part stands above."""
    merges = merges_of(np.array([[0.0], [1.0], [9.0], [5.0]]), "single")
    picture = dendrogram("Tree", merges, np.array([0, 0, 2, 1], np.int32), "read it")
    assert picture == Dendrogram(
        "Tree",
        ("cluster 0: row 1", "cluster 0: row 2", "cluster 1: row 4", "cluster 2: row 3"),
        ((0, 1), (2, 4), (3, 5)),
        (1.0, 4.0, 4.0),
        note="read it",
    )


def test_merges_name_their_rows_where_they_are_few() -> None:
    """Rows at 0, 1, 9 and 5 by single linkage: 1 and 2 first, 4 with these at 4, then 3 at 4."""
    table = fitted(
        Agglomerative(linkage="single", clusters=1), rows(np.array([[0.0], [1.0], [9.0], [5.0]]))
    ).explain()[1]
    assert isinstance(table, Table)
    assert {(left, height, *sorted(map(str, parts))) for left, height, *parts in table.rows} == {
        (3, 1.0, "row 1", "row 2"),
        (2, 4.0, "row 4", "rows 1, 2"),
        (1, 4.0, "row 3", "rows 1, 2, 4"),
    }


def test_of_many_rows_the_last_merges_are_shown() -> None:
    model = fitted(Agglomerative(clusters=3), rows(scattered(40)))
    picture = model.explain()[0]
    assert isinstance(picture, Dendrogram)
    assert len(picture.leaves) == 12
    assert picture.heights == tuple(model.heights_[-11:].tolist())
    assert picture.merges[-1][1] == 21


def test_rows_are_known_again_in_any_order_and_others_refused() -> None:
    X = np.random.default_rng(6).normal(size=(30, 2))
    model = fitted(Agglomerative(clusters=4), rows(X))
    some = np.array([7, 3, 3, 29])
    assert model.cluster_of(rows(X[some]).table).tolist() == model.cluster_[some].tolist()
    with pytest.raises(FitError, match="row 2 is none of them"):
        model.cluster_of(rows(np.vstack([X[:1], X[1:2] + 1e-9])).table)
