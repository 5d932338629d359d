"""From a cell to answers: its rows, its splits, and what its model says of every judged part."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from mlcli.core.answers import Answers
from mlcli.core.errors import DataError, FitError, MlcliError, MlcliWarning, ModelFileError
from mlcli.core.explanation import Explanation, Section
from mlcli.core.kinds import kind_named
from mlcli.core.learning import ask, learn
from mlcli.core.params import build, settings
from mlcli.core.pipeline import Pipeline
from mlcli.core.registry import MODELS, PROTOCOLS, STEPS
from mlcli.core.seeds import digest, rng_for
from mlcli.core.threads import one_blas_thread
from mlcli.data.dataset import Dataset
from mlcli.experiment.cells import Cell, ModelSpec, SplitResult, StepSpec
from mlcli.experiment.protocols._base import Protocol, Split

KEPT_LINES = 40
"""How many rows or lines of a section are kept of what the model of one split says of itself."""
NOT_FOR_USERS = (DeprecationWarning, PendingDeprecationWarning, FutureWarning, ResourceWarning)
"""Warnings for programmers; all others are shown beside the results."""
BLOCKS_PER_CELL = 32
"""A cell of many splits is judged and stored in about this many blocks."""


@dataclass(frozen=True, eq=False)
class Learner:
    """A pipeline by its ids, learning anew in every split; ``content`` is the dataset it learns from."""

    content: str
    model: ModelSpec
    steps: tuple[StepSpec, ...]
    seed: int

    def pipeline(self) -> Pipeline:
        """A fresh pipeline."""
        steps = tuple(build(STEPS.load(step.use), step.params) for step in self.steps)
        return Pipeline(steps=steps, model=build(MODELS.load(self.model.use), self.model.params))

    def identity(self) -> dict[str, Any]:
        """What is learned with, all parameters resolved, as plain values."""
        return _described(self.pipeline())

    def learned(self, rows: Any, split: int | str) -> Pipeline:
        """A pipeline that has learned from the training rows of a split."""
        pipeline = self.pipeline()
        seeded_by = _described(pipeline)
        rng = rng_for("fit", self.content, *seeded_by["model"], seeded_by["steps"], split, self.seed)
        learn(pipeline, rows, rng)
        return pipeline


@dataclass(frozen=True, eq=False)
class SavedLearner:
    """A pipeline that was learned before and is only asked."""

    pipeline: Pipeline
    digest: str

    def identity(self) -> dict[str, Any]:
        """What is asked, and a hash of everything that it has learned."""
        return {**_described(self.pipeline), "saved": self.digest}

    def learned(self, rows: Any, split: int | str) -> Pipeline:
        """The pipeline as it was saved."""
        return self.pipeline


@dataclass(frozen=True, eq=False)
class Block:
    """Some consecutive splits of a cell with all they need: what a worker is sent."""

    learner: Learner | SavedLearner
    rows: Any
    first: int
    splits: tuple[Split, ...]


@dataclass(frozen=True, eq=False)
class ReadyCell:
    """A cell with its rows and splits made; ``notes`` is what was said while making them."""

    learner: Learner | SavedLearner
    rows: Any
    splits: Sequence[Split]
    pooled: bool = False
    notes: tuple[str, ...] = ()

    def blocks(self, missing: Sequence[bool]) -> Iterator[tuple[int, int]]:
        """The missing splits as (first, count); where blocks end depends on the number of splits alone."""
        size = max(1, len(self.splits) // BLOCKS_PER_CELL)
        for start in range(0, len(self.splits), size):
            wanted = [index for index in range(start, min(start + size, len(self.splits))) if missing[index]]
            yield from _runs(wanted)

    def block(self, first: int, count: int) -> Block:
        """Some consecutive splits."""
        return Block(self.learner, self.rows, first, tuple(self.splits[first + i] for i in range(count)))


@dataclass(frozen=True)
class Failure:
    """A split that could not be judged: why, in words, and the trace for whoever repairs the method."""

    index: int
    why: str
    trace: str = ""


@dataclass(frozen=True, eq=False)
class Outcome:
    """What came of a block: the splits that were judged, up to the first that failed."""

    results: tuple[SplitResult, ...]
    failure: Failure | None = None


@dataclass(frozen=True, eq=False)
class Trained:
    """A pipeline that has learned from all rows of a dataset, and what was said meanwhile."""

    pipeline: Pipeline
    rows: Any
    warnings: tuple[str, ...]
    seconds: float


class Preparation:
    """Makes cells ready; cells of the same dataset, protocol and seed share their rows and splits."""

    def __init__(self) -> None:
        self._rows: dict[tuple[str, str], Any] = {}
        self._splits: dict[str, tuple[Sequence[Split], bool, tuple[str, ...]]] = {}

    def ready(self, cell: Cell) -> ReadyCell:
        """A cell with its rows and splits."""
        dataset = cell.dataset
        if not isinstance(dataset, Dataset):
            hint = "name its file to run it again"
            raise DataError(f"the rows of dataset '{dataset.name}' are not at hand", hint=hint)
        if cell.model.saved is not None:
            return _ready_to_ask(cell.model.saved, dataset)
        rows = self._rows_of(dataset, cell.kind)
        learner = Learner(dataset.content, cell.model, cell.steps, cell.seed)
        return ReadyCell(learner, rows, *self._splits_of(cell, rows))

    def _rows_of(self, dataset: Dataset, kind: str) -> Any:
        same = (dataset.content, kind)
        if same not in self._rows:
            self._rows[same] = kind_named(kind).container.from_table(dataset.table, dataset.schema)
        return self._rows[same]

    def _splits_of(self, cell: Cell, rows: Any) -> tuple[Sequence[Split], bool, tuple[str, ...]]:
        protocol: Protocol = build(PROTOCOLS.load(cell.protocol.use), cell.protocol.params)
        seeded_by = (cell.dataset.content, protocol.id, settings(protocol), cell.seed)
        same = digest(cell.kind, *seeded_by)
        if same not in self._splits:
            with _heard() as notes:
                splits = protocol.splits(rows.strata(), rng_for("splits", *seeded_by))
            self._splits[same] = (splits, protocol.pooled, tuple(notes))
        return self._splits[same]


def judge(block: Block) -> Outcome:
    """Learn and answer split by split, up to the first that fails."""
    results: list[SplitResult] = []
    with one_blas_thread():
        for index, split in enumerate(block.splits, block.first):
            try:
                results.append(_judged(block, index, split))
            except (Exception, SystemExit) as problem:
                return Outcome(tuple(results), _failure(index, split, problem))
    return Outcome(tuple(results))


def train(dataset: Dataset, kind: str, model: ModelSpec, steps: tuple[StepSpec, ...], seed: int) -> Trained:
    """Let a model learn from all rows of a dataset."""
    rows = kind_named(kind).container.from_table(dataset.table, dataset.schema)
    learner = Learner(dataset.content, model, steps, seed)
    with one_blas_thread(), _heard() as said:
        started = perf_counter()
        pipeline = learner.learned(rows, "all")
        seconds = perf_counter() - started
    return Trained(pipeline, rows, tuple(said), seconds)


def in_words(problem: BaseException, whose: str = "the method") -> str:
    """What went wrong; a problem that was not foreseen is a bug of somebody's."""
    if isinstance(problem, MlcliError):
        return str(problem)
    if isinstance(problem, MemoryError):
        return f"not enough memory: {problem}" if str(problem) else "not enough memory"
    return f"a bug in {whose}, please report it: {type(problem).__name__}: {problem}"


