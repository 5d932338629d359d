"""Steps that keep some of the columns: what they have in common, and keeping those with the highest scores."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import ClassVar

import numpy as np

from mlcli.core.accepts import Accepts
from mlcli.core.findings import Bars, Explanation, Lines
from mlcli.core.names import listed
from mlcli.core.params import learned, param
from mlcli.core.step import Step
from mlcli.core.tables import Array, Flags, Table
from mlcli.tasks.supervised import SupervisedRows

MOST_BARS = 30
ALIKE = 1e-12
"""Scores that differ by less, relatively, are equal."""
SUPERVISED = ("classification", "regression")


@dataclass(kw_only=True, eq=False)
class Selection(Step):
    """Keeps some of the columns that it sees; which, it learns from the training rows."""

    kinds: ClassVar[tuple[str, ...]] = SUPERVISED

    kept_: Flags = learned()

    def transform(self, table: Table) -> Table:
        """The columns that are kept."""
        return table.select(self.kept())

    def kept(self) -> list[str]:
        """The names of the columns that are kept."""
        return [column.name for column, keep in zip(self.columns_, self.kept_, strict=True) if keep]

    def check_learned(self) -> None:
        """A yes or no for each column."""
        if np.shape(self.kept_) != (len(self.columns_),) or self.kept_.dtype != np.bool_:
            raise ValueError("a choice that does not fit the columns")

    def explain(self) -> Explanation:
        """The columns that are kept."""
        kept = self.kept()
        return (Lines(f"{len(kept)} of {len(self.columns_)} columns are kept", (listed(kept, MOST_BARS),)),)


@dataclass(kw_only=True, eq=False)
class Filter(Selection):
    """Keeps the columns with the highest scores, each scored on its own, whatever the model."""

    measure: ClassVar[str]
    """What the score is."""

    keep: float = param(0.5, "how many columns are kept; below 1: which share of them", gt=0, tune=(0.1, 0.9))

    scores_: Array = learned()

    @property
    def accepts(self) -> Accepts:
        """Numbers with gaps; a gap says nothing of its column."""
        return Accepts(missing=True, weights=True)

    def conflicts(self) -> list[str]:
        """Half a column."""
        whole = self.keep < 1 or self.keep % 1 == 0
        return [] if whole else [f"keep is a whole number, or a share below 1; was given {self.keep:g}"]

    def fit(self, data: SupervisedRows, rng: np.random.Generator) -> None:
        """Score each column, and keep the best."""
        data = data.counted()
        self.scores_ = np.asarray(self.scores(data), np.float64)
        self.kept_ = best_of(self.scores_, self._count())

    def _count(self) -> int:
        columns = len(self.columns_)
        return min(columns, ceil(self.keep * columns - ALIKE) if self.keep < 1 else int(self.keep))

    def scores(self, data: SupervisedRows) -> Array:
        """How much each column says of the target; NaN where that cannot be said, which is least."""
        raise TypeError(f"{type(self).__name__} does not say how it scores columns")

    def check_learned(self) -> None:
        """A score for each column, too."""
        super().check_learned()
        if np.shape(self.scores_) != (len(self.columns_),):
            raise ValueError("scores that do not fit the columns")

    def explain(self) -> Explanation:
        """The scores, highest first."""
        order = ranked(self.scores_)[:MOST_BARS]
        scores = np.nan_to_num(self.scores_[order])
        names, said = [column.name for column in self.columns_], np.where(self.kept_, "kept", "left out")
        note = f"{int(self.kept_.sum())} of {len(names)} columns are kept"
        return (
            Bars(
                f"Columns by {self.measure}",
                ("column", self.measure, ""),
                tuple(names[place] for place in order),
                tuple(scores.tolist()),
                (tuple(said[order].tolist()),),
                note=note + (f"; bars of the first {MOST_BARS}" if len(names) > MOST_BARS else ""),
            ),
        )


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
