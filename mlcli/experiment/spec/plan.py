"""Plans an experiment: loads its datasets, pairs them with its models, and resolves every default."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, overload

from mlcli.core.abilities import Staged
from mlcli.core.configuration import after, missing_steps, ready_for
from mlcli.core.errors import ExperimentError, Faults, ModelFileError, UsageError
from mlcli.core.findings import Issue
from mlcli.core.names import nearest
from mlcli.core.nested import can_do
from mlcli.core.params import settings
from mlcli.core.pipeline import WITHOUT_WEIGHTS
from mlcli.core.registry import MODELS
from mlcli.core.serialise import MAX_SEED
from mlcli.experiment.spec.cells import (
    AS_SAVED,
    SELECTED,
    TUNED,
    Cell,
    Experiment,
    ModelSpec,
    ProtocolSpec,
    Stages,
    StepSpec,
    distinct_labels,
    settings_text,
)
from mlcli.experiment.spec.datasets import (
    PlannedDataset,
    check_metrics,
    planned_datasets,
    problems_with_rows,
    protocol_for,
)
from mlcli.experiment.spec.expectations import Beats
from mlcli.experiment.spec.shorthands import (
    KINDS_OF_COST,
    refuse_nothing_tuned,
    refuse_unknown_metric,
    selection_of,
    tuned_by_metric,
    tuned_if_tunable,
    tuned_in_order,
)
from mlcli.experiment.spec.suitability import (
    models_in_gates,
    no_stages,
    reference_models_of,
    why_reference_model_too_slow,
    why_too_slow,
)
from mlcli.metrics.confusion import cost_name
from mlcli.tasks.table import Kind, kind_named, kinds_of

if TYPE_CHECKING:
    from mlcli.experiment.saved.saved_model import SavedModel

TWICE = "is listed twice, with the same parameters"


@dataclass(frozen=True)
class PlannedIssue:
    """An issue that the audit found in a dataset, with the protocol that splits it."""

    dataset: str
    protocol: str
    issue: Issue


@dataclass(frozen=True, eq=False)
class Plan(Sequence[Cell]):
    """What a run will do: the cells of an experiment, with the rows and the splits of their datasets."""

    experiment: Experiment
    cells: tuple[Cell, ...]
    issues: tuple[PlannedIssue, ...] = ()
    """Filled by ``checks.audit.with_issues``."""

    def __len__(self) -> int:
        return len(self.cells)

    @overload
    def __getitem__(self, index: int) -> Cell: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Cell, ...]: ...
    def __getitem__(self, index: int | slice) -> Cell | tuple[Cell, ...]:
        return self.cells[index]

    @property
    def split_warnings(self) -> list[str]:
        """The warnings of protocols, such as classes with fewer rows than folds."""
        warnings = (issue for issue in self.issues if issue.issue.code == "splitting")
        return [f"{warning.dataset}, {warning.protocol}: {warning.issue.sentence}" for warning in warnings]


def plan(experiment: Experiment) -> Plan:
    """The plan of an experiment: for each dataset the baselines, then the models in order.

    All problems of the experiment are raised together.
    """
    valid_part, faults = plan_with_faults(experiment)
    faults.raise_any(ExperimentError if experiment.source else UsageError)
    return valid_part


def plan_with_faults(experiment: Experiment) -> tuple[Plan, Faults]:
    """A plan of the valid parts of an experiment, and every problem of the others."""
    faults = Faults()
    with faults.collected():
        if experiment.seed > MAX_SEED:
            raise UsageError(f"the seed {experiment.seed} is too large", hint=f"seeds go up to {MAX_SEED}")
    models = None if experiment.models is None else _resolved_models(_tuned(experiment, faults), faults)
    folder = experiment.source.parent if experiment.source else None
    classes = [MODELS.load(_method_of(model)) if model.use == TUNED else model.cls for model in models or ()]
    saved = [_loaded(model) for model in models or () if model.saved is not None]
    only_saved = models is not None and len(saved) == len(models)
    datasets = planned_datasets(experiment.data, folder, faults, classes, saved)
    if _costs_fit(experiment, datasets, faults):
        check_metrics(experiment, datasets, faults)
    cells: list[Cell] = []
    for planned in datasets:
        protocols: list[ProtocolSpec] = []
        for requested in (experiment.protocol, *experiment.further_protocols):
            with faults.collected(requested.where if requested else planned.spec.where):
                protocol = protocol_for(planned, requested, any_rows=only_saved)
                if protocol in protocols:
                    raise UsageError(f"{protocol.use} {TWICE}", hint="leave one of them out")
                with faults.collected(planned.spec.where):
                    of_protocol = _cells(experiment, planned, protocol, models, faults)
                    # A saved model predicts all rows once, whatever the protocols.
                    cells += [cell for cell in of_protocol if not protocols or cell.model.saved is None]
                protocols.append(protocol)
    if not faults.errors:
        _check_gates(experiment, cells, faults)
    with faults.collected():
        if experiment.stages and cells and not any(cell.stages or cell.model.stages is not None for cell in cells):
            raise no_stages("none of the models has stages")
    return Plan(experiment, tuple(cells)), faults


def _costs_fit(experiment: Experiment, datasets: Sequence[PlannedDataset], faults: Faults) -> bool:
    """Whether costs, if they are given, fit some dataset; a fault is collected if they do not."""
    others = [
        f"{dataset.name} is {dataset.kind.name}" for dataset in datasets if dataset.kind.name != KINDS_OF_COST
    ]
    if experiment.cost is None or len(others) < len(datasets) or not datasets:
        return True
    with faults.collected(experiment.metrics_where.get(cost_name(experiment.cost), "")):
        hint = "leave out --cost, or 'cost' in a file"
        raise UsageError(f"costs are those of answering with classes, and {', '.join(others)}", hint=hint)
    return False


def _check_gates(experiment: Experiment, cells: Sequence[Cell], faults: Faults) -> None:
    """Collect a fault for each expectation to beat a model that does not take part."""
    names = dict.fromkeys(name for cell in cells for name in (cell.label, cell.model.use))
    for gate in experiment.expect:
        if isinstance(gate, Beats) and gate.other not in names:
            with faults.collected(gate.where):
                similar = nearest(gate.other, [*names, *MODELS.names()])
                is_other = similar and similar != gate.other
                hint = f"did you mean '{similar}'?" if is_other else f"models here: {', '.join(names)}"
                raise UsageError(f"'beats': there is no model '{gate.other}' to compare with here", hint=hint)


def _tuned(experiment: Experiment, faults: Faults) -> Sequence[ModelSpec]:
    """The models, tuned where the experiment tunes them; a fault if it tunes none of them."""
    models = experiment.models or ()
    if experiment.tune is None or not models:
        return models
    with faults.collected():
        tuned = [tuned_if_tunable(model, experiment.tune) for model in models]
        all_share = all(model.shares_tune for model in models)
        if all_share and tuned == list(models) and not any(model.use == TUNED for model in models):
            refuse_nothing_tuned(models)
        return tuned
    return models


def _resolved_models(models: Sequence[ModelSpec], faults: Faults) -> list[ModelSpec]:
    """The models with all parameters; a duplicate is a fault."""
    resolved: list[ModelSpec] = []
    seen: set[str] = set()
    for model in models:
        with faults.collected(model.where):
            full = _resolved(model)
            key = f"{full.use} {settings_text(full)}"
            if key in seen:
                label = distinct_labels([*resolved, full])[-1]
                raise UsageError(f"{label} {TWICE} and steps", hint="leave one of them out")
            seen.add(key)
            resolved.append(full)
    return resolved


def _resolved(model: ModelSpec) -> ModelSpec:
    """A model with all parameters; those of a saved model come from its file."""
    if model.saved is not None:
        pipeline = _loaded(model).pipeline
        steps = tuple(map(StepSpec.of, pipeline.steps))
        return replace(model, use=pipeline.model.id, params=settings(pipeline.model), steps=steps)
    own_steps = None if model.steps is None else tuple(step.resolved() for step in model.steps)
    return replace(model.resolved(), steps=own_steps)


def _loaded(model: ModelSpec) -> SavedModel:
    """The saved model that a spec names by its file."""
    from mlcli.experiment.saved.model_file import load_model

    assert model.saved is not None
    return load_model(model.saved)


def _cells(
    experiment: Experiment,
    planned: PlannedDataset,
    protocol: ProtocolSpec,
    requested: Sequence[ModelSpec] | None,
    faults: Faults,
) -> Iterator[Cell]:
    """The cells of one dataset; a model whose steps name unknown columns is a fault, and gets no cell."""
    if requested is None:
        panel = [ModelSpec(use) for use in planned.kind.panel]
        if experiment.tune is not None:
            panel = [tuned_if_tunable(spec, experiment.tune) for spec in panel]
        requested = [_resolved(spec) for spec in panel]
    only_saved = all(model.saved is not None for model in requested)
    unsplit = next((problem.what for problem in problems_with_rows(planned, protocol)), "") if only_saved else ""
    models = _all_models(experiment, planned, protocol, requested)
    labels = distinct_labels(models)
    for index, label in enumerate(labels):
        if label in labels[:index]:
            what = f"two models would be called '{label}' in the table of {planned.name}"
            raise UsageError(what, where=models[index].where, hint="choose another name with 'as'")
    asks_training = protocol.built().asks_training_rows()
    for model in (replace(model, label=label) for model, label in zip(models, labels, strict=True)):
        is_saved = model.saved is not None
        skipped = _why_skipped(planned, model, protocol) or _why_left_out(experiment, planned, protocol, model)
        skipped = skipped or ("" if is_saved else unsplit)
        learned = 0 if skipped or not is_saved else _learned_rows(planned, model)
        steps = model.steps or () if skipped or is_saved else None
        with faults.collected(model.where):
            if not skipped:
                refuse_unknown_metric(model, planned.kind, planned.classes)
            steps = _all_steps(planned, model) if steps is None else steps
        if steps is None:
            continue
        yield Cell(
            dataset=planned.dataset,
            kind=planned.kind.name,
            model=model,
            steps=steps,
            protocol=ProtocolSpec(AS_SAVED) if is_saved else protocol,
            seed=experiment.seed,
            budget=experiment.budget.cell,
            memory=experiment.budget.memory,
            shortcuts=experiment.shortcuts,
            stages=_stages_of(model, experiment.stages),
            training=(experiment.training or asks_training) and not is_saved,
            skipped=skipped,
            wrong_task=planned.kind not in _kinds_of(model),
            average=experiment.average,
            learned_rows=learned,
            planned=None if is_saved else planned,
        )


def _why_left_out(
    experiment: Experiment, planned: PlannedDataset, protocol: ProtocolSpec, model: ModelSpec
) -> str:
    """Why a model that was not requested is left out because it is slow; empty if it is not left out."""
    use = _method_of(model)
    if use == SELECTED or use in models_in_gates(experiment, planned):
        return ""
    if not model.requested:
        return why_reference_model_too_slow(planned, protocol, use)
    return why_too_slow(planned, use) if experiment.models is None else ""


def _all_models(
    experiment: Experiment, planned: PlannedDataset, protocol: ProtocolSpec, models: Sequence[ModelSpec]
) -> list[ModelSpec]:
    """The baselines, reference models and models, and the best of them if the experiment asks for it.

    Models that tune or choose do so by the first metric of the experiment.
    """
    inner = protocol.built().choosing(planned.strata)
    reference_models = reference_models_of(experiment, planned, protocol, models)
    if inner:
        best = _best_of(experiment, planned, models, inner)
        every = [*_baselines_first(planned, reference_models), best]
    else:
        every = _baselines_first(planned, [*reference_models, *models])
        every += [_best_of(experiment, planned, models, {})] if experiment.nested else []
    every = [tuned_in_order(model, protocol) for model in every]
    if experiment.metrics:
        every = [tuned_by_metric(model, experiment.metrics[0], planned.kind) for model in every]
    return every


def _best_of(
    experiment: Experiment, planned: PlannedDataset, models: Sequence[ModelSpec], inner: Mapping[str, Any]
) -> ModelSpec:
    """A model that chooses the best of the models that can do the task."""
    candidates = [
        model
        for model in models
        if model.saved is None
        and planned.kind in _kinds_of(model)
        and model.use not in planned.kind.baselines
        and not (experiment.models is None and why_too_slow(planned, _method_of(model)))
    ]
    if len(candidates) < 2 and not (inner and candidates):
        what = f"there are fewer than two models to choose from for {planned.name}"
        raise UsageError(what, hint="name several models besides the baselines")
    return _resolved(selection_of(candidates, {"inner": inner} if inner else {}, "chosen"))


def _method_of(model: ModelSpec) -> str:
    """The id of a model, or of the model that it tunes."""
    return str(model.params["base"]["use"]) if model.use == TUNED else model.use


def _stages_of(model: ModelSpec, stages: Stages) -> Stages:
    """The stages of a fit that are scored; none for a model without stages."""
    if model.saved is not None or not issubclass(model.cls, Staged):
        return False
    return stages if model.stages is None else model.stages


def _baselines_first(planned: PlannedDataset, models: Sequence[ModelSpec]) -> list[ModelSpec]:
    """The models with the baselines of the kind of task before them, which are part of every table."""
    first: list[ModelSpec] = []
    for use in planned.kind.baselines:
        listed = [model for model in models if model.use == use and model.saved is None]
        first += listed or [_resolved(ModelSpec(use))]
    return [*first, *(model for model in models if model not in first)]


def _why_skipped(planned: PlannedDataset, model: ModelSpec, protocol: ProtocolSpec) -> str:
    """Why a model cannot be run on a dataset, so that it is shown as skipped; empty if it can."""
    kinds = _kinds_of(model)
    if planned.kind not in kinds:
        does = " and ".join(kind.name for kind in kinds)
        return f"{model.name} does {does}; {planned.name} is {planned.kind.name}"
    if getattr(model.cls, "transductive", False) and not protocol.built().asks_only_learned_rows():
        what = f"{model.use} can only assign the rows it was fitted to, and {protocol.use} tests other rows"
        return f"{what}; the protocols whole and {{use: bootstrap-whole, asked: drawn}} test those"
    accepts_weights = model.built().accepts.weights
    for step in model.steps or ():
        cls = step.cls
        if cls.kinds and planned.kind.name not in cls.kinds:
            return f"{cls.id} learns from {' or '.join(cls.kinds)}; {planned.name} is {planned.kind.name}"
        if cls.gives_weights and not accepts_weights:
            return f"{cls.id} weighs rows, and {model.use} takes every row alike; {WITHOUT_WEIGHTS}"
    weight = planned.dataset.schema.the("weight")
    if weight is not None and not accepts_weights:
        return f"{model.use} does not use row weights; {planned.name} has some in '{weight.name}'"
    return ""


def _kinds_of(model: ModelSpec) -> tuple[Kind, ...]:
    """The kinds of task that a configured model can do; a saved model does what it was trained for."""
    if model.saved is not None:
        return (kind_named(_loaded(model).kind),)
    configured = model.built()
    return tuple(kind for kind in kinds_of(model.cls) if can_do(configured, kind.base))


def _learned_rows(planned: PlannedDataset, model: ModelSpec) -> int:
    """How many rows of a dataset a saved model was trained on; a dataset that does not fit it is refused."""
    saved = _loaded(model)
    try:
        saved.rows_of(planned.dataset)
        return saved.learned_rows(planned.dataset)
    except ModelFileError as error:
        problems = (replace(problem, where=f"{model.saved} on {problem.where}") for problem in error.problems)
        raise ModelFileError(*problems) from None


def _all_steps(planned: PlannedDataset, model: ModelSpec) -> tuple[StepSpec, ...]:
    """The steps before a model: those that were named, and those that it needs for the columns of the dataset."""
    configured = model.built()
    named = None if model.steps is None else [step.built().serving(configured) for step in model.steps]
    columns = planned.kind.rows.columns_of(planned.dataset.schema)
    steps = missing_steps(configured.accepts, columns, named, own_level=configured.supervised)
    # Columns that steps of nested models name must be there, too.
    ready_for(configured, after(steps, columns), named)
    return tuple(map(StepSpec.of, steps))
