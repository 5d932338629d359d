"""Reads models, steps, protocols and budgets as they are written in an experiment file or typed in a shell."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from os.path import isfile
from pathlib import Path
from types import MappingProxyType
from typing import Any

from mlcli.core.abilities import Staged
from mlcli.core.configuration import Configuration
from mlcli.core.errors import Problem, UsageError, placed, raise_all
from mlcli.core.names import DURATION, SIZE, bytes_in, did_you_mean, seconds_in
from mlcli.core.params import Parameter, by_name, problems_with
from mlcli.core.registry import IMPORT_PATH, MODELS, PROTOCOLS, STEPS, allow_imports, import_paths_in
from mlcli.core.strict_yaml import YamlNode, until_too_many_problems
from mlcli.experiment.spec.cells import Budget, ModelSpec, ProtocolSpec, Stages, StepSpec
from mlcli.experiment.spec.shorthands import Settings, settings_of_tuning, tuned, with_decision_rule

NOTHING: Mapping[str, Any] = MappingProxyType({})
MAX_COMBINATIONS = 10_000
"""Of a grid."""


def models_of(
    entries: Sequence[YamlNode],
    problems: list[Problem],
    base: Path | None = None,
    tune: Settings | None = None,
) -> list[ModelSpec]:
    """The models of valid entries; the problems of the others are added to ``problems``.

    ``tune`` are the experiment's settings of tuning, for models that say ``tune`` and leave some of them out.
    """
    models: list[ModelSpec] = []
    by_label: dict[str, tuple[YamlNode, ModelSpec]] = {}
    for entry in until_too_many_problems(entries, problems):
        specs = model_of(entry, problems, base, tune)
        if specs:
            spec = specs[0]
            name = spec.label or spec.use
            first, first_spec = by_label.setdefault(name, (entry, spec))
            # The parameters distinguish models with equal ids; labels of the user stay as they are.
            is_labelled = any(other.label and other.saved is None for other in (spec, first_spec))
            if first is not entry and is_labelled:
                hint = f"the other stands at {first.where}" if first.where else "choose another name with 'as'"
                problems.append(entry.problem(f"two models are called '{name}'", hint))
                continue
        models += specs
    return models


def model_of(
    entry: YamlNode, problems: list[Problem], base: Path | None = None, tune: Settings | None = None
) -> list[ModelSpec]:
    """The models of one entry: one, or one for each combination of its grid; none if something is wrong."""
    if isinstance(entry.value, str) and is_model_file(entry.value, base):
        path = (base or Path()) / entry.value
        return [ModelSpec("", saved=path, label=path.name, where=entry.where)]
    before = len(problems)
    parts = entry.named() if isinstance(entry.value, dict) else {}
    keys = ("grid", "tune", "stages", "decide", "as")
    written = Configuration(MODELS, entry.bare, here=entry.place, further_keys=keys)
    problems += written.problems_with_form()
    label = ""
    if (part := parts.get("as")) is not None:
        label = part.value if isinstance(part.value, str) else ""
        if not label.strip():
            problems.append(part.problem(f"'as' takes the name that tables shall show, was given {part.given}"))
    stages = None
    if (part := parts.get("stages")) is not None:
        stages = stages_of(part, problems)
        cls = written.cls_or_none
        if stages and cls is not None and not issubclass(cls, Staged):
            hint = "leave them out, or ask for those of the experiment"
            problems.append(part.problem(f"{written.use} has no stages", hint))
    models = [_with_values(written, values, entry) for values in _combinations(written, parts, problems)]
    steps_with_values = [step for model in models for step in model.steps or () if step.inside]
    messages: set[str] = set()  # combinations of a grid have the same problems
    for configuration in (*models, *steps_with_values):
        new = [problem for problem in configuration.problems_with_values() if problem.what not in messages]
        messages.update(problem.what for problem in new)
        problems += new
    if len(problems) > before:
        return []
    specs = [
        ModelSpec(written.use, model.values, _step_specs(model), label, stages=stages, where=entry.where)
        for model in models
    ]
    if "tune" in parts:
        specs = _tuned(parts, specs, problems, tune)
    if (rule := parts.get("decide")) is not None:
        specs = [with_rule for spec in specs for with_rule in with_decision_rule(spec, rule, problems)]
    return specs


def protocol_of(entry: YamlNode, problems: list[Problem]) -> ProtocolSpec | None:
    """The protocol of an entry; without ``use``, its parameters are for the default protocol of each kind."""
    values = entry.named() if isinstance(entry.value, dict) else {}
    use = values.pop("use", None)
    if values and use is None:
        return ProtocolSpec("", {name: part.value for name, part in values.items()}, where=entry.where)
    value = entry.bare if use is None else {"use": use.value}
    configuration = _with_values(Configuration(PROTOCOLS, value, here=entry.place), values, entry)
    wrong = list(configuration.problems())
    problems += wrong
    return None if wrong else ProtocolSpec(configuration.use, configuration.values, where=entry.where)


def is_model_file(text: str, base: Path | None = None) -> bool:
    """Whether a text names a saved model: no id has a dot or a slash."""
    return text not in MODELS and (any(mark in text for mark in "./\\") or isfile((base or Path()) / text))


def stages_of(node: YamlNode, problems: list[Problem]) -> Stages:
    """The stages of a fit to predict at."""
    value = node.value
    listed = value if isinstance(value, list) and value else [value]
    if isinstance(value, bool) or all(type(stage) is int and stage > 0 for stage in listed):
        return tuple(value) if isinstance(value, list) else value
    form = "true, how many, or a list of stages such as [10, 50, 100]"
    problems.append(node.problem(f"'stages' takes {form}; was given {node.given}"))
    return False


def tuning_of(node: YamlNode, problems: list[Problem]) -> Settings | None:
    """The settings of tuning under ``tune``."""
    try:
        return settings_of_tuning(node.bare)
    except UsageError as error:
        problems += placed(error.problems, node.where)
        return None


def budget_of(node: YamlNode, problems: list[Problem]) -> Budget:
    """The budget of an experiment: a duration for each cell, or a mapping."""
    readers: dict[str, tuple[Callable[[object], float | None], str]] = {
        "cell": (seconds_in, DURATION),
        "total": (seconds_in, DURATION),
        "memory": (bytes_in, SIZE),
    }
    example = "such as 60s, or {cell: 60s, total: 2h, memory: 4GiB}"
    is_mapping = isinstance(node.value, dict)
    parts = node.named() if is_mapping else {"cell": node}
    if not parts:
        problems.append(node.problem("'budget' takes at least one limit", example))
    values: dict[str, Any] = {}
    for key, part in parts.items():
        if key not in readers:
            problems.append(part.problem(f"a budget has no key '{key}'", did_you_mean(key, readers, "keys")))
            continue
        read, form = readers[key]
        values[key] = read(part.value)
        if values[key] is None:
            name = key if is_mapping else "budget"
            problems.append(part.problem(f"'{name}' takes {form}; was given {part.given}", example))
    return Budget(**values)


def budget_from_text(text: str) -> Budget:
    """A budget as it is typed in a shell: 60s, or a mapping in braces."""
    problems: list[Problem] = []
    budget = budget_of(YamlNode.typed(text, "--budget"), problems)
    raise_all(UsageError, problems)
    return budget


def _with_values(configuration: Configuration, values: Mapping[str, YamlNode], entry: YamlNode) -> Configuration:
    """The configuration with values of parameters that stand beside it, in a grid or in the entry itself."""

    def place(name: str, *keys: str | int) -> str:
        return values.get(name, entry).place(*keys)

    return replace(configuration, inside={name: part.bare for name, part in values.items()}, at=place)


def _tuned(
    parts: Mapping[str, YamlNode], specs: list[ModelSpec], problems: list[Problem], shared: Settings | None
) -> list[ModelSpec]:
    """The models of an entry with ``tune``; its own settings override those of the experiment."""
    part, before = parts["tune"], len(problems)
    own = tuning_of(part, problems)
    if own is None:
        return [replace(spec, shares_tune=False) for spec in specs]
    if "stages" in parts:
        problems.append(parts["stages"].problem("a model that is tuned has no stages of its own"))
        return []
    settings = {**(shared or {}), **own}
    wrapped = [replace(tuned(spec, settings), shares_tune=False) for spec in specs]
    for spec in wrapped:
        wrong = problems_with(spec.cls, spec.params, lambda *keys: part.where)
        problems += [problem for problem in wrong if problem not in problems]
    return wrapped if len(problems) == before else []


def _step_specs(model: Configuration) -> tuple[StepSpec, ...] | None:
    if model.steps is None:
        return None
    return tuple(StepSpec(step.use, step.values, where=step.here()) for step in model.steps)


def _combinations(
    model: Configuration, parts: Mapping[str, YamlNode], problems: list[Problem]
) -> list[dict[str, YamlNode]]:
    """Every combination of a grid, the last key fastest; a single empty one without a valid grid."""
    if "grid" not in parts:
        return [{}]
    grid = parts["grid"]
    wrong = list(_problems_with_grid(grid, model.values))
    problems += wrong
    if wrong:
        return [{}]
    values = grid.named()
    combinations = [
        dict(zip(values, items, strict=True)) for items in product(*(part.items() for part in values.values()))
    ]
    # A path may exist in some combinations only: knn has a k, lda has none. Leave it out of the others.
    paths = [name for name in values if "." in name]
    models = [_with_values(model, combination, YamlNode(None)) for combination in combinations if paths]
    exists = {path: [configured.parameter(path) is not None for configured in models] for path in paths}
    partial = {path for path in paths if any(exists[path]) and not all(exists[path])}
    distinct = {}
    for index, combination in enumerate(combinations):
        kept = {name: part for name, part in combination.items() if name not in partial or exists[name][index]}
        distinct[tuple((name, part.keys) for name, part in kept.items())] = kept
    return list(distinct.values())


def _problems_with_grid(grid: YamlNode, params: Mapping[str, Any]) -> Iterator[Problem]:
    """Everything that is wrong with a grid except its values."""
    if not isinstance(grid.value, dict):
        yield grid.problem(f"'grid' takes a mapping, was given {grid.given}", "such as grid: {k: ...}")
        return
    if not grid.value:
        yield grid.problem("this grid is empty", "name a parameter with a list of values, or leave it out")
    count = 1
    for name, part in grid.named().items():
        if name in params:
            yield part.problem(f"'{name}' stands in 'params' and in 'grid'", "leave it out of one of them")
        if not isinstance(part.value, list):
            what = f"'{name}' takes a list of values in a grid, was given {part.given}"
            yield part.problem(what, f"such as {name}: [{part.value}]")
        elif not part.value:
            yield part.problem(f"'{name}' has no values in this grid", "list some, or leave it out")
        else:
            count *= len(part.value)
    if count > MAX_COMBINATIONS:
        yield grid.problem(f"this grid has {count:,} combinations, at most {MAX_COMBINATIONS:,} work")


def models_from_text(
    texts: Sequence[str], params: Sequence[str] = (), decide: str | None = None, tune: Settings | None = None
) -> tuple[ModelSpec, ...]:
    """The models of ``-m`` options with the values of ``-p`` options; all problems are raised together.

    A value goes to every model that has such a parameter, or such a step before it (``polynomial.degree``). A
    value that no model has a parameter for is refused, and so is one for a parameter that is set already.
    ``decide`` is for every model, ``tune`` for those that leave out settings of theirs.
    """
    problems: list[Problem] = []
    entries = [YamlNode.typed(text, "-m") for text in texts]
    allow_imports(import_paths_in([entry.value for entry in entries]))
    allow_imports(path.group() for text in params for path in IMPORT_PATH.finditer(text))
    models = models_of(entries, problems, tune=tune)
    values: dict[str, str] = {}
    for text in params:
        name, sign, value = (part.strip() for part in text.partition("="))
        if not (name and sign):
            problems.append(Problem(f"-p takes NAME=VALUE, was given '{text}'", hint="such as -p k=3"))
        elif name in values:
            grid = f"-m '{{use: ..., grid: {{{name}: [{values[name]}, {value}]}}}}'"
            problems.append(Problem(f"-p sets '{name}' twice", hint=f"to try both: {grid}"))
        else:
            values[name] = value
    raise_all(UsageError, problems)
    problems += _unknown_parameters(values, models)
    changed = [_with_params(model, values, problems) for model in models]
    if decide is not None:
        if not changed:
            raise UsageError("--decide: there is no model to decide for", hint="name one with -m")
        rule = YamlNode.typed(decide, "--decide")
        changed = [spec for model in changed for spec in with_decision_rule(model, rule, problems)]
    raise_all(UsageError, problems)
    return tuple(changed)


def parameter_of(model: ModelSpec, path: str) -> Parameter | None:
    """The parameter of a model at a path, which may lead into a nested model or a step before it."""
    return _configuration(model).parameter(path)


def tuning_from_text(text: str) -> Settings:
    """The settings of ``--search``: the name of a search, or a mapping as under ``tune`` in a file."""
    if not text.lstrip().startswith("{"):
        return {"search": text}
    return settings_of_tuning(YamlNode.typed(text, "--search").bare) or {}


def protocol_from_text(text: str | None, **options: object) -> ProtocolSpec | None:
    """The protocol of a ``--protocol`` option, an id or a mapping, with the parameters of other options."""
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


def _configuration(model: ModelSpec, values: Mapping[str, Any] = NOTHING) -> Configuration:
    """A model with values that are given by ``-p``."""
    return Configuration(MODELS, model.as_mapping(), values, at=lambda *keys: "-p" if keys else "")


def _unknown_parameters(values: Mapping[str, str], models: Sequence[ModelSpec]) -> Iterator[Problem]:
    """A problem for each value that no model has a parameter for."""
    if not models:
        for path in values:
            yield Problem(f"-p {path}: there is no model to set it for", hint="name one with -m")
        return
    valid_paths = {path for model in models for path in _typed_values(model, values)}
    methods = [model for model in models if not model.saved]
    for path in values:
        if path in valid_paths:
            continue
        start, dot, _ = path.partition(".")
        owner = next((model for model in methods if dot and start in by_name(model.cls)), None)
        unknown = None
        if owner is not None:  # the path leads into a parameter, which says what is wrong with it
            given = {**_typed_values(owner, values), path: values[path]}
            unknown = next(iter(_configuration(owner, given).problems_with_values()), None)
        if unknown := unknown or unknown_in_step(path, models):
            yield unknown
            continue
        ids = ", ".join(dict.fromkeys(model.use for model in models))
        hint = did_you_mean(path, {name for model in methods for name in by_name(model.cls)}, "parameters")
        yield Problem(f"{ids}: no parameter '{path}'", where="-p", hint=hint)


def unknown_in_step(path: str, models: Sequence[ModelSpec]) -> Problem | None:
    """What is wrong with a path that begins with a step: no model has it, or it has no such parameter."""
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
    """The values for parameters that a model or its steps have, parsed; a saved model cannot be changed."""
    given: dict[str, Any] = {}
    for path in sorted(values, key=lambda path: path.count(".")):  # a nested model before what is inside it
        parameter = None if model.saved else _configuration(model, given).parameter(path)
        if parameter is not None:
            given[path] = parameter.from_text(values[path])
    return given


def _with_params(model: ModelSpec, values: Mapping[str, str], problems: list[Problem]) -> ModelSpec:
    """A model with the values for its parameters and those of its steps."""
    given = _typed_values(model, values)
    if not given:
        return model
    grids = dict(_problems_with_lists(_configuration(model, given), {path: values[path] for path in given}))
    problems += grids.values()
    changed = _configuration(model, {path: value for path, value in given.items() if path not in grids})
    for part in (changed, *(step for step in changed.steps or () if step.inside)):
        problems += part.problems_with_values()
    steps = None
    if model.steps is not None:
        pairs = zip(model.steps, changed.steps or (), strict=True)
        steps = tuple(replace(step, params=configured.values) for step, configured in pairs)
    return replace(model, params=changed.values, steps=steps)


def _problems_with_lists(model: Configuration, values: Mapping[str, str]) -> Iterator[tuple[str, Problem]]:
    """A problem for each parameter that takes one value and was given several, with the grid that tries all."""
    for name, text in values.items():
        listed = [part.strip() for part in text.strip("[]() ").split(",") if part.strip()]
        parameter = model.parameter(name)
        if parameter is None or len(listed) < 2 or not parameter.problem_with(parameter.from_text(text)):
            continue
        wrong = next(filter(None, (parameter.problem_with(parameter.from_text(part)) for part in listed)), None)
        if wrong is None:
            others = [f"{other}: {value}" for other, value in values.items() if other != name]
            params = f"params: {{{', '.join(others)}}}, " if others else ""
            hint = f"to try several: -m '{{use: {model.use}, {params}grid: {{{name}: [{', '.join(listed)}]}}}}'"
            yield name, Problem(f"{model.use}: {name} takes one value, was given '{text}'", where="-p", hint=hint)
        elif parameter.choices is not None:
            yield name, Problem(f"{model.use}: {name} {wrong}", where="-p", hint=parameter.help)
