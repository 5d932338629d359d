"""Numbers as findings that can be drawn: histograms on the same edges, Tukey's boxes, points."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from mlcli.core.findings import Boxplots, Cloud, Finding, Histogram, Points
from mlcli.core.tables import Array
from mlcli.data.profile import bin_edges

NamedNumbers = Sequence[tuple[str, Array]]
"""Parts of the numbers, each with its name."""


def histogram(title: str, measure: str, parts: NamedNumbers, bins: int = 8) -> Histogram:
    """How many numbers of each part lie in each bin."""
    edges = bin_edges(np.concatenate([part for _, part in parts]), bins)
    return histogram_of(title, measure, edges, {name: np.histogram(part, edges)[0] for name, part in parts})


def histogram_of(
    title: str, measure: str, edges: Array, counts: Mapping[str, NDArray[np.int64] | Array]
) -> Histogram:
    """A histogram of counts between given edges."""
    by_part = tuple((name, tuple(map(float, of_part))) for name, of_part in counts.items())
    return Histogram(title, measure, tuple(edges.tolist()), by_part)


def boxplots(title: str, measure: str, parts: NamedNumbers) -> Boxplots:
    """Tukey's box of each part: whiskers reach 1.5 times the distance of the quartiles."""
    boxes: list[tuple[str, tuple[float, ...]]] = []
    outside: list[int] = []
    for name, part in parts:
        low, middle, high = np.quantile(part, [0.25, 0.5, 0.75])
        reach = 1.5 * (high - low)
        inside = part[(part >= low - reach) & (part <= high + reach)]
        box = (float(inside.min()), float(low), float(middle), float(high), float(inside.max()))
        boxes.append((name, box))
        outside.append(len(part) - len(inside))
    return Boxplots(title, measure, tuple(boxes), tuple(outside))


def pairs(x: Array, y: Array) -> tuple[tuple[float, float], ...]:
    """Points of which both coordinates are finite."""
    finite = np.isfinite(x) & np.isfinite(y)
    return tuple(zip(x[finite].tolist(), y[finite].tolist(), strict=True))


def points_and_cloud(title: str, axes: Sequence[str], parts: Mapping[str, Array]) -> Iterator[Finding]:
    """Rows of numbers in the plane of the first two axes and in the space of three, where there are so many."""
    if len(axes) > 1:
        points = tuple((name, tuple(map(tuple, part[:, :2].tolist()))) for name, part in parts.items())
        yield Points(f"{title} by {axes[0]} and {axes[1]}", axes[0], axes[1], points)
    if len(axes) > 2:
        cloud = tuple((name, tuple(map(tuple, part[:, :3].tolist()))) for name, part in parts.items())
        yield Cloud(f"{title} by {axes[0]}, {axes[1]} and {axes[2]}", (axes[0], axes[1], axes[2]), cloud)
