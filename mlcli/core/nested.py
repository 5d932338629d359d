"""A model that another one is built around: an id, or a mapping with ``use``, ``params`` and ``steps``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from mlcli.core.accepts import Accepts
from mlcli.core.errors import Problem, UsageError
from mlcli.core.model import Model
from mlcli.core.names import did_you_mean
from mlcli.core.params import build, settings
from mlcli.core.pipeline import Pipeline
from mlcli.core.registry import MODELS, STEPS, Catalogue

Named = str | dict[str, Any]
MODEL_KEYS = ("use", "params", "steps")
STEP_KEYS = ("use", "params")


def model_named(given: Named) -> Model:
    """The model with nothing learned, steps before it where some are named; what is wrong is a UsageError."""
    model: Model = _built(MODELS, given, MODEL_KEYS)
    steps = _steps_of(given)
    return Pipeline(steps=tuple(_built(STEPS, step, STEP_KEYS) for step in steps), model=model) if steps else model


def problems_with_model(given: Named, base: type[Model]) -> list[str]:
    """What is wrong with a model that has to be of a kind's base."""
    try:
        model = model_named(given)
    except UsageError as error:
        return [_in_one_line(problem) for problem in error.problems]
    last = model.model if isinstance(model, Pipeline) else model
    return [] if isinstance(last, base) else [f"{last.id} is no {base.__name__.lower()}"]


def accepted_by(given: Named) -> Accepts:
    """What the model and the steps before it all take; who names steps has said whether to scale."""
    accepted: list[Accepts] = [part.accepts for part in _parts_of(model_named(given))]
    return replace(
        accepted[-1],
        nominal=all(one.nominal for one in accepted),
        missing=all(one.missing for one in accepted),
        weights=all(one.weights for one in accepted),
        prefers_scaled=accepted[-1].prefers_scaled and not _says_steps(given),
    )


def configured(model: Model) -> list[tuple[str, dict[str, Any]]]:
    """What a model is without what it learned: ids and parameters, those of its steps first."""
    return [(part.id, settings(part)) for part in _parts_of(model)]


def _parts_of(model: Model) -> list[Any]:
    return [*model.steps, model.model] if isinstance(model, Pipeline) else [model]


def _says_steps(given: Named) -> bool:
    return isinstance(given, dict) and given.get("steps") is not None


def _steps_of(given: Named) -> list[Any]:
    steps = given.get("steps") if isinstance(given, dict) else None
    if not isinstance(steps, list | tuple | None):
        raise UsageError(f"'steps' takes a list, was given {steps!r}", hint="such as steps: [standardise]")
    return list(steps or ())


def _built(catalogue: Catalogue, given: Any, keys: tuple[str, ...]) -> Any:
    """The model or step of an id, or of a mapping that begins with ``use``."""
    entry: Any = {"use": given} if isinstance(given, str) else given
    found = list(_faults_of(catalogue, entry, keys))
    if found:
        raise UsageError(*found)
    return build(catalogue.load(entry["use"]), entry.get("params") or {})


def _faults_of(catalogue: Catalogue, entry: Any, keys: tuple[str, ...]) -> Iterator[Problem]:
    if not isinstance(entry, Mapping) or not isinstance(entry.get("use"), str):
        yield Problem(f"a {catalogue.noun} is an id, or a mapping such as {{use: ID, params: {{...}}}}")
        return
    for key in entry:
        if key not in keys:
            yield Problem(f"a {catalogue.noun} has no key '{key}' here", hint=did_you_mean(key, keys, "keys"))
    params = entry.get("params")
    if not isinstance(params, dict | None):
        yield Problem(f"'params' takes a mapping, was given {params!r}")


def _in_one_line(problem: Problem) -> str:
    return f"{problem.what} ({problem.hint})" if problem.hint else problem.what
