"""Clusters beside labels, in the columns of the file and by their number."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mlcli.core import findings
from mlcli.core.findings import Bars
from mlcli.core.names import counted
from mlcli.core.pipeline import Pipeline, learn
from mlcli.core.registry import MODELS
from mlcli.core.required_steps import missing_steps
from mlcli.core.rows import evenly_spaced
from mlcli.core.tables import Array, Codes, Flags
from mlcli.core.tolerances import CLOSE
from mlcli.engines.ensemble import outputs
from mlcli.engines.principal_components import elbow_of_curve, range_of_elbow
from mlcli.experiment.run.learner import Trained, captured_warnings
from mlcli.experiment.run.split_results import SplitResult
from mlcli.experiment.spec.cells import WHOLE
from mlcli.metrics.scores.unsupervised import contingency
from mlcli.report.document import Element, Grid, Heading, Sentence, explained, grid_of_numbers, notes
from mlcli.report.numbers import fixed, share, short
from mlcli.report.views.dataset import boxplots, histogram
from mlcli.scoring.differences import best_in, best_of
from mlcli.scoring.model_results import Group, ModelResult, judged_answers
from mlcli.tasks.classification import CLASSIFICATION, LabelledRows
from mlcli.tasks.cluster_profiles import READING, SHOWN, centres, cluster_title, only_largest
from mlcli.tasks.clustering import ClusterAnswers

COLUMNS_DRAWN = 3
"""Columns that are drawn."""
DEPTH = 3
"""Of the decision tree that predicts the cluster: a deeper one is hard to read."""
FAR, VERY_FAR = 0.5, 1.0
"""From how many standard deviations of all rows on a cluster's mean is high or low, or very much so."""
DIRECTIONS, MOST_POINTS = 3, 400
"""How many principal components rows are shown by, and about how many rows."""
FEWEST_PLACED = 30
"""From how many rows on t-SNE places them: as many as its perplexity takes for neighbours."""
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
    X = final.feature_matrix(prepared)
    apart = between_centres(X, cluster, names, trained.rows.weights)
    drawn = _portraits(trained.rows, cluster, names, final.profile_["between"])
    return (apart, *drawn, *by_components(X, cluster, names), *by_neighbours(X, cluster, names))


def by_components(X: Array, cluster: Codes, names: Sequence[str]) -> Iterator[findings.Finding]:
    """The rows by their first two principal components, then by three."""
    moved = X - X.mean(axis=0)
    _, lengths, directions = np.linalg.svd(moved, full_matrices=False)
    count = min(DIRECTIONS, int((lengths > CLOSE * lengths.max(initial=0.0)).sum()))
    places = moved @ directions[:count].T
    axes = [f"principal component {index + 1}" for index in range(count)]
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


def _by_cluster(indices: Array, cluster: Codes, names: Sequence[str]) -> dict[str, Array]:
    return {cluster_title(name): indices[cluster == k] for k, name in enumerate(names[:SHOWN])}


def in_plane_and_space(title: str, axes: Sequence[str], parts: Mapping[str, Array]) -> Iterator[findings.Finding]:
    """Rows of numbers in the plane of the first two axes, where there are so many, and in the space of three."""
    if len(axes) > 1:
        points = tuple((name, tuple(map(tuple, part[:, :2].tolist()))) for name, part in parts.items())
        yield findings.Points(f"{title} by {axes[0]} and {axes[1]}", axes[0], axes[1], points)
    if len(axes) > 2:
        cloud = tuple((name, tuple(map(tuple, part[:, :3].tolist()))) for name, part in parts.items())
        yield findings.Cloud(f"{title} by {axes[0]}, {axes[1]} and {axes[2]}", (axes[0], axes[1], axes[2]), cloud)


def _portraits(rows: Any, cluster: Codes, names: tuple[str, ...], between: Array) -> Iterator[findings.Finding]:
    shown = [(k, cluster_title(names[k])) for k in range(min(len(names), SHOWN)) if (cluster == k).any()]
    order = np.argsort(-np.round(between, 9), kind="stable")
    columns = [rows.table.columns[place] for place in order if not rows.table.columns[place].coded]
    if columns:
        cells = {column.name: np.asarray(rows.table.cells(column.name), np.float64) for column in columns}
        yield high_and_low(cells, cluster, shown, rows.weights)
        for name in list(cells)[:COLUMNS_DRAWN]:
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
        lines.append((name, *(_mark_text(value, spread) for value in away)))
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


