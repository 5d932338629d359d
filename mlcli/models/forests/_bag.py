"""Bags: the training rows of each tree, drawn so that neither their order nor a repeat changes the tree."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mlcli.core.tables import Array, Rows
from mlcli.engines.draws import draws
from mlcli.tasks.supervised import SupervisedRows

Counts = NDArray[np.intp]

MOST_REPEATS = 20
"""Whole weights count as repeats while they are at most this on average; a bag has a draw for each."""


def order_of_content(data: SupervisedRows) -> Rows:
    """An order of rows that depends on what is in them alone; it looks random."""
    return np.lexsort((data.y, draws(data.table, 0)))


@dataclass(frozen=True, eq=False)
class Bag:
    """Rows drawn with replacement, each as likely as its weight says."""

    ends: Array
    """The sums of weights up to and with each row."""
    whole: bool
    """Whether weights are numbers of repeats: then a bag has as many draws as they sum to, otherwise as rows."""

    @staticmethod
    def of(weights: Array) -> Bag:
        """The bag of rows with these weights."""
        ends = np.cumsum(weights)
        return Bag(ends, bool((weights % 1 == 0).all()) and ends[-1] <= MOST_REPEATS * len(ends))

    @property
    def unit(self) -> float:
        """The weight of a row that is drawn once."""
        return 1.0 if self.whole else float(self.ends[-1]) / len(self.ends)

    def repeats(self, rng: np.random.Generator) -> Counts:
        """How often each row is drawn for one tree; 0 is out of the bag."""
        rows, total = len(self.ends), float(self.ends[-1])
        size = int(total) if self.whole else rows
        place = rng.integers(0, size, size) if self.whole else rng.random(size) * total
        if not self.whole or size > rows:
            place = np.minimum(np.searchsorted(self.ends, place, side="right"), rows - 1)
        return np.bincount(place, minlength=rows)
