"""From splits to answers: let a model learn and ask it split by split, or all splits of leave-one-out at once."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from errno import ENOSPC
from typing import Any

import numpy as np

from mlcli.core.abilities import Staged
from mlcli.core.answers import Answers, Coordinate
from mlcli.core.errors import ExitCode, MlcliError
from mlcli.core.findings import shortened
from mlcli.core.limits import all_moderate, refuse_copies
from mlcli.core.pipeline import Pipeline, leave_one_out_answers, predict_rows
from mlcli.core.processes import peak_of
from mlcli.core.progress import seconds_of_work
from mlcli.core.threads import one_blas_thread
from mlcli.experiment.run.learner import Learner, captured_warnings
from mlcli.experiment.run.preparation import Block
from mlcli.experiment.run.split_results import JUDGED, TRAINING, RoundResult, SplitResult, StagedAnswers, folds_of
from mlcli.experiment.spec.cells import Stages
from mlcli.experiment.store.codec import decoded, encoded
from mlcli.protocols._base import DealtSplits, Split
from mlcli.tasks.table import kind_named

KEPT_LINES = 40
"""How many rows or lines of a finding are kept of what the model of one split says of itself."""
MOST_CALLS = 50
"""How many of the innermost calls a trace shows: a recursion without end has a million."""
MANTISSAS = (1, 2, 3, 5, 7)
"""Stages are closer where a fit begins: 1, 2, 3, 5, 7, 10, 20, ...; they are the same for fits of any length."""
MOST_FITTED = 0.1
"""If a larger share of leave-one-out must be fitted, everything is."""
ROUTE = "leave-one-out"
"""How the note below a table calls what answered."""


@dataclass(frozen=True)
class Failure:
    """A split that could not be evaluated: why, in words, and the trace for whoever repairs the method."""

    index: int
    why: str
    trace: str = ""


@dataclass(frozen=True, eq=False)
class BlockOutcome:
    """What came of a block: the evaluated splits, up to the first that failed."""

    results: Sequence[SplitResult]
    failure: Failure | None = None
    memory: int | None = None
    """The peak memory of the evaluation in bytes, where the system tells."""


def evaluate(block: Block) -> BlockOutcome:
    """Evaluate a block, and measure its memory."""
    with peak_of() as taken:
        outcome = _outcome_of(block)
    return replace(outcome, memory=taken.bytes)


def _outcome_of(block: Block) -> BlockOutcome:
    """Learn and answer split by split, up to the first that fails; or in closed form, where that is asked for.

    A block to be answered in closed form comes back empty if it cannot be: then its splits must be evaluated.
    """
    results: list[SplitResult] = []
    with one_blas_thread():
        answered = (closed_form_results(block) or ()) if block.closed_form else [None] * len(block.splits)
        if isinstance(answered, RoundResult):
            return BlockOutcome(answered)
        for index, result in enumerate(answered):
            try:
                with block.learner.asking():
                    results.append(result or _evaluated(block, block.first + index, block.splits[index]))
            except KeyboardInterrupt:
                raise
            except BaseException as problem:  # whatever a method of somebody else's may end with
                why = f"{block.splits[index].label}: {message_of(problem)}"
                return BlockOutcome(tuple(results), Failure(block.first + index, why, trace_of(problem)))
    return BlockOutcome(tuple(results))


@dataclass(frozen=True, eq=False)
class WorkerResult:
    """The outcome of the block that begins with split ``first``: its answers as bytes, ready to be stored."""

    first: int
    payload: bytes
    failure: Failure | None
    is_empty: bool = False
    """Whether the block was to be answered in closed form and could not be."""
    memory: int | None = None

    def outcome(self, answers: type[Answers]) -> BlockOutcome:
        """What came of the block."""
        return BlockOutcome(decoded(self.payload, answers), self.failure, self.memory)


def worker_result(block: Block) -> WorkerResult:
    """Evaluate a block in a worker, and encode its answers there too."""
    try:
        return _encoded_outcome(block)
    except BaseException:  # a method has broken what its process needs, or raised what Ctrl-C raises elsewhere
        os._exit(ExitCode.BUG)  # whoever waits hears of that, and sets its cell apart


def _encoded_outcome(block: Block) -> WorkerResult:
    try:
        outcome = evaluate(block)
        payload = encoded(outcome.results)
    except Exception as problem:  # a method of somebody else's may warn of or explain what no file can hold
        failure = Failure(block.first, f"{block.splits[0].label}: {message_of(problem)}", trace_of(problem))
        return WorkerResult(block.first, encoded(()), failure)
    is_empty = not outcome.results and outcome.failure is None
    return WorkerResult(block.first, payload, outcome.failure, is_empty, outcome.memory)


def message_of(problem: BaseException, whose: str = "the method") -> str:
    """What went wrong, in words; a problem that was not foreseen is a bug of somebody's."""
    if isinstance(problem, MlcliError):
        return _storable(str(problem))
    if isinstance(problem, MemoryError):
        return _storable(f"not enough memory: {problem}" if str(problem) else "not enough memory")
    if isinstance(problem, OSError) and problem.errno == ENOSPC:
        return _storable(f"the disk is full: {problem.filename or 'a file of the method'}")
    try:
        message = str(problem)
    except Exception:
        message = "without words"
    return _storable(f"a bug in {whose}, please report it: {type(problem).__name__}: {message}")


