"""The JSON Schema of experiment files: a branch for each model, step and protocol, for editors to complete."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from mlcli.core.nested import ModelParameter, noun_of
from mlcli.core.params import Parameter, by_name, parameters
from mlcli.core.registry import IMPORT_PATH, MODELS, PROTOCOLS, STEPS, Catalogue, Entry
from mlcli.core.strict_yaml import IGNORED, Keys
from mlcli.data.shipped import shipped_paths
from mlcli.experiment.spec.file import DATASET, EXPERIMENT, REQUIRED
from mlcli.experiment.spec.shorthands import FAIR_RULE, RULE
from mlcli.metrics.fairness import CRITERIA
from mlcli.metrics.registry import at_k_names_for, class_names_for, names_for
from mlcli.tasks.table import KINDS, kind_named

Schema = dict[str, Any]

DIALECT = "https://json-schema.org/draft/2020-12/schema"
EMPTY: Schema = {}
OWN_KEYS: Schema = {f"^{IGNORED}": {}}
MODEL_FILE: Schema = {"type": "string", "pattern": r"[./\\]", "description": "a saved model file"}
IMPORTED: Schema = {
    "type": "string",
    "pattern": f"^{IMPORT_PATH.pattern}$",
    "description": "a class of another package, such as sklearn.svm.SVC",
}
TASK: Schema = {"enum": [kind.name for kind in KINDS]}
SEVERAL: Schema = {"type": "array", "minItems": 1}
STAGE: Schema = {"type": "integer", "minimum": 1}
STAGES: Schema = {"anyOf": [{"type": "boolean"}, STAGE, {**SEVERAL, "items": STAGE}]}
TUNED: Schema = {**SEVERAL, "items": {"type": "string"}}
TUNE: Schema = {"anyOf": [{"type": "boolean"}, TUNED, {"type": "object", "minProperties": 1}]}
BUDGET: Schema = {
    "anyOf": [
        {"type": "number", "exclusiveMinimum": 0},
        {"type": "string", "pattern": "[1-9]"},
        {
            "type": "object",
            "minProperties": 1,
            "additionalProperties": False,
            "patternProperties": OWN_KEYS,
            "properties": {
                "cell": {"type": ["number", "string"], "description": "seconds of a cell, or 60s, 15m, 2h"},
                "total": {"type": ["number", "string"], "description": "seconds of all on the clock, or 2h"},
                "memory": {"type": "string", "description": "of the process of a cell, such as 4GiB"},
            },
        },
    ]
}
COSTS: Schema = {
    "type": "object",
    "minProperties": 1,
    "additionalProperties": {"type": "object", "minProperties": 1, "additionalProperties": {"type": "number"}},
}


def experiment_schema() -> Schema:
    """The JSON Schema (draft 2020-12) of an experiment file."""
    schema = {**_of(EXPERIMENT), "required": list(REQUIRED)}
    items = {"data": _data(), "models": _ref("model"), "metrics": _metrics(), "expect": _expectation()}
    for key, item in items.items():
        schema["properties"][key]["items"] = item
    protocols = {"anyOf": [_ref("protocol"), {**SEVERAL, "items": _ref("protocol")}]}
    forms = {"protocol": protocols, "task": TASK, "stages": STAGES, "cost": COSTS, "tune": TUNE, "budget": BUDGET}
    for key, form in forms.items():
        schema["properties"][key] |= form
    return {"$schema": DIALECT, "title": "an experiment of mlcli", **schema, "$defs": _definitions()}


def _definitions() -> Schema:
    return {
        "model": {
            "anyOf": [_ids(MODELS), MODEL_FILE, *_branches(MODELS, _model_keys), _imported(_model_keys(()))]
        },
        "step": {"anyOf": [_ids(STEPS), *_branches(STEPS, _step_keys), _imported(_step_keys(()))]},
        "protocol": {"anyOf": [_ids(PROTOCOLS), *_branches(PROTOCOLS, _values), _protocol_of_the_kind()]},
        "decide": _decide(),
        **{noun_of(base): _nested(base) for base in _bases_of_nested()},
    }


def _bases_of_nested() -> Iterator[type]:
    """What models inside models have to be."""
    for entry in MODELS.entries():
        for parameter in parameters(entry.load()):
            yield from parameter.of if isinstance(parameter, ModelParameter) else ()


def _nested(base: type) -> Schema:
    entries = [entry for entry in MODELS.entries() if issubclass(entry.load(), base)]
    ids = {"enum": [entry.name for entry in entries], "description": f"the id of a {noun_of(base)}"}
    free = [IMPORTED, _imported(_nested_keys(()))]
    return {"anyOf": [ids, *free, *(_branch(entry, _nested_keys(parameters(entry.load()))) for entry in entries)]}


def _ids(catalogue: Catalogue) -> Schema:
    return {"enum": catalogue.names(), "description": f"the id of a {catalogue.noun}"}


def _branches(catalogue: Catalogue, keys: Callable[[tuple[Parameter, ...]], Schema]) -> list[Schema]:
    return [_branch(entry, keys(parameters(entry.load()))) for entry in catalogue.entries()]


def _branch(entry: Entry, keys: Schema) -> Schema:
    return _with_use(entry.name, {"use": {"const": entry.name, "description": entry.summary}, **keys})


def _imported(keys: Schema) -> Schema:
    """The mapping that begins with an import path; what its parameters may be, only the package knows."""
    unknown: Schema = {"type": "object", "description": "as the package says"}
    free: Schema = {key: unknown for key in ("params", "grid") if key in keys}
    return _with_use("an estimator by import path", {"use": IMPORTED, **keys, **free})


def _with_use(title: str, keys: Schema) -> Schema:
    return {**_mapping(keys), "title": title, "required": ["use"]}


def _model_keys(declared: tuple[Parameter, ...]) -> Schema:
    grid = {name: {**SEVERAL, "items": value} for name, value in _values(declared).items()}
    paths = dict.fromkeys([*_paths_into(declared), f"^({'|'.join(STEPS.names())})[.]"], SEVERAL)
    combinations = "lists of values: one cell for each combination"
    return {
        **_nested_keys(declared),
        "grid": {**_mapping(grid, paths), "minProperties": 1, "description": combinations},
        "tune": {**TUNE, "description": "which of its parameters inner splits choose, among which values"},
        "stages": {**STAGES, "description": "at which stages of its fit it is judged, too"},
        "decide": _ref("decide"),
        "as": {"type": "string", "minLength": 1, "description": "what tables call the model"},
    }


def _decide() -> Schema:
    """What stands in the place of the likeliest class: a rule by name, or with its parameters."""
    declared = [
        parameter for parameter in parameters(MODELS.load(RULE)) if not isinstance(parameter, ModelParameter)
    ]
    costs = {**COSTS, "description": "what answers cost: {actual: {predicted: value}}"}
    values = _values(declared) | {"cost": costs}
    fair = [
        parameter for parameter in parameters(MODELS.load(FAIR_RULE)) if not isinstance(parameter, ModelParameter)
    ]
    names = [*values["by"]["enum"], *CRITERIA]
    by = {"enum": names, "description": values["by"]["description"]}
    of_detectors = by_name(kind_named("anomaly").base)["decide"].schema()
    return {
        "anyOf": [by, _mapping(values), _mapping(_values(fair)), *of_detectors["anyOf"]],
        "description": "how classes are decided, or which rows are flagged",
    }


def _nested_keys(declared: tuple[Parameter, ...]) -> Schema:
    what = "what prepares the data; what the model needs is added"
    return {**_step_keys(declared), "steps": {"type": "array", "items": _ref("step"), "description": what}}


def _step_keys(declared: tuple[Parameter, ...]) -> Schema:
    """Values of parameters, and where one is a model, of parameters at paths into it."""
    paths: Schema = {path: {} for path in _paths_into(declared)}
    return {"params": {**_mapping(_values(declared), paths), "description": "values of parameters"}}


def _paths_into(declared: Iterable[Parameter]) -> list[str]:
    return [f"^{parameter.name}[.]" for parameter in declared if isinstance(parameter, ModelParameter)]


def _values(declared: Iterable[Parameter]) -> Schema:
    return {parameter.name: parameter.schema() for parameter in declared}


def _protocol_of_the_kind() -> Schema:
    """Parameters alone: they are for the default protocol of each dataset's kind of task."""
    values: Schema = {}
    for kind in KINDS:
        values |= _values(parameters(PROTOCOLS.load(kind.protocols[0])))
    return {**_mapping(values), "title": "the default of the kind of task", "minProperties": 1}


