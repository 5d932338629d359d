"""Steps that keep some of the columns: what they have in common, and which scores are the highest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mlcli.core.findings import Explanation, Lines
from mlcli.core.names import listed
from mlcli.core.params import learned
from mlcli.core.step import Step
from mlcli.core.tables import Array, Flags, Table

MOST_BARS = 30
ALIKE = 1e-12
"""Scores that differ by less, relatively, are equal."""
SUPERVISED = ("classification", "regression")


@dataclass(kw_only=True, eq=False)
class Selection(Step):
    """Keeps some of the columns that it sees; which, it learns from the training rows."""

    kinds: ClassVar[tuple[str, ...]] = SUPERVISED

    kept_: Flags = learned("columns")

    def transform(self, table: Table) -> Table:
        """The columns that are kept."""
        return table.select(self.kept())

    def kept(self) -> list[str]:
        """The names of the columns that are kept."""
        return [column.name for column, keep in zip(self.columns_, self.kept_, strict=True) if keep]

    def check_learned(self) -> None:
        """A yes or no for each column."""
        if self.kept_.dtype != np.bool_:
            raise ValueError("a choice that is neither yes nor no")

    def explain(self) -> Explanation:
        """The columns that are kept."""
        kept = self.kept()
        return (Lines(f"{len(kept)} of {len(self.columns_)} columns are kept", (listed(kept, MOST_BARS),)),)


def ranked(scores: Array) -> list[int]:
    """The places of scores from the highest to the lowest; of equal ones the first goes first, NaN is least."""
    known = np.where(np.isnan(scores), -np.inf, scores)
    finite = np.abs(known[np.isfinite(known)])
    grain = ALIKE * finite.max(initial=0.0) or 1.0
    rounded = np.where(np.isfinite(known), np.round(np.where(np.isfinite(known), known, 0.0) / grain), known)
    return [int(place) for place in np.argsort(-rounded, kind="stable")]


def best_of(scores: Array, count: int) -> Flags:
    """Which of the scores are among so many of the highest."""
    kept = np.zeros(len(scores), bool)
    kept[ranked(scores)[:count]] = True
    return kept
