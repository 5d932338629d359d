"""What checks of data receive: a dataset with its cells as numbers, and how it is split."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

import numpy as np

from mlcli.checks.association import CUTS, ColumnCondition, best_condition
from mlcli.core.rows import SplitInfo
from mlcli.core.schema import Column, Schema
from mlcli.core.seeds import rng_for
from mlcli.core.tables import Array, Flags, Rows
from mlcli.data.columns import SEEMS_MISSING
from mlcli.data.dataset import Dataset
from mlcli.data.number_text import is_number
from mlcli.experiment.spec.cells import ProtocolSpec
from mlcli.experiment.spec.datasets import PlannedDataset
from mlcli.protocols._base import DealtSplits, Protocol, Split

SAMPLE = 10_000
"""Slow checks look at this many rows of a longer file, drawn at random."""
RIVALS = {"classification": "logistic-regression", "regression": "ridge"}
"""A strong and simple model for each kind of task, to compare others with."""
FEWEST_ROWS = 20
"""With fewer rows nothing can be told from chance."""
FEWEST_EMPTY = 5
"""With fewer missing cells no rule is sought."""
MOST_PAIRS = 10_000
"""Rules of missing cells are sought for at most this many pairs of columns."""
CHANCE = 0.001
"""The probability, by Fisher's exact test times the number of rules tried, below which a rule is believed."""


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

    @property
    def strata(self) -> SplitInfo | None:
        """What protocols see of the rows."""
        return self.planned.strata if self.planned else None

    @property
    def example(self) -> str:
        """A model for examples in suggested repairs, one that can do the task."""
        if self.planned is not None:
            kind = self.planned.kind
            return RIVALS.get(kind.name, kind.panel[0])
        return (
            "k-means" if self.target is None else RIVALS["classification" if self.target.coded else "regression"]
        )

    def features(self) -> tuple[Column, ...]:
        """The columns that models see."""
        return self._features

    @cached_property
    def _features(self) -> tuple[Column, ...]:
        return self.schema.features()

    def numeric(self) -> Iterator[Column]:
        """The numeric features."""
        return (column for column in self.features() if not column.coded)

    def coded(self) -> Iterator[Column]:
        """The features with levels, without columns of numbers and words for missing cells."""
        return (
            feature
            for feature in self.features()
            if feature.coded and feature.name not in self.missing_words_among_numbers
        )

    @cached_property
    def missing_words_among_numbers(self) -> dict[str, list[str]]:
        """The words for missing cells, such as NA, of each column that would be numeric without them."""
        words = {
            field.column.name: [level for level in field.column.levels if not is_number(level)]
            for field in self.schema
            if field.source != "declared" and any(map(is_number, field.column.levels))
        }
        return {
            name: few for name, few in words.items() if few and all(one.lower() in SEEMS_MISSING for one in few)
        }

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

    def features_with_gaps(self) -> Iterator[tuple[Column, Flags]]:
        """The features with enough missing cells to find a rule, and which cells are missing."""
        for column in self.features():
            if column.missing and len(self.dataset) >= FEWEST_ROWS:
                empty = np.isnan(self.cells(column))
                if FEWEST_EMPTY <= empty.sum() <= len(empty) - FEWEST_EMPTY:
                    yield column, empty

    @cached_property
    def missing_rules(self) -> dict[str, ColumnCondition | None]:
        """For features with missing cells the rule that predicts them; None if they are missing at random.

        Each pair of columns is tested, so that only the first of very many columns are looked at.
        """
        most = max(1, MOST_PAIRS // max(1, len(self.features())))
        gaps = islice(self.features_with_gaps(), most)
        return {column.name: self._missing_rule(column, empty) for column, empty in gaps}

    def _missing_rule(self, column: Column, empty: Flags) -> ColumnCondition | None:
        """The best condition on another column, if it is better than chance."""
        others = [
            feature for feature in (*self.features(), *filter(None, [self.target])) if feature.name != column.name
        ]
        rules = [best_condition(empty[self.sample], self.cells(other)[self.sample], other) for other in others]
        best = max(filter(None, rules), key=lambda rule: abs(rule.correlation), default=None)
        tried = max(2, CUTS * len(others))
        return best if best is not None and tried * best.probability_by_chance < CHANCE else None

    @cached_property
    def sample(self) -> Rows:
        """All rows, or a random sample of a long file."""
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
        """The target, if there is one."""
        return self.schema.the("target")

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
    def deals_rows(self) -> bool:
        """Whether rows are split at random, independently of any column."""
        splits, _ = self.splits_with_warnings
        by_column = self.strata is not None and self.strata.groups is not None
        return bool(splits) and not by_column and (isinstance(splits, DealtSplits) or self._is_random)

    @property
    def _is_random(self) -> bool:
        return self.protocol is not None and self.protocol.use not in ("given", "forward-chaining", "whole")


def cell_text(value: float, column: Column) -> str:
    """A cell as it may be written in the file."""
    return column.levels[int(value)] if column.coded else f"{value:.6g}"
