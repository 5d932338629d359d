"""What clusters look like in the columns of the file: high and low means, histograms, boxplots, a decision tree.

The rows are those that a kept model has learned from; the columns those that differ most between its clusters.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mlcli.core import findings
from mlcli.core.insertion import missing_steps
from mlcli.core.pipeline import Pipeline, learn
from mlcli.core.registry import MODELS
from mlcli.core.rows import evenly_spaced
from mlcli.core.tables import Array, Codes, Flags
from mlcli.engines.ensemble import outputs
from mlcli.experiment.run.learner import Trained, captured_warnings
from mlcli.report.views.distributions import boxplots, histogram
from mlcli.tasks.classification import CLASSIFICATION, LabelledRows
from mlcli.tasks.cluster_profiles import SHOWN, centres, cluster_title

COLUMNS = 3
"""Columns that are drawn."""
DEPTH = 3
"""Of the decision tree that predicts the cluster: a deeper one is hard to read."""
FAR, VERY_FAR = 0.5, 1.0
"""From how many standard deviations of all rows on a cluster's mean is high or low, or very much so."""
DIRECTIONS, MOST_POINTS = 3, 400
"""How many principal components rows are shown by, and about how many rows."""
FEWEST_PLACED = 30
"""From how many rows on t-SNE places them: as many as its perplexity takes for neighbours."""
EPSILON = 1e-9
BESIDE_ALL = "Means of the clusters beside the mean of all rows: high or low"
MARKS = "high, low: the mean of the cluster is half a standard deviation or more from that of all rows; very: one"
PLACED = "near rows stay near; how far clusters lie apart, and how large they are, means little"
APART = "of the centres, in the columns after the steps; on the diagonal the mean distance of rows to theirs"


def cluster_portraits(trained: Trained) -> findings.Explanation:
    """Nothing where there is one cluster, or none that could be told apart."""
    final: Any = trained.pipeline.final
    if final.cluster_count() < 2 or final.profile_ is None:
        return ()
    prepared = trained.pipeline.prepared(trained.rows.table)
    cluster, names = np.asarray(final.cluster_of(prepared), np.int32), final.cluster_names()
    space = final.space(prepared)
    apart = between_centres(space, cluster, names, trained.rows.weights)
    drawn = _portraits(trained.rows, cluster, names, final.profile_["between"])
    return (apart, *drawn, *by_components(space, cluster, names), *by_neighbours(space, cluster, names))


def by_components(X: Array, cluster: Codes, names: Sequence[str]) -> Iterator[findings.Finding]:
    """The rows by their first two principal components, then by three."""
    moved = X - X.mean(axis=0)
    _, lengths, directions = np.linalg.svd(moved, full_matrices=False)
    count = min(DIRECTIONS, int((lengths > EPSILON * lengths.max(initial=0.0)).sum()))
    places = moved @ directions[:count].T
    axes = [f"principal component {place + 1}" for place in range(count)]
    rows = evenly_spaced(len(X), MOST_POINTS)
    yield from in_plane_and_space("Clusters", axes, _by_cluster(places[rows], cluster[rows], names))


def by_neighbours(X: Array, cluster: Codes, names: Sequence[str]) -> Iterator[findings.Finding]:
    """The rows by their places in t-SNE, where they have more columns than a picture shows."""
    rows = evenly_spaced(len(X), MOST_POINTS)
    if X.shape[1] <= 2 or len(rows) < FEWEST_PLACED:
        return
    places, _ = MODELS.load("t-sne")().placed(X[rows])
    parts = _by_cluster(places, cluster[rows], names)
    for picture in in_plane_and_space("Clusters", ("t-SNE 1", "t-SNE 2"), parts):
        yield replace(picture, note=PLACED)


def _by_cluster(places: Array, cluster: Codes, names: Sequence[str]) -> dict[str, Array]:
    return {cluster_title(name): places[cluster == k] for k, name in enumerate(names[:SHOWN])}


def in_plane_and_space(title: str, axes: Sequence[str], parts: Mapping[str, Array]) -> Iterator[findings.Finding]:
    """Rows of numbers in the plane of the first two axes, where there are so many, and in the space of three."""
    if len(axes) > 1:
        points = tuple((name, tuple(map(tuple, places[:, :2].tolist()))) for name, places in parts.items())
        yield findings.Points(f"{title} by {axes[0]} and {axes[1]}", axes[0], axes[1], points)
    if len(axes) > 2:
        cloud = tuple((name, tuple(map(tuple, places[:, :3].tolist()))) for name, places in parts.items())
        yield findings.Cloud(f"{title} by {axes[0]}, {axes[1]} and {axes[2]}", (axes[0], axes[1], axes[2]), cloud)


