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
from mlcli.core.names import did_you_mean
from mlcli.core.params import Parameter, by_name, problems_with
from mlcli.core.quantities import DURATION, SIZE, bytes_in, seconds_in
from mlcli.core.registry import IMPORT_PATH, MODELS, PROTOCOLS, STEPS, allow_imports, import_paths_in
from mlcli.core.strict_yaml import YamlNode, until_too_many_problems
from mlcli.experiment.spec.cells import Budget, ModelSpec, ProtocolSpec, Stages, StepSpec
from mlcli.experiment.spec.shorthands import Settings, settings_of_tuning, tuned, with_decision_rule

NOTHING: Mapping[str, Any] = MappingProxyType({})
MODEL_KEYS = ("grid", "tune", "stages", "decide", "as")
"""What an entry says of a model beside its id, parameters and steps."""
STAGES = "true, how many, or a list of stages such as [10, 50, 100]"
MAX_COMBINATIONS = 10_000
BUDGETS = "such as 60s, or {cell: 60s, total: 2h, memory: 4GiB}"
LIMITS: Mapping[str, tuple[Callable[[object], float | None], str]] = {
    "cell": (seconds_in, DURATION),
    "total": (seconds_in, DURATION),
    "memory": (bytes_in, SIZE),
}
"""By limit of a budget, what reads it and how it is written."""

Named = tuple[YamlNode, ModelSpec]
"""An entry with its model, the first one where there is a grid."""


def models_of(
    entries: Sequence[YamlNode],
    problems: list[Problem],
    base: Path | None = None,
    tune: Settings | None = None,
) -> list[ModelSpec]:
    """The models of those entries that are legal; whatever is wrong with the others is added to ``problems``.

    ``tune`` are the experiment's settings of tuning, for models that say ``tune`` and leave some of them out.
    """
    legal: list[ModelSpec] = []
    named: dict[str, Named] = {}
    for written in until_too_many_problems(entries, problems):
        specs = model_of(written, problems, base, tune)
        name_taken = _name_taken((written, specs[0]), named) if specs else None
        if name_taken is not None:
            problems.append(name_taken)
        else:
            legal += specs
    return legal


def model_of(
    written: YamlNode, problems: list[Problem], base: Path | None = None, tune: Settings | None = None
) -> list[ModelSpec]:
    """The models of one entry: one, or one for each combination of its grid; none when something is wrong."""
    if isinstance(written.value, str) and is_model_file(written.value, base):
        path = (base or Path()) / written.value
        return [ModelSpec("", saved=path, label=path.name, where=written.where)]
    before = len(problems)
    parts = written.named() if isinstance(written.value, dict) else {}
    asked = Configuration(MODELS, written.bare, here=written.place, further_keys=MODEL_KEYS)
    problems += asked.problems_with_form()
    label, stages = _label(parts, problems), _stages(asked, parts, problems)
    made = [_with_values(asked, values, written) for values in _combinations(asked, parts, problems)]
    changed = [step for model in made for step in model.steps or () if step.inside]
    _add_problems_with_values([*made, *changed], problems)
    if len(problems) > before:
        return []
    specs = [
        ModelSpec(asked.use, model.values, _steps(model.steps), label, stages=stages, where=written.where)
        for model in made
    ]
    specs = _tuned(parts, specs, problems, tune) if "tune" in parts else specs
    decide = parts.get("decide")
    return (
        specs
        if decide is None
        else [model_spec for spec in specs for model_spec in with_decision_rule(spec, decide, problems)]
    )


def protocol_of(written: YamlNode, problems: list[Problem]) -> ProtocolSpec | None:
    """The protocol of an entry; without ``use``, its parameters are for the default protocol of each kind."""
    values = written.named() if isinstance(written.value, dict) else {}
    use = values.pop("use", None)
    if values and use is None:
        return ProtocolSpec("", {name: part.value for name, part in values.items()}, where=written.where)
    value = written.bare if use is None else {"use": use.value}
    asked = _with_values(Configuration(PROTOCOLS, value, here=written.place), values, written)
    wrong = list(asked.problems())
    problems += wrong
    return None if wrong else ProtocolSpec(asked.use, asked.values, where=written.where)


