"""Cells made ready to run: their learner, rows and splits, block by block, and their key in the store.

A learner is what is fitted in the splits: a pipeline built anew for each split, or a saved one.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, overload

import numpy as np

from mlcli.core.abilities import LeaveOneOut
from mlcli.core.configuration import after, parts_of, ready_for
from mlcli.core.errors import DataError, FitError, ModelFileError, captured_warnings
from mlcli.core.model import Step
from mlcli.core.nested import effective, without_effect
from mlcli.core.params import models_inside, settings
from mlcli.core.pipeline import Pipeline, learn, set_threshold
from mlcli.core.processes import cores, cores_for_a_fit, one_blas_thread, stdout_as_stderr
from mlcli.core.progress import seconds_of_work
from mlcli.core.registry import MODELS, STEPS
from mlcli.core.rows import RowsOfTable
from mlcli.core.schema import Schema
from mlcli.core.serialise import digest, rng_for
from mlcli.data.dataset import Dataset
from mlcli.experiment.results import Trained
from mlcli.experiment.spec.cells import Cell, ModelSpec, Stages, StepSpec
from mlcli.protocols._base import DealtSplits, Split
from mlcli.tasks.table import kind_named


@dataclass(frozen=True, eq=False)
class Learner:
    """A pipeline that is built and fitted anew in every split; ``content`` is the hash of the dataset."""

    content: str
    model: ModelSpec
    steps: tuple[StepSpec, ...]
    seed: int
    shortcuts: bool = True
    stages: Stages = False
    training: bool = False

    def pipeline(self) -> Pipeline:
        """An unfitted pipeline."""
        return Pipeline(steps=tuple(step.built() for step in self.steps), model=self.model.built())

    def identity(self) -> dict[str, Any]:
        """All parameters as plain values, for the key of a cell; options at their defaults are left out."""
        defaults = {"shortcuts": True, "stages": False, "training": False}
        options = {name: getattr(self, name) for name in defaults}
        unusual = {name: value for name, value in options.items() if value != defaults[name]}
        return {**_described(self.pipeline()), **unusual}

    def parts(self) -> Iterator[tuple[str, type]]:
        """The id and class of every model and step in it."""
        return parts_of(self.pipeline())

    @property
    def has_closed_form(self) -> bool:
        """Whether the model may predict all splits of leave-one-out in one computation."""
        needs_each_fit = bool(self.stages) or self.training
        return self.shortcuts and not needs_each_fit and isinstance(self.pipeline().final, LeaveOneOut)

    def fitted(self, rows: RowsOfTable, split: int | str) -> Pipeline:
        """A pipeline fitted to the training rows of a split."""
        pipeline = self.pipeline()
        described = _described(effective(pipeline, rows.task.noun))
        rng = rng_for("fit", self.content, *described["model"], described["steps"], split, self.seed)
        learn(pipeline, rows, rng)
        return pipeline

    def without_effect(self, rows: RowsOfTable) -> tuple[str, ...]:
        """A sentence for each parameter that was set and has no effect."""
        return tuple(without_effect(self.pipeline(), rows.task.noun))

    def asking(self) -> AbstractContextManager[None]:
        """A context for predictions; errors pass through it."""
        return nullcontext()


@dataclass(frozen=True, eq=False)
class SavedLearner:
    """A fitted pipeline from a file, which only predicts."""

    pipeline: Pipeline
    digest: str
    path: Path
    stages: ClassVar[Stages] = False
    training: ClassVar[bool] = False
    has_closed_form: ClassVar[bool] = False

    def identity(self) -> dict[str, Any]:
        """All parameters as plain values, and a hash of everything that it has learned."""
        return {**_described(self.pipeline), "saved": self.digest}

    def parts(self) -> Iterator[tuple[str, type]]:
        """The id and class of every model and step in it."""
        return parts_of(self.pipeline)

    def fitted(self, rows: RowsOfTable, split: int | str) -> Pipeline:
        """The pipeline as it was saved."""
        return self.pipeline

    def asking(self) -> AbstractContextManager[None]:
        """A context for predictions, in which unexpected errors become errors of the file."""
        from mlcli.experiment.saved.model_file import asking

        return asking(self.path)


def train(cell: Cell) -> Trained:
    """Train the model of a cell on all rows of its dataset."""
    assert cell.planned is not None, "only a planned cell has rows"
    all_rows, dataset = cell.planned.all_rows, cell.dataset
    model = with_nested_steps(cell.model, cell.steps, cell.kind, dataset.schema)
    learner = Learner(dataset.content, model, cell.steps, cell.seed)
    rows = all_rows.task.rows_to_keep(learner.pipeline().final, all_rows)
    with stdout_as_stderr(), one_blas_thread(), cores_for_a_fit(cores()), captured_warnings() as warned:
        started = seconds_of_work()
        pipeline = learner.fitted(rows, "all")
        set_threshold(pipeline, rows, all_rows)
        seconds = seconds_of_work() - started
    return Trained(pipeline, rows, (*learner.without_effect(rows), *warned), seconds)


def with_nested_steps(model: ModelSpec, steps: tuple[StepSpec, ...], kind: str, schema: Schema) -> ModelSpec:
    """A model whose nested models have the steps that they require behind the steps of the cell."""
    configured = model.built()
    if model.saved is not None or not models_inside(configured):
        return model
    columns = after(tuple(step.built() for step in steps), kind_named(kind).rows.columns_of(schema))
    own_steps = None if model.steps is None else tuple(step.built() for step in model.steps)
    return replace(model, params=settings(ready_for(configured, columns, own_steps)))


def _described(pipeline: Pipeline) -> dict[str, Any]:
    steps = [[step.id, settings(step)] for step in pipeline.steps]
    return {"model": [pipeline.model.id, settings(pipeline.model)], "steps": steps}


BLOCKS_PER_CELL = 32
"""A cell of many splits is evaluated and stored in about this many blocks."""
CORE_REVISION = 3
"""Raise it when a change outside the methods, such as of seeds or of an engine, changes many predictions."""


@dataclass(frozen=True, eq=False)
class SplitRange(Sequence[Split]):
    """Consecutive splits, each made when it is asked for: all of leave-one-out would hold n × n row numbers."""

    whole: DealtSplits
    indices: range

    def __len__(self) -> int:
        return len(self.indices)

    @overload
    def __getitem__(self, index: int) -> Split: ...
    @overload
    def __getitem__(self, index: slice) -> SplitRange: ...
    def __getitem__(self, index: int | slice) -> Split | SplitRange:
        if isinstance(index, slice):
            return SplitRange(self.whole, self.indices[index])
        return self.whole[self.indices[index]]


class BlockRange(NamedTuple):
    """Consecutive splits of a cell by number; ``closed_form``: all of leave-one-out in one computation."""

    first: int
    splits: int
    closed_form: bool = False


@dataclass(frozen=True, eq=False)
class Block:
    """Consecutive splits of a cell with all that a worker needs to evaluate them."""

    learner: Learner | SavedLearner
    rows: RowsOfTable
    first: int
    splits: Sequence[Split]
    closed_form: bool = False


@dataclass(frozen=True, eq=False)
class ReadyCell:
    """A cell with its rows and splits; ``notes`` are the warnings of making them."""

    learner: Learner | SavedLearner
    rows: Any
    splits: Sequence[Split]
    pooled: bool = False
    notes: tuple[str, ...] = ()

    def blocks(self, missing: Sequence[bool]) -> list[BlockRange]:
        """The missing splits in blocks; where a block ends depends only on the number of splits."""
        size = max(1, len(self.splits) // BLOCKS_PER_CELL)
        indices = [index for index in range(len(self.splits)) if missing[index]]
        # Consecutive indices have the same difference from their position.
        runs = groupby(enumerate(indices), key=lambda item: (item[1] // size, item[1] - item[0]))
        numbers = [[index for _, index in run] for _, run in runs]
        return [BlockRange(block[0], len(block)) for block in numbers]

    @cached_property
    def has_closed_form(self) -> bool:
        """Whether this is leave-one-out with a model that may answer all splits in one computation."""
        if not (isinstance(self.splits, DealtSplits) and self.learner.has_closed_form):
            return False
        rounds = self.splits.rounds
        return len(rounds) == 1 and np.array_equal(rounds[0], np.arange(len(self.rows)))

    @property
    def everything(self) -> BlockRange:
        """All splits, in one computation."""
        return BlockRange(0, len(self.splits), closed_form=True)

    def block(self, first: int, splits: int, closed_form: bool = False) -> Block:
        """Consecutive splits as a block."""
        indices = range(first, first + splits)
        if closed_form:
            chosen = self.splits
        elif isinstance(self.splits, DealtSplits):
            chosen = SplitRange(self.splits, indices)
        else:
            chosen = [self.splits[index] for index in indices]
        return Block(self.learner, self.rows, first, chosen, closed_form)


def prepare(cell: Cell) -> ReadyCell:
    """A cell with its rows and splits, which it shares with the other cells of its dataset."""
    dataset = cell.dataset
    if isinstance(dataset, Dataset) and cell.model.saved is not None:
        return _prepare_saved(cell.model.saved, dataset)
    if cell.planned is None:
        raise DataError(
            f"the rows of dataset '{dataset.name}' are not loaded", hint="name its file to run it again"
        )
    rows = cell.planned.rows
    model = with_nested_steps(cell.model, cell.steps, cell.kind, dataset.schema)
    learner = Learner(dataset.content, model, cell.steps, cell.seed, cell.shortcuts, cell.stages, cell.training)
    planned = cell.planned.splits_by(cell.protocol, cell.seed)
    notes = (*learner.without_effect(rows), *planned.warnings)
    return ReadyCell(learner, rows, planned.splits, planned.pooled, notes)


def _prepare_saved(path: Path, dataset: Dataset) -> ReadyCell:
    """A cell whose saved model predicts all rows of a dataset."""
    from mlcli.experiment.saved.model_file import load_model

    saved = load_model(path)
    try:
        rows, notes = saved.rows_of(dataset), saved.notes_on(dataset)
    except ModelFileError as error:  # the file is sound, but the model cannot predict these rows
        raise FitError(*error.problems) from error
    all_rows = Split(train=np.empty(0, np.intp), test=np.arange(len(rows)), label="all rows")
    return ReadyCell(SavedLearner(saved.pipeline, saved.digest, path), rows, (all_rows,), notes=notes)


def cell_key(cell: Cell, ready: ReadyCell) -> str:
    """The key of a cell in the store: all that its predictions depend on, as a hash."""
    splits = splits_digest(ready.splits)
    identity, revisions = ready.learner.identity(), revisions_of(ready.learner.parts())
    return digest(CORE_REVISION, cell.dataset.content, cell.kind, splits, identity, cell.seed, revisions)


def splits_digest(splits: Sequence[Split]) -> str:
    """A hash of the rows and labels of all splits, in order."""
    sha = hashlib.sha256()
    if isinstance(splits, DealtSplits):  # the fold of each row says the same in far fewer numbers
        sha.update(digest(list(splits.labels), [len(folds) for folds in splits.rounds]).encode())
        for folds in splits.rounds:
            sha.update(folds.astype("<i4").tobytes())
        return sha.hexdigest()
    for split in splits:
        sha.update(f"{split.label}|{len(split.train)}|{len(split.test)}|".encode())
        for rows in (split.train, split.test, split.validation, split.hidden):
            sha.update(rows.astype("<i8").tobytes())
        if split.queries is not None:
            sha.update(repr(split.queries).encode())
    return sha.hexdigest()


def revisions_of(parts: Iterable[tuple[str, type]]) -> dict[str, Any]:
    """The revisions of models and steps, by noun and id such as "model knn".

    For a method that is not mlcli's own the version of its package and a hash of its code belong to it.
    """
    revisions: dict[str, Any] = {}
    for name, part in parts:
        catalogue = STEPS if issubclass(part, Step) else MODELS
        entry = catalogue.entry(name)
        cls = entry.load()
        revision: int = getattr(cls, "revision")  # noqa: B009  # set by ``register``
        own = entry.module.partition(".")[0] == "mlcli"
        code = "" if own else hashlib.sha256(_source_of(cls)).hexdigest()
        revisions[f"{catalogue.noun} {name}"] = revision if own else [revision, entry.version, code]
    return revisions


def _source_of(cls: type) -> bytes:
    """The file of a class; a class that was typed into a notebook has none, so the pickled class itself."""
    module = sys.modules[cls.__module__]
    file = Path(str(getattr(module, "__file__", "")))
    if file.is_file():
        return file.read_bytes()
    from joblib.externals.loky.backend.reduction import dumps

    return bytes(dumps(getattr(module, cls.__name__, cls)))
