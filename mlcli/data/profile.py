"""What a dataset looks like: each column in a few numbers, the balance of the target, and what seems odd."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mlcli.core.schema import SchemaField
from mlcli.core.tables import Array, Codes, is_missing
from mlcli.data.dataset import Dataset
from mlcli.data.sidecar import DISCRETE
from mlcli.tasks.table import kind_of


@dataclass(frozen=True)
class NumberSummary:
    """The numbers of a column: extremes, middle, spread and a small histogram; empty cells are left out."""

    low: float
    mean: float
    median: float
    high: float
    std: float | None
    """With n - 1; None for one number."""
    distinct: int
    discrete: bool
    """Whether every number is whole, or as the sidecar declares."""
    counts: tuple[int, ...]
    edges: tuple[float, ...]
    """The ends of the bins, one more than there are counts."""


@dataclass(frozen=True)
class LevelCount:
    """A level with the rows that have it, and their share of the rows that have any."""

    level: str
    count: int
    share: float


@dataclass(frozen=True)
class LevelSummary:
    """The levels of a column: how many there are, how many are in use, and the most frequent ones."""

    levels: int
    used: int
    top: tuple[LevelCount, ...]
    others: int
    """Rows whose level is not among the top ones."""


@dataclass(frozen=True)
class ColumnProfile:
    """One column: its kind and role, where they come from, and its values."""

    name: str
    kind: str
    role: str
    source: str
    why: str
    missing: int
    missing_share: float
    numbers: NumberSummary | None = None
    levels: LevelSummary | None = None


@dataclass(frozen=True)
class Profile:
    """A dataset at a glance."""

    name: str
    path: str | None
    rows: int
    task: str | None
    """The kind of task, stated or recognised."""
    target: str | None
    columns: tuple[ColumnProfile, ...]
    classes: tuple[LevelCount, ...]
    """The balance of a target of levels, in the order of the levels."""
    notes: tuple[str, ...]
    """Guesses and oddities noted while reading."""
    warnings: tuple[str, ...]
    """What looks odd in the cells."""
    about: Mapping[str, Any]


def profile(dataset: Dataset, warnings: Sequence[str] = ()) -> Profile:
    """The profile of a dataset; ``warnings`` are what checks have found in its cells."""
    kind, target = kind_of(dataset.schema), dataset.schema.the("target")
    classes: tuple[LevelCount, ...] = ()
    if target is not None and target.coded:
        classes = _level_counts(target.levels, dataset.table.cells(target.name).astype(np.int32))
    return Profile(
        name=dataset.name,
        path=str(dataset.path) if dataset.path is not None else None,
        rows=len(dataset),
        task=dataset.task or (kind.name if kind is not None else None),
        target=target.name if target is not None else None,
        columns=tuple(_column_profile(dataset, field) for field in dataset.schema),
        classes=classes,
        notes=dataset.notes,
        warnings=tuple(warning for warning in warnings if warning not in dataset.notes),
        about=dataset.about,
    )


def _column_profile(dataset: Dataset, field: SchemaField) -> ColumnProfile:
    column, rows = field.column, len(dataset)
    numbers, levels = None, None
    cells = dataset.table.cells(column.name)
    missing = int(is_missing(cells).sum())
    if column.coded:
        counts = [level for level in _level_counts(column.levels, cells.astype(np.int32)) if level.count]
        ordered = sorted(counts, key=lambda level: -level.count)
        others = sum(level.count for level in ordered[10:])
        levels = LevelSummary(len(column.levels), len(counts), tuple(ordered[:10]), others)
    elif missing < rows:
        present = cells[~is_missing(cells)].astype(np.float64)
        numbers = _number_summary(present, dataset.sidecar.of(column.name).numbers)
    return ColumnProfile(
        name=column.name,
        kind=column.kind,
        role=field.role,
        source=field.source,
        why=field.why,
        missing=missing,
        missing_share=missing / rows if rows else 0.0,
        numbers=numbers,
        levels=levels,
    )


def _number_summary(present: Array, declared: str | None) -> NumberSummary:
    distinct = len(np.unique(present))
    counts: tuple[int, ...] = ()
    edges: tuple[float, ...] = ()
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(present.max() - present.min()):  # else no histogram can be made
            bins = bin_edges(present, min(10, distinct))
            counts, edges = tuple(np.histogram(present, bins)[0].tolist()), tuple(bins.tolist())
        return NumberSummary(
            low=float(present.min()),
            mean=float(present.mean()),
            median=float(np.median(present)),
            high=float(present.max()),
            std=float(present.std(ddof=1)) if len(present) > 1 else None,
            distinct=distinct,
            discrete=declared == DISCRETE if declared else bool((present == np.floor(present)).all()),
            counts=counts,
            edges=edges,
        )


def bin_edges(numbers: Array, bins: int) -> Array:
    """The edges of bins of equal width around all finite numbers, also if these are all but equal or huge."""
    finite = numbers[np.isfinite(numbers)]
    low, high = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 0.0)
    if high - low == np.inf:
        return np.asarray(2.0 * np.linspace(low / 2.0, high / 2.0, bins + 1))
    least = bins * float(np.spacing(max(-low, high)))
    margin = max(0.5, least) if high - low <= least else 0.0
    return np.linspace(low - margin, high + margin, bins + 1)


def _level_counts(levels: tuple[str, ...], codes: Codes) -> tuple[LevelCount, ...]:
    counts = np.bincount(codes[codes >= 0], minlength=len(levels)).tolist()
    present = sum(counts)
    return tuple(
        LevelCount(level, count, count / present if present else 0.0)
        for level, count in zip(levels, counts, strict=True)
    )
