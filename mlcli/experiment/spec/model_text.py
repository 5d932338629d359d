"""Models and protocols as they are typed in a shell: ids or YAML flow mappings; parameters by ``-p k=3``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from mlcli.core.errors import Problem, UsageError, raise_all
from mlcli.core.located_values import YamlNode
from mlcli.core.names import did_you_mean
from mlcli.core.params import Parameter, by_name, parameter_at, problems_with
from mlcli.core.plugins import IMPORT_PATH, allow_imports, import_paths_in
from mlcli.core.registry import STEPS
from mlcli.experiment.spec.cells import ModelSpec, ProtocolSpec, StepSpec
from mlcli.experiment.spec.entries import models_of, protocol_of
from mlcli.experiment.spec.shorthands import Settings, with_decision_rule


def models_from_text(
    texts: Sequence[str], params: Sequence[str] = (), decide: str | None = None, tune: Settings | None = None
) -> tuple[ModelSpec, ...]:
    """The models of ``-m`` options, with the values of ``-p`` options in them; every problem at once.

    A value goes to every model that has such a parameter, or such a step before it (``polynomial.degree``). One
    that no model has is refused, and so is one for a parameter that is set already: nothing is overruled in
    silence. ``decide`` is for every model, and ``tune`` for those that leave settings of theirs out.
    """
    problems: list[Problem] = []
    entries = [YamlNode.typed(text, "-m") for text in texts]
    allow_imports(import_paths_in([entry.value for entry in entries]))
    allow_imports(path.group() for text in params for path in IMPORT_PATH.finditer(text))
    models = models_of(entries, problems, tune=tune)
    values = _values(params, problems)
    raise_all(UsageError, problems)
    problems += _unknown_parameters(values, models)
    changed = tuple(_with_values(model, values, problems) for model in models)
    if decide is not None:
        if not changed:
            raise UsageError("--decide: there is no model to decide for", hint="name one with -m")
        rule = YamlNode.typed(decide, "--decide")
        changed = tuple(one for model in changed for one in with_decision_rule(model, rule, problems))
    raise_all(UsageError, problems)
    return changed


def parameter_of(model: ModelSpec, path: str) -> Parameter | None:
    """The parameter of a model, at a path into a model inside it, or of a step before it."""
    declared = parameter_at(model.cls, model.params, path)
    if declared is not None:
        return declared
    use, _, name = path.partition(".")
    step = next((step for step in model.steps or () if step.use == use), None)
    return None if step is None else parameter_at(step.cls, step.params, name)


def protocol_from_text(text: str | None, **options: Any) -> ProtocolSpec | None:
    """The protocol of a ``--protocol`` option, an id or a mapping, with what other options say of it, if any."""
    params = {name: value for name, value in options.items() if value is not None}
    if not text and not params:
        return None
    text = text or ""
    if not text.lstrip().startswith("{"):
        return ProtocolSpec(text, params)
    problems: list[Problem] = []
    spec = protocol_of(YamlNode.typed(text, "--protocol"), problems)
    raise_all(UsageError, problems)
    assert spec is not None
    twice = sorted(params.keys() & spec.params.keys())
    if twice:
        what = f"--protocol and --{twice[0].replace('_', '-')} both set '{twice[0]}'"
        raise UsageError(what, hint="leave one of them out")
    return replace(spec, params={**spec.params, **params}, where="")


def _values(texts: Sequence[str], problems: list[Problem]) -> dict[str, str]:
    values: dict[str, str] = {}
    for text in texts:
        name, sign, value = (part.strip() for part in text.partition("="))
        if not (name and sign):
            problems.append(Problem(f"-p takes NAME=VALUE, was given '{text}'", hint="such as -p k=3"))
        elif name in values:
            grid = f"-m '{{use: ..., grid: {{{name}: [{values[name]}, {value}]}}}}'"
            problems.append(Problem(f"-p sets '{name}' twice", hint=f"to try both: {grid}"))
        else:
            values[name] = value
    return values


def _unknown_parameters(values: Mapping[str, str], models: Sequence[ModelSpec]) -> Iterator[Problem]:
    """What no model has a parameter for."""
    if values and not models:
        for name in values:
            yield Problem(f"-p {name}: there is no model to set it for", hint="name one with -m")
        return
    known = {name for model in models for name in _typed_values(model, values)}
    known |= {name for model in models for name in values if model.steps and parameter_of(model, name)}
    for name in values:
        if name not in known:
            unknown = _unknown_path(name, values, models) or unknown_in_step(name, models)
            yield unknown or _unknown_parameter(name, models)


def _unknown_parameter(name: str, models: Sequence[ModelSpec]) -> Problem:
    declared = {one for model in models if not model.saved for one in by_name(model.cls)}
    ids = ", ".join(dict.fromkeys(model.use for model in models))
    return Problem(f"{ids}: no parameter '{name}'", where="-p", hint=did_you_mean(name, declared, "parameters"))


def _unknown_path(name: str, values: Mapping[str, str], models: Sequence[ModelSpec]) -> Problem | None:
    """What is wrong with a path that begins with a parameter of a model."""
    start = name.partition(".")[0]
    owners = (model for model in models if not model.saved and start in by_name(model.cls))
    if start == name or (owner := next(owners, None)) is None:
        return None
    given = {**owner.params, **_typed_values(owner, values), name: values[name]}
    return next(iter(problems_with(owner.cls, given, _option)), None)


def unknown_in_step(path: str, models: Sequence[ModelSpec]) -> Problem | None:
    """What is wrong with a step, or a path that begins with one: no model has it, or it has no such parameter."""
    use, dot, name = path.partition(".")
    if use not in STEPS:
        return None
    if not dot:
        hint = f"it is a step: -m '{{use: {models[0].use}, steps: [{use}]}}', and steps: [] leaves all out"
        return Problem(f"{models[0].use}: no parameter '{use}'", where="-p", hint=hint)
    if not any(step.use == use for model in models for step in model.steps or ()):
        what = f"-p {path}: no model has a step '{use}' before it"
        return Problem(what, hint=f"such as -m '{{use: {models[0].use}, steps: [{use}]}}'")
    hint = did_you_mean(name, by_name(STEPS.load(use)), "parameters")
    return Problem(f"{use}: no parameter '{name}'", where="-p", hint=hint)


def _typed_values(model: ModelSpec, values: Mapping[str, str]) -> dict[str, Any]:
    """The values of parameters that a model has, by their declared types; a saved one can no longer be changed."""
    if model.saved:
        return {}
    given: dict[str, Any] = {}
    for name in sorted(values, key=lambda name: name.count(".")):  # a nested model before what is inside it
        declared = parameter_at(model.cls, {**model.params, **given}, name)
        if declared is not None:
            given[name] = declared.from_text(values[name])
    return given


def _with_values(model: ModelSpec, values: Mapping[str, str], problems: list[Problem]) -> ModelSpec:
    if model.steps:
        own = {path: text for path, text in values.items() if parameter_at(model.cls, model.params, path) is None}
        model = replace(model, steps=tuple(_step_with_values(step, own, problems) for step in model.steps))
    given = _typed_values(model, values)
    if not given:
        return model
    cls, params = model.cls, {**model.params, **given}
    grids = dict(_grids(replace(model, params=params), {name: values[name] for name in given}))
    problems += grids.values()
    wrong = problems_with(cls, {name: value for name, value in params.items() if name not in grids}, _option)
    for name in given.keys() & model.params.keys():
        what = f"{model.use}: '{name}' is set with -m already"
        wrong.append(Problem(what, where="-p", hint="leave one of them out"))
    problems += wrong
    return replace(model, params=params)


def _step_with_values(step: StepSpec, values: Mapping[str, str], problems: list[Problem]) -> StepSpec:
    """The step with the values that are for it."""
    given: dict[str, Any] = {}
    for path, text in values.items():
        use, _, name = path.partition(".")
        declared = parameter_at(step.cls, step.params, name) if use == step.use else None
        if declared is not None:
            given[name] = declared.from_text(text)
    params = {**step.params, **given}
    problems += problems_with(step.cls, params, _option) if given else []
    for name in given.keys() & step.params.keys():
        what = f"{step.use}: '{name}' is set with -m already"
        problems.append(Problem(what, where="-p", hint="leave one of them out"))
    return replace(step, params=params)


def _grids(model: ModelSpec, values: Mapping[str, str]) -> Iterator[tuple[str, Problem]]:
    """By parameter that takes one value and was given several: that they make a grid, or which is no choice."""
    for name, text in values.items():
        listed = [part.strip() for part in text.strip("[]() ").split(",") if part.strip()]
        declared = parameter_at(model.cls, model.params, name)
        if declared is None or len(listed) < 2 or not declared.problem_with(declared.from_text(text)):
            continue
        wrong = next(filter(None, (declared.problem_with(declared.from_text(part)) for part in listed)), None)
        others = [f"{other}: {value}" for other, value in values.items() if other != name]
        params = f"params: {{{', '.join(others)}}}, " if others else ""
        grid = f"{params}grid: {{{name}: [{', '.join(listed)}]}}"
        if wrong is None:
            hint = f"to try several: -m '{{use: {model.use}, {grid}}}'"
            yield name, Problem(f"{model.use}: {name} takes one value, was given '{text}'", where="-p", hint=hint)
        elif declared.choices is not None:
            yield name, Problem(f"{model.use}: {name} {wrong}", where="-p", hint=declared.help)


def _option(*keys: str | int) -> str:
    """Where the value of a parameter stands in a shell; all of them together stand nowhere."""
    return "-p" if keys else ""
