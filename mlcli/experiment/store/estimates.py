"""What cells may take, seconds and memory, as far as a store has seen their like."""

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
from mlcli.experiment.run.preparation import prepare
from mlcli.experiment.spec.cells import Cell
from mlcli.experiment.spec.facts import facts_of_cell
from mlcli.experiment.store.database import damage_as_store_error
from mlcli.experiment.store.keys import cell_key
from mlcli.experiment.store.store import Store

STEEPEST = 3.0
"""No method is thought to take more time than the cube of rows × columns."""
APART = 1.5
"""By which factor sizes must differ for something to be learned of the growth between them."""
NEAREST = (
    ("content", "model", "params", "steps", "protocol"),
    ("content", "model", "params", "steps"),
    ("model", "params", "steps", "protocol"),
    ("model", "protocol"),
    ("model",),
)
"""What a cell must have in common with one that was run to be judged by it; the first that finds one counts."""

STORED_SPLITS = "SELECT coalesce(sum(count), 0) FROM blocks WHERE cell = ?"


@dataclass(frozen=True)
class CellEstimate:
    """What a cell may take; ``stored`` of its ``splits`` are in the store, and are not run again."""

    splits: int = 0
    stored: int = 0
    seconds: float | None = None
    """For the splits that are missing, by one core; None where nothing is known."""
    memory: int | None = None
    """Bytes at the peak, beside the program and the tables."""
    known_from: str = ""


@dataclass(frozen=True)
class MeasuredCell:
    """A cell that was run: seconds of a split (the median of its blocks), and memory."""

    facts: Mapping[str, Any]
    size: int
    seconds: float
    memory: int | None


def estimates(cells: Sequence[Cell], store: Store) -> list[CellEstimate]:
    """What each cell may take."""
    seen = list(_measured_cells(store))
    return [CellEstimate() if cell.skipped else _estimate(cell, store, seen) for cell in cells]


def work_left(cells: Sequence[Cell], path: Path) -> float:
    """The seconds of one core that cells may still take, as far as a store knows; 0 where there is none."""
    if not path.exists():
        return 0.0
    with Store.read(path) as store:
        return sum(estimate.seconds or 0.0 for estimate in estimates(cells, store))


def _estimate(cell: Cell, store: Store, seen: Sequence[MeasuredCell]) -> CellEstimate:
    try:
        prepared = prepare(cell)
    except MlcliError:
        return CellEstimate()
    value = store.find(cell_key(cell, prepared))
    (stored,) = (0,) if value is None else store.database.one(STORED_SPLITS, value)
    splits, facts = len(prepared.splits), json.loads(json.dumps(facts_of_cell(cell)))
    for names in NEAREST:
        alike = [cell for cell in seen if all(cell.facts[name] == facts[name] for name in names)]
        if alike:
            size = _size(len(cell.dataset), len(cell.dataset.schema.fields))
            seconds = (splits - stored) * _seconds_at(size, [(cell.size, cell.seconds) for cell in alike])
            memory = _memory_at(size, [(cell.size, cell.memory) for cell in alike if cell.memory is not None])
            return CellEstimate(splits, stored, seconds, memory, _words(names, len({cell.size for cell in alike})))
    return CellEstimate(splits, stored)


def _words(names: Sequence[str], sizes: int) -> str:
    if "content" in names:
        return "the same table"
    return "a table of another size" if sizes == 1 else f"tables of {sizes} sizes"


def _measured_cells(store: Store) -> Iterator[MeasuredCell]:
    seconds: dict[int, list[float]] = defaultdict(list)
    for cell, spent, count in store.database.all("SELECT cell, seconds, count FROM blocks"):
        seconds[cell].append(spent / count)
    with damage_as_store_error(store.path):
        described = (json.loads(facts) for (facts,) in store.database.all("SELECT facts FROM datasets"))
        columns = {one["content"]: len(one["schema"]) for one in described}
        for cell, text, memory in store.database.all("SELECT id, facts, memory FROM cells"):
            facts = json.loads(text)
            if cell in seconds and facts["content"] in columns:
                size = _size(facts["rows"], columns[facts["content"]])
                yield MeasuredCell(facts, size, median(seconds[cell]), memory)


def _size(rows: int, columns: int) -> int:
    return max(rows * columns, 1)


def _seconds_at(size: int, known: Sequence[tuple[int, float]]) -> float:
    """The seconds at a size: from the nearest that is known, along the line through all of them in logarithms.

    Of one size alone nothing is learned of the slope: it is taken to be 1.
    """
    x, y = np.log(np.array([[at, max(value, 1e-9)] for at, value in known])).T
    slope = 1.0
    if np.ptp(x) > math.log(APART):
        slope = float(np.clip(np.polyfit(x, y, 1)[0], 0.0, STEEPEST))
    nearest = np.abs(x - math.log(size)) == np.abs(x - math.log(size)).min()
    return math.exp(float(np.median(y[nearest])) + slope * (math.log(size) - float(x[nearest][0])))


def _memory_at(size: int, known: Sequence[tuple[int, int]]) -> int | None:
    """The memory at a size: a part that every table takes and one that grows, by medians over pairs (Theil, Sen).

    Medians, since the first fit of a process also loads and compiles. Of one size alone nothing is learned of a
    much larger one.
    """
    at_size: dict[int, list[int]] = defaultdict(list)
    for at, memory in known:
        at_size[at].append(memory)
    typical = [(at, median(peaks)) for at, peaks in sorted(at_size.items())]
    if not typical:
        return None
    smallest, largest = typical[0][0], typical[-1][0]
    if largest / smallest <= APART:
        return int(max(peak for _, peak in typical)) if size <= APART * largest else None
    growth = max(median((d - b) / (c - a) for (a, b), (c, d) in combinations(typical, 2)), 0.0)
    return int(max(median(peak - growth * at for at, peak in typical) + growth * size, 0.0))
