"""What is answered along a column of numbers, or over the plane of two: predictions, or decision regions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mlcli.core import findings
from mlcli.core.pipeline import Pipeline
from mlcli.core.rows import evenly_spaced
from mlcli.core.tables import Array, Table
from mlcli.experiment.run.learner import Trained
from mlcli.report.views.distributions import pairs
from mlcli.report.views.kinds.density import ACROSS, along, over_plane

MOST_POINTS = 400
MOST_CLASSES = 6


def outputs_of(pipeline: Pipeline, rows: Any) -> Callable[[Table], Array]:
    """How a pipeline is asked for probabilities or values, by the kind of its rows."""
    return lambda table: np.asarray(rows.task.outputs_of(pipeline.final, pipeline.prepared(table)))


def regions(pipeline: Pipeline, rows: Any, across: str, upwards: str) -> findings.Regions:
    """What is answered over the plane of two columns; rows that have classes are points in it."""
    final: Any = pipeline.final
    names: tuple[str, ...] = tuple(getattr(rows, "classes", ()))
    members = [np.flatnonzero(rows.y == code) for code in range(len(names))]
    members = [ones[evenly_spaced(len(ones), MOST_POINTS)] for ones in members]
    cells = rows.table.cells(across), rows.table.cells(upwards)
    groups = tuple((name, pairs(*(one[of] for one in cells))) for name, of in zip(names, members, strict=True))
    ask = outputs_of(pipeline, rows)

    def answers_of(plane: Table) -> Array:
        outputs = ask(plane)
        return np.asarray(final.decide(outputs), np.float64) if names else outputs[:, 0]

    plane = over_plane(rows.table, across, upwards, answers_of)
    title = f"{'Decision regions' if names else 'Predictions'} by {across} and {upwards}"
    return findings.Regions(title, across, upwards, *plane, names, groups)


def predictions_described(trained: Trained) -> findings.Explanation:
    """The answers of a model that has learned from one or two columns of numbers, and from no others."""
    table: Table = trained.rows.table
    names = [
        column.name for column in table.columns if not column.coded and len(set(table.cells(column.name))) > 1
    ]
    if len(names) != len(table.columns) or len(names) > 2:
        return ()
    if len(names) == 2:
        shown: findings.Finding = regions(trained.pipeline, trained.rows, *names)
        return (shown,)
    return tuple(_along(trained, name) for name in names)


def _along(trained: Trained, column: str) -> findings.Curve:
    x, rows = along(trained.rows.table, column, ACROSS)
    answers = outputs_of(trained.pipeline, trained.rows)(rows)
    outputs = trained.rows.task.output_names(trained.pipeline.final)
    chosen = [1] if len(outputs) == 2 else range(min(len(outputs), MOST_CLASSES))
    lines = tuple((outputs[k], tuple(answers[:, k].tolist())) for k in chosen)
    return findings.Curve(f"Predictions by {column}", column, tuple(x.tolist()), lines)
