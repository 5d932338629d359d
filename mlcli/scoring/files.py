"""Files of data as records: those that are shipped, how a join went, how alike two files are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from mlcli.data.join import JoinedTable
from mlcli.experiment.drift import ColumnDrift, Drift

SURE = 0.05
"""Below this corrected p a column differs by more than chance."""
Verdict = Literal["alike", "columns-differ", "model-separates", "columns-differ-and-model-separates"]


@dataclass(frozen=True)
class ShippedDataset:
    """A dataset that comes with mlcli."""

    name: str
    summary: str


@dataclass(frozen=True)
class ShippedDatasets:
    """The datasets that come with mlcli."""

    datasets: tuple[ShippedDataset, ...]


@dataclass(frozen=True)
class RepeatedKey:
    """A key that several rows have."""

    key: tuple[str, ...]
    rows: int


@dataclass(frozen=True)
class JoinedFile:
    """One of the files of a join."""

    name: str
    rows: int
    unmatched: int
    empty: int
    examples: tuple[tuple[str, ...], ...]
    doubled: tuple[RepeatedKey, ...]


@dataclass(frozen=True)
class JoinRecord:
    """How a join went."""

    rows: int
    columns: tuple[str, ...]
    matched: int
    files: tuple[JoinedFile, ...]
    renamed: Mapping[str, str]


@dataclass(frozen=True)
class ComparedFile:
    """One of two files that are compared."""

    name: str
    rows: int


@dataclass(frozen=True)
class SeparatingModel:
    """How well a model tells the rows of two files apart."""

    auc: float
    low: float | None
    high: float | None
    rows: int
    tells_apart: bool


@dataclass(frozen=True)
class DriftRecord:
    """How alike two files are."""

    a: ComparedFile
    b: ComparedFile
    columns: tuple[ColumnDrift, ...]
    only_a: tuple[str, ...]
    only_b: tuple[str, ...]
    model: SeparatingModel
    verdict: Verdict


def join_record(joined: JoinedTable, a: str, b: str) -> JoinRecord:
    """What ``--json`` writes of a join."""
    files = tuple(
        JoinedFile(
            name,
            keys.rows,
            keys.unmatched,
            keys.empty,
            keys.examples,
            tuple(RepeatedKey(key, rows) for key, rows in keys.doubled.items()),
        )
        for name, keys in ((a, joined.a), (b, joined.b))
    )
    return JoinRecord(len(joined), tuple(joined.columns), joined.matched, files, joined.renamed)


def differing_columns(drift: Drift) -> list[str]:
    """The columns that differ by more than chance."""
    return [column.name for column in drift.columns if column.corrected < SURE]


def verdict_on(drift: Drift) -> Verdict:
    """Whether columns differ, and whether a model tells the files apart."""
    if differing_columns(drift):
        return "columns-differ-and-model-separates" if drift.are_separable else "columns-differ"
    return "model-separates" if drift.are_separable else "alike"


def drift_record(drift: Drift) -> DriftRecord:
    """What ``--json`` writes of two files that are compared."""
    a, b = (ComparedFile(name, rows) for name, rows in zip(drift.names, drift.rows, strict=True))
    interval = drift.interval
    model = SeparatingModel(drift.auc, interval.low, interval.high, drift.seen, drift.are_separable)
    columns, only_a, only_b = drift.columns, drift.only_a, drift.only_b
    return DriftRecord(a, b, columns, only_a, only_b, model, verdict_on(drift))
