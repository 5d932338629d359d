"""Experiment files: what is asked for, with every problem of a file found in one pass."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from mlcli.core.errors import ExperimentError, MlcliError, Problem
from mlcli.core.names import did_you_mean, nearest
from mlcli.core.plugins import add
from mlcli.core.seeds import MAX_SEED
from mlcli.core.strict_yaml import Document, read
from mlcli.data.shipped import FILE_SUFFIXES, shipped_path
from mlcli.experiment.spec.budget import Budget, budget_of
from mlcli.experiment.spec.cells import FEW_ROWS, DataSpec, Experiment, ProtocolSpec
from mlcli.experiment.spec.decisions import costs_of, with_costs
from mlcli.experiment.spec.entries import models_of, protocol_of, stages_of, tuning_of
from mlcli.experiment.spec.expectations import expectations_of
from mlcli.experiment.spec.written import Written, placed
from mlcli.tasks.table import kind_named

PLAIN = ("seed", "training", "fair", "nested", "average", "name", "description")
"""The keys whose values are taken as they are."""

Text = Annotated[str, Field(min_length=1)]
Several = Annotated[list[Any], Field(min_length=1)]

MOST_NAMED = 20
"""More wrong keys than these are counted only."""
PLAIN_WORDS = {
    "string_type": "takes text, was given {given}",
    "string_too_short": "takes text that is not empty",
    "int_type": "takes a whole number, was given {given}",
    "float_type": "takes a number, was given {given}",
    "bool_type": "takes true or false, was given {given}",
    "list_type": "takes a list, was given {given}",
    "too_short": "takes a list of at least one",
    "literal_error": "is one of {expected}, was given {given}",
    "greater_than": "must be above {gt:g}, was given {given}",
    "greater_than_equal": "must be at least {ge:g}, was given {given}",
    "less_than_equal": "must be at most {le}, was given {given}",
}
"""What the error types of pydantic mean."""
ELSEWHERE = {
    **dict.fromkeys(("folds", "cv", "kfold", "n_splits"), "write protocol: {folds: VALUE}"),
    "repeats": "write protocol: {repeats: VALUE}",
    **dict.fromkeys(("test_size", "test_share"), "write protocol: {use: holdout, test_share: VALUE}"),
    **dict.fromkeys(
        ("target", "label", "y"), "it belongs to a dataset: write data: [{path: my.csv, target: VALUE}]"
    ),
    **dict.fromkeys(("params", "grid", "steps"), "it belongs to a model: write models: [{use: knn, KEY: ...}]"),
    **dict.fromkeys(("jobs", "n_jobs"), "it is an option: mlcli run FILE --jobs VALUE"),
    **dict.fromkeys(("output", "store"), "it is an option: mlcli run FILE --store PLACE"),
}
"""Where else something stands that is written as a key of its own."""


class _Shape(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class ExperimentShape(_Shape):
    """The keys of an experiment file; what stands in lists is read item by item afterwards."""

    data: Several = Field(description="the datasets: shipped names, paths, or mappings")
    models: Several = Field([], description="the models; left out: the panel of each dataset's kind of task")
    protocol: Any = Field(None, description="how rows are split, or several ways; left out: as the kind of task")
    average: Literal["folds", "pooled"] = Field(
        "folds", description="the mean over splits, or of all answers at once"
    )
    cost: Any = Field(
        None, description="what answers cost: {actual: {predicted: value}}, by which cost is measured"
    )
    metrics: Several = Field([], description="what is measured; left out: the defaults of the kind of task")
    seed: int = Field(1, ge=0, le=MAX_SEED, description="the random seed")
    task: Text = Field("", description="the kind of task of every dataset that does not name its own")
    stages: Any = Field(False, description="at which stages of a fit models are judged, too")
    training: bool = Field(False, description="whether training rows are answered, too")
    fair: bool = Field(False, description="whether it is shown how groups are answered, as by --fair")
    tune: Any = Field(False, description="whether, and how, models are tuned by splits of training rows")
    nested: bool = Field(False, description="whether the best model, chosen in each split for itself, is a row")
    expect: Several = Field([], description="what models must reach: bounds of scores, models to beat")
    budget: Any = Field(None, description="what a cell may take, in seconds and memory, and all in seconds")
    plugins: Several = Field([], description="Python files with methods of your own, relative to this file")
    name: str = Field("", description="what the experiment is called")
    description: str = Field("", description="what it is for")


class DataShape(_Shape):
    """The keys of a dataset in an experiment file."""

    path: Text = Field("", description="a CSV file, relative to the experiment file")
    name: Text = Field("", description="a shipped dataset")
    target: Text = Field("", description="the column to predict")
    task: Text = Field("", description="the kind of task")
    sensitive: Several = Field([], description="columns by whose groups fairness is judged; no model sees them")
    drop: Several = Field([], description="columns that are left out")
    positive: Text = Field("", description="the class that is looked for, such as yes or malignant")


def read_experiment(path: Path) -> Experiment:
    """The experiment of a file; whatever is wrong with it is raised at once, its datasets included.

    A file without fault of its own is returned before its datasets are looked at: ``plan`` reads them anyway.
    """
    experiment, found = _read(path)
    if found:
        raise ExperimentError(*_all_problems(experiment, found))
    return experiment


def check(path: Path) -> list[Problem]:
    """Everything that is wrong with an experiment file and its datasets, from top to bottom; nothing is run."""
    try:
        experiment, found = _read(path)
    except ExperimentError as error:
        return list(error.problems)
    return _all_problems(experiment, found)


def _all_problems(experiment: Experiment, found: list[Problem]) -> list[Problem]:
    """What was found while reading, and what shows when the legal rest is planned."""
    from mlcli.experiment.spec.plan import planned_cells

    _, faults = planned_cells(experiment)
    every = dict.fromkeys([*found, *faults.problems()])
    return sorted(every, key=lambda problem: _position(problem, str(experiment.source)))


def _position(problem: Problem, file: str) -> tuple[float, ...]:
    """Line and column in the file; what stands in other files comes last."""
    name, *numbers = problem.where.rsplit(":", 2)
    return tuple(map(int, numbers)) if name == file and len(numbers) == 2 else (math.inf,)


def _read(path: Path) -> tuple[Experiment, list[Problem]]:
    """The legal parts of an experiment file, and everything that is wrong with the others."""
    _refuse_tables(path)
    return _from_document(read(path, ExperimentError), path)


def experiment_from(document: Document) -> Experiment:
    """The experiment of a document that is no file; paths in it begin where the user is."""
    experiment, found = _from_document(document, None)
    if found:
        raise ExperimentError(*_all_problems(experiment, found))
    return experiment


def _from_document(document: Document, source: Path | None) -> tuple[Experiment, list[Problem]]:
    written = Written(document.value, document)
    base = source.parent if source else None
    if not isinstance(document.value, dict):
        example = "such as data: [iris] on the first line"
        raise ExperimentError(written.problem("an experiment is a mapping of keys to values", example))
    found: list[Problem] = []
    parts = _legal_parts(ExperimentShape, written, found)
    _add_plugins(parts, base, found)
    plain = {key: parts[key].value for key in PLAIN if key in parts}
    metrics = _metrics(parts, found)
    costs = costs_of(parts["cost"], found) if "cost" in parts else None
    first, *further = _protocols(parts, found) or [None]
    experiment = Experiment(
        data=_data(parts, found),
        models=tuple(models_of(parts["models"].items(), found, base)) if "models" in parts else None,
        protocol=first,
        further_protocols=tuple(one for one in further if one is not None),
        metrics=tuple(metrics),
        cost=costs,
        budget=budget_of(parts["budget"], found) if "budget" in parts else Budget(),
        stages=stages_of(parts["stages"], found) if "stages" in parts else False,
        tune=tuning_of(parts["tune"], found) if "tune" in parts else None,
        expect=expectations_of(parts["expect"], found) if "expect" in parts else (),
        metrics_where={name: part.where for name, part in metrics.items()},
        source=source,
        **plain,
    )
    return with_costs(experiment), found


def _refuse_tables(path: Path) -> None:
    """A table, or the name of a dataset, in the place of an experiment."""
    is_table = path.name.lower().endswith(FILE_SUFFIXES)
    if is_table or (not path.is_file() and shipped_path(str(path)) is not None):
        what = f"{path} is a {'table' if is_table else 'shipped dataset'}, not an experiment"
        hint = f"mlcli eval {path} judges methods on it; mlcli init {path} writes an experiment to run"
        raise ExperimentError(what, hint=hint)
    if not path.is_file() and path.parent.is_dir():
        others = {one.stem: one for one in sorted(path.parent.glob("*.y*ml"))}
        close = nearest(path.stem, others)
        hint = f"did you mean {others[close]}?" if close else f"mlcli init my.csv -o {path} writes one"
        raise ExperimentError("there is no such file", where=str(path), hint=hint)


def _add_plugins(parts: dict[str, Written], base: Path | None, found: list[Problem]) -> None:
    """Have the files of one's own looked at before models are looked up."""
    for item in parts["plugins"].items() if "plugins" in parts else ():
        if not isinstance(item.value, str):
            found.append(item.problem(f"a plug-in is the path of a Python file; this is {item.given}"))
            continue
        try:
            add([(base or Path()) / item.value])
        except MlcliError as error:
            found += placed(error.problems, item.where)


