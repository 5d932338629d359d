"""What ``mlcli curve`` requests as an experiment: training sizes, values of a parameter, stages, bootstraps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mlcli.core.abilities import Staged
from mlcli.core.errors import UsageError
from mlcli.core.names import did_you_mean
from mlcli.core.nested import has_effect
from mlcli.core.params import Parameter, parameters
from mlcli.core.ranges import Range
from mlcli.experiment.spec.cells import DataSpec, Experiment, ModelSpec, ProtocolSpec
from mlcli.experiment.spec.entries import models_from_text, parameter_of, protocol_from_text, unknown_in_step
from mlcli.experiment.spec.suitability import no_stages

KINDS = ("learning", "validation", "stages", "bias-variance")
OWN_PROTOCOLS = {"learning": "training-size", "bias-variance": "bootstrap"}
"""The protocols of curves that need a certain one."""
EXAMPLES = "such as -p k=1..25, -p C=0.1,1,10 or -p C=0.01..100"


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
    """The experiment of a curve; options of another kind of curve are refused."""
    kind = request.kind
    _refuse_foreign_options(request, data)
    params: dict[str, Any] = dict(request.split)
    if request.sizes is not None:
        try:
            params["sizes"] = [float(part) for part in request.sizes.split(",")]
        except ValueError:
            what = f"--sizes takes numbers, was given '{request.sizes}'"
            raise UsageError(what, hint="such as 0.1,0.5,1 or 50,100") from None
    if kind == "bias-variance":
        params = {"repeats": 50, **params}
    models: Sequence[ModelSpec]
    over, values = "", ()
    if kind == "validation" or (kind == "bias-variance" and any(map(_has_several, request.params))):
        models, over, values = _models_by_value(request)
    else:
        models = models_from_text(request.models, request.params)
    for model in models if kind == "stages" else ():
        if model.saved is not None or not issubclass(model.cls, Staged):
            raise no_stages(f"{model.name} has no stages")
    if kind in OWN_PROTOCOLS:
        protocol: ProtocolSpec | None = ProtocolSpec(OWN_PROTOCOLS[kind], params)
    else:
        protocol = protocol_from_text(request.protocol, **request.split)
    experiment = Experiment(
        data=(data,),
        models=tuple(models),
        protocol=protocol,
        metrics=(metric,) if metric else (),
        seed=seed,
        stages=kind == "stages",
        training=True,
    )
    return Sweep(kind, experiment, over, values)


def _refuse_foreign_options(request: CurveRequest, data: DataSpec) -> None:
    """Refuse an unknown curve, and options that are for another kind of curve."""
    kind = request.kind
    if kind not in KINDS:
        hint = did_you_mean(kind, KINDS, "curves")
        if data.reference in KINDS:
            hint = f"did you mean: mlcli curve {data.reference} {kind}"
        raise UsageError(f"there is no curve '{kind}'", hint=hint)
    if request.sizes is not None and kind != "learning":
        raise UsageError(f"--sizes are of learning curves, not of {kind}", hint="leave them out")
    if request.protocol is not None and kind in OWN_PROTOCOLS:
        what = f"a {kind} curve splits rows by the protocol {OWN_PROTOCOLS[kind]}"
        raise UsageError(what, hint="leave --protocol out; curves of validation and stages take it")
    if kind == "bias-variance" and "folds" in request.split:
        raise UsageError("a bias-variance decomposition draws bootstraps", hint="say how many with --repeats")


def _models_by_value(request: CurveRequest) -> tuple[Sequence[ModelSpec], str, tuple[Any, ...]]:
    """A model for each value of the one parameter that has several, its name, and the values."""
    fixed = [text for text in request.params if not _has_several(text)]
    swept = [text for text in request.params if _has_several(text)]
    if len(request.models) != 1 or len(swept) > 1:
        what = f"a {request.kind} curve is of one model and one parameter with several values"
        raise UsageError(what, hint=EXAMPLES)
    model, *others = models_from_text(request.models, fixed)
    if others:
        raise UsageError(f"{request.models[0]} is a grid of {1 + len(others)} models", hint=EXAMPLES)
    if model.saved is not None:
        raise UsageError(f"{model.label} has learned already", hint="name a method")
    name, values = _values_of(swept[0], model) if swept else _own_range(model)
    distinct = {}  # two texts may be the same value
    for value in values:
        for with_value in models_from_text(request.models, [*fixed, f"{name}={value}"]):
            distinct[repr((with_value.params, with_value.steps))] = with_value, value
    models, distinct_values = zip(*distinct.values(), strict=True)
    return models, name, distinct_values


def _has_several(text: str) -> bool:
    value = text.partition("=")[2]
    return not value.strip().startswith(("{", "[")) and (".." in value or "," in value)


def _values_of(text: str, model: ModelSpec) -> tuple[str, list[Any]]:
    """The parameter of NAME=VALUE,VALUE or NAME=LOW..HIGH, with its values."""
    name, _, value = (part.strip() for part in text.partition("="))
    parameter = parameter_of(model, name)
    if parameter is None:
        if problem := unknown_in_step(name, [model]):
            raise UsageError(problem)
        names = [parameter.name for parameter in parameters(model.cls)]
        raise UsageError(f"{model.use}: no parameter '{name}'", hint=did_you_mean(name, names, "parameters"))
    if ".." not in value:
        return name, [parameter.from_text(part.strip()) for part in value.split(",")]
    low, _, high = value.partition("..")
    ends = [parameter.from_text(end.strip()) for end in (low, high)]
    if not all(isinstance(end, int | float) and not isinstance(end, bool) for end in ends) or ends[0] >= ends[1]:
        raise UsageError(f"-p {name}: '{value}' is no range of numbers", hint=EXAMPLES)
    return name, _spread(parameter, *ends)


def _own_range(model: ModelSpec) -> tuple[str, list[Any]]:
    """The first parameter that declares a range worth tuning, with values from it."""
    built = model.built()
    for parameter in parameters(model.cls):
        tune = parameter.tune
        if isinstance(tune, Range) and tune.unasked and has_effect(built, parameter):
            if parameter.name in model.params:
                raise UsageError(f"{model.use}: one value of '{parameter.name}' makes no curve", hint=EXAMPLES)
            return parameter.name, _spread(parameter, tune.low, tune.high)
    raise UsageError(f"{model.use}: which parameter takes which values?", hint=EXAMPLES)


def _spread(parameter: Parameter, low: float, high: float) -> list[Any]:
    """Values from one number to another: all integers if these are few, else at equal distances or ratios.

    A curve has at most 25 integers, or 9 real numbers; ratios are equal if the range spans a factor of 100.
    """
    is_whole = int in parameter.types
    if is_whole and high - low < 25:
        return list(range(int(low), int(high) + 1))
    count = 25 if is_whole else 9
    is_geometric = low > 0 and high / low >= 100
    values = np.geomspace(low, high, count) if is_geometric else np.linspace(low, high, count)
    if is_whole:
        return list(dict.fromkeys(values.round().astype(int).tolist()))
    return [float(f"{value:.4g}") for value in values]
