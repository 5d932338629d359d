"""What ``mlcli curve`` asks for as an experiment: training sizes, values of a parameter, stages, bootstraps."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from mlcli.core.abilities import Staged
from mlcli.core.effective import has_effect
from mlcli.core.errors import UsageError
from mlcli.core.names import did_you_mean
from mlcli.core.params import Parameter, parameters
from mlcli.core.ranges import Range
from mlcli.experiment.spec.cells import DataSpec, Experiment, ModelSpec, ProtocolSpec
from mlcli.experiment.spec.entries import models_from_text, parameter_of, protocol_from_text, unknown_in_step
from mlcli.experiment.spec.suitability import no_stages

MOST_VALUES = 25
"""Of a range of whole numbers; a longer one is thinned out."""
REAL_VALUES = 9
"""Of a range of numbers that are not whole."""
GEOMETRIC_FROM = 100
"""A range whose end is so many times its beginning has values at equal ratios."""
BOOTSTRAPS = 50
"""Training sets that a bias-variance decomposition draws."""
OWN_PROTOCOLS = {"learning": "training-size", "bias-variance": "bootstrap"}
"""Curves that are made by one way to split rows."""
RANGE = ".."
NO_VALUES = "such as -p k=1..25, -p C=0.1,1,10 or -p C=0.01..100"


@dataclass(frozen=True)
class CurveRequest:
    """What was typed: the curve, models, parameters, sizes and how rows are split."""

    kind: str
    models: Sequence[str]
    params: Sequence[str] = ()
    sizes: str | None = None
    split: Mapping[str, int] = field(default_factory=dict)
    protocol: str | None = None


@dataclass(frozen=True)
class Sweep:
    """An experiment with what it sweeps over: a parameter with its values, if it is one."""

    kind: str
    experiment: Experiment
    over: str = ""
    values: tuple[Any, ...] = ()


def experiment_of(request: CurveRequest, data: DataSpec, metric: str | None, seed: int) -> Sweep:
    """The experiment of a curve; what does not belong to its kind is refused."""
    if request.kind not in SWEEPS:
        hint = did_you_mean(request.kind, SWEEPS, "curves")
        if data.reference in SWEEPS:
            hint = f"did you mean: mlcli curve {data.reference} {request.kind}"
        raise UsageError(f"there is no curve '{request.kind}'", hint=hint)
    if request.sizes is not None and request.kind != "learning":
        raise UsageError(f"--sizes are of learning curves, not of {request.kind}", hint="leave them out")
    if request.protocol is not None and request.kind in OWN_PROTOCOLS:
        what = f"a {request.kind} curve splits rows by the protocol {OWN_PROTOCOLS[request.kind]}"
        raise UsageError(what, hint="leave --protocol out; curves of validation and stages take it")
    sweep = SWEEPS[request.kind](request)
    metrics = (metric,) if metric else ()
    return replace(sweep, experiment=replace(sweep.experiment, data=(data,), metrics=metrics, seed=seed))


def _learning(request: CurveRequest) -> Sweep:
    sizes = {} if request.sizes is None else {"sizes": _sizes(request.sizes)}
    protocol = ProtocolSpec(OWN_PROTOCOLS["learning"], {**sizes, **request.split})
    return Sweep("learning", _experiment(models_from_text(request.models, request.params), protocol))


def _stages(request: CurveRequest) -> Sweep:
    models = models_from_text(request.models, request.params)
    for model in models:
        if model.saved is not None or not issubclass(model.cls, Staged):
            raise no_stages(f"{model.name} has no stages")
    return Sweep("stages", replace(_experiment(models, _splits(request)), stages=True))


def _bias_variance(request: CurveRequest) -> Sweep:
    if "folds" in request.split:
        raise UsageError("a bias-variance decomposition draws bootstraps", hint="say how many with --repeats")
    protocol = ProtocolSpec(OWN_PROTOCOLS["bias-variance"], {"repeats": BOOTSTRAPS, **request.split})
    if not any(map(_has_several, request.params)):
        return Sweep("bias-variance", _experiment(models_from_text(request.models, request.params), protocol))
    models, name, values = _models_by_value(request)
    return Sweep("bias-variance", _experiment(models, protocol), name, values)


def _validation(request: CurveRequest) -> Sweep:
    models, name, values = _models_by_value(request)
    return Sweep("validation", _experiment(models, _splits(request)), name, values)


def _models_by_value(request: CurveRequest) -> tuple[Sequence[ModelSpec], str, tuple[Any, ...]]:
    """A model for each value of the one parameter that has several, its name, and the values."""
    fixed = [text for text in request.params if not _has_several(text)]
    swept = [text for text in request.params if _has_several(text)]
    if len(request.models) != 1 or len(swept) > 1:
        what = f"a {request.kind} curve is of one model and one parameter with several values"
        raise UsageError(what, hint=NO_VALUES)
    model, *others = models_from_text(request.models, fixed)
    if others:
        raise UsageError(f"{request.models[0]} is a grid of {1 + len(others)} models", hint=NO_VALUES)
    if model.saved is not None:
        raise UsageError(f"{model.label} has learned already", hint="name a method")
    name, values = _values_of(swept[0], model) if swept else _own_range(model)
    models = [model for value in values for model in models_from_text(request.models, [*fixed, f"{name}={value}"])]
    kept = {repr((model.params, model.steps)): (model, value) for model, value in zip(models, values, strict=True)}
    every, known = zip(*kept.values(), strict=True)
    return every, name, known


SWEEPS: dict[str, Callable[[CurveRequest], Sweep]] = {
    "learning": _learning,
    "validation": _validation,
    "stages": _stages,
    "bias-variance": _bias_variance,
}


def _experiment(models: Sequence[ModelSpec], protocol: ProtocolSpec | None) -> Experiment:
    return Experiment((), tuple(models), protocol, training=True)


def _splits(request: CurveRequest) -> ProtocolSpec | None:
    """The protocol that is asked for, or the default of the kind of task, as it is judged by elsewhere."""
    return protocol_from_text(request.protocol, **request.split)


def _has_several(text: str) -> bool:
    value = text.partition("=")[2]
    return not value.strip().startswith(("{", "[")) and (RANGE in value or "," in value)


def _sizes(text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        what = f"--sizes takes numbers, was given '{text}'"
        raise UsageError(what, hint="such as 0.1,0.5,1 or 50,100") from None


def _values_of(text: str, model: ModelSpec) -> tuple[str, list[Any]]:
    name, _, value = (part.strip() for part in text.partition("="))
    declared = parameter_of(model, name)
    if declared is None:
        if in_a_step := unknown_in_step(name, [model]):
            raise UsageError(in_a_step)
        names = [parameter.name for parameter in parameters(model.cls)]
        raise UsageError(f"{model.use}: no parameter '{name}'", hint=did_you_mean(name, names, "parameters"))
    if RANGE not in value:
        return name, [declared.from_text(part.strip()) for part in value.split(",")]
    low, _, high = value.partition(RANGE)
    ends = [declared.from_text(end.strip()) for end in (low, high)]
    if not all(isinstance(end, int | float) and not isinstance(end, bool) for end in ends) or ends[0] >= ends[1]:
        raise UsageError(f"-p {name}: '{value}' is no range of numbers", hint=NO_VALUES)
    return name, _spread(declared, *ends)


def _own_range(model: ModelSpec) -> tuple[str, list[Any]]:
    """The first parameter that says between which numbers it is worth tuning."""
    built = model.built()
    for declared in parameters(model.cls):
        search = declared.tune
        if not isinstance(search, Range) or not search.unasked or not has_effect(built, declared):
            continue
        if declared.name in model.params:
            raise UsageError(f"{model.use}: one value of '{declared.name}' makes no curve", hint=NO_VALUES)
        return declared.name, _spread(declared, search.low, search.high)
    raise UsageError(f"{model.use}: which parameter takes which values?", hint=NO_VALUES)


def _spread(declared: Parameter, low: float, high: float) -> list[Any]:
    """Values from one number to another: all whole ones if these are few, else at equal distances or ratios."""
    whole = int in declared.types
    if whole and high - low < MOST_VALUES:
        return list(range(int(low), int(high) + 1))
    count = MOST_VALUES if whole else REAL_VALUES
    far = low > 0 and high / low >= GEOMETRIC_FROM
    values = np.geomspace(low, high, count) if far else np.linspace(low, high, count)
    if whole:
        return list(dict.fromkeys(values.round().astype(int).tolist()))
    return [float(f"{value:.4g}") for value in values]