def trace_of(problem: BaseException) -> str:
    """Where it went wrong, for whoever repairs it."""
    import traceback

    return _storable("".join(traceback.format_exception(problem, limit=-MOST_CALLS)))


def _storable(text: str) -> str:
    """A text with every half of a character written as its number, since no file can hold one."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _evaluated(block: Block, index: int, split: Split) -> SplitResult:
    learner, rows = block.learner, block.rows
    with captured_warnings() as warned:
        started = seconds_of_work()
        by_labels: list[tuple[Coordinate, Answers]] = []
        if split.queries is not None:
            from mlcli.protocols.active_learning import judged_by_labels

            pipeline, train_rows, by_labels = judged_by_labels(learner, rows, split, index)
        else:
            refuse_copies("a split", rows.table, 1)
            train_rows = rows.hiding(split.train, split.hidden) if len(split.hidden) else rows.take(split.train)
            pipeline = learner.fitted(train_rows, index)
        fitted = seconds_of_work()
        parts = {part: getattr(split, part) for part in kind_named(rows.kind).parts}
        answers: dict[str, Answers] = rows.task.predict_parts(
            pipeline.final, lambda some: predict_rows(pipeline, rows.take(some)), parts, split.train
        )
        answered = seconds_of_work()
        asked = learner.stages
        stages = by_labels or _answers_by_stage(pipeline, asked, rows.take(split.test), answers[JUDGED])
        of_training = []
        if learner.training:
            with captured_warnings():  # what is warned of about rows that were learned from concerns nobody
                answers[TRAINING] = predict_rows(pipeline, train_rows)
                of_training = _answers_by_stage(pipeline, asked, train_rows, answers[TRAINING])
        explanation = tuple(shortened(finding, KEPT_LINES) for finding in pipeline.explain())
    return SplitResult(
        index=index,
        label=split.label,
        train_rows=len(train_rows),
        answers={part: of_part.judged_in(index) for part, of_part in answers.items()},
        fit_seconds=fitted - started,
        predict_seconds=answered - fitted,
        warnings=tuple(warned),
        explanation=explanation,
        coordinate=split.coordinate,
        stages=_judged_stages(stages, index),
        training_stages=_judged_stages(of_training, index),
    )


def _judged_stages(stages: Sequence[tuple[Coordinate, Answers]], index: int) -> StagedAnswers:
    return tuple((at, of_stage.judged_in(index)) for at, of_stage in stages)


def _answers_by_stage(
    pipeline: Pipeline, asked: Stages, rows: Any, last: Answers
) -> list[tuple[Coordinate, Answers]]:
    """What a fitted model would have answered of rows had its fit stopped earlier, and what it answers."""
    model = pipeline.final
    count = model.stages() if asked and isinstance(model, Staged) else 0
    if not isinstance(model, Staged) or not count:
        return []
    at = stages_among(asked, count)
    predictions = model.staged(pipeline.prepared(rows.table), at)
    answers = [rows.task.answers_with(model, rows, predicted) for predicted in predictions]
    staged = zip([*at, count], [*answers, last], strict=True)
    return [(Coordinate(model.stage_name, stage), of_stage) for stage, of_stage in staged]


def stages_among(stages: Stages, count: int) -> list[int]:
    """The stages before the last of so many that are to be answered at."""
    if stages is True:
        powers = 10 ** np.arange(len(str(count)))
        numbers = np.outer(powers, MANTISSAS).ravel().tolist()
    elif isinstance(stages, int):
        numbers = np.linspace(1, count, stages).round().astype(int).tolist()
    else:
        numbers = list(stages)
    return sorted({stage for stage in numbers if stage < count})


def closed_form_results(block: Block) -> Sequence[SplitResult | None] | None:
    """Every split of leave-one-out in one computation, None for those to be fitted; None: fit them all."""
    learner, splits, rows = block.learner, block.splits, block.rows
    if not (isinstance(learner, Learner) and isinstance(splits, DealtSplits) and all_moderate(rows)):
        return None
    started, pipeline = seconds_of_work(), learner.pipeline()
    try:
        with captured_warnings() as warned:
            predictions = pipeline.leave_one_out(rows)
    except (MlcliError, np.linalg.LinAlgError):
        return None  # the plain loop says what is wrong
    if predictions is None or warned:
        return None
    fitted = np.asarray(np.isnan(predictions.reshape(len(rows), -1)).any(axis=1))
    if fitted.sum() > MOST_FITTED * len(rows):
        return None
    answers = leave_one_out_answers(pipeline, rows, predictions)
    every = np.ones(len(rows), np.intp)
    results = RoundResult(
        first=0,
        labels=splits.labels,
        train_rows=(len(rows) - every).tolist(),
        sizes=every.tolist(),
        answers=answers.judged_in(folds_of(0, every)),
        seconds=(seconds_of_work() - started) / len(rows),
        route=ROUTE,
    )
    if not fitted.any():
        return results
    return [None if fit else result for fit, result in zip(fitted.tolist(), results, strict=True)]