def is_model_file(text: str, base: Path | None = None) -> bool:
    """Whether a text names a saved model: no id has a dot or a slash."""
    return text not in MODELS and (any(mark in text for mark in "./\\") or isfile((base or Path()) / text))


def stages_of(written: YamlNode, problems: list[Problem]) -> Stages:
    """The stages of a fit that are to be answered at."""
    value = written.value
    listed = value if isinstance(value, list) and value else [value]
    if isinstance(value, bool) or all(type(stage) is int and stage > 0 for stage in listed):
        return tuple(value) if isinstance(value, list) else value
    problems.append(written.problem(f"'stages' takes {STAGES}; was given {written.given}"))
    return False


def tuning_of(written: YamlNode, problems: list[Problem]) -> Settings | None:
    """How models are tuned, as it stands under `tune`."""
    try:
        return settings_of_tuning(written.bare)
    except UsageError as error:
        problems += placed(error.problems, written.where)
        return None


def budget_of(written: YamlNode, problems: list[Problem]) -> Budget:
    """The budget of an experiment: a duration for each cell, or a mapping."""
    if not isinstance(written.value, dict):
        return _budget_with({"cell": written}, problems, "budget")
    parts = written.named()
    problems += [
        part.problem(f"a budget has no key '{key}'", did_you_mean(key, LIMITS, "keys"))
        for key, part in parts.items()
        if key not in LIMITS
    ]
    if not parts:
        problems.append(written.problem("'budget' takes at least one limit", BUDGETS))
    return _budget_with({key: part for key, part in parts.items() if key in LIMITS}, problems)


def _budget_with(parts: Mapping[str, YamlNode], problems: list[Problem], name: str = "") -> Budget:
    values: dict[str, Any] = {}
    for key, part in parts.items():
        read, form = LIMITS[key]
        values[key] = read(part.value)
        if values[key] is None:
            problems.append(part.problem(f"'{name or key}' takes {form}; was given {part.given}", BUDGETS))
    return Budget(**values)


def budget_from_text(text: str) -> Budget:
    """A budget as it is typed in a shell: 60s, or a mapping in braces."""
    problems: list[Problem] = []
    budget = budget_of(YamlNode.typed(text, "--budget"), problems)
    raise_all(UsageError, problems)
    return budget


def _with_values(asked: Configuration, values: Mapping[str, YamlNode], entry: YamlNode) -> Configuration:
    """The same with values for parameters that stand beside it: in a grid, or in the entry itself."""

    def place(name: str, *keys: str | int) -> str:
        return values.get(name, entry).place(*keys)

    return replace(asked, inside={name: part.bare for name, part in values.items()}, at=place)


def _add_problems_with_values(models: Sequence[Configuration], problems: list[Problem]) -> None:
    """What is wrong with the combinations of a grid, each sentence once."""
    known: set[str] = set()
    for model in models:
        new = [problem for problem in model.problems_with_values() if problem.what not in known]
        known.update(problem.what for problem in new)
        problems += new


def _tuned(
    parts: Mapping[str, YamlNode], specs: list[ModelSpec], problems: list[Problem], shared: Settings | None
) -> list[ModelSpec]:
    """The models of an entry as `tune` wraps them; its own settings go before those of the experiment."""
    part, before = parts["tune"], len(problems)
    own = tuning_of(part, problems)
    if own is None:
        return [replace(spec, shares_tune=False) for spec in specs]
    settings = {**(shared or {}), **own}
    if "stages" in parts:
        problems.append(parts["stages"].problem("a model that is tuned has no stages of its own"))
        return []
    made = [replace(tuned(spec, settings), shares_tune=False) for spec in specs]
    for spec in made:
        wrong = problems_with(spec.cls, spec.params, lambda *keys: part.where)
        problems += [problem for problem in wrong if problem not in problems]
    return made if len(problems) == before else []


