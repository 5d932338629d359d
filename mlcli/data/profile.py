"""What a dataset looks like: each column in a few numbers, the balance of the target, and what seems odd."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mlcli.core.schema import SchemaField
from mlcli.core.tables import Array, Codes
from mlcli.data.dataset import Dataset
from mlcli.data.sidecar import DISCRETE
from mlcli.tasks.table import kind_of

BINS = 10
TOP_LEVELS = 10


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
    """Whether every number is whole, unless the sidecar says otherwise."""
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
    """One column: what it is, who said so, and what is in it."""

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
    """What was guessed or looked odd while reading."""
    warnings: tuple[str, ...]
    """What looks odd in the cells."""
    about: Mapping[str, Any]


def profile(dataset: Dataset, warnings: Sequence[str] = ()) -> Profile:
    """The profile of a dataset; ``warnings`` are what checks have found in its cells."""
    kind, target = kind_of(dataset.schema), dataset.schema.the("target")
    columns = tuple(_column(dataset, described) for described in dataset.schema)
    classes: tuple[LevelCount, ...] = ()
    if target is not None and target.coded:
        classes = _level_counts(target.levels, _codes(dataset, target.name))
    return Profile(
        name=dataset.name,
        path=str(dataset.path) if dataset.path is not None else None,
        rows=len(dataset),
        task=dataset.task or (kind.name if kind is not None else None),
        target=target.name if target is not None else None,
        columns=columns,
        classes=classes,
        notes=dataset.notes,
        warnings=tuple(warning for warning in warnings if warning not in dataset.notes),
        about=dataset.about,
    )


def _column(dataset: Dataset, described: SchemaField) -> ColumnProfile:
    column, rows = described.column, len(dataset)
    numbers, levels = None, None
    if column.coded:
        codes = _codes(dataset, column.name)
        levels, missing = _level_summary(column.levels, codes), int((codes < 0).sum())
    else:
        cells = dataset.table.cells(column.name).astype(np.float64)
        present = cells[~np.isnan(cells)]
        sort = dataset.sidecar.of(column.name).numbers
        numbers, missing = _number_summary(present, sort), rows - len(present)
    return ColumnProfile(
        name=column.name,
        kind=column.kind,
        role=described.role,
        source=described.source,
        why=described.why,
        missing=missing,
        missing_share=missing / rows if rows else 0.0,
        numbers=numbers,
        levels=levels,
    )


def _codes(dataset: Dataset, name: str) -> Codes:
    return dataset.table.cells(name).astype(np.int32)


def _number_summary(present: Array, declared: str | None) -> NumberSummary | None:
    if not len(present):
        return None
    distinct = len(np.unique(present))
    with np.errstate(over="ignore", invalid="ignore"):
        counts, edges = _histogram(present, min(BINS, distinct))
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


def _histogram(present: Array, bins: int) -> tuple[tuple[int, ...], tuple[float, ...]]:
    """Counts and edges; none where the numbers reach so far that their distance is not finite."""
    if not np.isfinite(present.max() - present.min()):
        return (), ()
    edges = bin_edges(present, bins)
    return tuple(np.histogram(present, edges)[0].tolist()), tuple(edges.tolist())


def bin_edges(numbers: Array, bins: int) -> Array:
    """The edges of bins of equal width around all finite numbers, also where these are all but equal or huge."""
    known = numbers[np.isfinite(numbers)]
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 0.0)
    if high - low == np.inf:
        return np.asarray(2.0 * np.linspace(low / 2.0, high / 2.0, bins + 1))
    least = bins * float(np.spacing(max(-low, high)))
    room = max(0.5, least) if high - low <= least else 0.0
    return np.linspace(low - room, high + room, bins + 1)


def _level_counts(levels: tuple[str, ...], codes: Codes) -> tuple[LevelCount, ...]:
    counts = np.bincount(codes[codes >= 0], minlength=len(levels)).tolist()
    known = sum(counts)
    return tuple(
        LevelCount(level, count, count / known if known else 0.0)
        for level, count in zip(levels, counts, strict=True)
    )


def _level_summary(levels: tuple[str, ...], codes: Codes) -> LevelSummary:
    counts = [counted for counted in _level_counts(levels, codes) if counted.count]
    ordered = sorted(counts, key=lambda counted: -counted.count)
    others = sum(counted.count for counted in ordered[TOP_LEVELS:])
    return LevelSummary(len(levels), len(counts), tuple(ordered[:TOP_LEVELS]), others)
