"""A stored run made again from its data: the same cells, fresh; digests of answers, and how far two lie apart."""

from __future__ import annotations

import hashlib
import json
import math
import platform
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import starmap, zip_longest
from pathlib import Path
from typing import Any

import numpy as np

from mlcli import __version__
from mlcli.core.answers import HEADER, Answers
from mlcli.core.errors import MlcliError, UsageError
from mlcli.core.names import listed
from mlcli.core.registry import plugin_files
from mlcli.data.dataset import Dataset, Recipe
from mlcli.data.shipped import shipped_paths
from mlcli.experiment.results import SplitResult
from mlcli.experiment.run.batch import run
from mlcli.experiment.run.batch_state import OnProgress
from mlcli.experiment.run.preparation import cell_key, prepare
from mlcli.experiment.spec.cells import Cell, CellResult, DatasetFacts
from mlcli.experiment.spec.datasets import cell_on

OTHER_KEY = "its key is another: splits, parameters or the revision of a method have changed since"
PLUGINS = "plugins"
"""Under which name a run keeps the files of the user's own methods."""
PACKAGES = ("numpy", "scipy", "numba")
"""That compute."""
HARDWARE = ("cpu", "blas")
"""What a run keeps of its machine: where one of them is another, the last digits of answers may be."""
MOST_APART, MOST_OTHER_LABELS = 1e-3, 0.01
"""On other hardware: how far numbers may lie apart, as a share of their range, and the share of other labels,
of which there may always be one."""
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
        return self._ended_as_before and self.difference is None

    @property
    def close(self) -> bool:
        """Whether it ended as before, with answers as close as other hardware gives them."""
        return self._ended_as_before and (self.difference is None or self.difference.is_small)

    @property
    def _ended_as_before(self) -> bool:
        return self.after is not None and self.after.status == self.before.status


def rerun_cells(
    results: Sequence[CellResult], jobs: int | None, on_progress: OnProgress | None
) -> list[RepeatedCell]:
    """The same cells, nothing taken from a store."""
    datasets: dict[str, Dataset | str] = {}
    for result in results:
        facts = result.cell.dataset
        if facts.content not in datasets:
            datasets[facts.content] = dataset_as_it_was(result.cell)
    fresh = [_cell(result.cell, datasets[result.cell.dataset.content]) for result in results]
    afters = iter(run([cell for cell in fresh if isinstance(cell, Cell)], jobs=jobs, on_progress=on_progress))
    return [
        _compared(before, next(afters)) if isinstance(cell, Cell) else RepeatedCell(before, None, why=cell)
        for before, cell in zip(results, fresh, strict=True)
    ]


def refuse_missing_plugins(results: Sequence[CellResult], recorded: Sequence[str] | None) -> None:
    """Name the plug-ins of a run that its models need: a store alone never has code imported."""
    missing = [file for file in recorded or () if Path(file) not in plugin_files()]
    if missing and not all(_is_known(result.cell) for result in results):
        what = f"the run used methods of {listed(missing)}, which no store may import by itself"
        raise UsageError(what, hint=f"name what you trust: {' '.join(f'--plugin {file}' for file in missing)}")


def _is_known(cell: Cell) -> bool:
    """Whether its model, its steps, and all that is nested in them are registered here."""
    try:
        cell.model.built()
        for step in cell.steps:
            step.built()
    except MlcliError:
        return cell.model.saved is not None
    return True


def _cell(cell: Cell, dataset: Dataset | str) -> Cell | str:
    """The cell with its rows, or why there are none."""
    if isinstance(dataset, str):
        return dataset
    return cell_on(cell, replace(dataset, name=cell.dataset.name))


def _compared(before: CellResult, after: CellResult) -> RepeatedCell:
    difference = difference_of(before.splits, after.splits)
    if difference is None and before.status == after.status:
        return RepeatedCell(before, after)
    why = OTHER_KEY if before.key and before.key != _key(after.cell) else ""
    return RepeatedCell(before, after, difference, why)


def _key(cell: Cell) -> str:
    """The key that the store would give the cell now; none where it cannot even be made ready."""
    try:
        return cell_key(cell, prepare(cell))
    except MlcliError:
        return ""


