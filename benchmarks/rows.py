"""The rows that methods are timed on: made ones of a stated size, and shipped datasets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from mlcli.core.schema import Column
from mlcli.core.tables import Table
from mlcli.data.load import load
from mlcli.tasks.supervised import LabelledRows, ValuedRows
from mlcli.tasks.table import kind_named

CLASSES = 3


@dataclass(frozen=True)
class Made:
    """Noisy classes, or a noisy linear target with a bend, behind normal columns."""

    n: int
    p: int

    @property
    def label(self) -> str:
        """The size in words."""
        return f"{self.n:,} × {self.p}"

    def halves(self, kind: str, asked: int) -> tuple[Any, Any]:
        """Rows to learn from, and others to predict, at most ``asked``."""
        return drawn(self, kind, asked)

    def everything(self, kind: str, n: int) -> Any:
        """All rows, of which the first ``self.n`` are there to learn from."""
        rng = np.random.default_rng(self.n + self.p)
        X = rng.normal(size=(n, self.p))
        weights = rng.normal(size=(self.p, CLASSES))
        values = X @ weights[:, 0] + np.abs(X[:, 0]) + rng.normal(size=n)
        labels = np.argmax(X @ weights + 2 * rng.gumbel(size=(n, CLASSES)), axis=1).astype(np.int32)
        columns = tuple(Column(f"x{j}") for j in range(self.p))
        table = Table(columns, X, np.empty((n, 0), np.int32))
        common: dict[str, Any] = {"table": table, "rows": np.arange(n), "target": "y"}
        made: dict[str, Callable[[], Any]] = {
            "classification": lambda: LabelledRows(**common, y=labels, classes=("a", "b", "c")),
            "regression": lambda: ValuedRows(**common, y=values),
        }
        return made[kind]()


@lru_cache(maxsize=2 * 6)
def drawn(size: Made, kind: str, asked: int) -> tuple[Any, Any]:
    """Both halves of made rows, kept since every pair learns from the same."""
    n = size.n + min(size.n, asked)
    data = size.everything(kind, n)
    return data.take(slice(0, size.n)), data.take(slice(size.n, n))


@dataclass(frozen=True)
class Shipped:
    """The numeric columns of a shipped dataset, half of it to learn from."""

    name: str

    @property
    def label(self) -> str:
        """Its name."""
        return self.name

    def halves(self, kind: str, asked: int) -> tuple[Any, Any]:
        """Rows to learn from, and others to predict, at most ``asked``."""
        dataset = load(self.name)
        data = kind_named(kind).rows.from_table(dataset.table, dataset.schema)
        data = data.with_table(data.table.select(column.name for column in data.table.number_columns))
        mixed = np.random.default_rng(0).permutation(len(data))
        half = len(data) // 2
        return data.take(mixed[:half]), data.take(mixed[half : half + asked])


SIZES = (Made(150, 4), Made(2_000, 20), Made(20_000, 20), Made(100_000, 50), Made(2_000, 500))
REAL = {"classification": (Shipped("segment"),), "regression": (Shipped("concrete"),)}


def all_for(kind: str) -> tuple[Made | Shipped, ...]:
    """Every size, then real data."""
    return (*SIZES, *REAL[kind])
