"""What the best model does with its columns: what each is worth, what is answered by one of them, and by two.

For this the model learns once more, from two thirds of the rows; what is shown is of the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from mlcli.core import findings
from mlcli.core.moments import quantiles
from mlcli.core.rows import evenly_spaced
from mlcli.core.threads import one_blas_thread
from mlcli.data.dataset import Dataset
from mlcli.engines.column_effects import usual_values, with_column
from mlcli.experiment.run.learner import train
from mlcli.experiment.run.split_results import each
from mlcli.experiment.spec.datasets import cell_on
from mlcli.report.views.kinds.clustering import cluster_profile, in_plane_and_space
from mlcli.report.views.kinds.density import ACROSS, UPWARDS
from mlcli.report.views.kinds.supervised import MOST_CLASSES, outputs_of, regions
from mlcli.scoring.importance import MOST_COLUMNS, PermutationImportance, permutation_importance
from mlcli.scoring.model_results import ModelResult, judged_answers
from mlcli.tasks.table import kind_named, named

KINDS = ("classification", "regression")
DESCRIBED = ("density", "projection")
"""The kinds whose rows are shown, since answers say little of them."""
REPEATS = 5
MOST_SECONDS = 20.0
"""That all this may take, by what the run itself took."""
SHOWN, DRAWN = 15, 3
"""Columns whose worth is shown, and those by which answers are drawn."""
ASKED = 150
"""Rows over which an answer by one column is averaged."""
MIDDLE_HALF = np.array([0.25, 0.75])
"""The shares of the weight of rows below the ends of a band."""
MOST_POINTS = 400
UNSEEN = "on unseen rows"
OTHERS = "all other columns at their usual values"


def inspection_of(model_result: ModelResult, name: str, data: Dataset) -> list[findings.Finding]:
    """All of it; nothing of other kinds of task, of baselines and saved models, and where it would take long."""
    cell = cell_on(model_result.cell, data)
    if (
        cell.kind not in KINDS
        or model_result.is_baseline
        or cell.model.saved
        or _expected_seconds(model_result) > MOST_SECONDS
    ):
        return []
    with one_blas_thread():
        importance = permutation_importance(cell, model_result.metrics[0], REPEATS)
        return [] if importance is None else list(_findings(importance, name))


def _expected_seconds(model_result: ModelResult) -> float:
    """How long a fit and all the questions take, by the times of the run."""
    splits = model_result.splits
    rows = sum(map(len, judged_answers(model_result.cell_result)))
    columns = min(len(model_result.cell.dataset.schema.features()), MOST_COLUMNS)
    asked = rows / len(splits) * columns * REPEATS + DRAWN * ASKED * 24 + ACROSS * UPWARDS
    fit, predict = (float(sum(each(splits, name))) for name in ("fit_seconds", "predict_seconds"))
    return fit / len(splits) + predict / rows * asked


def _findings(importance: PermutationImportance, name: str) -> Iterator[findings.Finding]:
    lost = {column: float(np.mean(some)) for column, some in importance.lost_by_shuffle.items()}
    order = sorted(lost, key=lambda column: -lost[column])
    yield _importance_boxplots(importance, name, order)
    numeric = [column.name for column in importance.held_rows.table.columns if not column.coded]
    drawn = [column for column in order if column in numeric][:DRAWN]
    for column in drawn:
        yield _partial_dependence(importance, name, column)
    if len(drawn) > 1:
        yield _answers_over_plane(importance, name, drawn[0], drawn[1])


def _importance_boxplots(importance: PermutationImportance, name: str, order: Sequence[str]) -> findings.Finding:
    """What of the score is lost where a column is shuffled, from the least to the most of some shuffles."""
    shown = order[:SHOWN]
    quarters = {
        column: np.quantile(importance.lost_by_shuffle[column], (0, 0.25, 0.5, 0.75, 1)) for column in shown
    }
    more = f"; {len(order) - SHOWN} columns that matter less are left out" if len(order) > SHOWN else ""
    return findings.Boxplots(
        f"{name}: permutation importance",
        f"{importance.metric.name} lost where the column is shuffled",
        tuple((column, tuple(map(float, five))) for column, five in quarters.items()),
        (0,) * len(shown),
        note=f"{REPEATS} shuffles {UNSEEN}; below 0 the model is better without the column{more}",
    )


def _partial_dependence(importance: PermutationImportance, name: str, column: str) -> findings.Finding:
    """The mean answer where a column has each of its usual values (partial dependence)."""
    rows = importance.held_rows.take(np.flatnonzero(importance.held_rows.weights))
    rows = rows.take(evenly_spaced(len(rows), ASKED))
    usual = usual_values(importance.held_rows.table.select([column])).numbers[:, 0]
    values = np.unique(usual[~np.isnan(usual)])
    ask = outputs_of(importance.pipeline, importance.held_rows)
    answers = [ask(with_column(rows.table, column, value)) for value in values]
    means = np.array([np.average(outputs, axis=0, weights=rows.weights) for outputs in answers])
    names = kind_named(importance.cell.kind).task.output_names(importance.pipeline.final) or (
        importance.held_rows.target,
    )
    chosen = [1] if len(names) == 2 else range(min(len(names), MOST_CLASSES))
    alone = len(chosen) == 1
    ends = [(names[k], [quantiles(answer[:, k], rows.weights, MIDDLE_HALF) for answer in answers]) for k in chosen]
    return findings.Curve(
        f"{name}: partial dependence on {column}",
        column,
        tuple(values.tolist()),
        tuple((names[k], tuple(means[:, k].tolist())) for k in chosen),
        bands=tuple((name, tuple(map(tuple, np.array(of).tolist()))) for name, of in ends if alone),
        note=f"mean prediction {UNSEEN}" + "; band: the middle half of the rows" * alone,
    )


def _answers_over_plane(
    importance: PermutationImportance, name: str, across: str, upwards: str
) -> findings.Finding:
    """What is answered over the plane of two columns, the others as in a usual row."""
    has_classes = hasattr(importance.held_rows, "classes")
    note = OTHERS + "; points: unseen rows by class" * has_classes
    found = regions(importance.pipeline, importance.held_rows, across, upwards)
    return replace(found, title=f"{name}: {found.title[:1].lower()}{found.title[1:]}", note=note)


def rows_described(model_result: ModelResult, name: str, data: Dataset) -> list[findings.Finding]:
    """What its kind of task shows of the rows that a model has learned from, where it learns from all of them."""
    cell = model_result.cell
    if cell.kind not in DESCRIBED or cell.model.saved or _expected_seconds(model_result) > MOST_SECONDS:
        return []
    trained = train(cell_on(cell, data))
    shown: findings.Explanation = named(kind_named(cell.kind).described_at)(trained)
    return [replace(finding, title=f"{name}: {finding.title}") for finding in shown]


def cluster_planes(model_result: ModelResult, name: str, data: Dataset) -> list[findings.Finding]:
    """The clusters of a clustering by the columns that differ most between them, in a plane and in space."""
    tables = cluster_profile(model_result.splits[0])
    answers = judged_answers(model_result.cell_result)[0]
    if not tables or not hasattr(answers, "cluster"):
        return []
    numeric = {column.name for column in data.schema.features() if not column.coded}
    columns = [str(row[0]) for row in tables[0].rows if row[0] in numeric][:DRAWN]
    indices = np.column_stack([np.empty((len(data), 0)), *(data.table.cells(column) for column in columns)])
    of_clusters = {}
    for cluster in np.unique(answers.cluster).tolist():
        rows = answers.rows[answers.cluster == cluster]
        of_clusters[f"cluster {cluster}"] = indices[rows[evenly_spaced(len(rows), MOST_POINTS)]]
    known = {part: rows[np.isfinite(rows).all(axis=1)] for part, rows in of_clusters.items()}
    return list(in_plane_and_space(f"{name}: clusters", columns, known))
