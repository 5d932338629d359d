"""The clusters of a trained model as findings, and the elbow of several numbers of clusters."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from mlcli.core import CLOSE, findings
from mlcli.core.configuration import missing_steps
from mlcli.core.errors import captured_warnings
from mlcli.core.pipeline import Pipeline, learn
from mlcli.core.registry import MODELS
from mlcli.core.rows import evenly_spaced
from mlcli.core.tables import Array, Codes, Flags
from mlcli.data.dataset import Dataset
from mlcli.engines.ensemble import outputs
from mlcli.engines.principal_components import elbow_of_curve, range_of_elbow
from mlcli.experiment.results import SplitResult, Trained
from mlcli.scoring.differences import best_of
from mlcli.scoring.model_results import ModelResult, judged_answers
from mlcli.scoring.plots import boxplots, histogram, points_and_cloud
from mlcli.tasks.clustering import SHOWN, ClusterAnswers, centres, cluster_title
from mlcli.tasks.supervised import CLASSIFICATION, LabelledRows

MOST_POINTS = 400
"""About how many rows are drawn."""
COLUMNS_DRAWN = 3
BESIDE_ALL = "Means of the clusters beside the mean of all rows: high or low"


def cluster_portraits(trained: Trained) -> findings.Explanation:
    """What the clusters look like; nothing where there is one cluster, or none that could be separated."""
    final: Any = trained.pipeline.final
    if final.cluster_count() < 2 or final.profile_ is None:
        return ()
    rows = trained.rows
    prepared = trained.pipeline.prepared(rows.table)
    cluster, names = np.asarray(final.cluster_of(prepared), np.int32), final.cluster_names()
    X = final.feature_matrix(prepared)
    return (
        between_centres(X, cluster, names, rows.weights),
        *_clusters_by_column(rows, cluster, names, final.profile_["between"]),
        *cluster_tree(rows, cluster, names),
        *by_components(X, cluster, names),
        *by_neighbours(X, cluster, names),
    )


def between_centres(X: Array, cluster: Codes, names: Sequence[str], weights: Array) -> findings.Table:
    """The distances between the centres of the clusters, and the mean distance of the rows to theirs."""
    middle = centres(X, cluster, len(names), weights)
    distances = np.sqrt(((middle[:, None] - middle) ** 2).sum(axis=2))
    to_own = np.sqrt(((X - middle[cluster]) ** 2).sum(axis=1))
    for k in range(len(names)):
        members = cluster == k
        distances[k, k] = np.average(to_own[members], weights=weights[members]) if members.any() else np.nan
    shown = [k for k in range(min(len(names), SHOWN)) if np.isfinite(distances[k, k])]
    rows = tuple((cluster_title(names[k]), *distances[k, shown].tolist()) for k in shown)
    header = ("", *(cluster_title(names[k]) for k in shown))
    note = "of the centres, in the columns after the steps; on the diagonal the mean distance of rows to theirs"
    return findings.Table("Distances between centres", header, rows, note=note)


def _clusters_by_column(
    rows: Any, cluster: Codes, names: tuple[str, ...], between: Array
) -> Iterator[findings.Finding]:
    """The clusters in the numeric columns, those first that differ most between clusters."""
    shown = [(k, cluster_title(names[k])) for k in range(min(len(names), SHOWN)) if (cluster == k).any()]
    order = np.argsort(-np.round(between, 9), kind="stable")
    columns = [rows.table.columns[index].name for index in order if not rows.table.columns[index].coded]
    cells = {name: np.asarray(rows.table.cells(name), np.float64) for name in columns}
    if cells:
        yield high_and_low(cells, cluster, shown, rows.weights)
    for name in columns[:COLUMNS_DRAWN]:
        members = [(title, cells[name][cluster == k]) for k, title in shown]
        parts = [(title, part[~np.isnan(part)]) for title, part in members]
        parts = [(title, part) for title, part in parts if len(part)]
        yield histogram(f"Histogram of {name} by cluster", name, parts)
        yield boxplots(f"Boxplots of {name} by cluster", name, parts)


def high_and_low(
    cells: Mapping[str, Array], cluster: Codes, shown: Sequence[tuple[int, str]], weights: Array
) -> findings.Table:
    """The columns in which the mean of a cluster is high or low beside that of all rows."""

    def mean(values: Array, among: Flags) -> float:
        return float(np.average(values[among], weights=weights[among])) if among.any() else 0.0

    lines = []
    for name, column in cells.items():
        known = ~np.isnan(column) & (weights > 0)
        deviations = column - mean(column, known)
        spread = math.sqrt(mean(deviations**2, known))
        marks: list[str] = []
        for k, _ in shown:
            deviation = mean(deviations, known & (cluster == k))
            size = abs(deviation) / spread if spread > 0 else 0.0
            direction = "high" if deviation > 0 else "low"
            marks.append("-" if size < 0.5 else direction if size < 1.0 else f"very {direction}")
        lines.append((name, *marks))
    note = (
        "high, low: the mean of the cluster is half a standard deviation or more from that of all rows; very: one"
    )
    return findings.Table(BESIDE_ALL, ("column", *(title for _, title in shown)), tuple(lines), note=note)


def cluster_tree(rows: Any, cluster: Codes, names: tuple[str, ...]) -> Iterator[findings.Finding]:
    """A small decision tree that predicts the cluster from the columns of the file, and its accuracy."""
    depth = 3  # a deeper tree is hard to read
    classes = tuple(cluster_title(name) for name in names)
    labelled = LabelledRows(
        table=rows.table, rows=rows.rows, target="cluster", weight=rows.weight, y=cluster, classes=classes
    )
    model = MODELS.load("decision-tree")(max_depth=depth)
    pipeline = Pipeline(steps=tuple(missing_steps(model.accepts, rows.table.columns, None)), model=model)
    with captured_warnings():
        learn(pipeline, labelled, np.random.default_rng(0))
        shares = outputs(pipeline, rows.table, CLASSIFICATION)
    accuracy = float(np.average(shares.argmax(axis=1) == cluster, weights=rows.weights))
    note = f"depth {depth} at most; accuracy on these rows {100 * accuracy:.1f} %"
    for finding in pipeline.final.explain():
        if isinstance(finding, findings.Tree):
            yield replace(finding, title="Decision tree that predicts the cluster", note=note)


def by_components(X: Array, cluster: Codes, names: Sequence[str]) -> Iterator[findings.Finding]:
    """The rows by their first two principal components, then by three."""
    centred = X - X.mean(axis=0)
    _, lengths, directions = np.linalg.svd(centred, full_matrices=False)
    count = min(3, int((lengths > CLOSE * lengths.max(initial=0.0)).sum()))
    rows = evenly_spaced(len(X), MOST_POINTS)
    axes = [f"principal component {index + 1}" for index in range(count)]
    parts = _by_cluster((centred @ directions[:count].T)[rows], cluster[rows], names)
    yield from points_and_cloud("Clusters", axes, parts)


def by_neighbours(X: Array, cluster: Codes, names: Sequence[str]) -> Iterator[findings.Finding]:
    """The rows by their t-SNE coordinates, where they have more columns than a picture shows."""
    rows = evenly_spaced(len(X), MOST_POINTS)
    if X.shape[1] <= 2 or len(rows) < 30:  # the perplexity takes 30 neighbours
        return
    coordinates, _ = MODELS.load("t-sne")().placed(X[rows])
    for picture in points_and_cloud(
        "Clusters", ("t-SNE 1", "t-SNE 2"), _by_cluster(coordinates, cluster[rows], names)
    ):
        note = "near rows stay near; how far clusters lie apart, and how large they are, means little"
        yield replace(picture, note=note)


def _by_cluster(coordinates: Array, cluster: Codes, names: Sequence[str]) -> dict[str, Array]:
    return {cluster_title(name): coordinates[cluster == k] for k, name in enumerate(names[:SHOWN])}


def profile_tables(split: SplitResult) -> list[findings.Table]:
    """The profiles of the clusters that the model of a split has found."""
    tables = (finding for finding in split.explanation if isinstance(finding, findings.Table))
    return [table for table in tables if table.code in ("mean-profile", "level-profile")]


def first_answers(result: ModelResult) -> ClusterAnswers:
    """The predictions of the first split: the clusters of others need not be the same."""
    answers = judged_answers(result.cell_result)[0]
    assert isinstance(answers, ClusterAnswers)
    return answers


def cluster_planes(result: ModelResult, name: str, data: Dataset) -> list[findings.Finding]:
    """The clusters of a clustering by the columns that differ most between them, in a plane and in space."""
    tables = profile_tables(result.splits[0])
    answers = judged_answers(result.cell_result)[0]
    if not tables or not isinstance(answers, ClusterAnswers):
        return []
    numeric = {column.name for column in data.schema.features() if not column.coded}
    columns = [str(row[0]) for row in tables[0].rows if row[0] in numeric][:COLUMNS_DRAWN]
    cells = np.column_stack([np.empty((len(data), 0)), *(data.table.cells(column) for column in columns)])
    parts: dict[str, Array] = {}
    for cluster in np.unique(answers.cluster).tolist():
        rows = answers.rows[answers.cluster == cluster]
        part = cells[rows[evenly_spaced(len(rows), MOST_POINTS)]]
        parts[f"cluster {cluster}"] = part[np.isfinite(part).all(axis=1)]
    return list(points_and_cloud(f"{name}: clusters", columns, parts))


ElbowCode = Literal["missing-numbers", "straight", "like-1/k", "clear", "uncertain"]


@dataclass(frozen=True, eq=False)
class Elbow:
    """The inertia of models that differ in their number of clusters alone, and where its curve bends."""

    models: Mapping[int, ModelResult]
    """By the number of clusters."""
    inertia: Mapping[int, float]
    """The sum of squares within clusters, of the mean split; 1 cluster stands first."""
    shares: Mapping[int, float]
    """The same as shares of the total sum of squares."""
    code: ElbowCode
    at: int = 0
    """The number of clusters at which the curve bends most."""
    range: tuple[int, int] = (0, 0)
    """The numbers of clusters that lie nearly as far below the straight line."""

    @property
    def best(self) -> ModelResult:
        """The model with the best score."""
        first = next(iter(self.models.values()))
        return best_of(self.models.values(), first.metrics[0]) or first


def elbows_in(results: Iterable[ModelResult]) -> list[Elbow]:
    """The elbow of each model that was given several numbers of clusters, where there are enough for a curve."""
    series: dict[str, dict[int, ModelResult]] = {}
    for result in results:
        cell = result.cell
        if "clusters" in cell.model.params:
            others = sorted(
                ((name, value) for name, value in cell.model.params.items() if name != "clusters"), key=repr
            )
            key = repr((cell.model.use, others, cell.steps, cell.protocol))
            series.setdefault(key, {})[int(cell.model.params["clusters"])] = result
    # Four numbers, one cluster included, make a curve.
    return [_elbow_of(dict(sorted(models.items()))) for models in series.values() if len(models.keys() | {1}) >= 4]


def _elbow_of(models: Mapping[int, ModelResult]) -> Elbow:
    inertia: dict[int, float] = {}
    total = 0.0
    for clusters, result in models.items():
        splits: Sequence[ClusterAnswers] = judged_answers(result.cell_result)
        within = float(np.mean([answers.weights @ answers.to_centre for answers in splits]))
        between = float(np.mean([answers.weights @ answers.centre_to_all for answers in splits]))
        total = total if inertia else within + between
        inertia.setdefault(1, total)
        inertia[clusters] = within
    shares = {clusters: within / total if total > 0 else 0.0 for clusters, within in inertia.items()}
    if len(shares) < max(shares):
        return Elbow(models, inertia, shares, "missing-numbers")
    curve = np.array([shares[clusters] for clusters in sorted(shares)])
    at = elbow_of_curve(curve)
    if at is None:
        return Elbow(models, inertia, shares, "straight")
    # 1/k is nearly always the curve of points spread evenly over a square.
    if shares[at] > 0.85 / at:
        return Elbow(models, inertia, shares, "like-1/k", at)
    first, last = range_of_elbow(curve)
    return Elbow(models, inertia, shares, "clear" if first == last else "uncertain", at, (first, last))
