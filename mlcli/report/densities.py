"""How dense a model finds rows, over the plane of two columns or along the only one; and what groups look like."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from mlcli.core import findings
from mlcli.core.tables import Array, Table
from mlcli.experiment.run.learner import Trained
from mlcli.report.group_portraits import portraits
from mlcli.report.slices import along, lines_of, over_plane, pairs

MOST_POINTS = 400
OTHERS = "beside the highest there; all other columns as in a usual row"


def described(trained: Trained) -> findings.Explanation:
    """What the groups look like, then how dense rows are."""
    return (*portraits(trained), *_densities(trained))


def _densities(trained: Trained) -> Iterator[findings.Finding]:
    table: Table = trained.rows.table
    names = [
        column.name
        for column in table.columns
        if not column.coded and len(np.unique(table.cells(column.name))) > 1
    ]
    if len(names) > 1:
        yield _over_two(trained, *_most_alike(table, names))
    elif names:
        x, rows = along(table, names[0])
        lines = (("density", tuple(_beside_highest(trained, rows).tolist())),)
        yield findings.Curve(f"Density by {names[0]}", names[0], tuple(x.tolist()), lines, note=OTHERS)


def _over_two(trained: Trained, across: str, upwards: str) -> findings.Regions:
    table = trained.rows.table
    x, y, rows = over_plane(table, across, upwards)
    some = slice(None, None, max(1, len(table) // MOST_POINTS))
    return findings.Regions(
        f"Density by {across} and {upwards}",
        across,
        upwards,
        tuple(x.tolist()),
        tuple(y.tolist()),
        lines_of(_beside_highest(trained, rows), y),
        (),
        (("rows", pairs(table.cells(across)[some], table.cells(upwards)[some])),),
        note=OTHERS,
    )


def _most_alike(table: Table, names: Sequence[str]) -> tuple[str, str]:
    """The two columns that go together most."""
    cells = [np.asarray(table.cells(name), np.float64) for name in names]
    alike = np.abs(np.corrcoef([np.where(np.isnan(column), np.nanmean(column), column) for column in cells]))
    one, other = np.unravel_index(np.argmax(np.triu(alike, 1)), alike.shape)
    return names[int(one)], names[int(other)]


def _beside_highest(trained: Trained, rows: Table) -> Array:
    final: Any = trained.pipeline.final
    found = final.log_density(trained.pipeline.prepared(rows))
    return np.asarray(np.exp(found - found.max()))
