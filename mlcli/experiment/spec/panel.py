"""The panel: the methods that a dataset meets where none are named, as long as their fits are quick."""

from __future__ import annotations

from collections.abc import Sequence

from mlcli.core.params import build
from mlcli.core.registry import MODELS, PROTOCOLS
from mlcli.data.dataset import Dataset
from mlcli.experiment.spec.cells import Cell
from mlcli.experiment.spec.datasets import PlannedDataset
from mlcli.tasks.table import Kind, kind_named

PATIENCE = 5.0
"""How many seconds a fit of a method of the panel may take, by its own estimate."""

SECONDS_PER_PAIR_OF_CELLS = 1e-9


def why_too_slow(planned: PlannedDataset, use: str) -> str:
    """Why a method of the panel is left out of a dataset of this size, or nothing."""
    seconds = estimated_seconds(planned, use)
    if seconds <= PATIENCE:
        return ""
    return f"a fit takes about {seconds:.0f} s, and the panel waits {PATIENCE:.0f} s; ask for it with -m {use}"


def quick_panel(planned: PlannedDataset) -> tuple[str, ...]:
    """The methods of the panel whose fits are quick on a dataset."""
    return tuple(use for use in planned.kind.panel if not why_too_slow(planned, use))


def estimated_seconds(planned: PlannedDataset, use: str) -> float:
    """About how long a method with its defaults takes to learn from the whole dataset, on one core."""
    return _seconds_of_fit(planned.dataset, planned.kind, use)


def estimated_work(cells: Sequence[Cell]) -> float:
    """About how many seconds all fits of cells take, as far as their methods estimate them, and their scores."""
    return sum(
        _seconds_of_fit(cell.dataset, kind_named(cell.kind), cell.model.use) * _fits_of(cell)
        + _seconds_of_scores(cell.dataset)
        for cell in cells
        if isinstance(cell.dataset, Dataset) and not cell.skipped and cell.model.saved is None
    )


def _fits_of(cell: Cell) -> int:
    protocol = build(PROTOCOLS.load(cell.protocol.use), cell.protocol.params)
    return int(getattr(protocol, "folds", 1)) * int(getattr(protocol, "repeats", 1))


def _seconds_of_scores(dataset: Dataset) -> float:
    """Errors of scores follow from each cell of the matrix of classes, each by looking at all of them."""
    target = dataset.schema.the("target")
    return float(SECONDS_PER_PAIR_OF_CELLS * len(target.levels) ** 4) if target else 0.0


def _seconds_of_fit(dataset: Dataset, kind: Kind, use: str) -> float:
    target = dataset.schema.the("target")
    columns = len(kind.rows.columns_of(dataset.schema))
    return float(MODELS.load(use)().fit_seconds(len(dataset), columns, len(target.levels) if target else 0))
