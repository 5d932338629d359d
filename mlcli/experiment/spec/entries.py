"""From entries, as they stand in a file or are typed in a shell, to specs of models, steps and protocols."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from os.path import isfile
from pathlib import Path
from typing import Any

from mlcli.core.abilities import Staged
from mlcli.core.configuration import Configuration
from mlcli.core.errors import Problem, UsageError, placed, raise_all
from mlcli.core.located_values import YamlNode, until_too_many_problems
from mlcli.core.names import did_you_mean
from mlcli.core.params import problems_with
from mlcli.core.quantities import DURATION, SIZE, bytes_in, seconds_in
from mlcli.core.registry import MODELS, PROTOCOLS
from mlcli.experiment.spec.cells import Budget, ModelSpec, ProtocolSpec, Stages, StepSpec
from mlcli.experiment.spec.shorthands import Settings, settings_of_tuning, tuned, with_decision_rule

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
    made = [_with_combination(asked, values, written) for values in _combinations(asked, parts, problems)]
    changed = [step for _, steps in made for step in steps or () if step.inside]
    _add_problems_with_values([*(model for model, _ in made), *changed], problems)
    if len(problems) > before:
        return []
    specs = [
        ModelSpec(asked.use, model.values, _steps(steps), label, stages=stages, where=written.where)
        for model, steps in made
    ]
    specs = _tuned(parts, specs, problems, tune) if "tune" in parts else specs
    decide = parts.get("decide")
    return (
        specs if decide is None else [one for spec in specs for one in with_decision_rule(spec, decide, problems)]
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


def _with_combination(
    asked: Configuration, values: Mapping[str, YamlNode], entry: YamlNode
) -> tuple[Configuration, list[Configuration] | None]:
    """A model and its steps with the values of a grid; those of a step stand at its path, as polynomial.degree."""
    steps, own, changed = asked.steps, dict(values), []
    for step in steps or ():
        mine = [path for path in values if path.startswith(f"{step.use}.") and asked.parameter(path) is None]
        changed.append(_with_values(step, {path.partition(".")[2]: values[path] for path in mine}, entry))
        own = {path: part for path, part in own.items() if path not in mine}
    return _with_values(asked, own, entry), None if steps is None else changed


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
    return None if asked is None else tuple(StepSpec(one.use, one.values, where=one.here()) for one in asked)


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
        {name: part for name, part in combination.items() if name not in nowhere or leads[name][place]}
        for place, combination in enumerate(combinations)
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
