"""Cells made ready to run: their learner, rows and splits, block by block, and their key in the store."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple, overload

import numpy as np

from mlcli.core.errors import DataError, FitError, ModelFileError
from mlcli.core.registry import MODELS, STEPS
from mlcli.core.rows import RowsOfTable
from mlcli.core.seeds import digest
from mlcli.core.step import Step
from mlcli.data.dataset import Dataset
from mlcli.experiment.run.learner import Learner, SavedLearner, with_nested_steps
from mlcli.experiment.spec.cells import Cell
from mlcli.protocols._base import DealtSplits, Split

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
