"""Toy rows made from what a configured model declares: kinds of columns, missing cells, classes or values."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from mlcli.core.schema import Accepts, Column
from mlcli.core.tables import Rows, Table
from mlcli.tasks.anomaly import ScreenedRows
from mlcli.tasks.supervised import LabelledRows, ValuedRows
from mlcli.tasks.table import kind_named

COLOURS = ("blue", "green", "red")
CLASSES = ("ant", "bee", "cat")
EVERYTHING = Accepts(nominal=True, missing=True, weights=True)
SHARE_MISSING = 0.05


def rows_for(kind: str, accepts: Accepts, n: int = 150, seed: int = 7) -> Any:
    """Learnable rows: three groups that differ in two numbers and, where levels are accepted, in a colour."""
    rng = np.random.default_rng(seed)
    group = np.resize([0, 1, 2], n)
    rng.shuffle(group)
    parts: list[tuple[Column, Any]] = [
        (Column("length"), group * 2.0 + rng.normal(0, 0.5, n)),
        (Column("width"), (group == 1) * 3.0 + rng.normal(0, 0.7, n)),
        (Column("noise"), rng.normal(0, 1, n)),
    ]
    if accepts.nominal:
        colour = np.where(rng.random(n) < 0.8, group, rng.integers(0, 3, n))
        parts.insert(1, (Column("colour", "nominal", COLOURS), colour))
        parts.append((Column("old", "boolean", ("no", "yes")), rng.integers(0, 2, n)))
    if accepts.levels_only:
        parts = [cut(column, cells) for column, cells in parts]
    table = Table.of(parts, n)
    if accepts.missing:
        table = with_gaps(table, rng)
    return REAL[kind](table, group, rng)


def cut(column: Column, cells: Any) -> tuple[Column, Any]:
    """Numbers as four levels, for those who accept nothing else."""
    levels = ("first", "second", "third", "fourth")
    return (
        (column, cells)
        if column.coded
        else (Column(column.name, "ordinal", levels), cells.argsort().argsort() * 4 // len(cells))
    )


def labelled(table: Table, group: Any, rng: np.random.Generator) -> LabelledRows:
    """The group is the class."""
    n = len(table)
    return LabelledRows(table=table, rows=np.arange(n), target="animal", y=group.astype(np.int32), classes=CLASSES)


def valued(table: Table, group: Any, rng: np.random.Generator) -> ValuedRows:
    """The value goes up and down with the group and the length."""
    n = len(table)
    lengths = np.nan_to_num(table.numbers[:, 0])
    y = 3.0 * lengths + 2.0 * (group == 1) + rng.normal(0, 0.3, n)
    return ValuedRows(table=table, rows=np.arange(n), target="weight", y=y)


def unlabelled(kind: str) -> Any:
    """The group is a label that no fit may see."""

    def made(table: Table, group: Any, rng: np.random.Generator) -> Any:
        n, container = len(table), kind_named(kind).rows
        labels = group.astype(np.int32)
        return container(table=table, rows=np.arange(n), target="animal", labels=labels, classes=CLASSES)

    return made


def screened(table: Table, group: Any, rng: np.random.Generator) -> ScreenedRows:
    """Every tenth row is an anomaly, each far out in its own direction; its label is one that no fit may see."""
    n = len(table)
    odd = rng.permutation(n)[: n // 10]
    table.numbers[odd] += rng.uniform(6, 12, (len(odd), 3)) * rng.choice((-1, 1), (len(odd), 3))
    labels = np.isin(np.arange(n), odd).astype(np.int32)
    return ScreenedRows(table=table, rows=np.arange(n), target="ill", labels=labels, classes=("no", "yes"))


SUPERVISED: dict[str, Any] = {"classification": labelled, "regression": valued}
UNSUPERVISED: dict[str, Any] = {kind: unlabelled(kind) for kind in ("clustering", "density", "projection")} | {
    "anomaly": screened
}
REAL: dict[str, Any] = {**SUPERVISED, **UNSUPERVISED}


def with_gaps(table: Table, rng: np.random.Generator) -> Table:
    """Some cells of every column emptied."""
    numbers, codes = table.numbers.copy(), table.codes.copy()
    numbers[rng.random(numbers.shape) < SHARE_MISSING] = np.nan
    codes[rng.random(codes.shape) < SHARE_MISSING] = -1
    columns = tuple(replace(column, missing=True) for column in table.columns)
    return Table(columns, numbers, codes)


def halves(data: Any) -> tuple[Any, Any]:
    """Two thirds to learn from, the rest to be asked about."""
    cut = 2 * len(data) // 3
    return data.take(np.arange(cut)), data.take(np.arange(cut, len(data)))


def with_columns(data: Any, parts: list[tuple[Column, Any]]) -> Any:
    """The same rows with other columns."""
    return data.with_table(Table.of(parts, len(data)))


def repeated(data: Any, times: Rows) -> Any:
    """Each row as often as ``times`` says."""
    return data.take(np.repeat(np.arange(len(data)), times))


def shuffled_target(data: Any, rng: np.random.Generator) -> Any:
    """The same rows with the targets dealt out anew."""
    return replace(data, y=rng.permutation(data.y))