FEWEST_NUMBERS = 4
"""Numbers of clusters, one cluster included, that make a curve."""
LIKE_HYPERBOLA = 0.85
"""A curve that lies no farther below 1/k is like it: nearly always that of points spread evenly over a square."""
COLUMNS_SHOWN = 5
"""Columns that are shown, of those that differ most between clusters."""

Elbow = Mapping[int, ModelResult]
"""By the number of clusters, models that are alike but for it."""


def clustering_elements(group: Group) -> Iterator[Element]:
    """The elbow of each model that was given several numbers of clusters, and what the clusters are made of."""
    elbows = _elbows_in(group)
    yield from inertia_curves(group)
    beside = {result for elbow in elbows for result in elbow.values() if result is not _best_of_elbow(elbow)}
    drawn = [result for result in group if result not in beside]
    for result in drawn:
        yield from _cluster_elements(group[result], result)
    yield notes(*_readings(drawn, elbows))


def inertia_curves(group: Group) -> Iterator[Element]:
    """The inertia by the number of clusters of each model that was given several, and where its elbow is."""
    for elbow in _elbows_in(group):
        number, result = next(iter(elbow.items()))
        yield from _elbow_elements(group[result].replace(f" clusters={number}", ""), elbow)


def _readings(drawn: Sequence[ModelResult], elbows: Sequence[Elbow]) -> Iterator[str]:
    """How to read what is drawn, once for all models."""
    if any((_first_answers(result).truth >= 0).any() for result in drawn):
        yield "label \\ cluster: the label, which no fit has seen, and how its rows fall into clusters"
    if any(_top_profiles(result) for result in drawn):
        yield READING
    most = max((_first_answers(result).clusters for result in drawn), default=0)
    if most > SHOWN:
        yield only_largest(most)
    if elbows:
        yield f"of the models of a curve, the best by {drawn[0].metrics[0].name} is shown"


def _cluster_elements(title: str, model_result: ModelResult) -> Iterator[Element]:
    """How many rows each cluster has, and which labels where there are any; by which columns clusters differ."""
    yield Heading(": ".join(filter(None, (title, model_result.first_split))))
    yield _label_cluster_grid(_first_answers(model_result))
    yield from explained(_top_profiles(model_result))


def _top_profiles(model_result: ModelResult) -> list[findings.Table]:
    """The columns that differ most between clusters, where these are of the rows that were learned from."""
    # Only there does what a model says of its clusters fit the rows that are judged.
    tables = cluster_profile(model_result.splits[0]) if model_result.cell.protocol.use == WHOLE else []
    return [replace(table, rows=table.rows[:COLUMNS_SHOWN], note=_left_out_note(table)) for table in tables]


def cluster_profile(split: SplitResult) -> list[findings.Table]:
    """What a model has said of how its clusters look."""
    tables = (finding for finding in split.explanation if isinstance(finding, findings.Table))
    return [table for table in tables if table.code in ("mean-profile", "level-profile")]


def _left_out_note(table: findings.Table) -> str:
    left = len(table.rows) - COLUMNS_SHOWN
    return f"{counted(left, 'more column')} that differ less: mlcli train" if left > 0 else ""


def _first_answers(model_result: ModelResult) -> ClusterAnswers:
    """The answers of the first split: the clusters of others need not be the same."""
    answers = judged_answers(model_result.cell_result)[0]
    assert isinstance(answers, ClusterAnswers)
    return answers


def _label_cluster_grid(answers: ClusterAnswers) -> Grid:
    present = np.unique(answers.cluster).tolist()[:SHOWN]
    sizes = np.bincount(answers.cluster, weights=answers.weights, minlength=answers.clusters)
    labelled = bool((answers.truth >= 0).any())
    of_labels = zip(answers.classes, contingency(answers), strict=True) if labelled else ()
    rows = [
        [label, *(_share_text(row, cluster) for cluster in present), short(row.sum())] for label, row in of_labels
    ]
    rows.append(["rows", *(short(sizes[one]) for one in present), short(sizes.sum())])
    return grid_of_numbers(["label \\ cluster" if labelled else "cluster", *map(str, present), "all"], rows)


