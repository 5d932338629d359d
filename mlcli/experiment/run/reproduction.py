"""A stored run made again from its data: the same cells, fresh; digests of answers, and how far two lie apart."""

from __future__ import annotations

import hashlib
import json
import math
import platform
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np

from mlcli import __version__
from mlcli.core.answers import Answers
from mlcli.core.errors import MlcliError
from mlcli.data.dataset import Dataset
from mlcli.data.shipped import find, shipped_paths
from mlcli.experiment.run.batch import run
from mlcli.experiment.run.ledger import OnProgress
from mlcli.experiment.run.preparation import Preparation
from mlcli.experiment.run.split_results import SplitResult
from mlcli.experiment.spec.cells import Cell, CellResult
from mlcli.experiment.store.keys import cell_key

OTHER_KEY = "its key is another: splits, parameters or the revision of a method have changed since"
PACKAGES = ("numpy", "scipy", "numba")
"""That compute."""
SHOWN = 12
"""Characters of a digest that a person compares."""


@dataclass(frozen=True, eq=False)
class RepeatedCell:
    """A cell of a run with what came of it now."""

    before: CellResult
    after: CellResult | None
    """None where it could not be run again, and ``why`` says so."""
    difference: AnswerDifference | None = None
    why: str = ""

    @property
    def same(self) -> bool:
        """Whether it ended as before, with the same answers to the bit."""
        return self.after is not None and self.after.status == self.before.status and self.difference is None


def rerun_cells(
    results: Sequence[CellResult], source: Path | None, jobs: int | None, on_progress: OnProgress
) -> list[RepeatedCell]:
    """The same cells, nothing taken from a store; ``source`` is the experiment file of the run, if any."""
    datasets: dict[str, Dataset | str] = {}
    for result in results:
        facts = result.cell.dataset
        if facts.content not in datasets:
            datasets[facts.content] = dataset_as_it_was(result.cell, source)
    fresh = [_cell(result.cell, datasets[result.cell.dataset.content]) for result in results]
    afters = iter(run([cell for cell in fresh if isinstance(cell, Cell)], jobs=jobs, on_progress=on_progress))
    return [
        _compared(before, next(afters)) if isinstance(cell, Cell) else RepeatedCell(before, None, why=cell)
        for before, cell in zip(results, fresh, strict=True)
    ]


def _cell(cell: Cell, dataset: Dataset | str) -> Cell | str:
    """The cell with its rows, or why there are none."""
    if isinstance(dataset, str):
        return dataset
    return replace(cell, dataset=replace(dataset, name=cell.dataset.name))


def _compared(before: CellResult, after: CellResult) -> RepeatedCell:
    difference = difference_of(before.splits, after.splits)
    if difference is None and before.status == after.status:
        return RepeatedCell(before, after)
    why = OTHER_KEY if before.key and before.key != _key(after.cell) else ""
    return RepeatedCell(before, after, difference, why)


def _key(cell: Cell) -> str:
    """The key that the store would give the cell now; none where it cannot even be made ready."""
    try:
        ready = Preparation().ready(cell)
    except MlcliError:
        return ""
    return cell_key(cell, ready)


def dataset_as_it_was(cell: Cell, source: Path | None) -> Dataset | str:
    """The dataset of a cell as it was, or why it is not to be had."""
    from mlcli.data.load import load

    target = cell.dataset.schema.the("target")
    why = f"the data of {cell.dataset.name} are not there any more"
    for reference in _places(cell, source):
        for task in dict.fromkeys((cell.dataset.task, cell.kind)):
            try:
                dataset = load(reference, target=target.name if target else None, task=task)
            except MlcliError:
                continue
            if dataset.content == cell.dataset.content:
                return dataset
            why = f"the data of {cell.dataset.name} have changed since"
    return why


def _places(cell: Cell, source: Path | None) -> Iterator[str]:
    """Where a dataset may be now: where it was, beside the experiment, or among those that are shipped."""
    path = cell.dataset.path
    if path is None:
        return
    yield str(path)
    if source is not None:
        yield str(source.parent / path)
    if path.stem in shipped_paths():
        yield str(find(path.stem))


@dataclass(frozen=True)
class AnswerDifference:
    """How the answers of two runs differ: in how many splits, and by how much at most where numbers can tell."""

    splits: int
    furthest: float


def answers_digest(splits: Iterable[SplitResult]) -> str:
    """A hash of all answers, in order; times, warnings and explanations are not in it."""
    seen = hashlib.sha256()
    for split in splits:
        seen.update(split_digest(split).encode())
    return seen.hexdigest()


def split_digest(split: SplitResult) -> str:
    """A hash of what a model answered in one split, and of which rows it was asked."""
    seen = hashlib.sha256(repr((split.index, split.label, split.train_rows, split.coordinate)).encode())
    for name, answers in _parts(split):
        seen.update(name.encode())
        seen.update(json.dumps(answers.facts(), sort_keys=True, default=str).encode())
        for key, array in sorted(answers.arrays().items()):
            seen.update(f"{key}{array.shape}".encode())
            seen.update(_plain(array).tobytes())
    return seen.hexdigest()


def difference_of(before: Sequence[SplitResult], after: Sequence[SplitResult]) -> AnswerDifference | None:
    """How far the answers of two runs of one cell lie apart; None where they are the same to the bit."""
    pairs = list(zip_longest(before, after))
    differing = [(a, b) for a, b in pairs if a is None or b is None or split_digest(a) != split_digest(b)]
    if not differing:
        return None
    distances = (_distance(a, b) for a, b in differing if a is not None and b is not None)
    return AnswerDifference(len(differing), max(distances, default=math.nan))


def versions() -> dict[str, str]:
    """The versions of mlcli, Python and the packages that compute."""
    from importlib.metadata import version

    computing = {name: version(name) for name in PACKAGES}
    return {"mlcli": __version__, "python": platform.python_version(), **computing, "machine": platform.machine()}


def _parts(split: SplitResult) -> Iterator[tuple[str, Answers]]:
    yield from split.answers.items()
    yield from ((f"{at.name}={at.value}", answers) for at, answers in split.stages)


def _plain(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The same values in one width and order, which stored arrays may have changed."""
    wide = np.float64 if array.dtype.kind == "f" else np.int64 if array.dtype.kind in "iub" else array.dtype
    return np.ascontiguousarray(array, dtype=wide)


def _distance(before: SplitResult, after: SplitResult) -> float:
    """The largest difference of a number in both; NaN where they hold no numbers that can be compared."""
    one, other = (
        {(name, key): array for name, answers in _parts(split) for key, array in answers.arrays().items()}
        for split in (before, after)
    )
    floats = ((one[key], other[key]) for key in one.keys() & other.keys() if other[key].dtype.kind == "f")
    found = (float(np.nanmax(np.abs(a - b), initial=0.0)) for a, b in floats if a.shape == b.shape)
    return max(found, default=math.nan)
