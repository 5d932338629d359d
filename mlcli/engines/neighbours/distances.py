"""Distances as a table: what each takes, how it sees rows, and how far two points are apart."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mlcli.core.accepts import Accepts
from mlcli.core.tables import Array, Table
from mlcli.engines.neighbours.points import (
    ExactScreen,
    PointSet,
    Screen,
    range_scaled_points,
    ranges_of,
    raw_points,
    screen_by_angle,
    screen_by_squares,
    set_points,
    unit_length_points,
    unit_ranges,
)


def _between(one: PointSet, other: PointSet) -> Array:
    return np.zeros(np.broadcast_shapes(one.shape, other.shape))


def _summed(one: Array, other: Array) -> Array:
    """The products of two blocks of numbers, summed over columns."""
    return np.asarray(np.einsum("j...,j...->...", one, other))


def euclidean(one: PointSet, other: PointSet) -> Array:
    """√ Σ (a_j − b_j)²."""
    steps = one.numbers - other.numbers
    return np.sqrt(_summed(steps, steps))


def manhattan(one: PointSet, other: PointSet) -> Array:
    """Σ |a_j − b_j|."""
    total = _between(one, other)
    for a, b in zip(one.numbers, other.numbers, strict=True):
        total += np.abs(a - b)
    return total


def cosine(one: PointSet, other: PointSet) -> Array:
    """1 − a·b / (‖a‖‖b‖) of points on the unit sphere; what lies below the 14th decimal is rounding."""
    return np.maximum(np.round(1 - _summed(one.numbers, other.numbers), 14), 0.0)


def hamming(one: PointSet, other: PointSet) -> Array:
    """The number of columns that differ; a missing cell differs from everything."""
    different = _between(one, other)
    for a, b in zip(one.numbers, other.numbers, strict=True):
        different += ~(a == b)
    for c, d in zip(one.codes, other.codes, strict=True):
        different += (c != d) | (c < 0)
    return different


def simple_matching(one: PointSet, other: PointSet) -> Array:
    """1 − matching columns / columns."""
    return hamming(one, other) / max(len(one.numbers) + len(one.codes), 1)


def jaccard(one: PointSet, other: PointSet) -> Array:
    """1 − |A ∩ B| / |A ∪ B| of the sets of things present; two empty sets are equal."""
    common, either = _between(one, other), _between(one, other)
    for a, b in zip(one.numbers, other.numbers, strict=True):
        common += a * b
        either += np.maximum(a, b)
    for c, d in zip(one.codes, other.codes, strict=True):
        equal = (c == d) & (c >= 0)
        common += equal
        either += (c >= 0) * 1.0 + (d >= 0) - equal
    return 1 - np.divide(common, either, out=np.ones_like(common), where=either > 0)


def mixed(one: PointSet, other: PointSet) -> Array:
    """The mean over columns known in both rows (Gower): |a − b| of scaled numbers, 0 or 1 for levels."""
    total, known = _between(one, other), _between(one, other)
    for a, b in zip(one.numbers, other.numbers, strict=True):
        apart = np.abs(a - b)
        both = ~np.isnan(apart)
        total += np.where(both, apart, 0.0)
        known += both
    for c, d in zip(one.codes, other.codes, strict=True):
        both = (c >= 0) & (d >= 0)
        total += both & (c != d)
        known += both
    return np.divide(total, known, out=np.ones_like(total), where=known > 0)


@dataclass(frozen=True)
class Distance:
    """One way to say how far two rows are apart."""

    between: Callable[[PointSet, PointSet], Array]
    """The distance of points whose trailing axes broadcast."""
    points: Callable[[Table, Array], PointSet]
    """How rows are seen, given the ranges of the training numbers."""
    accepts: Accepts
    quick_screen: Callable[[PointSet], Screen] | None = None
    """A cheaper look at all pairs that misses no neighbour, where there is one."""
    has_tree: bool = False
    """Whether a k-d tree measures it."""
    spans: Callable[[Table], Array] = unit_ranges
    """What numbers are divided by, from training rows."""

    def screen(self, stored: PointSet) -> Screen:
        """What finds the points that may be near."""
        return self.quick_screen(stored) if self.quick_screen else ExactScreen(self.between, stored.by_column())


NUMBERS = Accepts(weights=True, prefers_scaled=True)
ANYTHING = Accepts(nominal=True, missing=True, weights=True)

DISTANCES = {
    "euclidean": Distance(euclidean, raw_points, NUMBERS, screen_by_squares, has_tree=True),
    "manhattan": Distance(manhattan, raw_points, NUMBERS),
    "cosine": Distance(cosine, unit_length_points, NUMBERS, screen_by_angle),
    "hamming": Distance(hamming, raw_points, ANYTHING),
    "simple-matching": Distance(simple_matching, raw_points, ANYTHING),
    "jaccard": Distance(jaccard, set_points, ANYTHING),
    "mixed": Distance(mixed, range_scaled_points, ANYTHING, spans=ranges_of),
}
