"""From splits to answers: fit a model and predict split by split, or all splits of leave-one-out at once."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from errno import ENOSPC

import numpy as np

from mlcli.core.abilities import Staged
from mlcli.core.answers import Answers, Coordinate
from mlcli.core.errors import ExitCode, MlcliError, captured_warnings
from mlcli.core.findings import shortened
from mlcli.core.moments import all_moderate, refuse_copies
from mlcli.core.pipeline import Pipeline, leave_one_out_answers, predict_rows
from mlcli.core.processes import one_blas_thread, peak_of
from mlcli.core.progress import seconds_of_work
from mlcli.core.rows import RowsOfTable
from mlcli.experiment.results import (
    TEST,
    TRAINING,
    RoundResult,
    SplitResult,
    StagedAnswers,
    decoded,
    encoded,
    folds_of,
)
from mlcli.experiment.run.preparation import Block, Learner
from mlcli.experiment.spec.cells import Stages
from mlcli.protocols._base import DealtSplits, Split
from mlcli.tasks.supervised import SupervisedRows
from mlcli.tasks.table import kind_named

KEPT_LINES = 40
"""How many lines of each finding are stored of what the model of one split reports."""


@dataclass(frozen=True)
class Failure:
    """A split that could not be evaluated: why, the traceback, and the exit code of the error."""

    index: int
    why: str
    trace: str = ""
    code: int = ExitCode.BUG


@dataclass(frozen=True, eq=False)
class BlockOutcome:
    """The outcome of a block: the results of its splits, up to the first that failed."""

    results: Sequence[SplitResult]
    failure: Failure | None = None
    memory: int | None = None
    """The peak memory of the evaluation in bytes, where the system tells it."""


@dataclass(frozen=True, eq=False)
class WorkerResult:
    """The outcome of the block that begins with split ``first``, encoded as the store keeps it."""

    first: int
    payload: bytes
    failure: Failure | None
    is_empty: bool = False
    """Whether all of leave-one-out was to be computed at once and could not be."""
    memory: int | None = None

    def outcome(self, answers: type[Answers]) -> BlockOutcome:
        """The outcome, decoded."""
        return BlockOutcome(decoded(self.payload, answers), self.failure, self.memory)


def evaluate(block: Block) -> BlockOutcome:
    """Fit and predict split by split, up to the first that fails, and measure the memory.

    A block for all of leave-one-out at once comes back empty if that is impossible: evaluate its splits then.
    """
    with peak_of() as measured:
        outcome = _evaluate_splits(block)
    return replace(outcome, memory=measured.bytes)


def _evaluate_splits(block: Block) -> BlockOutcome:
    results: list[SplitResult] = []
    with one_blas_thread():
        computed: Sequence[SplitResult | None] = [None] * len(block.splits)
        if block.closed_form:
            computed = closed_form_results(block) or ()
            if isinstance(computed, RoundResult):
                return BlockOutcome(computed)
        for index, result in enumerate(computed):
            try:
                with block.learner.asking():
                    results.append(result or _split_result(block, block.first + index, block.splits[index]))
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # a foreign method may raise anything
                why = f"{block.splits[index].label}: {message_of(error)}"
                failure = Failure(block.first + index, why, trace_of(error), code_of(error))
                return BlockOutcome(tuple(results), failure)
    return BlockOutcome(tuple(results))


def worker_result(block: Block) -> WorkerResult:
    """Evaluate a block in a worker and encode its results there."""
    try:
        try:
            outcome = evaluate(block)
            payload = encoded(outcome.results)
        except Exception as error:  # a foreign method may report what no file can hold
            why = f"{block.splits[0].label}: {message_of(error)}"
            failure = Failure(block.first, why, trace_of(error), code_of(error))
            return WorkerResult(block.first, encoded(()), failure)
        is_empty = not outcome.results and outcome.failure is None
        return WorkerResult(block.first, payload, outcome.failure, is_empty, outcome.memory)
    except BaseException:  # a method has broken what its process needs, or raised what Ctrl-C raises elsewhere
        os._exit(ExitCode.BUG)  # the parent sees that the worker has died, and suspects the cell


def message_of(error: BaseException, whose: str = "the method") -> str:
    """Why something failed, in words; an unexpected error is a bug in ``whose`` code."""
    if isinstance(error, MlcliError):
        return _storable(str(error))
    if isinstance(error, MemoryError):
        return _storable(f"not enough memory: {error}" if str(error) else "not enough memory")
    if isinstance(error, OSError) and error.errno == ENOSPC:
        return _storable(f"the disk is full: {error.filename or 'a file of the method'}")
    try:
        message = str(error)
    except Exception:
        message = "without words"
    return _storable(f"a bug in {whose}, please report it: {type(error).__name__}: {message}")


def trace_of(error: BaseException) -> str:
    """The traceback, of its innermost 50 calls: an endless recursion has a million."""
    import traceback

    return _storable("".join(traceback.format_exception(error, limit=-50)))


def code_of(error: BaseException) -> int:
    """The exit code that stands for an error."""
    return int(error.exit_code if isinstance(error, MlcliError) else ExitCode.BUG)


def _storable(text: str) -> str:
    """A text with lone surrogates escaped, since UTF-8 cannot encode them."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _split_result(block: Block, index: int, split: Split) -> SplitResult:
    """Fit the model to the training rows of a split and predict its test rows."""
    learner, rows = block.learner, block.rows
    with captured_warnings() as warned:
        started = seconds_of_work()
        by_labels: list[tuple[Coordinate, Answers]] = []
        train_rows: RowsOfTable
        if split.queries is not None:
            from mlcli.protocols.active_learning import judged_by_labels

            assert isinstance(rows, SupervisedRows)
            assert isinstance(learner, Learner)
            pipeline, train_rows, by_labels = judged_by_labels(learner, rows, split, index)
        else:
            refuse_copies("a split", rows.table, 1)
            if len(split.hidden):
                assert isinstance(rows, SupervisedRows)
                train_rows = rows.hiding(split.train, split.hidden)
            else:
                train_rows = rows.take(split.train)
            pipeline = learner.fitted(train_rows, index)
        fitted = seconds_of_work()
        parts = {part: getattr(split, part) for part in kind_named(rows.kind).parts}
        answers: dict[str, Answers] = rows.task.predict_parts(
            pipeline.final, lambda indices: predict_rows(pipeline, rows.take(indices)), parts, split.train
        )
        predicted = seconds_of_work()
        stages = by_labels or _answers_by_stage(pipeline, learner.stages, rows.take(split.test), answers[TEST])
        training_stages = []
        if learner.training:
            with captured_warnings():  # warnings about predictions of training rows are of no use
                answers[TRAINING] = predict_rows(pipeline, train_rows)
                training_stages = _answers_by_stage(pipeline, learner.stages, train_rows, answers[TRAINING])
        explanation = tuple(shortened(finding, KEPT_LINES) for finding in pipeline.explain())
    return SplitResult(
        index=index,
        label=split.label,
        train_rows=len(train_rows),
        answers={part: of_part.judged_in(index) for part, of_part in answers.items()},
        fit_seconds=fitted - started,
        predict_seconds=predicted - fitted,
        warnings=tuple(warned),
        explanation=explanation,
        coordinate=split.coordinate,
        stages=_with_fold(stages, index),
        training_stages=_with_fold(training_stages, index),
    )


