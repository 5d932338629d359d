"""What an experiment asks for and cannot be: models that cannot run on a dataset, metrics that cannot judge it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mlcli.core.answers import Answers
from mlcli.core.errors import UsageError
from mlcli.core.nested import can_do
from mlcli.core.params import build
from mlcli.core.pipeline import WITHOUT_WEIGHTS
from mlcli.core.registry import MODELS, PROTOCOLS, STEPS
from mlcli.experiment.spec.cells import Experiment, ModelSpec, ProtocolSpec
from mlcli.experiment.spec.datasets import PlannedDataset
from mlcli.experiment.spec.written import Faults
from mlcli.metrics.registry import metric_named
from mlcli.tasks.table import KINDS, Kind, kind_named, kinds_of

FITTED = "whole, and {use: bootstrap-whole, asked: drawn}, ask about those"
Judged = tuple[type[Answers], Sequence[str]]
"""A kind of answers, with the classes that may be named; none are checked where there are none."""


def why_skipped(planned: PlannedDataset, model: ModelSpec, protocol: ProtocolSpec) -> str:
    """Why a model cannot be run on a dataset at all, or nothing: it is shown as skipped, and the others go on."""
    kinds = _kinds(model)
    if planned.kind not in kinds:
        does = " and ".join(kind.name for kind in kinds)
        return f"{model.name} does {does}; {planned.name} is {planned.kind.name}"
    cls = MODELS.load(model.use)
    splitter = build(PROTOCOLS.load(protocol.use), protocol.params)
    if getattr(cls, "transductive", False) and not splitter.asks_only_learned_rows():
        why = f"{model.use} can only place the rows that it was fitted on, and {protocol.use} asks about others"
        return f"{why}; {FITTED}"
    for one in model.steps or ():
        step: Any = STEPS.load(one.use)
        if step.kinds and planned.kind.name not in step.kinds:
            return f"{step.id} learns from {' or '.join(step.kinds)}; {planned.name} is {planned.kind.name}"
        if step.gives_weights and not build(cls, model.params).accepts.weights:
            return f"{step.id} weighs rows, and {model.use} takes every row alike; {WITHOUT_WEIGHTS}"
    weight = planned.dataset.schema.the("weight")
    if weight is not None and not build(cls, model.params).accepts.weights:
        return f"{model.use} takes every row alike; {planned.name} has row weights in '{weight.name}'"
    return ""


def _kinds(model: ModelSpec) -> tuple[Kind, ...]:
    """The kinds of task that a configured model can do; a saved one does what it was trained for."""
    if model.saved is None:
        cls = MODELS.load(model.use)
        configured = build(cls, model.params)
        return tuple(kind for kind in kinds_of(cls) if can_do(configured, kind.base))
    from mlcli.experiment.saved.model_file import load_model

    return (kind_named(load_model(model.saved).kind),)


def check_metrics(experiment: Experiment, datasets: Sequence[PlannedDataset], faults: Faults) -> None:
    """Collect a fault for each metric that fits no dataset, and for each dataset that no metric fits."""
    judged = [_judged(planned) for planned in datasets] or [(kind.answers, ()) for kind in KINDS]
    all_known = True
    for name in experiment.metrics:
        refusals = [refusal for one in judged if (refusal := _refusal(name, one)) is not None]
        if len(refusals) == len(judged):
            all_known = False
            with faults.collected(experiment.metrics_where.get(name, "")):
                raise _most_helpful(refusals)
    for planned in datasets if all_known and experiment.metrics else ():
        with faults.collected(planned.spec.where):
            _refuse_unjudged(planned, experiment.metrics)


def _judged(planned: PlannedDataset) -> Judged:
    target = planned.dataset.schema.the("target")
    return planned.kind.answers, target.levels if target else ()


def _refusal(name: str, judged: Judged) -> UsageError | None:
    try:
        metric_named(name, *judged)
    except UsageError as error:
        return error
    return None


def _most_helpful(refusals: Sequence[UsageError]) -> UsageError:
    """One that knows a similar name, if there is one."""
    return next((one for one in refusals if one.problems[0].hint.startswith("did you mean")), refusals[0])


def _refuse_unjudged(planned: PlannedDataset, metrics: Sequence[str]) -> None:
    if all(_refusal(name, _judged(planned)) for name in metrics):
        what = f"no metric of this experiment can judge {planned.name}, which is {planned.kind.name}"
        raise UsageError(what, hint=f"add one of {', '.join(planned.kind.metrics)}")
