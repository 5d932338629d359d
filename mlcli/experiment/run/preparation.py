"""Cells made ready to run: what learns in them, with the rows and splits of their plan, block by block."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple, overload

import numpy as np

from mlcli.core.errors import DataError, FitError, ModelFileError
from mlcli.data.dataset import Dataset
from mlcli.experiment.run.learner import Learner, SavedLearner, with_nested_steps
from mlcli.experiment.spec.cells import Cell
from mlcli.protocols._base import DealtSplits, Split

BLOCKS_PER_CELL = 32
"""A cell of many splits is evaluated and stored in about this many blocks."""


@dataclass(frozen=True, eq=False)
class SplitRange(Sequence[Split]):
    """Some consecutive splits, each made when it is asked for: a block of leave-one-out would be of n × n."""

    whole: DealtSplits
    places: range

    def __len__(self) -> int:
        return len(self.places)

    @overload
    def __getitem__(self, index: int) -> Split: ...
    @overload
    def __getitem__(self, index: slice) -> SplitRange: ...
    def __getitem__(self, index: int | slice) -> Split | SplitRange:
        if isinstance(index, slice):
            return SplitRange(self.whole, self.places[index])
        return self.whole[self.places[index]]


class BlockRange(NamedTuple):
    """Some consecutive splits of a cell by their numbers; ``closed_form``: all of them, together or not at all."""

    first: int
    splits: int
    closed_form: bool = False


@dataclass(frozen=True, eq=False)
class Block:
    """Some consecutive splits of a cell with all they need: what a worker is sent."""

    learner: Learner | SavedLearner
    rows: Any
    first: int
    splits: Sequence[Split]
    closed_form: bool = False


@dataclass(frozen=True, eq=False)
class ReadyCell:
    """A cell with its rows and splits made; ``notes`` are the warnings met while making them."""

    learner: Learner | SavedLearner
    rows: Any
    splits: Sequence[Split]
    pooled: bool = False
    notes: tuple[str, ...] = ()

    def blocks(self, missing: Sequence[bool]) -> list[BlockRange]:
        """The missing splits block by block; where blocks end depends on the number of splits alone."""
        size = max(1, len(self.splits) // BLOCKS_PER_CELL)
        wanted = (index for index in range(len(self.splits)) if missing[index])
        runs = groupby(enumerate(wanted), key=lambda one: (one[1] // size, one[1] - one[0]))
        numbers = ([index for _, index in run] for _, run in runs)
        return [BlockRange(block[0], len(block)) for block in numbers]

    @cached_property
    def has_closed_form(self) -> bool:
        """Whether all splits may be answered in closed form."""
        if not (isinstance(self.splits, DealtSplits) and self.learner.has_closed_form):
            return False
        rounds = self.splits.rounds
        return len(rounds) == 1 and np.array_equal(rounds[0], np.arange(len(self.rows)))

    @property
    def everything(self) -> BlockRange:
        """All splits, to be answered in closed form."""
        return BlockRange(0, len(self.splits), closed_form=True)

    def block(self, first: int, splits: int, closed_form: bool = False) -> Block:
        """Some consecutive splits."""
        places = range(first, first + splits)
        if closed_form:
            some = self.splits
        elif isinstance(self.splits, DealtSplits):
            some = SplitRange(self.splits, places)
        else:
            some = [self.splits[i] for i in places]
        return Block(self.learner, self.rows, first, some, closed_form)


def prepare(cell: Cell) -> ReadyCell:
    """A cell with its rows and splits, which it shares with the other cells of its dataset."""
    dataset = cell.dataset
    if isinstance(dataset, Dataset) and cell.model.saved is not None:
        return _ready_saved(cell.model.saved, dataset)
    if cell.planned is None:
        raise DataError(
            f"the rows of dataset '{dataset.name}' are not at hand", hint="name its file to run it again"
        )
    rows = cell.planned.rows
    model = with_nested_steps(cell.model, cell.steps, cell.kind, dataset.schema)
    learner = Learner(dataset.content, model, cell.steps, cell.seed, cell.shortcuts, cell.stages, cell.training)
    divided = cell.planned.splits_by(cell.protocol, cell.seed)
    notes = (*learner.without_effect(rows), *divided.warnings)
    return ReadyCell(learner, rows, divided.splits, divided.pooled, notes)


def _ready_saved(path: Path, dataset: Dataset) -> ReadyCell:
    from mlcli.experiment.saved.model_file import load_model

    saved = load_model(path)
    try:
        rows, notes = saved.rows_of(dataset), saved.notes_on(dataset)
    except ModelFileError as problem:  # the file is sound; it is these rows that it cannot answer for
        raise FitError(*problem.problems) from problem
    everything = Split(train=np.empty(0, np.intp), test=np.arange(len(rows)), label="all rows")
    return ReadyCell(SavedLearner(saved.pipeline, saved.digest, path), rows, (everything,), notes=notes)
