"""All splits of a cell answered together, where the method has a shortcut that equals the plain loop."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from time import perf_counter
from typing import Any

import numpy as np

from mlcli.core.answers import Answers
from mlcli.core.errors import MlcliError
from mlcli.core.held_out import HeldOut, Round
from mlcli.core.learning import answers_of
from mlcli.core.limits import all_moderate
from mlcli.core.pipeline import Pipeline
from mlcli.core.tables import Flags
from mlcli.experiment.run.captured_warnings import heard
from mlcli.experiment.run.learner import Learner
from mlcli.experiment.run.preparation import Block
from mlcli.experiment.run.split_results import SplitResult, Together, folds_of
from mlcli.protocols._parts import Parts

MOST_REFUSED = 0.1
"""If a larger share of the parts must be fitted after all, everything is."""


def answered(block: Block) -> Sequence[SplitResult | None] | None:
    """Every split of a cell, None where it must be fitted after all; None if the shortcut is not to be taken.

    Which splits it answers follows from the rows, the splits and the method alone.
    """
    learner, splits = block.learner, block.splits
    if not (isinstance(learner, Learner) and isinstance(splits, Parts) and all_moderate(block.rows)):
        return None
    with heard() as said:
        rounds = list(_rounds(learner.pipeline(), block.rows, splits))
    refused = [part for _, of_round in rounds for part in of_round.tolist()]
    if said or len(refused) < len(splits) or sum(refused) > MOST_REFUSED * len(splits):
        return None
    if len(rounds) == 1 and not any(refused):
        return rounds[0][0]
    results = (result for together, _ in rounds for result in together)
    return [None if part else result for part, result in zip(refused, results, strict=True)]


def _rounds(pipeline: Pipeline, rows: Any, splits: Parts) -> Iterator[tuple[Together, Flags]]:
    """The results of each round, and which parts of it are refused; up to the first that cannot be answered."""
    parts = len(splits) // len(splits.rounds)
    for first, part in zip(range(0, len(splits), parts), splits.rounds, strict=True):
        round_ = Round(part, parts)
        started = perf_counter()
        held = _held_out(pipeline, rows, round_)
        if held is None:
            return
        answers = answers_of(pipeline, rows, round_, held)
        seconds = (perf_counter() - started) / parts
        yield _together(answers, round_, splits.labels[first : first + parts], first, seconds, held), held.refused


def _held_out(pipeline: Pipeline, rows: Any, round_: Round) -> HeldOut | None:
    """What the shortcut says; whatever it cannot do is left to the plain loop, which says it in full."""
    try:
        return pipeline.held_out(rows, round_)
    except (MlcliError, np.linalg.LinAlgError):
        return None


def _together(
    answers: Answers, round_: Round, labels: Sequence[str], first: int, seconds: float, held: HeldOut
) -> Together:
    ordered = answers if round_.one_by_one else answers.take(round_.judged)
    return Together(
        first=first,
        labels=labels,
        train_rows=(len(round_.part) - round_.sizes).tolist(),
        sizes=round_.sizes.tolist(),
        answers=ordered.judged_in(folds_of(first, round_.sizes)),
        seconds=seconds,
        route=held.route,
    )