def _stages(asked: Configuration, parts: Mapping[str, YamlNode], problems: list[Problem]) -> Stages | None:
    part = parts.get("stages")
    if part is None:
        return None
    stages = stages_of(part, problems)
    cls = asked.cls_or_none
    if stages and cls is not None and not issubclass(cls, Staged):
        hint = "leave them out, or ask for those of the experiment"
        problems.append(part.problem(f"{asked.use} has no stages", hint))
    return stages


def _label(parts: Mapping[str, YamlNode], problems: list[Problem]) -> str:
    part = parts.get("as")
    if part is None:
        return ""
    if not isinstance(part.value, str) or not part.value.strip():
        problems.append(part.problem(f"'as' takes the name that tables shall show, was given {part.given}"))
        return ""
    return part.value


def _steps(asked: Sequence[Configuration] | None) -> tuple[StepSpec, ...] | None:
    return (
        None
        if asked is None
        else tuple(
            StepSpec(configuration.use, configuration.values, where=configuration.here())
            for configuration in asked
        )
    )


def _combinations(
    asked: Configuration, parts: Mapping[str, YamlNode], problems: list[Problem]
) -> list[dict[str, YamlNode]]:
    """Every combination of a grid, as written, the last key fastest; an empty one without a legal grid."""
    if "grid" not in parts:
        return [{}]
    whole = parts["grid"]
    wrong = list(_problems_with_grid(whole, asked.values))
    problems += wrong
    if wrong:
        return [{}]
    grid = whole.named()
    every = [dict(zip(grid, values, strict=True)) for values in product(*(part.items() for part in grid.values()))]
    return _without_dead_paths(every, asked)


def _problems_with_grid(grid: YamlNode, params: Mapping[str, Any]) -> Iterator[Problem]:
    """Everything that is wrong with a grid, beside the values in it."""
    if not isinstance(grid.value, dict):
        yield grid.problem(f"'grid' takes a mapping, was given {grid.given}", "such as grid: {k: ...}")
        return
    if not grid.value:
        yield grid.problem("this grid is empty", "name a parameter with a list of values, or leave it out")
    count = 1
    for name, part in grid.named().items():
        if name in params:
            what = f"'{name}' stands in 'params' and in 'grid'"
            yield part.problem(what, "leave it out of one of them")
        if not isinstance(part.value, list):
            what = f"'{name}' takes a list of values in a grid, was given {part.given}"
            yield part.problem(what, f"such as {name}: [{part.value}]")
        elif not part.value:
            yield part.problem(f"'{name}' has no values in this grid", "list some, or leave it out")
        else:
            count *= len(part.value)
    if count > MAX_COMBINATIONS:
        yield grid.problem(f"this grid has {count:,} combinations, at most {MAX_COMBINATIONS:,} work")


def _without_dead_paths(
    combinations: list[dict[str, YamlNode]], asked: Configuration
) -> list[dict[str, YamlNode]]:
    """Combinations without paths that lead nowhere in them but somewhere in another: knn has a k, lda has none."""
    paths = dict.fromkeys(name for combination in combinations for name in combination if "." in name)
    models = [_with_values(asked, combination, YamlNode(None)) for combination in combinations if paths]
    leads = {path: [model.parameter(path) is not None for model in models] for path in paths}
    nowhere = {path for path in paths if any(leads[path]) and not all(leads[path])}
    if not nowhere:
        return combinations
    kept = (
        {name: part for name, part in combination.items() if name not in nowhere or leads[name][index]}
        for index, combination in enumerate(combinations)
    )
    return list({tuple((name, part.keys) for name, part in one.items()): one for one in kept}.values())


def _name_taken(entry: Named, named: dict[str, Named]) -> Problem | None:
    """What is wrong with a chosen name that another entry has; ids alone are told apart by their parameters."""
    written, spec = entry
    name = spec.label or spec.use
    other, its_spec = named.setdefault(name, entry)
    if other is written or not (_chosen(spec) or _chosen(its_spec)):
        return None
    hint = f"the other stands at {other.where}" if other.where else "choose another name with 'as'"
    return written.problem(f"two models are called '{name}'", hint)


