"""Bags of training rows, drawn so that neither their order nor a repeat changes what learns from them."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from mlcli.core.errors import MlcliWarning
from mlcli.core.rows import RowsOfTable
from mlcli.core.tables import Array, Rows, Table
from mlcli.engines.draws import draws, steady_draws
from mlcli.tasks.supervised import SupervisedRows

Counts = NDArray[np.intp]
Rowed = TypeVar("Rowed", bound=RowsOfTable)

MOST_REPEATS = 20
"""Whole weights count as repeats while they are at most this on average; a bag has a draw for each."""


def order_of_content(data: RowsOfTable) -> Rows:
    """An order of rows that depends on what is in them alone; it looks random."""
    return np.lexsort((*targets_of(data), draws(data.table, 0)))


def targets_of(data: RowsOfTable) -> tuple[Array, ...]:
    """What is to be learned of each row, or nothing."""
    return (np.asarray(data.y),) if isinstance(data, SupervisedRows) else ()


def as_repeats(data: Rowed) -> Rowed:
    """Rows in the order of their content, each as often as its weight says where weights are whole."""
    keys = steady_draws(data.table, 0)
    data = data.take(np.lexsort((*targets_of(data), keys)))
    if data.weight is None or not _are_repeats(data.weights):
        return data
    times = data.weights.astype(np.intp)
    return replace(data.take(np.repeat(np.arange(len(data)), times)), weight=None)


def held_aside(
    data: Rowed, share: float, rng: np.random.Generator, by: Callable[[Table, int], Array] = steady_draws
) -> tuple[Rowed, Rowed | None]:
    """Rows to learn from, and about a share of them held aside, if any; equal rows stay together."""
    if share == 0:
        return data, None
    drawn = by(data.table, int(rng.integers(2**62))) < share
    if drawn.all() or not drawn.any():
        text = f"{len(data)} rows are too few to hold {100 * share:g} % of them aside: all are learned from"
        warnings.warn(text, MlcliWarning, stacklevel=4)
        return data, None
    return data.take(np.flatnonzero(~drawn)), data.take(np.flatnonzero(drawn))


def _are_repeats(weights: Array) -> bool:
    return bool((weights % 1 == 0).all()) and bool(weights.sum() <= MOST_REPEATS * len(weights))


@dataclass(frozen=True, eq=False)
class Bag:
    """Rows drawn with or without replacement, each as likely as its weight says."""

    ends: Array
    """The sums of weights up to and with each row."""
    whole: bool
    """Whether weights are numbers of repeats: then a bag has as many draws as they sum to, otherwise as rows."""
    share: float = 1.0
    """How many draws there are, as a share of that."""
    replacement: bool = True

    @staticmethod
    def of(weights: Array, share: float = 1.0, replacement: bool = True) -> Bag:
        """The bag of rows with these weights, which are all above 0."""
        return Bag(np.cumsum(weights), _are_repeats(weights), share, replacement)

    @property
    def unit(self) -> float:
        """The weight of a row that is drawn once."""
        return 1.0 if self.whole else float(self.ends[-1]) / len(self.ends)

    def repeats(self, rng: np.random.Generator) -> Counts:
        """How often each row is drawn for one bag; 0 is out of the bag."""
        rows, total = len(self.ends), float(self.ends[-1])
        units = int(total) if self.whole else rows
        size = max(1, round(self.share * units))
        if not self.replacement and not self.whole:
            weights = np.diff(self.ends, prepend=0.0)
            return np.bincount(rng.choice(rows, size, replace=False, p=weights / weights.sum()), minlength=rows)
        place: NDArray[Any] = rng.integers(0, units, size) if self.whole else rng.random(size) * total
        if not self.replacement:
            place = rng.permutation(units)[:size]
        if not self.whole or units > rows:
            place = np.minimum(np.searchsorted(self.ends, place, side="right"), rows - 1)
        return np.bincount(place, minlength=rows)
