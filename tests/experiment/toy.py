"""A small dataset in memory and cells over it, for the tests of whatever runs, stores and shows them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from mlcli.core.schema import Column, Schema, SchemaField
from mlcli.core.tables import Table
from mlcli.data.dataset import Dataset
from mlcli.experiment.spec.cells import Cell, CellResult, ModelSpec, ProtocolSpec
from mlcli.experiment.spec.datasets import cell_on

FIVE_FOLDS = ProtocolSpec("k-fold", {"folds": 5, "repeats": 1})


def dataset(rows: int = 40, name: str = "toy", seed: int = 0) -> Dataset:
    """Two numbers, a colour with gaps, and a class."""
    rng = np.random.default_rng(seed)
    columns = (
        Column("a"),
        Column("b", missing=True),
        Column("colour", "nominal", ("red", "green", "blue"), missing=True),
        Column("y", "nominal", ("no", "yes")),
    )
    b = rng.normal(size=rows)
    b[3] = np.nan
    cells = (rng.normal(size=rows), b, rng.integers(-1, 3, rows), rng.integers(0, 2, rows))
    table = Table.of(list(zip(columns, cells, strict=True)), rows)
    fields = tuple(SchemaField(column, "target" if column.name == "y" else "feature") for column in columns)
    return Dataset(name, table, Schema(fields), notes=("the target was guessed",))


def values(rows: int = 30) -> Dataset:
    """Two numbers and a number to predict."""
    rng = np.random.default_rng(1)
    columns = (Column("a"), Column("b"), Column("y"))
    table = Table.of([(column, rng.normal(size=rows)) for column in columns], rows)
    fields = tuple(SchemaField(column, "target" if column.name == "y" else "feature") for column in columns)
    return Dataset("values", table, Schema(fields))


def cell(model: str = "zero-r", data: Dataset | None = None, **more: Any) -> Cell:
    """A cell over the toy dataset; ``params`` go to the model, anything else to the cell."""
    params = more.pop("params", {})
    settled: dict[str, Any] = {"kind": "classification", "steps": (), "protocol": FIVE_FOLDS, "seed": 1}
    label = more.pop("label", "")
    made = data or dataset()
    return cell_on(Cell(dataset=made, model=ModelSpec(model, params, label=label), **(settled | more)), made)


def troubled(how: str, when: str = "first-row-hidden", **more: Any) -> Cell:
    """A cell whose method misbehaves."""
    return cell("troubled", params={"how": how, "when": when, **more.pop("params", {})}, **more)


def digest(results: Sequence[CellResult]) -> list[str]:
    """What cells answered, to the bit; times are left out."""
    return [_digest_of(result) for result in results]


def _digest_of(result: CellResult) -> str:
    seen = hashlib.sha256(f"{result.status} {result.why}".encode())
    for split in result.splits:
        seen.update(repr((split.index, split.label, split.train_rows, split.warnings, split.explanation)).encode())
        for part, answers in split.answers.items():
            seen.update(repr((part, sorted(answers.facts().items()))).encode())
            for name, array in sorted(answers.arrays().items()):
                seen.update(f"{name} {array.dtype} {array.shape}".encode() + array.tobytes())
    return seen.hexdigest()
