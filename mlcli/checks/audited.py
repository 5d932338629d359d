"""A dataset under audit: its columns in the form that checks read, and how it would be split."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mlcli.core.rows import Strata
from mlcli.core.schema import Column, Schema
from mlcli.core.seeds import rng_for
from mlcli.core.tables import Array, Rows
from mlcli.data.dataset import Dataset
from mlcli.experiment.run.learner import captured_warnings
from mlcli.experiment.spec.cells import ProtocolSpec
from mlcli.experiment.spec.datasets import PlannedDataset
from mlcli.protocols._base import DealtSplits, Protocol, Split, warn_of_few_judged

SAMPLE = 10_000
"""Of longer files so many rows, drawn at random, are looked at where a check takes long."""
RIVALS = {"classification": "logistic-regression", "regression": "ridge"}
"""A strong and simple method for each kind of task: what is worse or slower needs a reason."""
FEWEST_ROWS = 20
"""In fewer rows nothing can be told from chance."""


@dataclass(frozen=True, eq=False)
class Audited:
    """A dataset, and the protocol that would judge models on it, where its kind of task is known."""

    dataset: Dataset
    planned: PlannedDataset | None = None
    protocol: ProtocolSpec | None = None
    refused: str = ""
    """Why the protocol that was asked for cannot split the rows, where it cannot; another stands for it then."""
    seed: int = 1

    @property
    def schema(self) -> Schema:
        """What the columns are."""
        return self.dataset.schema

    @property
    def strata(self) -> Strata | None:
        """What protocols see of the rows."""
        return self.planned.strata if self.planned else None

    @property
    def example(self) -> str:
        """A model to name in lines that are to be pasted."""
        return RIVALS.get(self.planned.kind.name if self.planned else "", "MODEL")

    def features(self) -> tuple[Column, ...]:
        """The columns that models would see."""
        return self.schema.features()

    def numeric(self) -> Iterator[Column]:
        """Those of them that hold numbers."""
        return (column for column in self.features() if not column.coded)

    def coded(self) -> Iterator[Column]:
        """Those of them that hold levels."""
        return (column for column in self.features() if column.coded)

    def cells(self, column: Column) -> Array:
        """The cells of a column as numbers, NaN where one is missing; levels by their codes."""
        if column.name not in self._cells:
            cells = self.dataset.table.cells(column.name).astype(np.float64, copy=False)
            self._cells[column.name] = np.where(cells < 0, np.nan, cells) if column.coded else cells
        return self._cells[column.name]

    def present(self, column: Column) -> Array:
        """The cells of a column that are not missing."""
        cells = self.cells(column)
        return cells[~np.isnan(cells)]

    @cached_property
    def _cells(self) -> dict[str, Array]:
        return {}

    @cached_property
    def sample(self) -> Rows:
        """All rows, or a sample of many."""
        count = len(self.dataset)
        if count <= SAMPLE:
            return np.arange(count)
        return np.sort(rng_for("audit", self.dataset.content).choice(count, SAMPLE, replace=False))

    @property
    def is_sampled(self) -> bool:
        """Whether some checks look at some rows only."""
        return len(self.dataset) > SAMPLE

    @cached_property
    def target(self) -> Column | None:
        """What is to be predicted, if anything is."""
        return self.schema.the("target")

    @cached_property
    def splitter(self) -> Protocol | None:
        """The protocol, ready to split."""
        if self.protocol is None:
            return None
        protocol: Protocol = self.protocol.built()
        return protocol

    @cached_property
    def splits_with_warnings(self) -> tuple[Sequence[Split], tuple[str, ...]]:
        """How the rows would be split, and what the protocol warns of then."""
        if self.splitter is None or self.strata is None:
            return (), ()
        with captured_warnings() as warned:
            splits = self.splitter.splits(self.strata, rng_for("audit", self.dataset.content, self.seed))
            if splits:
                warn_of_few_judged(splits, self.strata, pooled=self.splitter.pooled)
        return splits, tuple(warned)

    @cached_property
    def some_splits(self) -> list[Split]:
        """The first of the splits, those of leave-one-out being too many."""
        splits, _ = self.splits_with_warnings
        return [splits[place] for place in range(min(len(splits), 10))]

    @property
    def deals_rows(self) -> bool:
        """Whether rows come to either side by chance alone, no column having a say."""
        splits, _ = self.splits_with_warnings
        by_column = self.strata is not None and self.strata.groups is not None
        return bool(splits) and not by_column and (isinstance(splits, DealtSplits) or self._is_random)

    @property
    def _is_random(self) -> bool:
        return self.protocol is not None and self.protocol.use not in ("given", "forward-chaining", "whole")


def cell_text(value: float, column: Column) -> str:
    """A cell as the file might have it."""
    return column.levels[int(value)] if column.coded else f"{value:.6g}"
