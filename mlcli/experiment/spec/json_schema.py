"""The JSON Schema of experiment files: a branch for each model, step and protocol, for editors to complete."""

from __future__ import annotations

from collections.abc import Callable, Iterable
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

TEXT: Schema = {"type": "string", "minLength": 1}
LIST: Schema = {"type": "array", "minItems": 1}
STAGE: Schema = {"type": "integer", "minimum": 1}
STAGES: Schema = {"anyOf": [{"type": "boolean"}, STAGE, {**LIST, "items": STAGE}]}
NAMES: Schema = {**LIST, "items": {"type": "string"}}
TUNE: Schema = {"anyOf": [{"type": "boolean"}, NAMES, {"type": "object", "minProperties": 1}]}
COSTS: Schema = {
    "type": "object",
    "minProperties": 1,
    "additionalProperties": {"type": "object", "minProperties": 1, "additionalProperties": {"type": "number"}},
}
IMPORTED: Schema = {
    "type": "string",
    "pattern": f"^{IMPORT_PATH.pattern}$",
    "description": "a class of another package, such as sklearn.svm.SVC",
}


def experiment_schema() -> Schema:
    """The JSON Schema (draft 2020-12) of an experiment file."""
    schema = {**_of_keys(EXPERIMENT), "required": list(REQUIRED)}
    properties = schema["properties"]
    budget = {
        "cell": {"type": ["number", "string"], "description": "seconds of a cell, or 60s, 15m, 2h"},
        "total": {"type": ["number", "string"], "description": "seconds of all on the clock, or 2h"},
        "memory": {"type": "string", "description": "of the process of a cell, such as 4GiB"},
    }
    seconds = [{"type": "number", "exclusiveMinimum": 0}, {"type": "string", "pattern": "[1-9]"}]
    items = {"data": _data(), "models": _ref("model"), "metrics": _metrics(), "expect": _expectation()}
    for key, item in items.items():
        properties[key]["items"] = item
    properties["protocol"] |= {"anyOf": [_ref("protocol"), {**LIST, "items": _ref("protocol")}]}
    properties["task"] |= {"enum": [kind.name for kind in KINDS]}
    properties["stages"] |= STAGES
    properties["cost"] |= COSTS
    properties["tune"] |= TUNE
    properties["budget"] |= {"anyOf": [*seconds, {**_mapping(budget), "minProperties": 1}]}
    dialect = "https://json-schema.org/draft/2020-12/schema"
    return {"$schema": dialect, "title": "an experiment of mlcli", **schema, "$defs": _definitions()}


def _definitions() -> Schema:
    model_file = {"type": "string", "pattern": r"[./\\]", "description": "a saved model file"}
    # Parameters alone are for the default protocol of each dataset's kind of task.
    of_defaults: Schema = {}
    for kind in KINDS:
        of_defaults |= _values(parameters(PROTOCOLS.load(kind.protocols[0])))
    default_protocol = {**_mapping(of_defaults), "title": "the default of the kind of task", "minProperties": 1}
    definitions = {
        "model": {
            "anyOf": [_ids(MODELS), model_file, *_branches(MODELS, _model_keys), _imported(_model_keys(()))]
        },
        "step": {"anyOf": [_ids(STEPS), *_branches(STEPS, _step_keys), _imported(_step_keys(()))]},
        "protocol": {"anyOf": [_ids(PROTOCOLS), *_branches(PROTOCOLS, _values), default_protocol]},
        "decide": _decide(),
    }
    for entry in MODELS.entries():
        for parameter in parameters(entry.load()):
            for base in parameter.of if isinstance(parameter, ModelParameter) else ():
                definitions[noun_of(base)] = _nested(base)
    return definitions


def _nested(base: type) -> Schema:
    """A model inside another, which has to be of a base class."""
    entries = [entry for entry in MODELS.entries() if issubclass(entry.load(), base)]
    ids = {"enum": [entry.name for entry in entries], "description": f"the id of a {noun_of(base)}"}
    branches = [_branch(entry, _nested_keys(parameters(entry.load()))) for entry in entries]
    return {"anyOf": [ids, IMPORTED, _imported(_nested_keys(())), *branches]}


def _ids(catalogue: Catalogue) -> Schema:
    return {"enum": catalogue.names(), "description": f"the id of a {catalogue.noun}"}


def _branches(catalogue: Catalogue, keys: Callable[[tuple[Parameter, ...]], Schema]) -> list[Schema]:
    return [_branch(entry, keys(parameters(entry.load()))) for entry in catalogue.entries()]


def _branch(entry: Entry, keys: Schema) -> Schema:
    """The mapping that begins with an id."""
    use = {"const": entry.name, "description": entry.summary}
    return {**_mapping({"use": use, **keys}), "title": entry.name, "required": ["use"]}


