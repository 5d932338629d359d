"""The panel: the methods that a dataset meets where none are named, as long as their fits are quick."""

from __future__ import annotations

from mlcli.core.registry import MODELS
from mlcli.experiment.spec.datasets import PlannedDataset

PATIENCE = 5.0
"""How many seconds a fit of a method of the panel may take, by its own estimate."""


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
    schema = planned.dataset.schema
    target = schema.the("target")
    columns = len(planned.kind.rows.columns_of(schema))
    return float(
        MODELS.load(use)().fit_seconds(len(planned.dataset), columns, len(target.levels) if target else 0)
    )
