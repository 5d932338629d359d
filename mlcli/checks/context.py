"""What checks of data receive: a dataset with its cells as numbers, and how it is split."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

import numpy as np

from mlcli.checks.association import CUTS, ColumnCondition, best_condition
from mlcli.core.errors import DataError
from mlcli.core.rows import SplitInfo
from mlcli.core.schema import Column, Schema
from mlcli.core.seeds import rng_for
from mlcli.core.tables import Array, Flags, Rows
from mlcli.data.columns import SEEMS_MISSING
from mlcli.data.dataset import Dataset
from mlcli.data.number_text import is_number
from mlcli.experiment.spec.cells import FEW_ROWS, DataSpec, ProtocolSpec
from mlcli.experiment.spec.datasets import PlannedDataset, planned_dataset, protocol_for
from mlcli.protocols._base import DealtSplits, Protocol, Split

SAMPLE = 10_000
"""Slow checks look at this many rows of a longer file, drawn at random."""
RIVALS = {"classification": "logistic-regression", "regression": "ridge"}
"""A strong and simple model for each kind of task, to compare others with."""
FEWEST_ROWS = 20
"""With fewer rows, nothing can be told from chance."""
MOST_PAIRS = 10_000
"""Rules for missing cells are sought for at most this many pairs of columns."""


@dataclass(frozen=True, eq=False)
class AuditContext:
    """A dataset with the protocol that splits it, if its kind of task is known."""

    dataset: Dataset
    planned: PlannedDataset | None = None
    protocol: ProtocolSpec | None = None
    refused: str = ""
    """Why the requested protocol cannot split the rows, so that another is used."""
    seed: int = 1

    @property
    def schema(self) -> Schema:
        """The schema of the dataset."""
        return self.dataset.schema

    @cached_property
    def target(self) -> Column | None:
        """The target, if there is one."""
        return self.schema.the("target")

    @property
    def kind(self) -> str:
        """The kind of task, or "" if it is not known."""
        return self.planned.kind.name if self.planned else ""

    @property
    def split_info(self) -> SplitInfo | None:
        """What protocols know about the rows."""
        return self.planned.strata if self.planned else None

    @property
    def example(self) -> str:
        """A model for examples in suggested repairs, one that can do the task."""
        if self.planned is not None:
            return RIVALS.get(self.kind, self.planned.kind.panel[0])
        if self.target is None:
            return "k-means"
        return RIVALS["classification" if self.target.coded else "regression"]

    @cached_property
    def features(self) -> tuple[Column, ...]:
        """The columns that models see."""
        return self.schema.features()

    def numeric(self) -> Iterator[Column]:
        """The numeric features."""
        return (column for column in self.features if not column.coded)

    def coded(self) -> Iterator[Column]:
        """The features with levels, without columns of numbers and words for missing cells."""
        words = self.missing_words_among_numbers
        return (column for column in self.features if column.coded and column.name not in words)

    @cached_property
    def missing_words_among_numbers(self) -> dict[str, list[str]]:
        """The words for missing cells, such as NA, of each column that would be numeric without them."""
        words_of = {}
        for field in self.schema:
            words = [level for level in field.column.levels if not is_number(level)]
            are_few = field.source != "declared" and 0 < len(words) < len(field.column.levels)
            if are_few and all(word.lower() in SEEMS_MISSING for word in words):
                words_of[field.column.name] = words
        return words_of

    def cells(self, column: Column) -> Array:
        """The cells of a column as numbers, NaN where one is missing; levels by their codes."""
        if column.name not in self._cells:
            cells = self.dataset.table.cells(column.name).astype(np.float64, copy=False)
            self._cells[column.name] = np.where(cells < 0, np.nan, cells) if column.coded else cells
        return self._cells[column.name]

    @cached_property
    def _cells(self) -> dict[str, Array]:
        return {}

    def present(self, column: Column) -> Array:
        """The cells of a column that are not missing."""
        cells = self.cells(column)
        return cells[~np.isnan(cells)]

    def features_with_gaps(self) -> Iterator[tuple[Column, Flags]]:
        """The features with at least 5 missing and 5 other cells, and which cells are missing."""
        for column in self.features:
            if column.missing and len(self.dataset) >= FEWEST_ROWS:
                empty = np.isnan(self.cells(column))
                if 5 <= empty.sum() <= len(empty) - 5:
                    yield column, empty

    @cached_property
    def missing_rules(self) -> dict[str, ColumnCondition | None]:
        """For features with missing cells the rule that predicts them; None if they are missing at random.

        Each pair of columns is tested, so only the first of very many columns are looked at. A rule counts if its
        probability by chance, by Fisher's exact test times the number of rules tried, is below 0.001.
        """
        most = max(1, MOST_PAIRS // max(1, len(self.features)))
        results: dict[str, ColumnCondition | None] = {}
        for column, empty in islice(self.features_with_gaps(), most):
            columns = (*self.features, *filter(None, [self.target]))
            others = [other for other in columns if other.name != column.name]
            rules = (best_condition(empty[self.sample], self.cells(other)[self.sample], other) for other in others)
            best = max(filter(None, rules), key=lambda rule: abs(rule.correlation), default=None)
            tried = max(2, CUTS * len(others))
            is_believed = best is not None and tried * best.probability_by_chance < 0.001
            results[column.name] = best if is_believed else None
        return results

    @cached_property
    def sample(self) -> Rows:
        """All rows, or a random sample of a long file."""
        count = len(self.dataset)
        if count <= SAMPLE:
            return np.arange(count)
        return np.sort(rng_for("audit", self.dataset.content).choice(count, SAMPLE, replace=False))

    @cached_property
    def splitter(self) -> Protocol | None:
        """The protocol, ready to split."""
        if self.protocol is None:
            return None
        protocol: Protocol = self.protocol.built()
        return protocol

    @cached_property
    def splits_with_warnings(self) -> tuple[Sequence[Split], dict[str, type[Warning]]]:
        """The splits, and the category of each warning of the protocol."""
        if self.protocol is None or self.planned is None:
            return (), {}
        divided = self.planned.splits_by(self.protocol, self.seed)
        return divided.splits, divided.warnings

    @cached_property
    def some_splits(self) -> list[Split]:
        """The first ten splits; leave-one-out has too many."""
        splits, _ = self.splits_with_warnings
        return [splits[index] for index in range(min(len(splits), 10))]

    @property
    def splits_at_random(self) -> bool:
        """Whether rows are split at random, independently of any column."""
        splits, _ = self.splits_with_warnings
        by_column = self.split_info is not None and self.split_info.groups is not None
        use = self.protocol.use if self.protocol is not None else "given"
        is_random = isinstance(splits, DealtSplits) or use not in ("given", "forward-chaining", "whole")
        return bool(splits) and not by_column and is_random


def context_of(dataset: Dataset, protocol: ProtocolSpec | None = None, seed: int = 1) -> AuditContext:
    """A loaded dataset, with how it would be split, if anything can split it."""
    try:
        planned = planned_dataset(DataSpec(str(dataset.path or dataset.name)), dataset)
    except DataError as error:
        return AuditContext(dataset, refused=error.in_a_line, seed=seed)
    return context_as_planned(planned, protocol, seed)


def context_as_planned(planned: PlannedDataset, protocol: ProtocolSpec | None, seed: int) -> AuditContext:
    """A planned dataset with the protocol that splits it; another one if the rows are too few for it."""
    refused = ""
    for requested in (protocol, FEW_ROWS):
        try:
            return AuditContext(planned.dataset, planned, protocol_for(planned, requested), refused, seed)
        except DataError as error:
            refused = refused or error.in_a_line
    return AuditContext(planned.dataset, planned, refused=refused, seed=seed)


def cell_text(value: float, column: Column) -> str:
    """A cell as it may be written in the file."""
    return column.levels[int(value)] if column.coded else f"{value:.6g}"
