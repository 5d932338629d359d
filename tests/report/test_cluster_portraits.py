"""What is shown of clusters: boxplots beside matplotlib, histograms of every row, marks, and a tree that holds."""

from __future__ import annotations

import re

import numpy as np
import pytest
from matplotlib.cbook import boxplot_stats
from sklearn.decomposition import PCA
from sklearn.manifold import trustworthiness

from mlcli.core.findings import Cloud, Points
from mlcli.report.characters import drawn
from mlcli.report.document import Preformatted
from mlcli.scoring.clusters import (
    BESIDE_ALL,
    between_centres,
    by_components,
    by_neighbours,
    high_and_low,
)
from mlcli.scoring.plots import boxplots, histogram
from tests.support.shell import document, typed

PARTS = [("one", np.array([1.0, 2.0, 2.5, 3.0, 4.0, 9.0])), ("two", np.array([5.0, 5.0, 6.0]))]


def test_boxes_are_those_of_matplotlib() -> None:
    found = boxplots("", "x", PARTS)
    for (_, box), outside, (_, part) in zip(found.boxes, found.outside, PARTS, strict=True):
        theirs = boxplot_stats(part)[0]
        expected = [theirs[name] for name in ("whislo", "q1", "med", "q3", "whishi")]
        assert box == pytest.approx(expected)
        assert outside == len(theirs["fliers"])


def test_boxes_are_drawn_on_one_scale() -> None:
    picture = drawn(boxplots("", "x", PARTS), 60)
    assert isinstance(picture, Preformatted)
    lines = picture.lines
    assert [line.split()[0] for line in lines[:2]] == ["one", "two"]
    assert lines[0].endswith("1 outside")
    assert lines[0].index("█") < lines[1].index("█")


def test_every_row_is_in_a_histogram() -> None:
    counts = dict(histogram("", "x", PARTS).counts)
    assert {name: sum(one) for name, one in counts.items()} == {"one": 6, "two": 3}


def test_marks_are_by_deviations_of_all_rows() -> None:
    x = np.array([-2.0, -2.0, 0.0, 0.0, 2.0, 2.0])
    cluster = np.array([0, 0, 1, 1, 2, 2], np.int32)
    table = high_and_low({"x": x}, cluster, [(0, "cluster 0"), (1, "cluster 1"), (2, "cluster 2")], np.ones(6))
    assert table.rows == (("x", "very low", "-", "very high"),)


def test_marks_weigh_rows_as_repeats_would() -> None:
    x, weights = np.array([-2.0, 1.0, 0.5, np.nan, 3.0, 8.0]), np.array([1, 9, 9, 4, 1, 0])
    cluster, shown = np.array([0, 0, 1, 1, 2, 2], np.int32), [(0, "0"), (1, "1"), (2, "2")]
    copies = np.repeat(np.arange(6), weights)
    repeated = high_and_low({"x": x[copies]}, cluster[copies], shown, np.ones(len(copies)))
    assert high_and_low({"x": x}, cluster, shown, weights.astype(np.float64)).rows == repeated.rows
    assert repeated.rows != high_and_low({"x": x}, cluster, shown, np.ones(6)).rows


def test_distances_between_centres_with_those_of_rows_on_the_diagonal() -> None:
    X = np.array([[0.0, 1.0], [0.0, -1.0], [3.0, 4.0]])
    table = between_centres(X, np.array([0, 0, 1], np.int32), ("0", "1"), np.ones(3))
    assert table.rows == (("cluster 0", 1.0, 5.0), ("cluster 1", 5.0, 0.0))


def test_training_shows_what_clusters_look_like() -> None:
    found = {
        one["title"]: one
        for one in document(typed("train", "iris", "--task", "clustering", "-m", "k-means", "--json"))["findings"]
    }
    titles = {
        "Distances between centres",
        BESIDE_ALL,
        "Histogram of petal_length by cluster",
        "Boxplots of petal_length by cluster",
    }
    assert titles <= set(found)
    assert found["Decision tree that predicts the cluster"]["conditions"][1].startswith("petal_length ≤ 2.")
    assert len(found["Boxplots of petal_length by cluster"]["boxes"]) == 3


def test_noise_is_called_noise() -> None:
    shown = typed("train", "iris", "--task", "clustering", "-m", "dbscan").stdout
    assert re.search(r"cluster 1 \(48 rows\) +noise \(8 rows\)", shown)


def test_one_cluster_has_no_portrait() -> None:
    assert BESIDE_ALL not in typed("train", "faithful", "-m", "gaussian").stdout


def test_clusters_are_seen_from_three_sides_where_there_are_three() -> None:
    X = np.random.default_rng(1).normal(size=(40, 4))
    cluster = np.repeat([0, 1], 20).astype(np.int32)
    plane, cloud = by_components(X, cluster, ("0", "1"))
    assert isinstance(plane, Points)
    assert isinstance(cloud, Cloud)
    assert (plane.across, plane.upwards) == ("principal component 1", "principal component 2")
    theirs = np.abs(PCA(3).fit_transform(X))
    assert np.abs(cloud.groups[0][1]) == pytest.approx(theirs[:20])
    assert np.abs(plane.groups[1][1]) == pytest.approx(theirs[20:, :2])
    sides = [line for line in drawn(cloud, 60).lines if "upwards" in line]  # type: ignore[union-attr]
    assert [line.split(": ", 1)[1] for line in sides] == [
        "principal component 3; across: principal component 1",
        "principal component 3; across: principal component 2",
    ]
    assert len(list(by_components(X[:, :2], cluster, ("0", "1")))) == 1
    assert not list(by_components(X[:, :1], cluster, ("0", "1")))


def test_t_sne_draws_rows_of_many_columns_beside_their_neighbours() -> None:
    corners = np.repeat(np.eye(5)[:2] * 40, 25, axis=0)
    X = corners + np.random.default_rng(2).normal(size=corners.shape)
    cluster = np.repeat([0, 1], 25).astype(np.int32)
    (picture,) = by_neighbours(X, cluster, ("0", "1"))
    assert isinstance(picture, Points)
    assert picture.title == "Clusters by t-SNE 1 and t-SNE 2"
    assert "means little" in picture.note
    places = np.vstack([part for _, part in picture.groups])
    assert trustworthiness(X, places, n_neighbors=5) > 0.8
    assert [len(part) for _, part in picture.groups] == [25, 25]
    assert not list(by_neighbours(X[:, :2], cluster, ("0", "1")))
    assert not list(by_neighbours(X[:20], cluster[:20], ("0", "1")))