def _judged(block: Block, index: int, split: Split) -> SplitResult:
    with _heard() as said:
        train_rows = block.rows.take(split.train)
        started = perf_counter()
        pipeline = block.learner.learned(train_rows, index)
        fitted = perf_counter()
        answers = _answers(pipeline, block.rows, split)
        answered = perf_counter()
        explanation = _small(pipeline.explain())
    return SplitResult(
        index=index,
        label=split.label,
        train_rows=len(split.train),
        answers=answers,
        fit_seconds=fitted - started,
        predict_seconds=answered - fitted,
        warnings=tuple(said),
        explanation=explanation,
    )


def _answers(pipeline: Pipeline, rows: Any, split: Split) -> Mapping[str, Answers]:
    parts = kind_named(rows.kind).parts
    return {part: ask(pipeline, rows.take(getattr(split, part))) for part in parts}


def _failure(index: int, split: Split, problem: BaseException) -> Failure:
    import traceback

    trace = "".join(traceback.format_exception(problem))
    return Failure(index, f"{split.label}: {in_words(problem)}", trace)


def _ready_to_ask(path: Path, dataset: Dataset) -> ReadyCell:
    from mlcli.experiment.model_file import load_model

    saved = load_model(path)
    try:
        rows, notes = saved.rows_of(dataset), saved.notes_on(dataset)
    except ModelFileError as problem:  # the file is sound; it is these rows that it cannot answer for
        raise FitError(*problem.problems) from problem
    everything = Split(train=np.empty(0, np.intp), test=np.arange(len(rows)), label="all rows")
    return ReadyCell(SavedLearner(saved.pipeline, saved.digest), rows, (everything,), notes=notes)


def _described(pipeline: Pipeline) -> dict[str, Any]:
    steps = [[step.id, settings(step)] for step in pipeline.steps]
    return {"model": [pipeline.model.id, settings(pipeline.model)], "steps": steps}


def _runs(indices: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Consecutive numbers as (first, count)."""
    for _, run in groupby(enumerate(indices), key=lambda placed: placed[1] - placed[0]):
        numbers = [index for _, index in run]
        yield numbers[0], len(numbers)


@contextmanager
def _heard() -> Iterator[list[str]]:
    """What the body warns of, each sentence once, in order; the list is filled when the body ends."""
    said: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for category in NOT_FOR_USERS:
            warnings.simplefilter("ignore", category)
        yield said
    said += dict.fromkeys(_sentence(warning) for warning in caught)


def _sentence(warning: warnings.WarningMessage) -> str:
    text = str(warning.message)
    return text if issubclass(warning.category, MlcliWarning) else f"{warning.category.__name__}: {text}"


def _small(explanation: Explanation) -> Explanation:
    return tuple(_shortened(section) for section in explanation)


def _shortened(section: Section) -> Section:
    rows = tuple(tuple(_plain(cell) for cell in row) for row in section.rows)
    left_out = max(0, len(rows) - KEPT_LINES) + max(0, len(section.lines) - KEPT_LINES)
    note = f"{section.note} ({left_out} more left out)".strip() if left_out else section.note
    return replace(section, rows=rows[:KEPT_LINES], lines=section.lines[:KEPT_LINES], note=note)


def _plain(cell: Any) -> Any:
    return cell.item() if isinstance(cell, np.generic) else cell