def _data(parts: dict[str, Written], found: list[Problem]) -> tuple[DataSpec, ...]:
    task = _task(parts, found)
    specs = [_dataset(item, task, found) for item in (parts["data"].items() if "data" in parts else ())]
    return tuple(spec for spec in specs if spec is not None)


def _dataset(written: Written, task: str | None, found: list[Problem]) -> DataSpec | None:
    """The dataset of an item: a name or path, or a mapping."""
    if isinstance(written.value, str) and written.value:
        return DataSpec(written.value, task=task, where=written.where)
    if not isinstance(written.value, dict):
        form = "a dataset is a shipped name, a path, or a mapping with 'path' or 'name'"
        found.append(written.problem(f"{form}; this is {written.given}"))
        return None
    before = len(found)
    parts = _legal_parts(DataShape, written, found)
    if len(written.value.keys() & {"path", "name"}) != 1:
        found.append(
            written.problem("a dataset takes one of 'path' and 'name'", "such as {path: mine.csv, target: y}")
        )
    own_task = _task(parts, found) or task
    sensitive, drop = (_names(parts[key], found) if key in parts else () for key in ("sensitive", "drop"))
    if len(found) > before:
        return None
    values = {key: part.value for key, part in parts.items()}
    reference = values.get("path") or values["name"]
    return DataSpec(
        reference,
        values.get("target"),
        own_task,
        sensitive,
        drop,
        values.get("positive"),
        where=written.where,
    )


