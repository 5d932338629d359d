"""A forest in words: how large it is, how wrong about rows out of the bag, and what each column is worth."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mlcli.core.explanation import Cell, Section
from mlcli.core.schema import Column
from mlcli.core.tables import Array
from mlcli.models.forests._trees import Trees


def size(trees: Trees, features: int) -> Section:
    """How many trees, and how large they are."""
    leaves = np.add.reduceat(trees.leaves.astype(np.int64), trees.first[:-1])
    depths = np.maximum.reduceat(trees.depths(), trees.first[:-1])
    drawn = f"{len(trees)} trees; each node draws {features} column{'s' * (features != 1)}"
    large = f"on average {leaves.mean():.4g} leaves and depth {depths.mean():.3g}; the deepest has {depths.max()}"
    return Section("Forest", lines=(drawn, large))


def errors(curve: Array, measure: str) -> Section:
    """The error on rows out of the bag, after more and more trees."""
    count = len(curve)
    steps = [step for power in range(9) for step in (10**power, 2 * 10**power, 5 * 10**power) if step < count]
    shown = [(step, _number(curve[step - 1])) for step in (*steps, count)]
    note = "of training rows, each answered only by trees that did not learn from it"
    return Section("Out-of-bag error", ("trees", measure), tuple(shown), note=note)


def worth(columns: Sequence[Column], gained: Array, shuffled: Array, loss: str) -> Section:
    """What columns are worth, those that gain most first."""
    header: tuple[str, ...] = ("column", "share of all gains")
    parts: list[Array] = [gained]
    if len(shuffled):
        header, parts = (*header, f"{loss} added by shuffling"), [gained, shuffled]
    order = np.argsort(-gained, kind="stable")
    rows: list[tuple[Cell, ...]] = [(columns[j].name, *(float(part[j]) for part in parts)) for j in order]
    return Section("What columns are worth", header, tuple(rows))


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
