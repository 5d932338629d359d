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
    rows = (
        ("trees", len(trees)),
        ("columns drawn at each node", features),
        ("leaves of a tree, on average", float(leaves.mean())),
        ("depth of a tree, on average", float(depths.mean())),
        ("depth of the deepest tree", int(depths.max())),
    )
    return Section("Forest", ("what", "value"), rows)


def errors(curve: Array, measure: str) -> Section:
    """The error on rows out of the bag, after more and more trees."""
    count = len(curve)
    steps = [step for power in range(9) for step in (10**power, 2 * 10**power, 5 * 10**power) if step < count]
    shown = [(step, _number(curve[step - 1])) for step in (*steps, count)]
    note = f"{measure} on rows that a tree did not learn from, by all such trees; no rows to learn from are lost"
    return Section("Out-of-bag error", ("trees", measure), tuple(shown), note=note)


def worth(columns: Sequence[Column], gained: Array, shuffled: Array, measure: str) -> Section:
    """What columns are worth, those that gain most first."""
    header: tuple[str, ...] = ("column", "share of all gains")
    parts: list[Array] = [gained]
    if len(shuffled):
        header, parts = (*header, f"{measure} when shuffled"), [gained, shuffled]
    order = np.argsort(-gained, kind="stable")
    rows: list[tuple[Cell, ...]] = [(columns[j].name, *(float(part[j]) for part in parts)) for j in order]
    return Section("What columns are worth", header, tuple(rows))


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
