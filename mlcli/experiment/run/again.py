"""A stored run made again from its data: the same cells, fresh, and whether the same answers come."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from mlcli.core.errors import MlcliError
from mlcli.data.dataset import Dataset
from mlcli.data.shipped import find, shipped_paths
from mlcli.experiment.run.batch import run
from mlcli.experiment.run.fingerprint import Apart, apart
from mlcli.experiment.run.ledger import OnProgress
from mlcli.experiment.run.preparation import Preparation
from mlcli.experiment.spec.cells import Cell, CellResult
from mlcli.experiment.store.keys import cell_key, splits_digest

OTHER_KEY = "its key is another: splits, parameters or the revision of a method have changed since"


@dataclass(frozen=True, eq=False)
class CellAgain:
    """A cell of a run with what came of it now."""

    before: CellResult
    after: CellResult | None
    """None where it could not be run again, and ``why`` says so."""
    differs: Apart | None = None
    why: str = ""

    @property
    def same(self) -> bool:
        """Whether it ended as before, with the same answers to the bit."""
        return self.after is not None and self.after.status == self.before.status and self.differs is None


def run_again(
    results: Sequence[CellResult], source: Path | None, jobs: int | None, on_progress: OnProgress
) -> list[CellAgain]:
    """The same cells, nothing taken from a store; ``source`` is the experiment file of the run, if any."""
    datasets: dict[str, Dataset | str] = {}
    for result in results:
        facts = result.cell.dataset
        if facts.content not in datasets:
            datasets[facts.content] = dataset_as_it_was(result.cell, source)
    fresh = [_cell(result.cell, datasets[result.cell.dataset.content]) for result in results]
    afters = iter(run([cell for cell in fresh if isinstance(cell, Cell)], jobs=jobs, on_progress=on_progress))
    return [
        _compared(before, next(afters)) if isinstance(cell, Cell) else CellAgain(before, None, why=cell)
        for before, cell in zip(results, fresh, strict=True)
    ]


def _cell(cell: Cell, dataset: Dataset | str) -> Cell | str:
    """The cell with its rows, or why there are none."""
    if isinstance(dataset, str):
        return dataset
    return replace(cell, dataset=replace(dataset, name=cell.dataset.name))


def _compared(before: CellResult, after: CellResult) -> CellAgain:
    differs = apart(before.splits, after.splits)
    if differs is None and before.status == after.status:
        return CellAgain(before, after)
    why = OTHER_KEY if before.key and before.key != _key(after.cell) else ""
    return CellAgain(before, after, differs, why)


def _key(cell: Cell) -> str:
    """The key that the store would give the cell now; none where it cannot even be made ready."""
    try:
        ready = Preparation().ready(cell)
    except MlcliError:
        return ""
    return cell_key(cell, ready, splits_digest(ready.splits))


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