def _chosen(spec: ModelSpec) -> bool:
    return bool(spec.label) and spec.saved is None


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
    changed = tuple(_with_params(model, values, problems) for model in models)
    if decide is not None:
        if not changed:
            raise UsageError("--decide: there is no model to decide for", hint="name one with -m")
        rule = YamlNode.typed(decide, "--decide")
        changed = tuple(spec for model in changed for spec in with_decision_rule(model, rule, problems))
    raise_all(UsageError, problems)
    return changed


def parameter_of(model: ModelSpec, path: str) -> Parameter | None:
    """The parameter of a model at a path, which may lead into a model inside it or a step before it."""
    return _configuration(model).parameter(path)


def _configuration(model: ModelSpec, values: Mapping[str, Any] = NOTHING) -> Configuration:
    """A model with values that are given by ``-p``."""
    steps = None if model.steps is None else [{"use": step.use, "params": step.params} for step in model.steps]
    written = {"use": model.use, "params": model.params, **({} if steps is None else {"steps": steps})}
    return Configuration(MODELS, written, values, at=_option)


def tuning_from_text(text: str) -> Settings:
    """The settings of ``--search``: the name of a search, or a mapping as under ``tune`` in a file."""
    if not text.lstrip().startswith("{"):
        return {"search": text}
    return settings_of_tuning(YamlNode.typed(text, "--search").bare) or {}


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
    """A problem for each value that no model has a parameter for."""
    if values and not models:
        for name in values:
            yield Problem(f"-p {name}: there is no model to set it for", hint="name one with -m")
        return
    known = {name for model in models for name in _typed_values(model, values)}
    for name in values:
        if name not in known:
            unknown = _unknown_path(name, values, models) or unknown_in_step(name, models)
            yield unknown or _unknown_parameter(name, models)


def _unknown_parameter(name: str, models: Sequence[ModelSpec]) -> Problem:
    declared = {name for model in models if not model.saved for name in by_name(model.cls)}
    ids = ", ".join(dict.fromkeys(model.use for model in models))
    return Problem(f"{ids}: no parameter '{name}'", where="-p", hint=did_you_mean(name, declared, "parameters"))


def _unknown_path(name: str, values: Mapping[str, str], models: Sequence[ModelSpec]) -> Problem | None:
    """What is wrong with a path that begins with a parameter of a model."""
    start = name.partition(".")[0]
    owners = (model for model in models if not model.saved and start in by_name(model.cls))
    if start == name or (owner := next(owners, None)) is None:
        return None
    given = {**_typed_values(owner, values), name: values[name]}
    return next(iter(_configuration(owner, given).problems_with_values()), None)


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
    """The values of parameters that a model or its steps have, by their types; a saved one cannot be changed."""
    if model.saved:
        return {}
    given: dict[str, Any] = {}
    for path in sorted(values, key=lambda path: path.count(".")):  # a nested model before what is inside it
        declared = _configuration(model, given).parameter(path)
        if declared is not None:
            given[path] = declared.from_text(values[path])
    return given


def _with_params(model: ModelSpec, values: Mapping[str, str], problems: list[Problem]) -> ModelSpec:
    given = _typed_values(model, values)
    if not given:
        return model
    grids = dict(_grids(_configuration(model, given), {path: values[path] for path in given}))
    problems += grids.values()
    changed = _configuration(model, {path: value for path, value in given.items() if path not in grids})
    for part in (changed, *(step for step in changed.steps or () if step.inside)):
        problems += part.problems_with_values()
    steps = None
    if model.steps is not None:
        pairs = zip(model.steps, changed.steps or (), strict=True)
        steps = tuple(replace(step, params=configured.values) for step, configured in pairs)
    return replace(model, params=changed.values, steps=steps)


def _grids(model: Configuration, values: Mapping[str, str]) -> Iterator[tuple[str, Problem]]:
    """By parameter that takes one value and was given several: that they make a grid, or which is no choice."""
    for name, text in values.items():
        listed = [part.strip() for part in text.strip("[]() ").split(",") if part.strip()]
        declared = model.parameter(name)
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