def dataset_as_it_was(cell: Cell) -> Dataset | str:
    """The dataset of a cell, read again as the run read it, or why that cannot be done."""
    from mlcli.data.load import load_by_recipe

    facts = cell.dataset
    assert isinstance(facts, DatasetFacts)
    if facts.recipe is None:
        return f"the data of {facts.name} came from memory, and no run keeps rows"
    reasons = []
    for path in _possible_paths(facts, facts.recipe):
        recipe = replace(facts.recipe, path=path)
        try:
            dataset = load_by_recipe(recipe)
        except MlcliError as error:
            problem = f" {error.problems[0].what}"
        else:
            if dataset.content == facts.content:
                return dataset
            problem = ""
        same_file = recipe.file_hash == facts.file_hash
        change = "are the same, but are read differently now" if same_file else "have changed since"
        reasons.append(f"the data of {facts.name} {change}: {path}{problem}")
    return reasons[0] if reasons else f"the data of {facts.name} are not there any more: {facts.recipe.path}"


def _possible_paths(facts: DatasetFacts, recipe: Recipe) -> Iterator[Path]:
    """Files that may hold a dataset now: the same one, one in the same place from here, a shipped one."""
    shipped = shipped_paths().get(recipe.path.stem)
    places = (recipe.path, facts.path and facts.path.absolute(), shipped)
    yield from dict.fromkeys(path for path in places if path is not None and path.is_file())


@dataclass(frozen=True)
class AnswerDifference:
    """How the answers of two runs differ: in how many splits, and by how much at most where numbers can tell."""

    splits: int
    furthest: float
    is_small: bool = False
    """Whether numbers and labels lie as close as other hardware puts them."""


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
    both = [(a, b) for a, b in differing if a is not None and b is not None]
    furthest = max((_distance(a, b) for a, b in both), default=math.nan)
    is_small = len(both) == len(differing) and all(starmap(_are_close, both))
    return AnswerDifference(len(differing), furthest, is_small)


def is_other_hardware(before: Mapping[str, str] | None, now: Mapping[str, str]) -> bool:
    """Whether a run was made on another kind of CPU, or with another kernel of BLAS, as far as that was kept."""
    return before is not None and any(name in before and before[name] != now[name] for name in HARDWARE)


def versions_and_hardware() -> dict[str, str]:
    """All that the digits of answers depend on beside the data and the experiment."""
    return {**versions(), **hardware()}


def hardware() -> dict[str, str]:
    """The model of the CPU, and which of its kernels BLAS has chosen for it."""
    from threadpoolctl import ThreadpoolController

    libraries = (one for one in ThreadpoolController().info() if one["user_api"] == "blas")
    kernels = {f"{library['internal_api']} {library.get('architecture') or ''}".strip() for library in libraries}
    return dict(zip(HARDWARE, (_model_of_cpu(), ", ".join(sorted(kernels)) or "none"), strict=True))


def _model_of_cpu() -> str:
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


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


def _arrays_of(split: SplitResult) -> dict[tuple[str, str], np.ndarray[Any, Any]]:
    """Every array of the answers of a split."""
    return {(name, key): array for name, answers in _parts(split) for key, array in answers.arrays().items()}


def _are_close(before: SplitResult, after: SplitResult) -> bool:
    """Whether all numbers and labels of two splits lie as close as other hardware puts them."""
    one, other = _arrays_of(before), _arrays_of(after)
    if one.keys() != other.keys():
        return False
    rows = [key for key in one if key[1].startswith(HEADER)]
    same_rows = all(np.array_equal(one[key], other[key]) for key in rows)
    return same_rows and all(_are_close_arrays(one[key], other[key]) for key in one.keys() - set(rows))


def _are_close_arrays(before: np.ndarray[Any, Any], after: np.ndarray[Any, Any]) -> bool:
    if before.shape != after.shape:
        return False
    if before.dtype.kind != "f" or after.dtype.kind != "f":
        return int((before != after).sum()) <= max(1, MOST_OTHER_LABELS * before.size)
    finite = before[np.isfinite(before)]
    extent = (np.ptp(finite) or np.abs(finite).max()) if finite.size else 0.0
    return np.allclose(before, after, rtol=0.0, atol=MOST_APART * extent, equal_nan=True)


def _distance(before: SplitResult, after: SplitResult) -> float:
    """The largest difference of a number in both; NaN where they hold no numbers that can be compared."""
    one, other = _arrays_of(before), _arrays_of(after)
    floats = ((one[key], other[key]) for key in one.keys() & other.keys() if other[key].dtype.kind == "f")
    generator = (float(np.nanmax(np.abs(a - b), initial=0.0)) for a, b in floats if a.shape == b.shape)
    return max(generator, default=math.nan)
