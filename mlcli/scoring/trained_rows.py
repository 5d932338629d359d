"""What a trained model shows of the rows that it was fitted to: predictions, densities, components.

Predictions are drawn along one column or over the plane of two, all other cells as in a typical row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from mlcli.core import findings
from mlcli.core.pipeline import Pipeline
from mlcli.core.rows import evenly_spaced
from mlcli.core.tables import Array, Table
from mlcli.engines.column_effects import with_column
from mlcli.experiment.results import Trained
from mlcli.scoring.clusters import cluster_portraits
from mlcli.scoring.plots import pairs, points_and_cloud
from mlcli.tasks.unsupervised import UNKNOWN

ACROSS, UPWARDS = 48, 36
"""The grid over a plane."""
MOST_POINTS = 400
MOST_CLASSES = 6
"""How many classes have a line of their own."""


def predictions_described(trained: Trained) -> findings.Explanation:
    """The predictions of a model that has learned from one or two numeric columns, and from no others."""
    table: Table = trained.rows.table
    names = [
        column.name for column in table.columns if not column.coded and len(set(table.cells(column.name))) > 1
    ]
    if len(names) != len(table.columns) or not 1 <= len(names) <= 2:
        return ()
    if len(names) == 2:
        return (prediction_regions(trained.pipeline, trained.rows, names[0], names[1]),)
    x, rows = rows_along(table, names[0], ACROSS)
    predictions = outputs_of(trained.pipeline, trained.rows)(rows)
    outputs = trained.rows.task.output_names(trained.pipeline.final)
    chosen = [1] if len(outputs) == 2 else range(min(len(outputs), MOST_CLASSES))
    lines = tuple((outputs[k], tuple(predictions[:, k].tolist())) for k in chosen)
    return (findings.Curve(f"Predictions by {names[0]}", names[0], tuple(x.tolist()), lines),)


def outputs_of(pipeline: Pipeline, rows: Any) -> Callable[[Table], Array]:
    """How a pipeline predicts probabilities or values, by the kind of its rows."""
    return lambda table: np.asarray(rows.task.outputs_of(pipeline.final, pipeline.prepared(table)))


def prediction_regions(pipeline: Pipeline, rows: Any, across: str, upwards: str) -> findings.Regions:
    """The predictions over the plane of two columns; rows that have classes are points in it."""
    final: Any = pipeline.final
    classes: tuple[str, ...] = tuple(getattr(rows, "classes", ()))
    x, y = rows.table.cells(across), rows.table.cells(upwards)
    groups = []
    for code, name in enumerate(classes):
        members = np.flatnonzero(rows.y == code)
        members = members[evenly_spaced(len(members), MOST_POINTS)]
        groups.append((name, pairs(x[members], y[members])))
    outputs = outputs_of(pipeline, rows)

    def predict(plane: Table) -> Array:
        predicted = outputs(plane)
        return np.asarray(final.decide(predicted), np.float64) if classes else predicted[:, 0]

    title = f"{'Decision regions' if classes else 'Predictions'} by {across} and {upwards}"
    return _regions(title, rows.table, across, upwards, predict, classes, tuple(groups))


def density_findings(trained: Trained) -> findings.Explanation:
    """The clusters of the rows, then their density along one column or over two."""
    return (*cluster_portraits(trained), *_density_pictures(trained))


def _density_pictures(trained: Trained) -> Iterator[findings.Finding]:
    """The density over the two most correlated columns, or along the only one."""
    table: Table = trained.rows.table
    final: Any = trained.pipeline.final
    note = "beside the highest there; all other columns as in a usual row"

    def relative_density(rows: Table) -> Array:
        log_density = final.log_density(trained.pipeline.prepared(rows))
        return np.asarray(np.exp(log_density - log_density.max()))

    numeric = (column.name for column in table.columns if not column.coded)
    names = [name for name in numeric if len(np.unique(table.cells(name))) > 1]
    if len(names) > 1:
        cells = [np.asarray(table.cells(name), np.float64) for name in names]
        filled = [np.where(np.isnan(column), np.nanmean(column), column) for column in cells]
        correlations = np.abs(np.corrcoef(filled))
        first, second = np.unravel_index(np.argmax(np.triu(correlations, 1)), correlations.shape)
        across, upwards = names[int(first)], names[int(second)]
        subset = evenly_spaced(len(table), MOST_POINTS)
        x, y = (np.asarray(table.cells(name), np.float64)[subset] for name in (across, upwards))
        points = (("rows", pairs(x, y)),)
        title = f"Density by {across} and {upwards}"
        yield _regions(title, table, across, upwards, relative_density, (), points, note)
    elif names:
        x, rows = rows_along(table, names[0], 100)
        lines = (("density", tuple(relative_density(rows).tolist())),)
        yield findings.Curve(f"Density by {names[0]}", names[0], tuple(x.tolist()), lines, note=note)


def rows_in_components(trained: Trained) -> findings.Explanation:
    """The rows in the new columns, those of each class for themselves where there are some."""
    final: Any = trained.pipeline.final
    components = final.project(trained.pipeline.prepared(trained.rows.table))
    axes = [f"component {index + 1}" for index in range(min(3, components.shape[1]))]
    subset, labels = evenly_spaced(len(components), 1_000), trained.rows.labels
    classes = dict(enumerate(trained.rows.classes)) | {UNKNOWN: "rows"}
    groups = {name: components[subset[labels[subset] == code]] for code, name in classes.items()}
    return tuple(points_and_cloud("Rows", axes, {name: group for name, group in groups.items() if len(group)}))


def rows_along(table: Table, column: str, count: int) -> tuple[Array, Table]:
    """Values of a numeric column at equal distances, and a typical row with each."""
    x = _range_of(table, column, count)
    return x, with_column(_typical_rows(table, count), column, x)


def _regions(
    title: str,
    table: Table,
    across: str,
    upwards: str,
    values_of: Callable[[Table], Array],
    names: tuple[str, ...],
    groups: tuple[tuple[str, tuple[tuple[float, float], ...]], ...],
    note: str = "",
) -> findings.Regions:
    """Values over the plane of two columns, from below left, line by line."""
    x, y = _range_of(table, across, ACROSS), _range_of(table, upwards, UPWARDS)
    rows = with_column(_typical_rows(table, len(x) * len(y)), across, np.tile(x, len(y)))
    values = values_of(with_column(rows, upwards, np.repeat(y, len(x)))).reshape(len(y), -1)
    plane = tuple(x.tolist()), tuple(y.tolist()), tuple(map(tuple, values.tolist()))
    return findings.Regions(title, across, upwards, *plane, names, groups, note=note)


def _range_of(table: Table, column: str, count: int) -> Array:
    cells = np.asarray(table.cells(column), np.float64)
    return np.linspace(np.nanmin(cells), np.nanmax(cells), count)


def _typical_rows(table: Table, count: int) -> Table:
    """So many rows with the median of each numeric column, and the most frequent level of each other."""
    numbers = np.nanmedian(table.numbers, axis=0, keepdims=True)
    codes = [np.bincount(column[column >= 0]).argmax() if (column >= 0).any() else -1 for column in table.codes.T]
    row = Table(table.columns, numbers, np.array([codes], np.int32).reshape(1, -1))
    return row.take(np.zeros(count, np.intp))
