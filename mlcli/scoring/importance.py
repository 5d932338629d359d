"""Permutation importance and partial dependence: what a model does with its columns, on unseen rows.

The model is fitted once more, to two thirds of the rows; everything is about the other rows.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np

from mlcli.core import findings
from mlcli.core.errors import MlcliError, captured_warnings
from mlcli.core.moments import quantiles
from mlcli.core.pipeline import Pipeline, predict_rows
from mlcli.core.processes import one_blas_thread
from mlcli.core.rows import SplitInfo, evenly_spaced
from mlcli.core.serialise import rng_for
from mlcli.core.tables import Rows, Table
from mlcli.data.dataset import Dataset
from mlcli.engines.column_effects import usual_values, with_column
from mlcli.experiment.results import each
from mlcli.experiment.run.preparation import Learner, train, with_nested_steps
from mlcli.experiment.spec.cells import Cell
from mlcli.experiment.spec.datasets import cell_on
from mlcli.metrics.base import Metric, Score
from mlcli.protocols.k_fold import KFold, StratifiedKFold
from mlcli.scoring.model_results import ModelResult, badness, judged_answers
from mlcli.scoring.trained_rows import ACROSS, MOST_CLASSES, UPWARDS, outputs_of, prediction_regions
from mlcli.tasks.table import kind_named, named

MOST_ROWS, MOST_COLUMNS = 3_000, 60
REPEATS_SHOWN = 5
"""How many times each column is shuffled for a picture."""
COLUMNS_DRAWN = 3
"""By how many columns predictions are drawn, the most important first."""
ROWS_AVERAGED = 150
"""The rows over which partial dependence is averaged."""
MOST_SECONDS = 20.0
"""How long the pictures of a report may take, estimated from the times of the run."""


@dataclass(frozen=True, eq=False)
class PermutationImportance:
    """A model fitted to two thirds of the rows, and its scores on the others as they are and shuffled."""

    cell: Cell
    metric: Metric
    learner: Learner
    train: Any
    test_rows: Any
    pipeline: Pipeline
    score: float
    lost_by_shuffle: Mapping[str, tuple[float, ...]]
    """By column, how much worse the score is for each shuffle; above 0 where the column helps."""

    @property
    def lost(self) -> dict[str, float]:
        """By column, the largest loss."""
        return {name: max(losses) for name, losses in self.lost_by_shuffle.items()}

    def lost_without(self, names: Collection[str]) -> float:
        """How much worse the score is for a fit without some columns; infinite if there is no score."""
        kept = [column.name for column in self.train.table.columns if column.name not in names]
        try:
            with captured_warnings():
                pipeline = self.learner.fitted(self.train.with_table(self.train.table.select(kept)), "worth")
                test_rows = self.test_rows.with_table(self.test_rows.table.select(kept))
                score = self.metric.compute(predict_rows(pipeline, test_rows))
        except MlcliError:
            return math.inf
        if not isinstance(score, float):
            return math.inf
        return badness(self.metric, score) - badness(self.metric, self.score)


def permutation_importance(cell: Cell, metric: Metric, repeats: int = 2) -> PermutationImportance | None:
    """The importances from one fit; None where a score is undefined, or there are too many columns."""
    dataset, planned = cell.dataset, cell.planned
    assert planned is not None, "only a planned cell has rows"
    rng = rng_for("worth", dataset.content, cell.seed)
    rows = planned.all_rows.to_learn_from()
    if len(rows.table.columns) > MOST_COLUMNS:
        return None
    info: SplitInfo = rows.split_info()
    protocol = KFold(folds=3) if info.strata is None else StratifiedKFold(folds=3)
    with captured_warnings():
        split = protocol.splits(info, rng)[0]

    def sampled(part: Rows) -> Rows:
        # Files may be sorted, so that the first rows say little about the others.
        return part if len(part) <= MOST_ROWS else np.sort(rng.choice(part, MOST_ROWS, replace=False))

    train_rows, test_rows = rows.take(sampled(split.train)), rows.take(sampled(split.test))
    model = with_nested_steps(cell.model, cell.steps, cell.kind, dataset.schema)
    learner = Learner(dataset.content, model, cell.steps, cell.seed)
    with captured_warnings():
        pipeline = learner.fitted(train_rows, "worth")
        score = metric.compute(predict_rows(pipeline, test_rows))
        shuffled: dict[str, list[Score]] = {}
        for column in test_rows.table.columns:
            shuffled[column.name] = [
                _score_shuffled(pipeline, test_rows, metric, column.name, rng) for _ in range(repeats)
            ]
    if not isinstance(score, float) or not all(isinstance(value, float) for value in chain(*shuffled.values())):
        return None
    losses = {
        name: tuple(
            badness(metric, value) - badness(metric, score) for value in scores if isinstance(value, float)
        )
        for name, scores in shuffled.items()
    }
    return PermutationImportance(cell, metric, learner, train_rows, test_rows, pipeline, score, losses)


def _score_shuffled(pipeline: Pipeline, rows: Any, metric: Metric, name: str, rng: np.random.Generator) -> Score:
    order = rng.permutation(len(rows))
    parts = ((column, cells[order] if column.name == name else cells) for column, cells in rows.table.parts())
    return metric.compute(predict_rows(pipeline, rows.with_table(Table.of(parts, len(rows)))))


def inspection_of(result: ModelResult, name: str, data: Dataset) -> list[findings.Finding]:
    """Importances, partial dependence and predictions over two columns, of classifiers and regressors.

    Nothing of baselines and saved models, and where it would take long.
    """
    cell = cell_on(result.cell, data)
    is_wanted = cell.kind in ("classification", "regression") and not result.is_baseline and not cell.model.saved
    if not is_wanted or _expected_seconds(result) > MOST_SECONDS:
        return []
    with one_blas_thread():
        importance = permutation_importance(cell, result.metrics[0], REPEATS_SHOWN)
        return [] if importance is None else list(_column_findings(importance, name))


def trained_rows_of(result: ModelResult, name: str, data: Dataset) -> list[findings.Finding]:
    """The rows of densities and projections, which are fitted to all of them once more."""
    cell = result.cell
    if cell.kind not in ("density", "projection") or cell.model.saved or _expected_seconds(result) > MOST_SECONDS:
        return []
    described: findings.Explanation = named(kind_named(cell.kind).described_at)(train(cell_on(cell, data)))
    return [replace(finding, title=f"{name}: {finding.title}") for finding in described]


def _expected_seconds(result: ModelResult) -> float:
    """How long a fit and all predictions take, by the times of the run."""
    splits = result.splits
    rows = sum(map(len, judged_answers(result.cell_result)))
    columns = min(len(result.cell.dataset.schema.features()), MOST_COLUMNS)
    curves = COLUMNS_DRAWN * ROWS_AVERAGED * 24  # about 24 values of each column
    predictions = rows / len(splits) * columns * REPEATS_SHOWN + curves + ACROSS * UPWARDS
    fit, predict = (float(sum(each(splits, field))) for field in ("fit_seconds", "predict_seconds"))
    return fit / len(splits) + predict / rows * predictions


def _column_findings(importance: PermutationImportance, name: str) -> Iterator[findings.Finding]:
    means = {column: float(np.mean(losses)) for column, losses in importance.lost_by_shuffle.items()}
    order = sorted(means, key=lambda column: -means[column])
    yield _importance_boxplots(importance, name, order)
    numeric = [column.name for column in importance.test_rows.table.columns if not column.coded]
    drawn = [column for column in order if column in numeric][:COLUMNS_DRAWN]
    for column in drawn:
        yield _partial_dependence(importance, name, column)
    if len(drawn) > 1:
        regions = prediction_regions(importance.pipeline, importance.test_rows, drawn[0], drawn[1])
        points = "; points: unseen rows by class" if hasattr(importance.test_rows, "classes") else ""
        title = f"{name}: {regions.title[:1].lower()}{regions.title[1:]}"
        yield replace(regions, title=title, note=f"all other columns at their usual values{points}")


def _importance_boxplots(importance: PermutationImportance, name: str, order: Sequence[str]) -> findings.Finding:
    """How much worse the score is where a column is shuffled, from the least to the most."""
    shown = order[:15]
    boxes = {column: np.quantile(importance.lost_by_shuffle[column], (0, 0.25, 0.5, 0.75, 1)) for column in shown}
    left_out = len(order) - len(shown)
    more = f"; {left_out} columns that matter less are left out" if left_out else ""
    return findings.Boxplots(
        f"{name}: permutation importance",
        f"{importance.metric.name} lost where the column is shuffled",
        tuple((column, tuple(map(float, box))) for column, box in boxes.items()),
        (0,) * len(shown),
        note=f"{REPEATS_SHOWN} shuffles on unseen rows; below 0 the model is better without the column{more}",
    )


def _partial_dependence(importance: PermutationImportance, name: str, column: str) -> findings.Finding:
    """The mean prediction where a column has each of its usual values."""
    test_rows = importance.test_rows
    rows = test_rows.take(np.flatnonzero(test_rows.weights))
    rows = rows.take(evenly_spaced(len(rows), ROWS_AVERAGED))
    usual = usual_values(test_rows.table.select([column])).numbers[:, 0]
    values = np.unique(usual[~np.isnan(usual)])
    predict = outputs_of(importance.pipeline, test_rows)
    predictions = [predict(with_column(rows.table, column, value)) for value in values]
    means = np.array([np.average(outputs, axis=0, weights=rows.weights) for outputs in predictions])
    task = kind_named(importance.cell.kind).task
    names = task.output_names(importance.pipeline.final) or (test_rows.target,)
    chosen = [1] if len(names) == 2 else range(min(len(names), MOST_CLASSES))
    bands: list[tuple[str, tuple[tuple[float, float], ...]]] = []
    if len(chosen) == 1:
        for k in chosen:
            quartiles = (
                quantiles(outputs[:, k], rows.weights, np.array([0.25, 0.75])).tolist() for outputs in predictions
            )
            bands.append((names[k], tuple((low, high) for low, high in quartiles)))
    return findings.Curve(
        f"{name}: partial dependence on {column}",
        column,
        tuple(values.tolist()),
        tuple((names[k], tuple(means[:, k].tolist())) for k in chosen),
        bands=tuple(bands),
        note="mean prediction on unseen rows" + "; band: the middle half of the rows" * bool(bands),
    )
