"""What boosting has learned: how cells become bins, the trees, and how scores become answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from mlcli.core.schema import Column
from mlcli.core.tables import Array, Codes, Table
from mlcli.models.boosting._coding import Coding
from mlcli.models.boosting._trees import Trees


@dataclass(frozen=True, eq=False)
class Ensemble:
    """Scores are the start and what every tree adds to it."""

    coding: Coding
    trees: Trees
    start: Array
    """Per output."""

    def scores(self, table: Table) -> Array:
        """Outputs × rows."""
        scores = np.repeat(self.start[:, None], len(table), axis=1)
        if len(self.trees.roots) and len(table):
            self.trees.add_to(
                scores, np.ascontiguousarray(self.coding.bins(table, self.trees.asked(len(table.columns))).T)
            )
        return scores

    def staged_scores(self, table: Table, at: Sequence[int]) -> Iterator[Array]:
        """The scores after each of some rounds."""
        scores = np.repeat(self.start[:, None], len(table), axis=1)
        bins = np.ascontiguousarray(self.coding.bins(table, self.trees.asked(len(table.columns))).T)
        for first, end in pairwise([0, *(stage * len(self.start) for stage in at)]):
            self.trees.part(first, end).add_to(scores, bins)
            yield scores.copy()

    def probabilities(self, table: Table, present: Codes, classes: int) -> Array:
        """Of all classes (n × K)."""
        return probabilities_of(self.scores(table), present, classes)

    def check(self, columns: tuple[Column, ...]) -> None:
        """Refuse (ValueError) what could lead a row of these columns astray."""
        self.coding.check(columns)
        if self.start.ndim != 1 or not np.isfinite(self.start).all():
            raise ValueError("the saved start is no list of numbers")
        self.trees.check(len(columns), len(self.start))


def probabilities_of(scores: Array, present: Codes, classes: int) -> Array:
    """Of all classes (n × K); one without training rows gets 0."""
    probabilities = np.zeros((scores.shape[1], classes))
    probabilities[:, present] = shares_of(scores, len(present)).T
    return probabilities


def outputs_of(present: Codes) -> int:
    """How many scores tell so many classes apart (the log-odds for two); one for numbers."""
    return len(present) if len(present) > 2 else 1


def shares_of(scores: Array, classes: int) -> Array:
    """The probabilities (classes × n) that scores stand for; one score is the log-odds of the second of two."""
    if classes == 2:
        scores = np.concatenate([np.zeros_like(scores), scores])
    powers = np.exp(scores - scores.max(axis=0, initial=-np.inf))
    return np.asarray(powers / powers.sum(axis=0))
