"""What would work in the place of a model that cannot do what a dataset is for: another method, target or task."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from mlcli.core.aliases import METHODS_OF_KINDS
from mlcli.core.registry import MODELS
from mlcli.core.schema import Column
from mlcli.data.dataset import Dataset
from mlcli.data.number_text import is_number
from mlcli.tasks.table import Kind, kinds_of

FEW_CLASSES = 10
"""A column of more levels is no target that is offered."""


def method_instead(use: str, kind: Kind) -> str:
    """The method that does a kind of task as another does its own, or the first of its panel."""
    instead = METHODS_OF_KINDS.get(kind.name, {}).items()
    return next((name for name, others in instead if use in others.split()), (*kind.panel, kind.baseline)[0])


def options_on(use: str, dataset: Dataset, kind: Kind) -> list[str]:
    """The options by which a model and a dataset come together; each works."""
    found = [f"-m {method_instead(use, kind)}"]
    for other in kinds_of(MODELS.load(use)):
        found += list(_targets_for(other, dataset))[:1]
    return found


def _targets_for(kind: Kind, dataset: Dataset) -> Iterator[str]:
    """The task alone where the target can serve it, or else a column that could be its target."""
    target = dataset.schema.the("target")
    if kind.roles or kind.marked_by:
        return
    if kind.target != "needed" or (target is not None and _serves(target, kind, dataset)):
        yield f"--task {kind.name}"
        return
    columns = [column for column in dataset.schema.features() if not column.sensitive]
    yield from (f"--target {_quoted(one.name)}" for one in columns if _serves(one, kind, dataset))


def _serves(column: Column, kind: Kind, dataset: Dataset) -> bool:
    if column.kind not in kind.target_kinds:
        return kind.target_kinds == ("numeric",) and bool(column.levels) and all(map(is_number, column.levels))
    if column.coded:
        return 2 <= len(column.levels) <= FEW_CLASSES
    cells = dataset.table.cells(column.name)
    return len(np.unique(cells[~np.isnan(cells)])) > FEW_CLASSES


def advice_on(uses: Sequence[str], dataset: Dataset, kind: Kind) -> str:
    """A sentence with the options of the first model that has more than one, or of the first."""
    options = [options_on(use, dataset, kind) for use in uses if use in MODELS]
    best = max(options, key=len, default=[])
    return f"what would work: {', or '.join(best)}" if best else "mlcli models lists what each can do"


def _quoted(name: str) -> str:
    import shlex

    return shlex.quote(name)