def _names(written: Written, found: list[Problem]) -> tuple[str, ...]:
    """The names of columns in a list."""
    wrong = [item for item in written.items() if not isinstance(item.value, str)]
    found += [item.problem(f"takes names of columns, was given {item.given}") for item in wrong]
    return tuple(item.value for item in written.items() if isinstance(item.value, str))


def _task(parts: dict[str, Written], found: list[Problem]) -> str | None:
    if "task" not in parts:
        return None
    try:
        return kind_named(parts["task"].value).name
    except MlcliError as error:
        found += placed(error.problems, parts["task"].where)
        return None


def _protocols(parts: dict[str, Written], found: list[Problem]) -> list[ProtocolSpec | None]:
    """What is asked for; in place of what cannot be read one that splits anything, so that no more is wrong."""
    if "protocol" not in parts:
        return []
    written = parts["protocol"]
    several = written.items() if isinstance(written.value, list) and written.value else [written]
    return [protocol_of(one, found) or FEW_ROWS for one in several]


def _metrics(parts: dict[str, Written], found: list[Problem]) -> dict[str, Written]:
    """The metrics that are asked for, by name."""
    named: dict[str, Written] = {}
    for item in parts["metrics"].items() if "metrics" in parts else ():
        if not isinstance(item.value, str):
            found.append(item.problem(f"a metric is its name, such as accuracy; this is {item.given}"))
        elif item.value in named:
            found.append(item.problem(f"the metric '{item.value}' stands here twice", "leave one of them out"))
        else:
            named[item.value] = item
    return named


def _legal_parts(shape: type[BaseModel], written: Written, found: list[Problem]) -> dict[str, Written]:
    """Those parts of a mapping that have the right shape; what is wrong with the others is added to ``found``."""
    parts = written.named()
    try:
        shape.model_validate({key: part.value for key, part in parts.items()})
    except ValidationError as error:
        wrong = error.errors(include_url=False)
        for details in wrong[:MOST_NAMED]:
            key = str(details["loc"][0])
            found.append(_problem(details, key, parts.pop(key, written), shape))
        if len(wrong) > MOST_NAMED:
            found.append(written.problem(f"{len(wrong) - MOST_NAMED:,} more keys are wrong here"))
    return parts


def _problem(details: Mapping[str, Any], key: str, part: Written, shape: type[BaseModel]) -> Problem:
    if details["type"] == "missing":
        return part.problem(f"the key '{key}' is missing", _help(shape, key))
    if details["type"] == "extra_forbidden":
        elsewhere = ELSEWHERE.get(key, "").replace("KEY", key).replace("VALUE", str(part.value))
        close = did_you_mean(key, shape.model_fields, "keys")
        return part.problem(f"there is no key '{key}' here", elsewhere or close)
    words = PLAIN_WORDS[details["type"]]
    what = words.format(given=part.given, **details.get("ctx", {}))
    in_a_list = f"such as {key}: [{part.value}]" if details["type"] == "list_type" else ""
    return part.problem(f"'{key}' {what}", in_a_list or _help(shape, key))


def _help(shape: type[BaseModel], key: str) -> str:
    return shape.model_fields[key].description or ""