def _share_text(counts: Array, cluster: int) -> str:
    count = counts[cluster]
    return f"{short(count)} ({share(count, counts.sum())})" if count > 0 else short(count)


def _elbows_in(group: Iterable[ModelResult]) -> list[Elbow]:
    """The models that differ in their number of clusters alone, where there are enough of them."""
    series: dict[str, list[ModelResult]] = {}
    for result in group:
        if "clusters" in result.cell.model.params:
            series.setdefault(_key_without_clusters(result), []).append(result)
    model_results = [
        {int(result.cell.model.params["clusters"]): result for result in several} for several in series.values()
    ]
    return [dict(sorted(curve.items())) for curve in model_results if len(curve | {1: None}) >= FEWEST_NUMBERS]


def _best_of_elbow(elbow: Elbow) -> ModelResult:
    first = next(iter(elbow.values()))
    return best_of(elbow.values(), first.metrics[0]) or first


def _key_without_clusters(model_result: ModelResult) -> str:
    """What cells of one curve share: all but the number of clusters."""
    cell = model_result.cell
    params = {name: value for name, value in cell.model.params.items() if name != "clusters"}
    return repr((cell.model.use, sorted(params.items(), key=repr), cell.steps, cell.protocol))


def _elbow_elements(title: str, elbow: Elbow) -> Iterator[Element]:
    sums = {clusters: _sums_of_squares(result) for clusters, result in elbow.items()}
    _, total = next(iter(sums.values()))
    left = {1: total, **{clusters: within for clusters, (within, _) in sums.items()}}
    shares = {clusters: within / total if total > 0 else 0.0 for clusters, within in left.items()}
    percents = tuple(f"{100 * share:.1f} %" for share in shares.values())
    header = ("clusters", "wcss", "of the total")
    yield Heading(f"{title}: inertia (within-cluster sum of squares) by number of clusters")
    yield Bars("", header, tuple(map(str, left)), tuple(left.values()), (percents,))
    yield Sentence(_bend_sentence(shares))


def _sums_of_squares(model_result: ModelResult) -> tuple[float, float]:
    """The sum of squares within clusters and in all, of the mean split."""
    splits: Sequence[Any] = judged_answers(model_result.cell_result)
    within = np.mean([answers.weights @ answers.to_centre for answers in splits])
    between = np.mean([answers.weights @ answers.centre_to_all for answers in splits])
    return float(within), float(within + between)


def _bend_sentence(curve: Mapping[int, float]) -> str:
    """The number farthest below the straight line from 1 to the last; none where none is, or all is like 1/k."""
    last = max(curve)
    if len(curve) < last:
        return "An elbow is looked for where every number of clusters from 2 on is there."
    shares = np.array([curve[clusters] for clusters in sorted(curve)])
    bend = elbow_of_curve(shares)
    if bend is None:
        return "No elbow: no number of clusters lies below the straight line from one cluster to the last."
    percents = fixed(100 * curve[bend], 1), fixed(100 / bend, 1)
    left = "at {} clusters, with {} % of the inertia left where 1/k would leave {} %.".format(bend, *percents)
    if curve[bend] > LIKE_HYPERBOLA / bend:
        return f"No elbow: the curve is like 1/k. It bends most {left}"
    first, last = range_of_elbow(shares)
    if first == last:
        return f"The elbow is {left}"
    return f"The elbow is {left} It is uncertain: {first} to {last} clusters lie nearly as far below the line."


def profiles_of_best(group: Group) -> Iterator[Element]:
    """What the clusters look like that the best density has told apart, as the first split has found them."""
    best = best_in(group)
    if best and (tables := cluster_profile(best.splits[0])):
        learned_in = f", as learned in {best.first_split}" if best.first_split else ""
        yield Heading(group[best] + learned_in)
        yield from explained(tables)
