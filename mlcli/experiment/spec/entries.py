"""From entries, as they stand in a file or are typed in a shell, to specs of models, steps and protocols."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from os.path import isfile
from pathlib import Path
from typing import Any

from mlcli.core.errors import Problem, UsageError, raise_all
from mlcli.core.names import did_you_mean
from mlcli.core.params import build, parameter_at
from mlcli.core.quantities import DURATION, SIZE, bytes_in, seconds_in
from mlcli.core.registry import MODELS, PROTOCOLS, STEPS
from mlcli.experiment.spec.cells import Budget, ModelSpec, ProtocolSpec, Stages, StepSpec
from mlcli.experiment.spec.decisions import decided
from mlcli.experiment.spec.tuning import Settings, settings_of_tuning, tuned
from mlcli.experiment.spec.written import Entry, Written, placed, while_few

MODEL_KEYS = ("use", "params", "grid", "tune", "steps", "stages", "decide", "as")
STAGES = "true, how many, or a list of stages such as [10, 50, 100]"
STEP_KEYS = ("use", "params")
MAX_COMBINATIONS = 10_000
BUDGETS = "such as 60s, or {cell: 60s, total: 2h, memory: 4GiB}"
LIMITS: Mapping[str, tuple[Callable[[object], float | None], str]] = {
    "cell": (seconds_in, DURATION),
    "total": (seconds_in, DURATION),
    "memory": (bytes_in, SIZE),
}
"""By limit of a budget, what reads it and how it is written."""

Named = tuple[Written, ModelSpec]
"""An entry with its model, the first one where there is a grid."""


def models_of(entries: Sequence[Written], found: list[Problem], base: Path | None = None) -> list[ModelSpec]:
    """The models of those entries that are legal; whatever is wrong with the others is added to ``found``."""
    legal: list[ModelSpec] = []
    named: dict[str, Named] = {}
    for written in while_few(entries, found):
        specs = model_of(written, found, base)
        name_taken = _name_taken((written, specs[0]), named) if specs else None
        if name_taken is not None:
            found.append(name_taken)
        else:
            legal += specs
    return legal


def model_of(written: Written, found: list[Problem], base: Path | None = None) -> list[ModelSpec]:
    """The models of one entry: one, or one for each combination of its grid; none when something is wrong."""
    if isinstance(written.value, str) and is_model_file(written.value, base):
        path = (base or Path()) / written.value
        return [ModelSpec("", saved=path, label=path.name, where=written.where)]
    entry = Entry(written, MODELS, found)
    if entry.cls is not None or entry.legal:
        entry.refuse_other_keys(MODEL_KEYS)
    label, steps, stages = _label(entry), _steps(entry), _stages(entry)
    if entry.cls is None:
        return []
    combinations = entry.legal_params(_combinations(entry, entry.mapping("params")))
    specs = [
        ModelSpec(entry.cls.id, params, steps, label, stages=stages, where=written.where)
        for params in combinations
    ]
    specs = _tuned(entry, specs) if "tune" in entry.parts else specs
    decide = entry.parts.get("decide")
    return specs if decide is None else [one for spec in specs for one in decided(spec, decide, found)]


def protocol_of(written: Written, found: list[Problem]) -> ProtocolSpec | None:
    """The protocol of an entry; without ``use``, its parameters are for the default protocol of each kind."""
    params = {key: part.value for key, part in written.named().items()} if isinstance(written.value, dict) else {}
    if params and "use" not in params:
        return ProtocolSpec("", params, where=written.where)
    entry = Entry(written, PROTOCOLS, found)
    if entry.cls is None:
        return None
    legal = entry.legal_params([{name: part for name, part in entry.parts.items() if name != "use"}])
    return ProtocolSpec(entry.cls.id, legal[0], where=written.where) if legal else None


def is_model_file(text: str, base: Path | None = None) -> bool:
    """Whether a text names a saved model: no id has a dot or a slash."""
    return text not in MODELS and (any(mark in text for mark in "./\\") or isfile((base or Path()) / text))


def stages_of(written: Written, found: list[Problem]) -> Stages:
    """The stages of a fit that are to be answered at."""
    value = written.value
    listed = value if isinstance(value, list) and value else [value]
    if isinstance(value, bool) or all(type(stage) is int and stage > 0 for stage in listed):
        return tuple(value) if isinstance(value, list) else value
    found.append(written.problem(f"'stages' takes {STAGES}; was given {written.given}"))
    return False


def tuning_of(written: Written, found: list[Problem]) -> Settings | None:
    """How models are tuned, as it stands under `tune`."""
    try:
        return settings_of_tuning(written.bare)
    except UsageError as error:
        found += placed(error.problems, written.where)
        return None


def budget_of(written: Written, found: list[Problem]) -> Budget:
    """The budget of an experiment: a duration for each cell, or a mapping; what is wrong is added to ``found``."""
    if not isinstance(written.value, dict):
        return _budget_with({"cell": written}, found, "budget")
    parts = written.named()
    found += [
        part.problem(f"a budget has no key '{key}'", did_you_mean(key, LIMITS, "keys"))
        for key, part in parts.items()
        if key not in LIMITS
    ]
    if not parts:
        found.append(written.problem("'budget' takes at least one limit", BUDGETS))
    return _budget_with({key: part for key, part in parts.items() if key in LIMITS}, found)


def _budget_with(parts: Mapping[str, Written], found: list[Problem], name: str = "") -> Budget:
    values: dict[str, Any] = {}
    for key, part in parts.items():
        read, form = LIMITS[key]
        values[key] = read(part.value)
        if values[key] is None:
            found.append(part.problem(f"'{name or key}' takes {form}; was given {part.given}", BUDGETS))
    return Budget(**values)


def budget_from_text(text: str) -> Budget:
    """A budget as it is typed in a shell: 60s, or a mapping in braces."""
    found: list[Problem] = []
    budget = budget_of(Written.typed(text, "--budget"), found)
    raise_all(UsageError, found)
    return budget


def _tuned(entry: Entry, specs: list[ModelSpec]) -> list[ModelSpec]:
    """The models of an entry as `tune` wraps them."""
    part = entry.parts["tune"]
    settings = tuning_of(part, entry.found)
    if settings is None or not specs:
        return specs
    if "stages" in entry.parts:
        entry.refuse(entry.parts["stages"], "a model that is tuned has no stages of its own")
        return []
    made = [tuned(spec, settings) for spec in specs]
    for spec in made:
        try:
            build(MODELS.load(spec.use), spec.params)
        except UsageError as error:
            entry.found += [one for one in placed(error.problems, part.where) if one not in entry.found]
    return made if entry.legal else []


def _stages(entry: Entry) -> Stages | None:
    part = entry.parts.get("stages")
    if part is None:
        return None
    stages = stages_of(part, entry.found)
    if stages and entry.cls is not None and not entry.cls.stage_name:
        entry.refuse(part, f"{entry.cls.id} has no stages", "leave them out, or ask for those of the experiment")
    return stages


def _label(entry: Entry) -> str:
    part = entry.parts.get("as")
    if part is None:
        return ""
    if not isinstance(part.value, str) or not part.value.strip():
        entry.refuse(part, f"'as' takes the name that tables shall show, was given {part.given}")
        return ""
    return part.value


def _steps(entry: Entry) -> tuple[StepSpec, ...] | None:
    part = entry.parts.get("steps")
    if part is None:
        return None
    if not isinstance(part.value, list):
        entry.refuse(part, f"'steps' takes a list, was given {part.given}", "such as steps: [standardise]")
        return None
    return tuple(step for item in part.items() for step in _step(Entry(item, STEPS, entry.found)))


def _step(entry: Entry) -> Iterator[StepSpec]:
    entry.refuse_other_keys(STEP_KEYS)
    for params in entry.legal_params([entry.mapping("params")]) if entry.cls is not None else []:
        yield StepSpec(entry.cls.id, params, where=entry.written.where)


def _combinations(entry: Entry, params: dict[str, Written]) -> list[dict[str, Written]]:
    """The parameters with every combination of a grid, as written, the last key fastest; alone without a grid."""
    grid = entry.mapping("grid")
    if "grid" in entry.parts and not entry.parts["grid"].value:
        hint = "name a parameter with a list of values, or leave it out"
        entry.refuse(entry.parts["grid"], "this grid is empty", hint)
    for name, part in grid.items():
        _check_grid_values(entry, name, part)
        if name in params:
            entry.refuse(part, f"'{name}' stands in 'params' and in 'grid'", "leave it out of one of them")
    if not all(isinstance(part.value, list) for part in grid.values()):
        return [params]
    count = math.prod(len(part.value) for part in grid.values())
    if count > MAX_COMBINATIONS:
        what = f"this grid has {count:,} combinations, at most {MAX_COMBINATIONS:,} work"
        entry.refuse(entry.parts["grid"], what)
        return [params]
    chosen = product(*(part.items() for part in grid.values()))
    return _without_dead_paths([params | dict(zip(grid, parts, strict=True)) for parts in chosen], entry.cls)


def _without_dead_paths(combinations: list[dict[str, Written]], cls: type) -> list[dict[str, Written]]:
    """Combinations without paths that lead nowhere in them but somewhere in another: knn has a k, lda has none."""
    paths = dict.fromkeys(name for combination in combinations for name in combination if "." in name)
    values = [{name: part.bare for name, part in combination.items()} for combination in combinations]
    leads = {path: [parameter_at(cls, given, path) is not None for given in values] for path in paths}
    nowhere = {path for path in paths if any(leads[path]) and not all(leads[path])}
    if not nowhere:
        return combinations
    kept = (
        {name: part for name, part in combination.items() if name not in nowhere or leads[name][place]}
        for place, combination in enumerate(combinations)
    )
    return list({tuple((name, part.keys) for name, part in one.items()): one for one in kept}.values())


def _check_grid_values(entry: Entry, name: str, part: Written) -> None:
    if not isinstance(part.value, list):
        what = f"'{name}' takes a list of values in a grid, was given {part.given}"
        entry.refuse(part, what, f"such as {name}: [{part.value}]")
    elif not part.value:
        entry.refuse(part, f"'{name}' has no values in this grid", "list some, or leave it out")


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
