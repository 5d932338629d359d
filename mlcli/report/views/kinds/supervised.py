"""Predictions over columns, predicted numbers against true ones, and the tags that are confused most."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from mlcli.core import findings
from mlcli.core.findings import Confusions, Points
from mlcli.core.names import counted
from mlcli.core.pipeline import Pipeline
from mlcli.core.rows import evenly_spaced
from mlcli.core.tables import Array, Table
from mlcli.experiment.run.learner import Trained
from mlcli.metrics.base import Undefined
from mlcli.metrics.confusion import counts_of
from mlcli.metrics.scores.labels import one_against_rest
from mlcli.metrics.scores.sequences import sequence_accuracy
from mlcli.report.document import Content, Element, Heading, Sentence, grid, strong
from mlcli.report.numbers import fixed, share, short
from mlcli.report.views.dataset import histogram, pairs
from mlcli.report.views.kinds.density import ACROSS, along, over_plane
from mlcli.scoring.differences import best_in
from mlcli.scoring.model_results import Group
from mlcli.tasks.sequence_labelling import TagAnswers

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
    groups = tuple((name, pairs(*(cell[of] for cell in cells))) for name, of in zip(names, members, strict=True))
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


RIGHT, NO_RESIDUAL = "perfect prediction", "zero residual"
BINS = 20
PLACES = 100
"""How many points mark perfect predictions."""
MOST_POINTS_OF_TRUTH = 10_000
"""More say no more in a picture."""


def predicted_against_true(group: Group) -> Iterator[Element]:
    """A point for each row, once for each time that it was judged; of very many, for some."""
    if not (best := best_in(group)):
        return
    answers, name = best.answers, group[best]
    line = np.linspace(answers.truth.min(), answers.truth.max(), PLACES)
    step = _thinning_step(len(answers.truth))
    points = pairs(answers.truth[::step], answers.predicted[::step])
    yield Heading(f"{name}: predicted against true values")
    groups = ((RIGHT, pairs(line, line)), (name, points))
    yield Points("", "true", "predicted", groups, (RIGHT,), note=_thinning_note(step))


def residuals_of(group: Group) -> Iterator[Element]:
    """What the best model leaves over, by what it has predicted, and how that is spread."""
    if not (best := best_in(group)):
        return
    answers, name = best.answers, group[best]
    left = answers.truth - answers.predicted
    step = _thinning_step(len(left))
    ends = float(answers.predicted.min()), float(answers.predicted.max())
    zero = (NO_RESIDUAL, ((ends[0], 0.0), (ends[1], 0.0)))
    groups = (zero, (name, pairs(answers.predicted[::step], left[::step])))
    yield Heading(f"{name}: residuals by predicted values")
    yield Points("", "predicted", "true minus predicted", groups, (NO_RESIDUAL,), note=_thinning_note(step))
    yield Heading(f"{name}: distribution of residuals")
    yield histogram("", "true minus predicted", [("rows", left)], BINS)


def _thinning_step(rows: int) -> int:
    return -(-rows // MOST_POINTS_OF_TRUTH)


def _thinning_note(step: int) -> str:
    return f"one of {step} rows is drawn" if step > 1 else ""


WORST, TAKEN_FOR = 5, 3


def worst_tags_of(title: str, answers: TagAnswers) -> Iterator[Element]:
    """The tags with the lowest F1, and how many sequences are right from end to end."""
    matrix = Confusions("", answers.classes, tuple(map(tuple, counts_of(answers).tolist())))
    rates = [(rates.f1 or 0.0, code) for code, rates in enumerate(one_against_rest(answers)) if rates.support > 0]
    wrong = [(f1, code) for f1, code in sorted(rates) if f1 < 1.0][:WORST]
    rows: list[list[Content]] = []
    for f1, code in wrong:
        right = f"{short(matrix.counts[code][code])}/{short(sum(matrix.counts[code]))}"
        taken = ", ".join(f"{tag} {short(count)}" for tag, count in matrix.taken_for(code)[:TAKEN_FOR])
        rows.append([strong(answers.classes[code]), fixed(f1, 3), right, taken])
    if rows:
        yield Heading(f"{title}: worst tags")
        yield grid(["tag", "f1", "right", "most often taken for"], rows, right=(1, 2))
    sequences, whole = len(np.unique(answers.sequence)), sequence_accuracy(answers)
    if not isinstance(whole, Undefined):
        right = share(whole, 1.0)
        yield Sentence(f"{title}: {right} of {counted(sequences, 'sequence')} are right from end to end.")
