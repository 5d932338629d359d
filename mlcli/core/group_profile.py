"""What the rows of each group look like, in the columns as they stand in the file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mlcli.core.explanation import Explanation, Section
from mlcli.core.grouping import centres
from mlcli.core.schema import Column
from mlcli.core.tables import Array, Codes, Table

Profile = Mapping[str, Any]
"""Of each group and of all rows the ``sizes``, and for each column the ``means`` (of levels: the shares); and how
much of its variance lies between the groups (``between``)."""
READING = (
    "between: the share of a column's variance that lies between the groups; 1 tells them apart, 0 not at all"
)


def profile_of(table: Table, group: Codes, groups: int, weights: Array) -> dict[str, Any]:
    """Means of numbers and shares of levels in each group and in all rows; empty cells do not count."""
    sizes = np.bincount(group, weights=weights, minlength=groups)
    cells = [_indicators(column, cells) for column, cells in table.parts()]
    pictures = [_profile(values, group, groups, weights) for values in cells]
    return {
        "sizes": np.append(sizes, sizes.sum()),
        "means": tuple(means for means, _ in pictures),
        "between": np.array([between for _, between in pictures]),
    }


def described(columns: Sequence[Column], profile: Profile) -> Explanation:
    """A table of means, and one of the most frequent levels; the columns that differ most between groups first."""
    sizes = [float(size) for size in profile["sizes"]]
    header = (
        "column",
        *(f"group {place} ({_rows(size)})" for place, size in enumerate(sizes[:-1])),
        "all rows",
        "between",
    )
    order = sorted(range(len(columns)), key=lambda place: -float(np.round(profile["between"][place], 9)))
    numbers = tuple(_numbers(columns[at], profile, at) for at in order if not columns[at].coded)
    levels = tuple(_levels(columns[at], profile, at) for at in order if columns[at].coded)
    found = (
        ("Means of the groups, in the units of the file", numbers),
        ("Most frequent level of each group, with its share", levels),
    )
    return tuple(Section(title, header, rows, note=READING) for title, rows in found if rows)


def _indicators(column: Column, cells: NDArray[Any]) -> Array:
    """One column of numbers, or one of 0 and 1 for each level; NaN where the cell is empty."""
    if not column.coded:
        return np.asarray(cells, dtype=np.float64)[:, None]
    shown = np.eye(max(1, len(column.levels)))[np.maximum(cells, 0).astype(np.intp)]
    shown[cells < 0] = np.nan
    return np.asarray(shown)


def _profile(values: Array, group: Codes, groups: int, weights: Array) -> tuple[Array, float]:
    """The mean of each group and of all rows, and the share of the variance that lies between groups."""
    known = ~np.isnan(values[:, 0]) & (weights > 0)
    values, group, weights = values[known], group[known], weights[known]
    if len(values) == 0:
        return np.full((groups + 1, values.shape[1]), np.nan), 0.0
    overall = np.average(values, axis=0, weights=weights)
    means = centres(values - overall, group, groups, weights)
    total = float(weights @ ((values - overall) ** 2).sum(axis=1))
    between = float(weights @ (means[group] ** 2).sum(axis=1))
    return np.vstack([means + overall, overall]), min(1.0, between / total) if total > 0 else 0.0


def _numbers(column: Column, profile: Profile, place: int) -> tuple[Any, ...]:
    means = (float(mean) for mean in profile["means"][place][:, 0])
    return (
        column.name,
        *(mean if np.isfinite(mean) else None for mean in means),
        float(profile["between"][place]),
    )


def _levels(column: Column, profile: Profile, place: int) -> tuple[Any, ...]:
    shown = (_most_frequent(column, shares) for shares in profile["means"][place])
    return (column.name, *shown, float(profile["between"][place]))


def _most_frequent(column: Column, shares: Array) -> str:
    if not column.levels or np.isnan(shares).any():
        return "-"
    place = int(shares.argmax())
    return f"{column.levels[place]} ({100 * shares[place]:.0f} %)"


def _rows(size: float) -> str:
    return f"{size:g} row" if size == 1 else f"{size:g} rows"
