"""Numbers as pictures: histograms of parts of them on the same edges, Tukey's boxes, points of two columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mlcli.core.findings import Boxplots, Histogram
from mlcli.core.tables import Array
from mlcli.data.profile import bin_edges

BINS = 8
WHISKER = 1.5

NamedNumbers = Sequence[tuple[str, Array]]
"""Numbers by what they are called."""


def histogram(title: str, measure: str, parts: NamedNumbers, bins: int = BINS) -> Histogram:
    """How many numbers of each part lie where."""
    edges = bin_edges(np.concatenate([part for _, part in parts]), bins)
    return histogram_of(title, measure, edges, {name: np.histogram(part, edges)[0] for name, part in parts})


def histogram_of(title: str, measure: str, edges: Array, counts: Mapping[str, NDArray[Any]]) -> Histogram:
    """A histogram of what was counted between some edges."""
    found = tuple((name, tuple(map(float, of_part))) for name, of_part in counts.items())
    return Histogram(title, measure, tuple(edges.tolist()), found)


def boxplots(title: str, measure: str, parts: NamedNumbers) -> Boxplots:
    """Tukey's box of each part."""
    boxes = tuple((name, *_box(part)) for name, part in parts)
    outside = tuple(beyond for *_, beyond in boxes)
    return Boxplots(title, measure, tuple((name, box) for name, box, _ in boxes), outside)


def _box(part: Array) -> tuple[tuple[float, ...], int]:
    """The whiskers, quartiles and median in ascending order, and how many values lie outside."""
    low, middle, high = np.quantile(part, [0.25, 0.5, 0.75])
    reach = WHISKER * (high - low)
    inside = part[(part >= low - reach) & (part <= high + reach)]
    box = (float(inside.min()), float(low), float(middle), float(high), float(inside.max()))
    return box, len(part) - len(inside)


def pairs(x: Array, y: Array) -> tuple[tuple[float, float], ...]:
    """Points of which both numbers are known."""
    known = np.isfinite(x) & np.isfinite(y)
    return tuple(zip(x[known].tolist(), y[known].tolist(), strict=True))
