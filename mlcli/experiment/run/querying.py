"""Active learning: a model is fitted, asked what it is unsure of, told the truth of it, and fitted again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from mlcli.core.answers import Answers, Coordinate
from mlcli.core.learning import ask
from mlcli.core.pipeline import Pipeline
from mlcli.core.seeds import rng_for
from mlcli.core.tables import Array, Rows
from mlcli.protocols._base import Split
from mlcli.protocols.active_learning import COMMITTEE, RANDOM, UNSURE, Queries, most_worth

Fit = Any
"""A learner: what is fitted to rows, by the split that they are of."""


def queried(learner: Fit, rows: Any, split: Split, index: int) -> Iterator[tuple[Rows, Pipeline]]:
    """The rows whose target is known, and the model that has learned from them, after each batch of labels."""
    queries, known, pool = split.queries, split.train, split.hidden
    assert queries is not None
    while True:
        pipeline = learner.fitted(rows.hiding(known, pool), index)
        yield known, pipeline
        count = min(queries.batch, queries.budget - len(known), len(pool))
        if count <= 0:
            return
        chosen = most_worth(worth_by(queries, learner, pipeline, rows, known, pool, index), count)
        known, pool = np.sort(np.concatenate([known, pool[chosen]])), np.delete(pool, chosen)


def worth_by(
    queries: Queries, learner: Fit, pipeline: Pipeline, rows: Any, known: Rows, pool: Rows, index: int
) -> Array:
    """How much each row of the pool is worth asking about."""
    asked = rows.take(pool)
    if queries.strategy == RANDOM:
        return np.zeros(len(pool))
    if queries.strategy != COMMITTEE:
        answers: Any = ask(pipeline, asked)
        return UNSURE[queries.strategy](answers.probabilities)
    predicted = []
    for member in range(queries.members):
        seed = f"{index}, {len(known)} labels, member {member}"
        drawn = rng_for("committee", learner.content, learner.seed, seed).choice(known, len(known))
        of_member: Any = ask(learner.fitted(rows.take(np.sort(drawn)), seed), asked)
        predicted.append(of_member.predicted)
    return np.asarray(rows.disagreement(np.column_stack(predicted)))


def judged_by_labels(
    learner: Fit, rows: Any, split: Split, index: int
) -> tuple[Pipeline, Rows, list[tuple[Coordinate, Answers]]]:
    """The last model, the rows that it has learned from, and what each model said of the judged rows."""
    assert split.coordinate is not None
    judged, stages = rows.take(split.test), []
    for known, pipeline in queried(learner, rows, split, index):
        at = Coordinate(split.coordinate.name, float(len(known)), split.coordinate.line)
        stages.append((at, ask(pipeline, judged)))
    return pipeline, known, stages
