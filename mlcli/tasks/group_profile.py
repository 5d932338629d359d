"""What the rows of each group look like, in the columns as they stand in the file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mlcli.core import findings
from mlcli.core.params import learned
from mlcli.core.schema import Column
from mlcli.core.step import Step
from mlcli.core.tables import Array, Codes, Table
from mlcli.tasks.groups import centres
from mlcli.tasks.unsupervised import Unsupervised

Profile = Mapping[str, Any]
"""The ``columns``; of each group and of all rows the ``sizes``, and for each column the ``means`` (of levels: the
shares); and how much of its variance lies between the groups (``between``)."""
MEANS, LEVELS = (
    "Means of the groups, in the units of the file",
    "Most frequent level of each group, with its share",
)
PROFILES = (MEANS, LEVELS)
"""The titles of what is said of groups."""
SHOWN = 12
"""How many groups are shown side by side, the largest first: nobody reads a line of two hundred."""
READING = (
    "between: the share of a column's variance that lies between the groups; 1 tells them apart, 0 not at all"
)


@dataclass(kw_only=True, eq=False)
class Grouping(Unsupervised):
    """Tells groups of rows apart, and keeps what they look like in the columns of the file."""

    profile_: dict[str, Any] | None = learned()

    @classmethod
    def note(cls, model: Any, prepared: Any, data: Any, steps: tuple[Step, ...]) -> None:
        """What its groups look like before any step."""
        group = np.asarray(model.cluster_of(prepared.table), np.int32)
        model.profile_ = profile_of(data.table, group, model.groups(), data.weights)

    def explain_task(self) -> findings.Explanation:
        """The groups in the columns of the file."""
        return () if self.profile_ is None else described(self.profile_)


def profile_of(table: Table, group: Codes, groups: int, weights: Array) -> dict[str, Any]:
    """Means of numbers and shares of levels in each group and in all rows; empty cells do not count."""
    sizes = np.bincount(group, weights=weights, minlength=groups)
    pictures = list(_pictures(table, group, groups, weights))
    return {
        "columns": table.columns,
        "sizes": np.append(sizes, sizes.sum()),
        "means": tuple(means for means, _ in pictures),
        "between": np.array([between for _, between in pictures]),
    }


def described(profile: Profile) -> tuple[findings.Table, ...]:
    """A table of means, and one of the most frequent levels; the columns that differ most between groups first."""
    columns = profile["columns"]
    sizes = [float(size) for size in profile["sizes"]][:-1]
    shown = (f"group {place} ({_rows(size)})" for place, size in enumerate(sizes[:SHOWN]))
    header = ("column", *shown, "all rows", "between")
    note = "; ".join([READING, *([only_largest(len(sizes))] if len(sizes) > SHOWN else [])])
    order = sorted(range(len(columns)), key=lambda place: -float(np.round(profile["between"][place], 9)))
    numbers = tuple(_numbers(columns[at], profile, at) for at in order if not columns[at].coded)
    levels = tuple(_levels(columns[at], profile, at) for at in order if columns[at].coded)
    found = (
        (MEANS, numbers),
        (LEVELS, levels),
    )
    return tuple(findings.Table(title, header, rows, note=note) for title, rows in found if rows)


def only_largest(groups: int) -> str:
    """What is said where not all groups are shown."""
    return f"the {SHOWN} largest of {groups} groups are shown"


def _indicators(column: Column, cells: NDArray[Any]) -> Array:
    """One column of numbers, or one of 0 and 1 for each level; NaN where the cell is empty."""
    if not column.coded:
        return np.array(cells, dtype=np.float64)[:, None]
    shown = np.eye(max(1, len(column.levels)))[np.maximum(cells, 0).astype(np.intp)]
    shown[cells < 0] = np.nan
    return np.asarray(shown)


def _pictures(table: Table, group: Codes, groups: int, weights: Array) -> Iterator[tuple[Array, float]]:
    """Of each column its means, and the share of its variance that lies between groups.

    Numbers without gaps are looked at together, which is faster.
    """
    whole = (weights > 0).all() and not np.isnan(table.numbers).any()
    together = iter(_columns(*_spread(table.numbers, group, groups, weights))) if whole else iter(())
    for column, cells in table.parts():
        if whole and not column.coded:
            yield next(together)
        else:
            values = _indicators(column, cells)
            known = ~np.isnan(values[:, 0]) & (weights > 0)
            means, total, between = _spread(values[known], group[known], groups, weights[known])
            yield means, _share(total.sum(), between.sum())


def _spread(values: Array, group: Codes, groups: int, weights: Array) -> tuple[Array, Array, Array]:
    """The mean of each group and of all rows, the sum of squares around the latter, and that between groups."""
    if len(values) == 0:
        return np.full((groups + 1, values.shape[1]), np.nan), np.zeros(values.shape[1]), np.zeros(values.shape[1])
    overall = weights @ values / weights.sum()
    away = values - overall
    means = centres(away, group, groups, weights)
    sizes = np.bincount(group, weights, groups)
    return np.vstack([means + overall, overall]), weights @ away**2, sizes @ np.nan_to_num(means) ** 2


def _columns(means: Array, total: Array, between: Array) -> Iterator[tuple[Array, float]]:
    """What was found of several columns, one by one."""
    for at, sums in enumerate(zip(total, between, strict=True)):
        yield means[:, [at]], _share(*sums)


def _share(total: float, between: float) -> float:
    """What lies between groups; 0 of nothing."""
    return min(1.0, float(between / total)) if total > 0 else 0.0


def _numbers(column: Column, profile: Profile, place: int) -> tuple[Any, ...]:
    means = (float(mean) for mean in _shown(profile["means"][place])[:, 0])
    return (
        column.name,
        *(mean if np.isfinite(mean) else None for mean in means),
        float(profile["between"][place]),
    )


def _shown(of_groups: Array) -> Array:
    """Of the largest groups, and of all rows."""
    return of_groups if len(of_groups) <= SHOWN + 1 else np.vstack([of_groups[:SHOWN], of_groups[-1:]])


def _levels(column: Column, profile: Profile, place: int) -> tuple[Any, ...]:
    shown = (_most_frequent(column, shares) for shares in _shown(profile["means"][place]))
    return (column.name, *shown, float(profile["between"][place]))


def _most_frequent(column: Column, shares: Array) -> str:
    if not column.levels or np.isnan(shares).any():
        return "-"
    place = int(shares.argmax())
    return f"{column.levels[place]} ({100 * shares[place]:.0f} %)"


def _rows(size: float) -> str:
    return f"{size:g} row" if size == 1 else f"{size:g} rows"
