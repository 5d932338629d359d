"""Cells made ready: their rows and their splits, shared among cells that meet the same ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple, overload

import numpy as np

from mlcli.core.errors import DataError, FitError, ModelFileError
from mlcli.core.params import build, settings
from mlcli.core.registry import PROTOCOLS
from mlcli.core.seeds import digest, rng_for
from mlcli.data.dataset import Dataset
from mlcli.experiment.run.captured_warnings import heard
from mlcli.experiment.run.learner import Learner, SavedLearner
from mlcli.experiment.spec.cells import Cell
from mlcli.experiment.spec.inside import as_run
from mlcli.protocols._base import Protocol, Split
from mlcli.protocols._parts import Parts
from mlcli.tasks.table import kind_named

BLOCKS_PER_CELL = 32
"""A cell of many splits is judged and stored in about this many blocks."""


@dataclass(frozen=True, eq=False)
class Stretch(Sequence[Split]):
    """Some consecutive splits, each made when it is asked for: a block of leave-one-out would be of n × n."""

    whole: Parts
    places: range

    def __len__(self) -> int:
        return len(self.places)

    @overload
    def __getitem__(self, index: int) -> Split: ...
    @overload
    def __getitem__(self, index: slice) -> Stretch: ...
    def __getitem__(self, index: int | slice) -> Split | Stretch:
        if isinstance(index, slice):
            return Stretch(self.whole, self.places[index])
        return self.whole[self.places[index]]


class Piece(NamedTuple):
    """Some consecutive splits of a cell by their numbers; ``at_once``: all of them, together or not at all."""

    first: int
    splits: int
    at_once: bool = False


@dataclass(frozen=True, eq=False)
class Block:
    """Some consecutive splits of a cell with all they need: what a worker is sent."""

    learner: Learner | SavedLearner
    rows: Any
    first: int
    splits: Sequence[Split]
    at_once: bool = False


@dataclass(frozen=True, eq=False)
class ReadyCell:
    """A cell with its rows and splits made; ``notes`` is what was said while making them."""

    learner: Learner | SavedLearner
    rows: Any
    splits: Sequence[Split]
    pooled: bool = False
    notes: tuple[str, ...] = ()

    def blocks(self, missing: Sequence[bool]) -> Iterator[tuple[int, int]]:
        """The missing splits as (first, splits); where blocks end depends on the number of splits alone."""
        size = max(1, len(self.splits) // BLOCKS_PER_CELL)
        for start in range(0, len(self.splits), size):
            wanted = [index for index in range(start, min(start + size, len(self.splits))) if missing[index]]
            yield from _runs(wanted)

    @cached_property
    def may_be_answered_at_once(self) -> bool:
        """Whether there may be a shortcut to the answers of all splits."""
        return isinstance(self.splits, Parts) and self.learner.may_hold_out

    @property
    def everything(self) -> Piece:
        """All splits, to be answered at once."""
        return Piece(0, len(self.splits), at_once=True)

    def block(self, first: int, splits: int, at_once: bool = False) -> Block:
        """Some consecutive splits."""
        places = range(first, first + splits)
        if at_once:
            some = self.splits
        elif isinstance(self.splits, Parts):
            some = Stretch(self.splits, places)
        else:
            some = [self.splits[i] for i in places]
        return Block(self.learner, self.rows, first, some, at_once)


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
        model = as_run(cell.model, cell.steps, cell.kind, dataset.schema)
        learner = Learner(
            dataset.content, model, cell.steps, cell.seed, cell.shortcuts, cell.stages, cell.training
        )
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
            with heard() as notes:
                splits = protocol.splits(rows.strata(), rng_for("splits", *seeded_by))
            self._splits[same] = (splits, protocol.pooled, tuple(notes))
        return self._splits[same]


def _ready_to_ask(path: Path, dataset: Dataset) -> ReadyCell:
    from mlcli.experiment.saved.model_file import load_model

    saved = load_model(path)
    try:
        rows, notes = saved.rows_of(dataset), saved.notes_on(dataset)
    except ModelFileError as problem:  # the file is sound; it is these rows that it cannot answer for
        raise FitError(*problem.problems) from problem
    everything = Split(train=np.empty(0, np.intp), test=np.arange(len(rows)), label="all rows")
    return ReadyCell(SavedLearner(saved.pipeline, saved.digest), rows, (everything,), notes=notes)


def _runs(indices: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Consecutive numbers as (first, count)."""
    for _, run in groupby(enumerate(indices), key=lambda placed: placed[1] - placed[0]):
        numbers = [index for _, index in run]
        yield numbers[0], len(numbers)
