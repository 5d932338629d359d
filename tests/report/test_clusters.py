"""What is shown of clusters: matrices, the elbow, and a verdict where the first baseline has no score."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.cluster import KMeans

from mlcli.core.findings import Lines, Table
from mlcli.core.schema import Column, Schema, SchemaField
from mlcli.engines.principal_components import elbow, elbow_note, range_of_elbow
from mlcli.experiment.results import SplitResult
from mlcli.experiment.spec.cells import Cell, CellResult, DatasetFacts, ModelSpec, ProtocolSpec
from mlcli.metrics.base import Summary
from mlcli.metrics.registry import metric_named
from mlcli.report.document import decimals_of
from mlcli.report.formats.text import text_of
from mlcli.report.page import Page
from mlcli.report.views.results import results_of
from mlcli.scoring.model_results import ModelResult, score_result
from mlcli.tasks.clustering import MEANS, ClusterAnswers
from tests.golden.test_clusters import answers
from tests.support.shell import typed

CORNERS = DatasetFacts("corners", "c", 12, Schema((SchemaField(Column("x")),)))
FOUR = np.repeat(np.eye(4), 3, axis=0) * 10.0 + np.tile([-0.1, 0.0, 0.1], 4)[:, None]
"""Three rows each round four corners that are equally far from each other."""


def cell(use: str, *splits: ClusterAnswers, protocol: str = "whole", **params: object) -> CellResult:
    """A cell of the kind clustering."""
    of = Cell(CORNERS, "clustering", ModelSpec(use, params), (), ProtocolSpec(protocol), seed=1)
    named = (
        SplitResult(place, f"sample {place + 1}", 12, {"test": one}, 0, 0) for place, one in enumerate(splits)
    )
    return CellResult(of, "done", splits=tuple(named))


def shown(*results: CellResult, metrics: tuple[str, ...] = ("silhouette",)) -> str:
    """The report of some cells."""
    every: list[ModelResult] = [score_result(result, metrics) for result in results]
    return text_of(results_of(every), Page(width=None))


def parts(k: int) -> ClusterAnswers:
    """The four clusters, of which the last are taken together, or the first cut further."""
    cluster = np.minimum(np.arange(12) // 3, k - 1)
    for extra in range(4, k):
        cluster[extra - 4] = extra
    return answers(FOUR, cluster)


def test_the_elbow_is_where_the_curve_is_farthest_below_its_chord() -> None:
    text = shown(*(cell("k-means", parts(k), clusters=k) for k in (2, 3, 4, 5, 6)))
    assert "k-means: inertia (within-cluster sum of squares) by number of clusters" in text
    assert "The elbow is at 4 clusters, with 0.0 % of the inertia left" in text


def test_a_curve_that_falls_no_faster_than_one_over_k_has_no_elbow() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(12, 1))
    few = [answers(X, np.arange(12) % k) for k in (2, 3, 4)]
    text = shown(*(cell("k-means", one, clusters=one.clusters) for one in few))
    assert "No elbow: the curve is like 1/k." in text


def test_points_spread_evenly_over_a_square_have_no_elbow() -> None:
    X = np.random.default_rng(0).uniform(size=(400, 2))
    parted = [KMeans(k, n_init=3, random_state=0).fit(X).labels_ for k in range(2, 9)]
    text = shown(*(cell("k-means", answers(X, labels), clusters=labels.max() + 1) for labels in parted))
    assert "No elbow: the curve is like 1/k. It bends most at 4 clusters, with 24." in text


def test_a_curve_with_gaps_is_shown_without_an_elbow() -> None:
    text = shown(*(cell("k-means", parts(k), clusters=k) for k in (3, 4, 6)))
    assert "An elbow is looked for where every number of clusters from 2 on is there." in text


def test_of_a_curve_the_best_is_drawn() -> None:
    text = shown(*(cell("k-means", parts(k), clusters=k) for k in (2, 3, 4, 5, 6)))
    assert [line for line in text.splitlines() if line.startswith("k-means clusters=") and "  " not in line] == [
        "k-means clusters=4"
    ]
    assert "of the models of a curve, the best by silhouette is shown" in text


def test_the_columns_that_differ_most_stand_below_the_clusters_of_the_training_rows() -> None:
    columns = tuple((f"x{place}", 0.0, 1.0, 0.5, 1.0 / (1 + place)) for place in range(7))
    header = ("column", "cluster 0 (6 rows)", "cluster 1 (6 rows)", "all rows", "between")
    profile = (Table(MEANS, header, columns, code="mean-profile"), Lines("Another", ("not shown",)))
    whole, sampled = (cell("k-means", parts(2), protocol=use) for use in ("whole", "bootstrap-whole"))
    told = [replace(one, splits=(replace(one.splits[0], explanation=profile),)) for one in (whole, sampled)]
    text, other = (shown(one) for one in told)
    assert [line.split()[0] for line in text.splitlines() if line.startswith("x")] == [
        "x0",
        "x1",
        "x2",
        "x3",
        "x4",
    ]
    assert "2 more columns that differ less: mlcli train" in text
    assert "not shown" not in text
    assert MEANS not in other


def test_models_that_differ_in_more_than_their_number_make_no_curve() -> None:
    text = shown(*(cell("agglomerative", parts(k), clusters=k, linkage=f"linkage {k}") for k in (2, 3, 4)))
    assert "what is left" not in text


def test_clusters_of_different_splits_are_not_taken_together() -> None:
    text = shown(cell("k-means", parts(4), parts(3), protocol="bootstrap-whole", clusters=4))
    assert "k-means: sample 1 of 2\n" in text
    sizes = [line.split() for line in text.splitlines() if line.startswith("rows")]
    assert sizes == [["rows", "3", "3", "3", "3", "12"]]


def test_the_verdict_compares_with_the_first_baseline_that_has_a_score() -> None:
    one = answers(FOUR, np.zeros(12, int))
    dealt = answers(FOUR, np.arange(12) % 3)
    text = shown(cell("one-cluster", one), cell("random-clusters", dealt), cell("k-means", parts(4)))
    assert text.rstrip().rsplit("\n", 1)[-1].startswith("By silhouette: k-means with 0.9")
    assert text.rstrip().endswith("above the baseline random-clusters.")


@pytest.mark.parametrize("metric", ["wcss", "bcss"])
def test_the_first_baseline_is_the_one_to_beat_where_it_has_a_score(metric: str) -> None:
    one = answers(FOUR, np.zeros(12, int))
    dealt = answers(FOUR, np.arange(12) % 3)
    results = (cell("one-cluster", one), cell("random-clusters", dealt), cell("k-means", parts(4)))
    assert "the baseline one-cluster" in shown(*results, metrics=(metric,))


def test_the_verdict_claims_no_test_that_was_not_made() -> None:
    samples = [
        cell(use, parts(4), parts(k), protocol="bootstrap-whole") for use, k in (("k-means", 4), ("gmm", 3))
    ]
    text = shown(*samples, metrics=("stability",))
    assert text.rstrip().endswith("Best by stability: k-means with 1.000; not tested: gmm.")


def test_of_very_many_clusters_the_largest_are_shown() -> None:
    X = np.arange(80.0)[:, None]
    cluster = np.minimum(np.arange(80) // 3, 19)
    text = shown(cell("k-means", answers(X, cluster), clusters=20))
    assert text.splitlines().count("the 12 largest of 20 clusters are shown") == 1
    header = next(line for line in text.splitlines() if line.startswith("cluster "))
    assert header.split() == ["cluster", *map(str, range(12)), "all"]


def test_silhouettes_of_some_of_the_rows_are_said_to_be_that() -> None:
    X = np.arange(6_000.0)[:, None]
    text = shown(cell("k-means", answers(X, np.arange(6_000) // 3_000)))
    assert "silhouette: of 5,000 of 6,000 rows, each compared with all of them" in text
    assert "each beside" not in shown(cell("k-means", parts(4)))


def test_an_interval_is_explained_where_one_stands_only() -> None:
    samples = cell("k-means", parts(4), parts(3), protocol="bootstrap-whole")
    assert "95 % CI" not in shown(samples, metrics=("stability",))
    assert "[low, high] 95 % confidence interval whose sides differ" in shown(samples, metrics=("silhouette",))


def test_a_large_score_has_no_more_than_six_digits_beside_small_ones() -> None:
    bcss = metric_named("bcss", ClusterAnswers)
    assert decimals_of(bcss, [Summary("bcss", mean) for mean in (1.0, 7.188, 22666.731)]) == 1
    assert decimals_of(bcss, [Summary("bcss", mean) for mean in (1.0, 7.188, 66.731)]) == 3


def test_a_small_score_does_not_look_like_0_beside_large_ones() -> None:
    ratio = metric_named("calinski-harabasz", ClusterAnswers)
    assert decimals_of(ratio, [Summary("calinski-harabasz", mean) for mean in (0.039, 1165.0, 1103.0)]) is None
    assert decimals_of(ratio, [Summary("calinski-harabasz", mean) for mean in (0.0, 1165.0, 1103.0)]) == 0


TABLE = Path(__file__).parents[1] / "golden" / "haematology.csv"

COVARIANCE = np.array([31.378604, 4.459708, 3.061992, 1.053974, 0.029136, 0.001793, 0.000380])

CORRELATION = np.array([2.469806, 2.256864, 1.700473, 0.556669, 0.012687, 0.002476, 0.001025])
"""Eigenvalues of the haematology table, by NumPy; the notes read an elbow of 3 to 4 from its plot."""


@pytest.mark.parametrize(("variances", "bend", "places"), [(COVARIANCE, 2, (2, 4)), (CORRELATION, 5, (4, 5))])
def test_the_elbow_of_the_haematology_table_is_uncertain(
    variances: np.ndarray, bend: int, places: tuple[int, int]
) -> None:
    """By hand, in parts of the largest distance below the line: 1, 0.82, 0.68, 0.48; scaled 0.84, 1, 0.50."""
    assert elbow(variances) == bend
    assert range_of_elbow(variances) == places
    first, last = places
    certain = f"which is uncertain: {first} to {last} lie nearly as far below the line"
    assert elbow_note(variances) == f"; the elbow of the plot is at {bend}, {certain}"


@pytest.mark.parametrize("count", [5, 10, 50])
def test_a_sharp_elbow_is_certain(count: int) -> None:
    curve = np.array([10.0, *np.linspace(1.0, 0.9, count)])
    assert range_of_elbow(curve) == (2, 2)
    assert elbow_note(curve) == "; the elbow of the plot is at 2"


def test_the_shell_says_how_certain(tmp_path: Path) -> None:
    path = tmp_path / "haematology.csv"
    path.write_text(TABLE.read_text())
    (tmp_path / "haematology.yaml").write_text("task: projection\n")
    for model, said in (("{use: pca, steps: []}", "uncertain: 2 to 4"), ("pca", "uncertain: 4 to 5")):
        result = typed("train", str(path), "-m", model, "-o", str(tmp_path / "m.mlcli"), "--force")
        assert result.exit_code == 0, result.output
        assert said in " ".join(result.stdout.split())


@pytest.mark.parametrize("points", [np.ones((5, 5), int), np.eye(5, dtype=int)], ids=["equal", "equally far"])
def test_a_straight_line_has_no_elbow(points: np.ndarray, tmp_path: Path) -> None:
    """By hand: equal rows have no inertia; k clusters leave (5 - k) / 4 of that of 5 points equally far apart."""
    path = tmp_path / "line.csv"
    np.savetxt(path, np.tile(points, (6, 1)), fmt="%d", delimiter=",", header="a,b,c,d,e", comments="")
    words = ("--task", "clustering", "-m", "k-means", "-p", "clusters=2..5")
    result = typed("curve", "validation", str(path), *words)
    assert result.exit_code == 0, result.output
    assert "No elbow: no number of clusters lies below the straight line" in " ".join(result.stdout.split())
