"""What is not begun unasked: slow methods of a panel, and long work for a target that was guessed."""

from __future__ import annotations

from collections.abc import Sequence

from mlcli.core.errors import UsageError
from mlcli.core.registry import MODELS
from mlcli.data.dataset import Dataset
from mlcli.experiment.spec.cells import Cell
from mlcli.experiment.spec.datasets import PlannedDataset
from mlcli.tasks.table import Kind, kind_named

PATIENCE = 5.0
"""How many seconds a fit of a method of the panel may take, by its own estimate."""
SECONDS_PER_PAIR_OF_CELLS = 1e-9
MOST_FOR_A_GUESS = 10.0
"""Seconds of work at most for a target that is in doubt."""


def why_too_slow(planned: PlannedDataset, use: str) -> str:
    """Why a method of the panel is left out of a dataset of this size, or nothing."""
    seconds = estimated_seconds(planned.dataset, planned.kind, use)
    if seconds <= PATIENCE:
        return ""
    return f"a fit takes about {seconds:.0f} s, and the panel waits {PATIENCE:.0f} s; ask for it with -m {use}"


def estimated_seconds(dataset: Dataset, kind: Kind, use: str) -> float:
    """About how long a method with its defaults takes to learn from the whole dataset, on one core."""
    target = dataset.schema.the("target")
    columns = len(kind.rows.columns_of(dataset.schema))
    return float(MODELS.load(use)().fit_seconds(len(dataset), columns, len(target.levels) if target else 0))


def estimated_work(cells: Sequence[Cell]) -> float:
    """About how many seconds all fits of cells take, as far as their methods estimate them, and their scores."""
    return sum(
        estimated_seconds(cell.dataset, kind_named(cell.kind), cell.model.use) * _fits_of(cell)
        + _seconds_of_scores(cell.dataset)
        for cell in cells
        if isinstance(cell.dataset, Dataset) and not cell.skipped and cell.model.saved is None
    )


def _fits_of(cell: Cell) -> int:
    protocol = cell.protocol.built()
    return int(getattr(protocol, "folds", 1)) * int(getattr(protocol, "repeats", 1))


def _seconds_of_scores(dataset: Dataset) -> float:
    """Errors of scores follow from each cell of the matrix of classes, each by looking at all of them."""
    target = dataset.schema.the("target")
    return float(SECONDS_PER_PAIR_OF_CELLS * len(target.levels) ** 4) if target else 0.0


def doubt_of(cells: Sequence[Cell]) -> str:
    """Why the first target that is in doubt may not be the one that is meant; empty where all are sure."""
    return next((one.dataset.doubt for one in cells if isinstance(one.dataset, Dataset) and one.dataset.doubt), "")


def refuse_long_work(cells: Sequence[Cell]) -> None:
    """Stop before work on a guess that takes long, as far as methods estimate it."""
    refuse_longer(doubt_of(cells), estimated_work(cells))


def is_too_long(doubt: str, seconds: float) -> bool:
    """Whether there is a doubt, and so many seconds of work may be for nothing."""
    return bool(doubt) and seconds > MOST_FOR_A_GUESS


def refuse_longer(doubt: str, seconds: float, about: str = "about") -> None:
    """Stop work that is too long for a guess, and say how it goes on."""
    if is_too_long(doubt, seconds):
        hint = f"this takes {about} {seconds:.0f} s, so it was not done on a guess: say --target COLUMN to go on"
        raise UsageError(doubt, hint=f"{hint} (in an experiment file, target: COLUMN beside path)")
