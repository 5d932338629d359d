"""Estimates of time and memory before a run, and what to do instead where a model does not suit a dataset."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

import numpy as np

from mlcli.core.abilities import EstimatesFitTime, Staged, bytes_per_pair, methods_with
from mlcli.core.configuration import encoded_width
from mlcli.core.errors import UsageError
from mlcli.core.names import METHODS_OF_KINDS, size
from mlcli.core.registry import MODELS
from mlcli.core.schema import Column
from mlcli.data.dataset import Dataset
from mlcli.data.source import is_number
from mlcli.experiment.spec.cells import Cell, Experiment, ModelSpec, ProtocolSpec
from mlcli.experiment.spec.datasets import PlannedDataset
from mlcli.experiment.spec.expectations import Beats
from mlcli.protocols._base import Protocol
from mlcli.tasks.table import Kind, kind_named, kinds_of

PATIENCE = 5.0
"""Seconds that a fit of a default model may take, by its own estimate."""
MOST_FOR_A_GUESS = 10.0
"""Seconds of work at most while the guessed target is in doubt."""
FEW_CLASSES = 10
"""A column with more classes is not suggested as a target."""


def why_too_slow(planned: PlannedDataset, use: str) -> str:
    """Why a default model is left out of a dataset of this size; empty if it is not."""
    seconds = estimated_seconds(planned.dataset, planned.kind, use)
    if seconds <= PATIENCE:
        return ""
    limit = f"over the {PATIENCE:.0f} s limit of default models"
    return f"a fit takes about {seconds:.0f} s, {limit}; add it with -m {use}"


def reference_models_of(
    experiment: Experiment, planned: PlannedDataset, protocol: ProtocolSpec, models: Sequence[ModelSpec]
) -> list[ModelSpec]:
    """Models to compare with that were not listed: those of the kind of task, and those of expectations."""
    kind = planned.kind
    only_baselines = all(model.use in kind.baselines for model in models)
    adds = experiment.models and experiment.reference_models and not only_baselines
    of_kind = kind.reference_models if adds and protocol.use in kind.protocols else ()
    listed = {name for model in models for name in (model.use, model.name)} | {*kind.baselines}
    names = dict.fromkeys([*of_kind, *models_in_gates(experiment, planned)])
    return [ModelSpec(use, requested=False).resolved() for use in names if use not in listed]


def models_in_gates(experiment: Experiment, planned: PlannedDataset) -> list[str]:
    """The models that others are expected to beat on a dataset."""
    gates = [gate for gate in experiment.expect if isinstance(gate, Beats) and gate.data in ("", planned.name)]
    installed = MODELS.names() if gates else ()
    methods = [gate.other for gate in gates if gate.other in installed]
    return [use for use in methods if planned.kind in kinds_of(MODELS.load(use))]


def why_reference_model_too_slow(planned: PlannedDataset, protocol: ProtocolSpec, use: str) -> str:
    """Why a reference model is left out; empty if it fits in a moment. The user did not request it."""
    splitter = protocol.built()
    fits = len(planned.dataset) if splitter.pooled else _fits_by(splitter)
    seconds = estimated_seconds(planned.dataset, planned.kind, use) * fits
    if seconds <= 0.1:
        return ""
    return f"its fits take about {seconds:.1f} s on a table of this size; add it with -m {use}"


def no_stages(what: str) -> UsageError:
    """An error for a request of stages, with the models that have some."""
    return UsageError(what, hint=f"models with stages: {', '.join(methods_with(Staged))}")


def estimated_seconds(dataset: Dataset, kind: Kind, use: str) -> float:
    """About how many seconds a model with default parameters takes to fit the whole dataset, on one core."""
    target = dataset.schema.the("target")
    model = MODELS.load(use)()
    columns = encoded_width(model.accepts, kind.rows.columns_of(dataset.schema))
    if not isinstance(model, EstimatesFitTime):
        return 0.0
    return model.fit_seconds(len(dataset), columns, len(target.levels) if target else 0)


def estimated_work(cells: Sequence[Cell]) -> float:
    """About how many seconds all fits and scores of cells take, as far as models estimate their fits."""
    seconds = 0.0
    for cell in cells:
        dataset = cell.dataset
        if not isinstance(dataset, Dataset) or cell.skipped or cell.model.saved is not None:
            continue
        fit = estimated_seconds(dataset, kind_named(cell.kind), cell.model.use)
        seconds += fit * _fits_by(cell.protocol.built())
        # Standard errors of scores grow with the fourth power of the number of classes.
        target = dataset.schema.the("target")
        seconds += 1e-9 * len(target.levels) ** 4 if target else 0.0
    return seconds


def memory_remarks(cells: Sequence[Cell]) -> list[str]:
    """A sentence for each model that compares all pairs of rows and needs a gigabyte or more for it."""
    sentences = []
    for cell in cells:
        if cell.skipped or cell.model.saved is not None:
            continue
        needed = bytes_per_pair(cell.model.built()) * cell.labelled_rows**2
        if needed >= 1e9:
            what = f"{cell.dataset.name}: a fit of {cell.label} needs up to about {size(needed)} of memory"
            sentences.append(f"{what} in each process; --jobs 1 runs a single process")
    return list(dict.fromkeys(sentences))


def _fits_by(protocol: Protocol) -> int:
    return int(getattr(protocol, "folds", 1)) * int(getattr(protocol, "repeats", 1))


def doubt_of(cells: Sequence[Cell]) -> str:
    """Why the first doubtful target may be the wrong column; empty if none is in doubt."""
    datasets = (cell.dataset for cell in cells)
    return next((data.doubt for data in datasets if isinstance(data, Dataset) and data.doubt), "")


def refuse_long_work(cells: Sequence[Cell]) -> None:
    """Refuse to start long work while the guessed target is in doubt."""
    refuse_longer(doubt_of(cells), estimated_work(cells))


def is_too_long(doubt: str, seconds: float) -> bool:
    """Whether this much work is too much for a doubtful target."""
    return bool(doubt) and seconds > MOST_FOR_A_GUESS


def refuse_longer(doubt: str, seconds: float, about: str = "about") -> None:
    """Refuse work that is too long for a doubtful target, and say how to go on."""
    if is_too_long(doubt, seconds):
        hint = f"the run takes {about} {seconds:.0f} s, too long for a guess: name the target with --target COLUMN"
        raise UsageError(doubt, hint=f"{hint} (in an experiment file, target: COLUMN beside path)")


def method_instead(use: str, kind: Kind) -> str:
    """The counterpart of a model for another kind of task, or the first default model of that kind."""
    counterparts = METHODS_OF_KINDS.get(kind.name, {}).items()
    default = (*kind.panel, kind.baseline)[0]
    return next((name for name, others in counterparts if use in others.split()), default)


def options_on(use: str, dataset: Dataset, kind: Kind) -> list[str]:
    """Options that make a dataset and a model fit each other; one of them is enough."""
    options = [f"-m {method_instead(use, kind)}"]
    for other in kinds_of(MODELS.load(use)):
        options += list(_targets_for(other, dataset))[:1]
    return options


def _targets_for(kind: Kind, dataset: Dataset) -> Iterator[str]:
    """Options that turn a dataset to a kind of task: the task if the target suits it, else another target."""
    target = dataset.schema.the("target")
    if kind.target == "needed" and kind.roles and dataset.schema.the(kind.roles[0]) is None:
        yield f"in the sidecar, {dataset.name}.yaml, roles: {{{kind.roles[0]}: COLUMN}}"
    if kind.roles or kind.marked_by:
        return
    if kind.target != "needed" or (target is not None and _serves(target, kind, dataset)):
        yield f"--task {kind.name}"
        return
    for column in dataset.schema.features():
        if not column.sensitive and _serves(column, kind, dataset):
            yield f"--target {shlex.quote(column.name)}"


def _serves(column: Column, kind: Kind, dataset: Dataset) -> bool:
    """Whether a column can be the target of a kind of task."""
    if column.kind not in kind.target_kinds:
        return kind.target_kinds == ("numeric",) and bool(column.levels) and all(map(is_number, column.levels))
    if column.coded:
        return 2 <= len(column.levels) <= FEW_CLASSES
    cells = dataset.table.cells(column.name)
    return len(np.unique(cells[~np.isnan(cells)])) > FEW_CLASSES


def advice_on(uses: Sequence[str], dataset: Dataset, kind: Kind) -> str:
    """A sentence with options that would work, those of the model that has most."""
    options = [options_on(use, dataset, kind) for use in uses if use in MODELS]
    best = max(options, key=len, default=[])
    return f"what would work: {', or '.join(best)}" if best else "mlcli models lists what each can do"
