"""All splits of a cell answered together, where the method has a shortcut that equals the plain loop."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from time import perf_counter
from typing import Any

import numpy as np

from mlcli.core.answers import Answers
from mlcli.core.errors import MlcliError
from mlcli.core.held_out import HeldOut, Round
from mlcli.core.learning import told
from mlcli.core.limits import all_moderate
from mlcli.core.pipeline import Pipeline
from mlcli.core.tables import Rows
from mlcli.experiment.cells import SplitResult
from mlcli.experiment.hearing import heard
from mlcli.experiment.learner import Learner
from mlcli.experiment.preparation import Block
from mlcli.experiment.protocols._parts import Parts

MOST_REFUSED = 0.1
"""If a larger share of the parts must be fitted after all, everything is."""


def answered(block: Block) -> list[SplitResult | None] | None:
    """Every split of a cell, None where it must be fitted after all; None if the shortcut is not to be taken.

    Which splits it answers follows from the rows, the splits and the method alone.
    """
    learner, splits = block.learner, block.splits
    if not (isinstance(learner, Learner) and isinstance(splits, Parts) and all_moderate(block.rows)):
        return None
    with heard() as said:
        found = _all_rounds(learner.pipeline(), block.rows, splits)
    if said or sum(result is None for result in found) > MOST_REFUSED * len(found):
        return None
    return found


def _all_rounds(pipeline: Pipeline, rows: Any, splits: Parts) -> list[SplitResult | None]:
    found: list[SplitResult | None] = []
    parts = len(splits) // len(splits.rounds)
    for part in splits.rounds:
        round_ = Round(part, parts)
        started = perf_counter()
        held = _held_out(pipeline, rows, round_)
        if held is None:
            return [None] * len(splits)
        answers = told(pipeline, rows, round_, held)
        seconds = (perf_counter() - started) / parts
        labels = splits.labels[len(found) : len(found) + parts]
        found += _results(answers, held, round_, labels, len(found), seconds)
    return found


def _held_out(pipeline: Pipeline, rows: Any, round_: Round) -> HeldOut | None:
    """What the shortcut says; whatever it cannot do is left to the plain loop, which says it in full."""
    try:
        return pipeline.held_out(rows, round_)
    except (MlcliError, np.linalg.LinAlgError):
        return None


def _results(
    answers: Answers, held: HeldOut, round_: Round, labels: Sequence[str], first: int, seconds: float
) -> Iterator[SplitResult | None]:
    learned = (len(round_.part) - round_.sizes).tolist()
    refused = held.refused.tolist()
    for part, of_part in enumerate(answers.parted(_places(round_))):
        yield (
            None
            if refused[part]
            else SplitResult(
                index=first + part,
                label=labels[part],
                train_rows=learned[part],
                answers={"test": of_part},
                fit_seconds=seconds,
                predict_seconds=0.0,
                route=held.route,
            )
        )


def _places(round_: Round) -> Iterator[Rows | slice]:
    """Where the rows of each part stand."""
    if round_.one_by_one:
        return (slice(row, row + 1) for row in range(round_.parts))
    return iter(round_.rows_of)