def _data() -> Schema:
    shape = _of(DATASET)
    shape["properties"]["name"] |= {"enum": list(shipped_paths())}
    shape["properties"]["task"] |= TASK
    shape["oneOf"] = [{"required": ["path"]}, {"required": ["name"]}]
    named = {"enum": list(shipped_paths()), "description": "a shipped dataset"}
    path = {"type": "string", "minLength": 1, "description": "a CSV file, relative to the experiment file"}
    return {"anyOf": [named, path, shape]}


def _metrics() -> Schema:
    names = dict.fromkeys(name for kind in KINDS for name in names_for(kind.answers))
    of_one_class = "|".join(dict.fromkeys(name for kind in KINDS for name in class_names_for(kind.answers)))
    pattern = {"type": "string", "pattern": rf"^({of_one_class})\[.+\]$", "description": "of one class"}
    firsts = "|".join(dict.fromkeys(name for kind in KINDS for name in at_k_names_for(kind.answers)))
    first = {"type": "string", "pattern": rf"^({firsts})@[1-9][0-9]*$", "description": "of the first rows"}
    return {"anyOf": [{"enum": list(names)}, pattern, first]}


def _expectation() -> Schema:
    """A bound of a score, or a mapping that says what is asked of which model."""
    text: Schema = {"type": "string", "minLength": 1}
    run: Schema = {"type": ["string", "integer"], "description": "a run by its number or experiment file"}
    margin: Schema = {"type": "number", "minimum": 0, "description": "by how much it may be worse"}
    bound: Schema = {**text, "pattern": "[<>]", "description": "such as accuracy.low >= 0.9"}
    asked: dict[str, Schema] = {
        "score": bound,
        "beats": {**text, "description": "a model that must be worse, and not by chance"},
        "not-worse-than": {"anyOf": [run, {**_mapping({"run": run, "by": margin}), "required": ["run"]}]},
    }
    only: Schema = {
        "model": {**text, "description": "the only model that is meant"},
        "data": {**text, "description": "the only dataset that is meant"},
    }
    branches = [{**_mapping({name: one, **only}), "required": [name]} for name, one in asked.items()]
    return {"anyOf": [bound, *branches]}


def _mapping(properties: Schema, patterns: Schema = EMPTY) -> Schema:
    plain = {"type": "object", "properties": properties, "additionalProperties": False}
    return plain | {"patternProperties": OWN_KEYS | patterns}


def _ref(name: str) -> Schema:
    return {"$ref": f"#/$defs/{name}"}


def _of(keys: Keys) -> Schema:
    return _mapping({key: value.schema() for key, value in keys.items()})
