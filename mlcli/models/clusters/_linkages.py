"""Linkages: the distances of a merged group from those of its two parts (Lance & Williams 1967)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mlcli.core.tables import Array


@dataclass(frozen=True, eq=False)
class Parts:
    """Two groups that merge: their distances to every group, to each other, and the sizes of all."""

    first: Array
    second: Array
    between: float
    sizes: tuple[float, float]
    others: Array

    @property
    def shares(self) -> tuple[float, float]:
        """The share of the rows of each."""
        total = sum(self.sizes)
        return self.sizes[0] / total, self.sizes[1] / total


@dataclass(frozen=True)
class Linkage:
    """How far groups are apart."""

    joined: Callable[[Parts], Array]
    squared: bool = False
    """Whether the formula is one of squared distances; the heights are their roots."""


def single(parts: Parts) -> Array:
    """The smallest distance between their rows."""
    return np.minimum(parts.first, parts.second)


def complete(parts: Parts) -> Array:
    """The largest distance between their rows."""
    return np.maximum(parts.first, parts.second)


def average(parts: Parts) -> Array:
    """The mean distance between their rows."""
    one, other = parts.shares
    return one * parts.first + other * parts.second


def centroid(parts: Parts) -> Array:
    """The squared distance between their means."""
    one, other = parts.shares
    return one * parts.first + other * parts.second - one * other * parts.between


def ward(parts: Parts) -> Array:
    """Twice what merging adds to the sum of squared distances to the means."""
    one, other = parts.sizes
    return (
        (one + parts.others) * parts.first + (other + parts.others) * parts.second - parts.others * parts.between
    ) / (one + other + parts.others)


LINKAGES = {
    "single": Linkage(single),
    "complete": Linkage(complete),
    "average": Linkage(average),
    "centroid": Linkage(centroid, squared=True),
    "ward": Linkage(ward, squared=True),
}