def _with_fold(stages: Sequence[tuple[Coordinate, Answers]], index: int) -> StagedAnswers:
    return tuple((coordinate, answers.judged_in(index)) for coordinate, answers in stages)


def _answers_by_stage(
    pipeline: Pipeline, stages: Stages, rows: RowsOfTable, last: Answers
) -> list[tuple[Coordinate, Answers]]:
    """The answers of a fitted model had its fit stopped earlier, and those of its last stage."""
    model = pipeline.final
    count = model.stages() if stages and isinstance(model, Staged) else 0
    if not isinstance(model, Staged) or not count:
        return []
    chosen = stages_among(stages, count)
    predictions = model.staged(pipeline.prepared(rows.table), chosen)
    answers = [rows.task.answers_with(model, rows, predicted) for predicted in predictions]
    staged = zip([*chosen, count], [*answers, last], strict=True)
    return [(Coordinate(model.stage_name, stage), of_stage) for stage, of_stage in staged]


def stages_among(stages: Stages, count: int) -> list[int]:
    """The stages before the last of ``count`` to predict at.

    True stands for 1, 2, 3, 5, 7, 10, 20, ...: closer where a fit begins, the same for fits of any length.
    """
    if stages is True:
        powers = 10 ** np.arange(len(str(count)))
        numbers = np.outer(powers, (1, 2, 3, 5, 7)).ravel().tolist()
    elif isinstance(stages, int):
        numbers = np.linspace(1, count, stages).round().astype(int).tolist()
    else:
        numbers = list(stages)
    return sorted({stage for stage in numbers if stage < count})


def closed_form_results(block: Block) -> Sequence[SplitResult | None] | None:
    """All splits of leave-one-out in one computation, None for those to be fitted; None: fit all of them."""
    learner, splits, rows = block.learner, block.splits, block.rows
    if not (isinstance(learner, Learner) and isinstance(splits, DealtSplits) and all_moderate(rows)):
        return None
    started, pipeline = seconds_of_work(), learner.pipeline()
    try:
        with captured_warnings() as warned:
            predictions = pipeline.leave_one_out(rows)
    except (MlcliError, np.linalg.LinAlgError):
        return None  # fitting each split says what is wrong
    if predictions is None or warned:
        return None
    unknown = np.asarray(np.isnan(predictions.reshape(len(rows), -1)).any(axis=1))
    if unknown.sum() > 0.1 * len(rows):  # fitting all of them takes hardly longer
        return None
    answers = leave_one_out_answers(pipeline, rows, predictions)
    ones = np.ones(len(rows), np.intp)
    results = RoundResult(
        first=0,
        labels=splits.labels,
        train_rows=(len(rows) - ones).tolist(),
        sizes=ones.tolist(),
        answers=answers.judged_in(folds_of(0, ones)),
        seconds=(seconds_of_work() - started) / len(rows),
        route="leave-one-out",
    )
    if not unknown.any():
        return results
    return [None if fit else result for fit, result in zip(unknown.tolist(), results, strict=True)]
