"""Estimates of the time and memory of cells, from similar cells in a store."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from mlcli.core.errors import MlcliError
from mlcli.experiment.run.preparation import cell_key, prepare
from mlcli.experiment.spec.cells import Cell
from mlcli.experiment.store.database import damage_as_store_error
from mlcli.experiment.store.runs import facts_of_cell
from mlcli.experiment.store.store import Store

APART = 1.5
"""By which factor sizes must differ to tell anything about growth."""
SIMILAR = (
    ("content", "model", "params", "steps", "protocol"),
    ("content", "model", "params", "steps"),
    ("model", "params", "steps", "protocol"),
    ("model", "protocol"),
    ("model",),
)
"""What a measured cell must have in common with a new one; the first that finds any counts."""


@dataclass(frozen=True)
class CellEstimate:
    """What a cell may take; ``stored`` of its ``splits`` are in the store, and are not run again."""

    splits: int = 0
    stored: int = 0
    seconds: float | None = None
    """For the missing splits, on one core; None if nothing is known."""
    memory: int | None = None
    """Bytes at the peak, beside the program and the tables."""
    known_from: str = ""


@dataclass(frozen=True)
class MeasuredCell:
    """A cell that was run: rows × columns, seconds of a split (the median of its blocks), and memory."""

    facts: Mapping[str, Any]
    size: int
    seconds: float
    memory: int | None


def estimates(cells: Sequence[Cell], store: Store) -> list[CellEstimate]:
    """What each cell may take."""
    measured = list(_measured_cells(store))
    return [CellEstimate() if cell.skipped else _estimate(cell, store, measured) for cell in cells]


def work_left(cells: Sequence[Cell], path: Path) -> float:
    """The seconds that cells may still take on one core, as far as a store tells; 0 if there is none."""
    if not path.exists():
        return 0.0
    with Store.read(path) as store:
        return sum(estimate.seconds or 0.0 for estimate in estimates(cells, store))


def _measured_cells(store: Store) -> Iterator[MeasuredCell]:
    seconds: dict[int, list[float]] = defaultdict(list)
    for cell, block_seconds, count in store.database.all("SELECT cell, seconds, count FROM blocks"):
        seconds[cell].append(block_seconds / count)
    with damage_as_store_error(store.path):
        datasets = (json.loads(facts) for (facts,) in store.database.all("SELECT facts FROM datasets"))
        columns = {dataset["content"]: len(dataset["schema"]) for dataset in datasets}
        for cell, text, memory in store.database.all("SELECT id, facts, memory FROM cells"):
            facts = json.loads(text)
            if cell in seconds and facts["content"] in columns:
                size = max(facts["rows"] * columns[facts["content"]], 1)
                yield MeasuredCell(facts, size, median(seconds[cell]), memory)


def _estimate(cell: Cell, store: Store, measured: Sequence[MeasuredCell]) -> CellEstimate:
    try:
        ready = prepare(cell)
    except MlcliError:
        return CellEstimate()
    stored = 0
    if (id := store.find(cell_key(cell, ready))) is not None:
        (stored,) = store.database.one("SELECT coalesce(sum(count), 0) FROM blocks WHERE cell = ?", id)
    splits, facts = len(ready.splits), json.loads(json.dumps(facts_of_cell(cell)))
    for names in SIMILAR:
        similar = [other for other in measured if all(other.facts[name] == facts[name] for name in names)]
        if not similar:
            continue
        size = max(len(cell.dataset) * len(cell.dataset.schema.fields), 1)
        seconds = (splits - stored) * _seconds_at(size, [(other.size, other.seconds) for other in similar])
        memory = _memory_at(size, [(other.size, other.memory) for other in similar if other.memory is not None])
        sizes = len({other.size for other in similar})
        known_from = "a table of another size" if sizes == 1 else f"tables of {sizes} sizes"
        return CellEstimate(
            splits, stored, seconds, memory, "the same table" if "content" in names else known_from
        )
    return CellEstimate(splits, stored)


def _seconds_at(size: int, measured: Sequence[tuple[int, float]]) -> float:
    """The seconds at a size: those of the nearest measured size, moved along a line through all logarithms.

    The slope is at most 3: no method is expected to take more than the cube of rows × columns. One size alone
    tells nothing about the slope, which is then 1.
    """
    x, y = np.log(np.array([[known_size, max(seconds, 1e-9)] for known_size, seconds in measured])).T
    slope = 1.0
    if np.ptp(x) > math.log(APART):
        slope = float(np.clip(np.polyfit(x, y, 1)[0], 0.0, 3.0))
    nearest = np.abs(x - math.log(size)) == np.abs(x - math.log(size)).min()
    return math.exp(float(np.median(y[nearest])) + slope * (math.log(size) - float(x[nearest][0])))


def _memory_at(size: int, measured: Sequence[tuple[int, int]]) -> int | None:
    """The memory at a size: a constant plus a part that grows with it, by medians over pairs (Theil-Sen).

    Medians, since the first fit of a process also loads and compiles. One size alone tells nothing about a much
    larger one.
    """
    peaks_by_size: dict[int, list[int]] = defaultdict(list)
    for known_size, memory in measured:
        peaks_by_size[known_size].append(memory)
    typical = [(known_size, median(peaks)) for known_size, peaks in sorted(peaks_by_size.items())]
    if not typical:
        return None
    smallest, largest = typical[0][0], typical[-1][0]
    if largest / smallest <= APART:
        return int(max(peak for _, peak in typical)) if size <= APART * largest else None
    growth = max(median((d - b) / (c - a) for (a, b), (c, d) in combinations(typical, 2)), 0.0)
    return int(max(median(peak - growth * known_size for known_size, peak in typical) + growth * size, 0.0))