def _imported(keys: Schema) -> Schema:
    """The mapping that begins with an import path; only the package knows the values of its parameters."""
    unknown: Schema = {"type": "object", "description": "as the package says"}
    free: Schema = {key: unknown for key in ("params", "grid") if key in keys}
    mapping = _mapping({"use": IMPORTED, **keys, **free})
    return {**mapping, "title": "an estimator by import path", "required": ["use"]}


def _model_keys(declared: tuple[Parameter, ...]) -> Schema:
    grid = {name: {**LIST, "items": value} for name, value in _values(declared).items()}
    paths = dict.fromkeys([*_paths_into(declared), f"^({'|'.join(STEPS.names())})[.]"], LIST)
    combinations = "lists of values: one cell for each combination"
    return {
        **_nested_keys(declared),
        "grid": {**_mapping(grid, paths), "minProperties": 1, "description": combinations},
        "tune": {**TUNE, "description": "which of its parameters inner splits choose, among which values"},
        "stages": {**STAGES, "description": "at which stages of its fit it is scored, too"},
        "decide": _ref("decide"),
        "as": {**TEXT, "description": "what tables call the model"},
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


def _decide() -> Schema:
    """What replaces the most probable class: a rule by name, or with its parameters."""
    rule, fair_rule = (
        _values(
            parameter for parameter in parameters(MODELS.load(use)) if not isinstance(parameter, ModelParameter)
        )
        for use in (RULE, FAIR_RULE)
    )
    rule |= {"cost": {**COSTS, "description": "what answers cost: {actual: {predicted: value}}"}}
    by = {"enum": [*rule["by"]["enum"], *CRITERIA], "description": rule["by"]["description"]}
    of_detectors = by_name(kind_named("anomaly").base)["decide"].schema()
    return {
        "anyOf": [by, _mapping(rule), _mapping(fair_rule), *of_detectors["anyOf"]],
        "description": "how classes are decided, or which rows are flagged",
    }


def _data() -> Schema:
    mapping = _of_keys(DATASET)
    mapping["properties"]["name"] |= {"enum": list(shipped_paths())}
    mapping["properties"]["task"] |= {"enum": [kind.name for kind in KINDS]}
    mapping["oneOf"] = [{"required": ["path"]}, {"required": ["name"]}]
    shipped = {"enum": list(shipped_paths()), "description": "a shipped dataset"}
    path = {**TEXT, "description": "a CSV file, relative to the experiment file"}
    return {"anyOf": [shipped, path, mapping]}


def _metrics() -> Schema:
    names, of_one_class, at_k = (
        list(dict.fromkeys(name for kind in KINDS for name in names_of(kind.answers)))
        for names_of in (names_for, class_names_for, at_k_names_for)
    )
    of_class = {"type": "string", "pattern": rf"^({'|'.join(of_one_class)})\[.+\]$", "description": "of one class"}
    first = {"type": "string", "pattern": rf"^({'|'.join(at_k)})@[1-9][0-9]*$", "description": "of the first rows"}
    return {"anyOf": [{"enum": names}, of_class, first]}


def _expectation() -> Schema:
    """A bound of a score, or a mapping that says what is expected of which model."""
    run: Schema = {"type": ["string", "integer"], "description": "a run by its number or experiment file"}
    margin: Schema = {"type": "number", "minimum": 0, "description": "by how much it may be worse"}
    bound: Schema = {**TEXT, "pattern": "[<>]", "description": "such as accuracy.low >= 0.9"}
    forms: dict[str, Schema] = {
        "score": bound,
        "beats": {**TEXT, "description": "a model that must be worse, and not by chance"},
        "not-worse-than": {"anyOf": [run, {**_mapping({"run": run, "by": margin}), "required": ["run"]}]},
    }
    selectors: Schema = {
        "model": {**TEXT, "description": "the only model that is meant"},
        "data": {**TEXT, "description": "the only dataset that is meant"},
    }
    branches = [{**_mapping({name: form, **selectors}), "required": [name]} for name, form in forms.items()]
    return {"anyOf": [bound, *branches]}


def _values(declared: Iterable[Parameter]) -> Schema:
    return {parameter.name: parameter.schema() for parameter in declared}


def _of_keys(keys: Keys) -> Schema:
    return _mapping({key: value.schema() for key, value in keys.items()})


def _mapping(properties: Schema, patterns: Schema | None = None) -> Schema:
    """An object with these properties, and keys that begin with x-, which are the user's own."""
    patterns = {f"^{IGNORED}": {}, **(patterns or {})}
    return {
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
        "patternProperties": patterns,
    }


def _ref(name: str) -> Schema:
    return {"$ref": f"#/$defs/{name}"}
