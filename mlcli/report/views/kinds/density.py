"""Slices through a table: rows along one column, or over the plane of two, all other cells as in a usual row.

And how dense a model finds such rows, after what its clusters look like.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from mlcli.core import findings
from mlcli.core.rows import evenly_spaced
from mlcli.core.tables import Array, Table
from mlcli.engines.column_effects import with_column
from mlcli.experiment.run.learner import Trained
from mlcli.report.views.dataset import pairs
from mlcli.report.views.kinds.clustering import cluster_portraits

ALONG, ACROSS, UPWARDS = 100, 48, 36
"""Places along a column; of a plane."""
MOST_POINTS = 400
OTHERS = "beside the highest there; all other columns as in a usual row"
Plane = tuple[tuple[float, ...], tuple[float, ...], tuple[tuple[float, ...], ...]]


def along(table: Table, column: str, places: int = ALONG) -> tuple[Array, Table]:
    """The places along a column, and a row at each."""
    x = _places(table.cells(column), places)
    return x, with_column(_typical_rows(table, len(x)), column, x)


def over_plane(table: Table, across: str, upwards: str, answers_of: Callable[[Table], Array]) -> Plane:
    """The places of a plane, and what is answered at each, from below left, line by line."""
    x, y = _places(table.cells(across), ACROSS), _places(table.cells(upwards), UPWARDS)
    rows = with_column(_typical_rows(table, len(x) * len(y)), across, np.tile(x, len(y)))
    answers = answers_of(with_column(rows, upwards, np.repeat(y, len(x))))
    return tuple(x.tolist()), tuple(y.tolist()), tuple(map(tuple, answers.reshape(len(y), -1).tolist()))


def _places(cells: Any, count: int) -> Array:
    return np.linspace(np.nanmin(cells), np.nanmax(cells), count)


def _typical_rows(table: Table, count: int) -> Table:
    """So many rows with the median of each column of numbers, and the most frequent level of each other."""
    numbers = np.nanmedian(table.numbers, axis=0, keepdims=True)
    codes = [np.bincount(column[column >= 0]).argmax() if (column >= 0).any() else -1 for column in table.codes.T]
    row = Table(table.columns, numbers, np.array([codes], np.int32).reshape(1, -1))
    return row.take(np.zeros(count, np.intp))


def density_findings(trained: Trained) -> findings.Explanation:
    """What the clusters look like, then how dense rows are."""
    return (*cluster_portraits(trained), *_density_findings(trained))


def _density_findings(trained: Trained) -> Iterator[findings.Finding]:
    table: Table = trained.rows.table
    numeric = (column.name for column in table.columns if not column.coded)
    names = [name for name in numeric if len(np.unique(table.cells(name))) > 1]
    if len(names) > 1:
        yield _density_regions(trained, *_most_correlated(table, names))
    elif names:
        x, rows = along(table, names[0])
        lines = (("density", tuple(_relative_density(trained, rows).tolist())),)
        yield findings.Curve(f"Density by {names[0]}", names[0], tuple(x.tolist()), lines, note=OTHERS)


def _density_regions(trained: Trained, across: str, upwards: str) -> findings.Regions:
    table = trained.rows.table
    subset = evenly_spaced(len(table), MOST_POINTS)
    points = (("rows", pairs(table.cells(across)[subset], table.cells(upwards)[subset])),)
    plane = over_plane(table, across, upwards, partial(_relative_density, trained))
    return findings.Regions(f"Density by {across} and {upwards}", across, upwards, *plane, (), points, note=OTHERS)


def _most_correlated(table: Table, names: Sequence[str]) -> tuple[str, str]:
    cells = [np.asarray(table.cells(name), np.float64) for name in names]
    alike = np.abs(np.corrcoef([np.where(np.isnan(column), np.nanmean(column), column) for column in cells]))
    one, other = np.unravel_index(np.argmax(np.triu(alike, 1)), alike.shape)
    return names[int(one)], names[int(other)]


def _relative_density(trained: Trained, rows: Table) -> Array:
    final: Any = trained.pipeline.final
    found = final.log_density(trained.pipeline.prepared(rows))
    return np.asarray(np.exp(found - found.max()))
