"""A stored run made again from its data: the same cells, fresh; digests of answers, and how far two lie apart."""

from __future__ import annotations

import hashlib
import json
import math
import platform
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np

from mlcli import __version__
from mlcli.core.answers import HEADER, Answers
from mlcli.core.errors import MlcliError, UsageError
from mlcli.core.names import listed
from mlcli.core.registry import plugin_files
from mlcli.data.dataset import Dataset
from mlcli.data.shipped import shipped_paths
from mlcli.experiment.results import SplitResult
from mlcli.experiment.run.batch import run
from mlcli.experiment.run.batch_state import OnProgress
from mlcli.experiment.run.preparation import cell_key, prepare
from mlcli.experiment.spec.cells import Cell, CellResult, DatasetFacts
from mlcli.experiment.spec.datasets import cell_on

AnyArray = np.ndarray[Any, np.dtype[Any]]
OTHER_KEY = "its key is another: splits, parameters or the revision of a method have changed since"
PLUGINS = "plugins"
"""Under which name a run keeps the files of the user's own methods."""
MOST_APART, MOST_OTHER_LABELS = 1e-3, 0.01
"""On other hardware: how far numbers may lie apart, as a share of their range, and the share of other labels,
of which there may always be one."""
SHOWN = 12
"""Characters of a digest that a person compares."""


@dataclass(frozen=True)
class AnswerDifference:
    """How the answers of two runs differ: in how many splits, and by how much at most, if they are numbers."""

    splits: int
    furthest: float
    is_small: bool = False
    """Whether numbers and labels are as close as they are on other hardware."""


@dataclass(frozen=True, eq=False)
class RepeatedCell:
    """A cell of a run with its result now."""

    before: CellResult
    after: CellResult | None
    """None if it could not be run again, and ``why`` says so."""
    difference: AnswerDifference | None = None
    why: str = ""

    @property
    def same(self) -> bool:
        """Whether it ended as before, with bit-identical answers."""
        return self._ended_as_before and self.difference is None

    @property
    def close(self) -> bool:
        """Whether it ended as before, with answers as close as on other hardware."""
        return self._ended_as_before and (self.difference is None or self.difference.is_small)

    @property
    def _ended_as_before(self) -> bool:
        return self.after is not None and self.after.status == self.before.status


def rerun_cells(
    results: Sequence[CellResult], jobs: int | None, on_progress: OnProgress | None
) -> list[RepeatedCell]:
    """Run the same cells again, without a store."""
    datasets: dict[str, Dataset | str] = {}
    cells: list[Cell | str] = []
    for result in results:
        cell = result.cell
        if cell.dataset.content not in datasets:
            datasets[cell.dataset.content] = dataset_as_it_was(cell)
        dataset = datasets[cell.dataset.content]
        if isinstance(dataset, Dataset):
            cells.append(cell_on(cell, replace(dataset, name=cell.dataset.name)))
        else:
            cells.append(dataset)
    runnable = [cell for cell in cells if isinstance(cell, Cell)]
    afters = iter(run(runnable, jobs=jobs, on_progress=on_progress))
    return [
        _compared(before, next(afters)) if isinstance(cell, Cell) else RepeatedCell(before, None, why=cell)
        for before, cell in zip(results, cells, strict=True)
    ]


def _compared(before: CellResult, after: CellResult) -> RepeatedCell:
    difference = difference_of(before.splits, after.splits)
    if difference is None and before.status == after.status:
        return RepeatedCell(before, after)
    why = ""
    if before.key:
        try:
            key = cell_key(after.cell, prepare(after.cell))
        except MlcliError:
            key = ""
        if before.key != key:
            why = OTHER_KEY
    return RepeatedCell(before, after, difference, why)


def refuse_missing_plugins(results: Sequence[CellResult], recorded: Sequence[str] | None) -> None:
    """Name the plug-ins of a run that its models need: a store alone never has code imported."""
    missing = [file for file in recorded or () if Path(file) not in plugin_files()]
    if missing and not all(_is_registered(result.cell) for result in results):
        what = f"the run used methods of {listed(missing)}, which no store may import by itself"
        raise UsageError(what, hint=f"name what you trust: {' '.join(f'--plugin {file}' for file in missing)}")


def _is_registered(cell: Cell) -> bool:
    """Whether its model, its steps, and all that is nested in them are registered here."""
    try:
        cell.model.built()
        for step in cell.steps:
            step.built()
    except MlcliError:
        return cell.model.saved is not None
    return True


def dataset_as_it_was(cell: Cell) -> Dataset | str:
    """The dataset of a cell, read again as the run read it, or why that cannot be done."""
    from mlcli.data.load import load_by_recipe

    facts = cell.dataset
    assert isinstance(facts, DatasetFacts)
    if facts.recipe is None:
        return f"the data of {facts.name} came from memory, and no run keeps rows"
    # The same file, one at the same relative path, or a shipped one.
    shipped = shipped_paths().get(facts.recipe.path.stem)
    candidates = (facts.recipe.path, facts.path and facts.path.absolute(), shipped)
    reasons = []
    for path in dict.fromkeys(path for path in candidates if path is not None and path.is_file()):
        recipe = replace(facts.recipe, path=path)
        problem = ""
        try:
            dataset = load_by_recipe(recipe)
            if dataset.content == facts.content:
                return dataset
        except MlcliError as error:
            problem = f" {error.problems[0].what}"
        is_same_file = recipe.file_hash == facts.file_hash
        change = "are the same, but are read differently now" if is_same_file else "have changed since"
        reasons.append(f"the data of {facts.name} {change}: {path}{problem}")
    return reasons[0] if reasons else f"the data of {facts.name} are not there any more: {facts.recipe.path}"


