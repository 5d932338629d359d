"""Most frequent tag: answers each level of one column with the tag it most often has, whatever stands around it.

Formula:
    ŷ(x) = argmax over y of count(x, y), the counts being sums of weights.

Assumes:
    Nothing about neighbours. A tagger that does not beat it has learned nothing from the order of rows.

Cost:
    One pass over the rows to fit, one look-up per row to predict.

Choices:
    Of equally frequent tags, the one with most training rows, then the first. An unknown level, and an empty
    cell, get the most frequent tag of all; so does every row if all columns are numbers.
"""

from __future__ import annotations

import numpy as np

from mlcli.core import findings
from mlcli.core.abilities import CountsParameters
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.schema import Accepts
from mlcli.core.tables import Array, Codes, Table
from mlcli.models.sequences._markov import counts_of_levels, observed_columns
from mlcli.tasks.sequence_labelling import TaggedRows, Tagger
from mlcli.tasks.supervised import first_of_the_largest


@register("most-frequent-tag", reference="Charniak 1997, Statistical techniques for natural language parsing")
class MostFrequentTag(Tagger, CountsParameters):
    """The baseline of sequence labelling."""

    column: str | None = param(None, "observed nominal column; the first one by default")

    observed_: str = learned()
    levels_: tuple[str, ...] = learned()
    tags_: Codes = learned("answers")
    """The tag of each level, then the tag of anything else."""
    shares_: Array = learned("answers", "classes")

    accepts = Accepts(numbers=False, nominal=True, missing=True, weights=True)

    def fit(self, data: TaggedRows, rng: np.random.Generator) -> None:
        """Count tags by level; the last row of the counts is for all levels together."""
        self.observed_, self.levels_ = "", ()
        if self.column is not None or data.table.code_columns:
            (column,) = observed_columns(data.table, self.column, self.name, numbers=False)
            self.observed_, self.levels_ = column.name, column.levels
        by_tag = data.outputs * data.weights[:, None]
        counts = counts_of_levels(self._codes(data.table), by_tag, len(self.levels_))
        met = counts.sum(axis=1, keepdims=True) > 0
        counts = np.vstack([np.where(met, counts, data.class_totals), data.class_totals])
        order = np.argsort(-data.class_totals, kind="stable")
        self.tags_ = order[first_of_the_largest(counts[:, order])].astype(np.int32)
        self.shares_ = counts / counts.sum(axis=1, keepdims=True)

    def _codes(self, table: Table) -> Codes:
        """The level of each row; -1, which looks up the last row of the counts, if it is empty or unknown."""
        if not self.observed_:
            return np.full(len(table), -1, np.int32)
        return table.cells(self.observed_).astype(np.int32)

    def tag(self, table: Table, sequence: Codes) -> Codes:
        """The tag of each row's level."""
        return np.asarray(self.tags_[self._codes(table)])

    def tag_shares(self, table: Table, sequence: Codes) -> Array:
        """The share of each tag at the row's level."""
        return np.asarray(self.shares_[self._codes(table)])

    def adjustable_parameters(self, table: Table) -> float | None:
        """A tag for each level, and one for all others."""
        return float(len(self.tags_))

    def check_learned(self) -> None:
        """One known tag for each level, and one for all others."""
        if len(self.tags_) != len(self.levels_) + 1 or not np.isin(self.tags_, range(len(self.classes_))).all():
            raise ValueError("tags that do not fit the levels")

    def explain(self) -> findings.Explanation:
        """The tag of each level, with the share of its rows that have it."""
        levels = (*self.levels_, "(any other)")
        tags, shares = (self.classes_[tag] for tag in self.tags_), self.shares_.max(axis=1).tolist()
        header = (self.observed_ or "level", self.target_, "share")
        rows = tuple(zip(levels, tags, shares, strict=True))
        return (findings.Table("Most frequent tag of each level", header, rows),)
