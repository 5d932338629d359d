"""Paths into a configured model: `C`, `pca.components` in a step before it, `base.max_depth` in a model inside it.

A configured model is worked on as plain values: its id with all parameters, and its steps where it has some.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mlcli.core.configuration import Configuration, described_as
from mlcli.core.errors import UsageError, raise_all
from mlcli.core.model import Model
from mlcli.core.names import did_you_mean
from mlcli.core.params import Parameter, by_name
from mlcli.core.registry import MODELS, STEPS, Catalogue

Plain = Mapping[str, Any]
"""A model or step as plain values: `use`, `params`, and of a model perhaps `steps`."""


def parameter_at(model: Model, path: str) -> Parameter:
    """The parameter at a path; a path that leads nowhere is refused."""
    return _parameter(described_as(model), path, MODELS, path)


def with_values(model: Model, values: Mapping[str, Any]) -> Model:
    """The same configuration, nothing learned, with other values at some paths, those of whole models first."""
    plain: Plain = described_as(model)
    for path in sorted(values, key=lambda path: path.count(".")):
        plain = _changed(plain, path, values[path], MODELS, path)
    configuration = Configuration(MODELS, plain)
    raise_all(UsageError, list(configuration.problems()))
    changed: Model = configuration.built()
    return changed


def _parameter(plain: Plain, path: str, catalogue: Catalogue, whole: str) -> Parameter:
    name, _, rest = path.partition(".")
    declared = by_name(catalogue.load(plain["use"]))
    if name in declared:
        if not rest:
            return declared[name]
        inside, further = _nested(plain["params"].get(name), rest)
        if inside is not None and further:
            return _parameter(inside, further, MODELS, whole)
    elif rest and (step := _step(plain, name)) is not None:
        return _parameter(step, rest, STEPS, whole)
    raise UsageError(f"the path '{whole}' leads nowhere in {plain['use']}", hint=_hint(plain, catalogue, name))


def _changed(plain: Plain, path: str, value: Any, catalogue: Catalogue, whole: str) -> Plain:
    name, _, rest = path.partition(".")
    if name in by_name(catalogue.load(plain["use"])):
        params = dict(plain["params"])
        params[name] = _changed_inside(params.get(name), rest, value, whole) if rest else value
        return {**plain, "params": params}
    step = _step(plain, name)
    if step is None or not rest:
        hint = _hint(plain, catalogue, name)
        raise UsageError(f"the path '{whole}' leads nowhere in {plain['use']}", hint=hint)
    changed = _changed(step, rest, value, STEPS, whole)
    return {**plain, "steps": tuple(changed if one is step else one for one in plain["steps"])}


def _changed_inside(held: Any, rest: str, value: Any, whole: str) -> Any:
    """A nested model, or the one of a list that the path names, changed."""
    inside, further = _nested(held, rest)
    if inside is None or not further:
        raise UsageError(f"the path '{whole}' leads nowhere")
    changed = _changed(inside, further, value, MODELS, whole)
    return (
        changed if not isinstance(held, list | tuple) else tuple(changed if one is inside else one for one in held)
    )


def _nested(held: Any, rest: str) -> tuple[Plain | None, str]:
    """The nested model that a path goes on into, and the rest of the path."""
    if isinstance(held, str):
        return {"use": held, "params": {}}, rest
    if isinstance(held, Mapping):
        return {"params": {}, **held}, rest
    use, _, further = rest.partition(".")
    found = next((one for one in held or () if isinstance(one, Mapping) and one.get("use") == use), None)
    return found, further


def _step(plain: Plain, name: str) -> Plain | None:
    return next((step for step in plain.get("steps") or () if step["use"] == name), None)


def _hint(plain: Plain, catalogue: Catalogue, name: str) -> str:
    steps = [f"{step['use']}." for step in plain.get("steps") or ()]
    return did_you_mean(name, [*by_name(catalogue.load(plain["use"])), *steps], f"parameters of {plain['use']}")