def _portraits(rows: Any, cluster: Codes, names: tuple[str, ...], between: Array) -> Iterator[findings.Finding]:
    shown = [(k, cluster_title(names[k])) for k in range(min(len(names), SHOWN)) if (cluster == k).any()]
    order = np.argsort(-np.round(between, 9), kind="stable")
    columns = [rows.table.columns[place] for place in order if not rows.table.columns[place].coded]
    if columns:
        cells = {column.name: np.asarray(rows.table.cells(column.name), np.float64) for column in columns}
        yield high_and_low(cells, cluster, shown, rows.weights)
        for name in list(cells)[:COLUMNS]:
            parts = [(word, _known(cells[name][cluster == k])) for k, word in shown]
            held = [(word, part) for word, part in parts if len(part)]
            yield histogram(f"Histogram of {name} by cluster", name, held)
            yield boxplots(f"Boxplots of {name} by cluster", name, held)
    yield from cluster_tree(rows, cluster, names)


def between_centres(X: Array, cluster: Codes, names: Sequence[str], weights: Array) -> findings.Table:
    """How far the centres of the clusters are from each other, and rows from theirs."""
    middle = centres(X, cluster, len(names), weights)
    apart = np.sqrt(((middle[:, None] - middle) ** 2).sum(axis=2))
    away = np.sqrt(((X - middle[cluster]) ** 2).sum(axis=1))
    for k in range(len(names)):
        mine = cluster == k
        apart[k, k] = np.average(away[mine], weights=weights[mine]) if mine.any() else np.nan
    shown = [k for k in range(min(len(names), SHOWN)) if np.isfinite(apart[k, k])]
    rows = tuple((cluster_title(names[k]), *apart[k, shown].tolist()) for k in shown)
    header = ("", *(cluster_title(names[k]) for k in shown))
    return findings.Table("Distances between centres", header, rows, note=APART)


def _known(cells: Array) -> Array:
    return cells[~np.isnan(cells)]


def high_and_low(
    cells: dict[str, Array], cluster: Codes, shown: Sequence[tuple[int, str]], weights: Array
) -> findings.Table:
    """In which columns the mean of a cluster is high or low beside that of all rows."""
    lines = []
    for name, column in cells.items():
        known = ~np.isnan(column) & (weights > 0)
        parts = [known & (cluster == k) for k, _ in shown]
        middle = _mean(column, weights, known)
        spread = math.sqrt(_mean((column - middle) ** 2, weights, known))
        away = [_mean(column - middle, weights, part) for part in parts]
        lines.append((name, *(_mark_text(one, spread) for one in away)))
    header = ("column", *(word for _, word in shown))
    return findings.Table(BESIDE_ALL, header, tuple(lines), note=MARKS)


def _mean(values: Array, weights: Array, among: Flags) -> float:
    return float(np.average(values[among], weights=weights[among])) if among.any() else 0.0


def _mark_text(away: float, spread: float) -> str:
    size = abs(away) / spread if spread > 0 else 0.0
    if size < FAR:
        return "-"
    return ("very " if size >= VERY_FAR else "") + ("high" if away > 0 else "low")


def cluster_tree(rows: Any, cluster: Codes, names: tuple[str, ...]) -> Iterator[findings.Finding]:
    """A small decision tree that predicts the cluster from the columns of the file, and how often it is right."""
    classes = tuple(cluster_title(name) for name in names)
    labelled = LabelledRows(
        table=rows.table, rows=rows.rows, target="cluster", weight=rows.weight, y=cluster, classes=classes
    )
    model = MODELS.load("decision-tree")(max_depth=DEPTH)
    pipeline = Pipeline(steps=tuple(missing_steps(model.accepts, rows.table.columns, None)), model=model)
    with captured_warnings():
        learn(pipeline, labelled, np.random.default_rng(0))
        shares = outputs(pipeline, rows.table, CLASSIFICATION)
    right = float(np.average(shares.argmax(axis=1) == cluster, weights=rows.weights))
    note = f"depth {DEPTH} at most; accuracy on these rows {100 * right:.1f} %"
    for finding in pipeline.final.explain():
        if isinstance(finding, findings.Tree):
            yield replace(finding, title="Decision tree that predicts the cluster", note=note)
