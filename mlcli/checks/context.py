"""A dataset under audit: its columns in the form that checks read, and how it would be split."""

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
"""Of longer files so many rows, drawn at random, are looked at where a check takes long."""
RIVALS = {"classification": "logistic-regression", "regression": "ridge"}
"""A strong and simple method for each kind of task: what is worse or slower needs a reason."""
FEWEST_ROWS = 20
"""In fewer rows nothing can be told from chance."""
FEWEST_EMPTY = 5
"""Fewer empty cells show no rule."""
MOST_PAIRS = 10_000
"""Columns with gaps × other columns at most for which rules are sought."""
CHANCE = 0.001
"""The probability, by Fisher's exact test times the number of rules tried, below which a rule is believed."""


@dataclass(frozen=True, eq=False)
class AuditContext:
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
    def strata(self) -> SplitInfo | None:
        """What protocols see of the rows."""
        return self.planned.strata if self.planned else None

    @property
    def example(self) -> str:
        """A model to name in lines that are to be pasted: one that the kind of task has."""
        if self.planned is not None:
            kind = self.planned.kind
            return RIVALS.get(kind.name, kind.panel[0])
        return (
            "k-means" if self.target is None else RIVALS["classification" if self.target.coded else "regression"]
        )

    def features(self) -> tuple[Column, ...]:
        """The columns that models would see."""
        return self._features

    @cached_property
    def _features(self) -> tuple[Column, ...]:
        return self.schema.features()

    def numeric(self) -> Iterator[Column]:
        """Those of them that hold numbers."""
        return (column for column in self.features() if not column.coded)

    def coded(self) -> Iterator[Column]:
        """Those of them that hold levels; numbers beside words for missing cells are none."""
        return (one for one in self.features() if one.coded and one.name not in self.missing_words_among_numbers)

    @cached_property
    def missing_words_among_numbers(self) -> dict[str, list[str]]:
        """Of each column that would be numeric but for words that mean missing, such as NA, those words."""
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
        """The features with enough empty cells to see a rule in, and which cells are empty."""
        for column in self.features():
            if column.missing and len(self.dataset) >= FEWEST_ROWS:
                empty = np.isnan(self.cells(column))
                if FEWEST_EMPTY <= empty.sum() <= len(empty) - FEWEST_EMPTY:
                    yield column, empty

    @cached_property
    def missing_rules(self) -> dict[str, ColumnCondition | None]:
        """For features with gaps the rule that tells where they are; None where they are missing at random.

        Each pair of columns is looked at by itself, so that of very many columns only the first have a rule.
        """
        most = max(1, MOST_PAIRS // max(1, len(self.features())))
        gaps = islice(self.features_with_gaps(), most)
        return {column.name: self._missing_rule(column, empty) for column, empty in gaps}

    def _missing_rule(self, column: Column, empty: Flags) -> ColumnCondition | None:
        """The best condition on another column, if chance alone does not make one as good."""
        others = [one for one in (*self.features(), *filter(None, [self.target])) if one.name != column.name]
        rules = [best_condition(empty[self.sample], self.cells(one)[self.sample], one) for one in others]
        best = max(filter(None, rules), key=lambda rule: abs(rule.correlation), default=None)
        tried = max(2, CUTS * len(others))
        return best if best is not None and tried * best.probability_by_chance < CHANCE else None

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
    def splits_with_warnings(self) -> tuple[Sequence[Split], dict[str, type[Warning]]]:
        """How the rows would be split, and what the protocol warns of then, with the category of each warning."""
        if self.protocol is None or self.planned is None:
            return (), {}
        divided = self.planned.splits_by(self.protocol, self.seed)
        return divided.splits, divided.warnings

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
