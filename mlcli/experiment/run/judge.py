"""From splits to answers: let a model learn, ask it about every judged part, and note what went wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from mlcli.core.errors import MlcliError
from mlcli.core.explanation import findings_of
from mlcli.core.findings import shortened
from mlcli.core.learning import judged, settle
from mlcli.core.pipeline import Pipeline
from mlcli.core.threads import cores, cores_for_a_fit, one_blas_thread
from mlcli.data.dataset import Dataset
from mlcli.engines.origins import remember_origin
from mlcli.experiment.run.captured_warnings import heard
from mlcli.experiment.run.extras import answers_by_stage, training_answers
from mlcli.experiment.run.learner import Learner
from mlcli.experiment.run.preparation import Block
from mlcli.experiment.run.split_results import TRAINING, SplitResult, Together
from mlcli.experiment.spec.cells import ModelSpec, StepSpec
from mlcli.experiment.spec.inside import as_run
from mlcli.protocols._base import Split
from mlcli.tasks.table import kind_named

KEPT_LINES = 40
"""How many rows or lines of a finding are kept of what the model of one split says of itself."""


@dataclass(frozen=True)
class Failure:
    """A split that could not be judged: why, in words, and the trace for whoever repairs the method."""

    index: int
    why: str
    trace: str = ""


@dataclass(frozen=True, eq=False)
class Outcome:
    """What came of a block: the splits that were judged, up to the first that failed."""

    results: Sequence[SplitResult]
    failure: Failure | None = None


@dataclass(frozen=True, eq=False)
class Trained:
    """A pipeline that has learned from all rows of a dataset, and what was said meanwhile."""

    pipeline: Pipeline
    rows: Any
    warnings: tuple[str, ...]
    seconds: float


def judge(block: Block) -> Outcome:
    """Learn and answer split by split, up to the first that fails; or all at once, where that is asked for.

    A block to be answered at once comes back empty if it cannot be: then its splits must be judged one by one.
    """
    results: list[SplitResult] = []
    with one_blas_thread():
        known = _known_at_once(block) if block.at_once else [None] * len(block.splits)
        if isinstance(known, Together):
            return Outcome(known)
        for place, result in enumerate(known):
            try:
                results.append(result or _judged(block, block.first + place, block.splits[place]))
            except (Exception, SystemExit) as problem:
                why = f"{block.splits[place].label}: {in_words(problem)}"
                return Outcome(tuple(results), Failure(block.first + place, why, trace_of(problem)))
    return Outcome(tuple(results))


def _known_at_once(block: Block) -> Sequence[SplitResult | None]:
    """What a shortcut answers of all splits, with gaps where it does not; nothing if it is not to be taken."""
    from mlcli.experiment.run.closed_form import answered

    return answered(block) or ()


def train(dataset: Dataset, kind: str, model: ModelSpec, steps: tuple[StepSpec, ...], seed: int) -> Trained:
    """Let a model learn from all rows of a dataset that its kind of task learns from."""
    data = kind_named(kind).container.from_table(dataset.table, dataset.schema)
    rows = data.to_learn_from()
    learner = Learner(dataset.content, as_run(model, steps, kind, dataset.schema), steps, seed)
    with one_blas_thread(), cores_for_a_fit(cores()), heard() as said:
        started = perf_counter()
        pipeline = learner.learned(rows, "all")
        settle(pipeline, rows, data)
        seconds = perf_counter() - started
    return Trained(pipeline, rows, tuple(said), seconds)


def in_words(problem: BaseException, whose: str = "the method") -> str:
    """What went wrong; a problem that was not foreseen is a bug of somebody's."""
    if isinstance(problem, MlcliError):
        return str(problem)
    if isinstance(problem, MemoryError):
        return f"not enough memory: {problem}" if str(problem) else "not enough memory"
    return f"a bug in {whose}, please report it: {type(problem).__name__}: {problem}"


def trace_of(problem: BaseException) -> str:
    """Where it went wrong, for whoever repairs it."""
    import traceback

    return "".join(traceback.format_exception(problem))


def _judged(block: Block, index: int, split: Split) -> SplitResult:
    with heard() as said:
        train_rows = _training_rows(block.rows, split)
        started = perf_counter()
        pipeline = block.learner.learned(train_rows, index)
        fitted = perf_counter()
        answers = dict(judged(pipeline, block.rows, split, kind_named(block.rows.kind).parts))
        answered = perf_counter()
        stages = answers_by_stage(pipeline, block, split, answers)
        if block.learner.training:
            answers[TRAINING] = training_answers(pipeline, train_rows)
        explanation = tuple(shortened(one, KEPT_LINES) for one in findings_of(pipeline.explain()))
    return SplitResult(
        index=index,
        label=split.label,
        train_rows=len(split.train),
        answers={part: of_part.judged_in(index) for part, of_part in answers.items()},
        fit_seconds=fitted - started,
        predict_seconds=answered - fitted,
        warnings=tuple(said),
        explanation=explanation,
        coordinate=split.coordinate,
        stages=tuple((at, of_stage.judged_in(index)) for at, of_stage in stages),
    )


def _training_rows(rows: Any, split: Split) -> Any:
    """What a split lets a model learn from."""
    if len(split.hidden):
        return rows.hiding(split.train, split.hidden)
    taken = rows.take(split.train)
    remember_origin(taken.table, rows.table, split.train)
    return taken