def answers_digest(splits: Iterable[SplitResult]) -> str:
    """A hash of all answers, in order, without times, warnings and explanations."""
    sha = hashlib.sha256()
    for split in splits:
        sha.update(split_digest(split).encode())
    return sha.hexdigest()


def split_digest(split: SplitResult) -> str:
    """A hash of the answers of one split and of the rows that they are about."""
    sha = hashlib.sha256(repr((split.index, split.label, split.train_rows, split.coordinate)).encode())
    for name, answers in _answers_by_name(split):
        sha.update(name.encode())
        sha.update(json.dumps(answers.facts(), sort_keys=True, default=str).encode())
        for key, array in sorted(answers.arrays().items()):
            # in one width and order, which the store may have changed
            kind = array.dtype.kind
            wide = np.float64 if kind == "f" else np.int64 if kind in "iub" else array.dtype
            sha.update(f"{key}{array.shape}".encode())
            sha.update(np.ascontiguousarray(array, dtype=wide).tobytes())
    return sha.hexdigest()


def difference_of(before: Sequence[SplitResult], after: Sequence[SplitResult]) -> AnswerDifference | None:
    """How far the answers of two runs of one cell are apart; None if they are bit-identical."""
    pairs = list(zip_longest(before, after))
    differing = [(a, b) for a, b in pairs if a is None or b is None or split_digest(a) != split_digest(b)]
    if not differing:
        return None
    both = [(a, b) for a, b in differing if a is not None and b is not None]
    furthest = max((_distance(a, b) for a, b in both), default=math.nan)
    is_small = len(both) == len(differing) and all(_are_close(a, b) for a, b in both)
    return AnswerDifference(len(differing), furthest, is_small)


def _answers_by_name(split: SplitResult) -> Iterator[tuple[str, Answers]]:
    yield from split.answers.items()
    yield from ((f"{at.name}={at.value}", answers) for at, answers in split.stages)


def _arrays_of(split: SplitResult) -> dict[tuple[str, str], AnyArray]:
    """Every array of the answers of a split."""
    answers_by_name = _answers_by_name(split)
    return {(name, key): array for name, answers in answers_by_name for key, array in answers.arrays().items()}


def _distance(before: SplitResult, after: SplitResult) -> float:
    """The largest difference of two numbers; NaN if there are no numbers to compare."""
    first, second = _arrays_of(before), _arrays_of(after)
    pairs = [(first[key], second[key]) for key in first.keys() & second.keys()]
    floats = [(a, b) for a, b in pairs if b.dtype.kind == "f" and a.shape == b.shape]
    return max((float(np.nanmax(np.abs(a - b), initial=0.0)) for a, b in floats), default=math.nan)


def _are_close(before: SplitResult, after: SplitResult) -> bool:
    """Whether all numbers and labels of two splits are as close as on other hardware.

    The rows are the same, numbers differ by at most ``MOST_APART`` of their range, and few labels differ.
    """
    first, second = _arrays_of(before), _arrays_of(after)
    if first.keys() != second.keys():
        return False
    for key, a in first.items():
        b = second[key]
        if key[1].startswith(HEADER):
            is_close = np.array_equal(a, b)
        elif a.shape != b.shape:
            is_close = False
        elif a.dtype.kind == "f" and b.dtype.kind == "f":
            finite = a[np.isfinite(a)]
            extent = (np.ptp(finite) or np.abs(finite).max()) if finite.size else 0.0
            is_close = np.allclose(a, b, rtol=0.0, atol=MOST_APART * extent, equal_nan=True)
        else:
            is_close = int((a != b).sum()) <= max(1, MOST_OTHER_LABELS * a.size)
        if not is_close:
            return False
    return True


def is_other_hardware(before: Mapping[str, str] | None, now: Mapping[str, str]) -> bool:
    """Whether a run was made on another CPU, or with another kernel of BLAS, as far as that was kept."""
    return before is not None and any(name in before and before[name] != now[name] for name in ("cpu", "blas"))


def versions_and_hardware() -> dict[str, str]:
    """All that the digits of answers depend on beside the data and the experiment."""
    from threadpoolctl import ThreadpoolController

    cpu = platform.processor() or platform.machine()
    with suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        cpu = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), cpu)
    libraries = (library for library in ThreadpoolController().info() if library["user_api"] == "blas")
    kernels = {f"{library['internal_api']} {library.get('architecture') or ''}".strip() for library in libraries}
    return {**versions(), "cpu": cpu, "blas": ", ".join(sorted(kernels)) or "none"}


def versions() -> dict[str, str]:
    """The versions of mlcli, Python and the packages that compute."""
    from importlib.metadata import version

    packages = {name: version(name) for name in ("numpy", "scipy", "numba")}
    return {"mlcli": __version__, "python": platform.python_version(), **packages, "machine": platform.machine()}
