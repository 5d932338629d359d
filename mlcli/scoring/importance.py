"""What each column is worth to a model: how much worse it answers rows not seen when that column is shuffled."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from mlcli.core.errors import MlcliError
from mlcli.core.pipeline import Pipeline, predict_rows
from mlcli.core.rows import SplitInfo
from mlcli.core.seeds import rng_for
from mlcli.core.tables import Rows, Table
from mlcli.experiment.run.learner import Learner, captured_warnings, with_nested_steps
from mlcli.experiment.spec.cells import Cell
from mlcli.metrics.base import Metric
from mlcli.protocols.k_fold import KFold
from mlcli.protocols.stratified_k_fold import StratifiedKFold
from mlcli.scoring.model_results import badness

MOST_ROWS, MOST_COLUMNS = 3_000, 60
REPEATS = 2
FOLDS = 3


@dataclass(frozen=True, eq=False)
class PermutationImportance:
    """A model that has learned from two thirds of the rows, asked about the others as they are and shuffled."""

    cell: Cell
    metric: Metric
    learner: Learner
    train: Any
    held_rows: Any
    pipeline: Pipeline
    score: float
    lost_by_shuffle: Mapping[str, tuple[float, ...]]
    """What of the score is lost where a column is shuffled, in each of a few shuffles; above 0 where it helps."""

    @property
    def lost(self) -> dict[str, float]:
        """The most that is lost by shuffling each column."""
        return {name: max(some) for name, some in self.lost_by_shuffle.items()}

    def lost_without(self, names: Collection[str]) -> float:
        """What of the score is lost where the model learns without some columns; without bound if it cannot."""
        kept = [column.name for column in self.train.table.columns if column.name not in names]
        try:
            with captured_warnings():
                pipeline = self.learner.fitted(self.train.with_table(self.train.table.select(kept)), "worth")
                score = self.metric.compute(
                    predict_rows(pipeline, self.held_rows.with_table(self.held_rows.table.select(kept)))
                )
        except MlcliError:
            return math.inf
        if not isinstance(score, float):
            return math.inf
        return badness(self.metric, score) - badness(self.metric, self.score)


def permutation_importance(cell: Cell, metric: Metric, repeats: int = REPEATS) -> PermutationImportance | None:
    """From one fit to two thirds of the rows; None where a score is not defined, or columns are too many."""
    dataset, planned = cell.dataset, cell.planned
    assert planned is not None, "only a planned cell has rows"
    rng = rng_for("worth", dataset.content, cell.seed)
    rows = planned.all_rows.to_learn_from()
    if len(rows.table.columns) > MOST_COLUMNS:
        return None
    train, held = (rows.take(part) for part in _training_and_held_rows(rows, rng))
    model = with_nested_steps(cell.model, cell.steps, cell.kind, dataset.schema)
    learner = Learner(dataset.content, model, cell.steps, cell.seed)
    with captured_warnings():
        pipeline = learner.fitted(train, "worth")
        score = metric.compute(predict_rows(pipeline, held))
        names = [column.name for column in held.table.columns]
        shuffled = [[_score_shuffled(pipeline, held, metric, name, rng) for _ in range(repeats)] for name in names]
    if not isinstance(score, float) or not all(isinstance(one, float) for one in chain(*shuffled)):
        return None
    best = badness(metric, score)
    losses = (tuple(badness(metric, one) - best for one in some) for some in shuffled)
    lost = dict(zip(names, losses, strict=True))
    return PermutationImportance(cell, metric, learner, train, held, pipeline, score, lost)


def _training_and_held_rows(rows: Any, rng: np.random.Generator) -> tuple[Rows, Rows]:
    """Rows to learn from and rows to ask about, of long tables some at random; groups are not cut."""
    strata: SplitInfo = rows.split_info()
    protocol = KFold(folds=FOLDS) if strata.strata is None else StratifiedKFold(folds=FOLDS)
    with captured_warnings():
        split = protocol.splits(strata, rng)[0]
    train, test = (_some_of(part, rng) for part in (split.train, split.test))
    return train, test


def _some_of(rows: Rows, rng: np.random.Generator) -> Rows:
    """All rows, or as many as are looked at; files may be sorted, so that the first say little of the others."""
    return rows if len(rows) <= MOST_ROWS else np.sort(rng.choice(rows, MOST_ROWS, replace=False))


def _score_shuffled(pipeline: Any, rows: Any, metric: Metric, name: str, rng: np.random.Generator) -> Any:
    order = rng.permutation(len(rows))
    parts = ((column, cells[order] if column.name == name else cells) for column, cells in rows.table.parts())
    return metric.compute(predict_rows(pipeline, rows.with_table(Table.of(parts, len(rows)))))
