"""What is kept of a fit beside the judged answers, if that is asked for: answers at its stages and in training."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from mlcli.core.answers import Answers, Coordinate
from mlcli.core.learning import ask
from mlcli.core.pipeline import Pipeline
from mlcli.experiment.run.captured_warnings import heard
from mlcli.experiment.run.preparation import Block
from mlcli.experiment.run.split_results import JUDGED
from mlcli.experiment.spec.cells import Stages
from mlcli.protocols._base import Split

MANTISSAS = (1, 2, 3, 5, 7)
"""Stages are closer where a fit begins: 1, 2, 3, 5, 7, 10, 20, ...; they are the same for fits of any length."""


def stages_among(asked: Stages, count: int) -> list[int]:
    """The stages before the last of so many that are to be answered at."""
    if asked is True:
        powers = 10 ** np.arange(len(str(count)))
        wanted = np.outer(powers, MANTISSAS).ravel().tolist()
    elif isinstance(asked, int):
        wanted = np.linspace(1, count, asked).round().astype(int).tolist()
    else:
        wanted = list(asked)
    return sorted({stage for stage in wanted if stage < count})


def answers_by_stage(
    pipeline: Pipeline, block: Block, split: Split, last: Mapping[str, Answers]
) -> tuple[tuple[Coordinate, Answers], ...]:
    """What a fitted model would have answered had its fit stopped earlier, and what it answers."""
    model, asked = pipeline.final, block.learner.stages
    count = model.stages() if asked else 0
    if not count:
        return ()
    rows, at = block.rows.take(split.test), stages_among(asked, count)
    predictions = model.staged(pipeline.prepared(rows.table), at)
    answers = [rows.base.answers_with(model, rows, predicted) for predicted in predictions]
    staged = zip([*at, count], [*answers, last[JUDGED]], strict=True)
    return tuple((Coordinate(model.stage_name, stage), of_stage) for stage, of_stage in staged)


def training_answers(pipeline: Pipeline, rows: Any) -> Answers:
    """What a model answers about the rows that it has learned from; what is warned of there concerns nobody."""
    with heard():
        return ask(pipeline, rows)
