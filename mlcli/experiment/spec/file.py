"""Reads experiment files, and reports every problem of a file at once."""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable, Mapping
from dataclasses import replace
from os.path import isdir, isfile
from pathlib import Path
from typing import Any

from mlcli.core.errors import ExperimentError, MlcliError, Problem, UsageError, placed
from mlcli.core.names import nearest
from mlcli.core.params import Value
from mlcli.core.registry import add_plugins, allow_imports, import_paths_in, plugin_files, resolved_plugin
from mlcli.core.serialise import MAX_SEED
from mlcli.core.strict_yaml import Document, Keys, YamlNode, legal_parts, read, until_too_many_problems
from mlcli.data.shipped import FILE_SUFFIXES, shipped_path, table_files
from mlcli.experiment.spec.cells import AVERAGES, FEW_ROWS, DataSpec, Experiment
from mlcli.experiment.spec.entries import budget_of, models_of, protocol_of, stages_of, tuning_of
from mlcli.experiment.spec.expectations import expectations_of
from mlcli.experiment.spec.shorthands import costs_of, with_costs
from mlcli.tasks.table import kind_named


def read_experiment(path: Path, *, to_run: bool = False) -> Experiment:
    """The experiment of a file; all problems of the file and its datasets are raised together.

    If the file itself is valid, its datasets are not looked at: ``plan`` reads them anyway. Only a file that is
    read ``to_run`` it has the code imported that it names.
    """
    experiment, problems = _read(path, to_run)
    if problems:
        raise ExperimentError(*_all_problems(experiment, problems))
    return experiment


def experiment_from(document: Document) -> Experiment:
    """The experiment of a document that is no file; its paths are relative to the working folder."""
    experiment, problems = _from_document(document, None, to_run=True)
    if problems:
        raise ExperimentError(*_all_problems(experiment, problems))
    return experiment


def check(path: Path) -> list[Problem]:
    """Everything that is wrong with an experiment file and its datasets, from top to bottom; nothing is run."""
    try:
        experiment, problems = _read(path, to_run=False)
    except ExperimentError as error:
        return list(error.problems)
    return _all_problems(experiment, problems)


def _all_problems(experiment: Experiment, problems: list[Problem]) -> list[Problem]:
    """The problems of reading and those of planning the valid rest, by line and column; other files come last."""
    from mlcli.experiment.spec.plan import plan_with_faults

    def position(problem: Problem) -> tuple[float, ...]:
        name, *numbers = problem.where.rsplit(":", 2)
        is_here = name == str(experiment.source) and len(numbers) == 2
        return tuple(map(int, numbers)) if is_here else (math.inf,)

    _, faults = plan_with_faults(experiment)
    return sorted(dict.fromkeys([*problems, *faults.problems()]), key=position)


def _read(path: Path, to_run: bool) -> tuple[Experiment, list[Problem]]:
    """The valid parts of an experiment file, and everything that is wrong with the others."""
    is_table = path.name.lower().endswith(FILE_SUFFIXES)
    if is_table or (not isfile(path) and shipped_path(str(path)) is not None):
        what = f"{path} is a {'table' if is_table else 'shipped dataset'}, not an experiment"
        hint = f"mlcli eval {path} evaluates methods on it; mlcli init {path} writes an experiment to run"
        raise ExperimentError(what, hint=hint)
    if isdir(path):
        raise ExperimentError("is a folder", where=str(path), hint="name an experiment file in it")
    if not isfile(path) and path.parent.is_dir():
        files = {file.stem: file for file in sorted(path.parent.glob("*.y*ml"))}
        similar = nearest(path.stem, files)
        hint = f"did you mean {files[similar]}?" if similar else f"mlcli init my.csv -o {path} writes one"
        raise ExperimentError("there is no such file", where=str(path), hint=hint)
    return _from_document(read(path, ExperimentError), path, to_run)


def _from_document(document: Document, source: Path | None, to_run: bool) -> tuple[Experiment, list[Problem]]:
    root = YamlNode(document.value, document)
    base = source.parent if source else None
    if not isinstance(document.value, dict):
        example = "such as data: [iris] on the first line"
        raise ExperimentError(root.problem("an experiment is a mapping of keys to values", example))
    problems: list[Problem] = []
    parts = legal_parts(EXPERIMENT, root, problems, REQUIRED, ELSEWHERE)
    if to_run:
        allow_imports(import_paths_in(document.value))
    if "plugins" in parts:  # before models are looked up
        _add_plugins(parts["plugins"], base, problems, to_run)
    metrics = _metrics(parts["metrics"], problems) if "metrics" in parts else {}
    tune = tuning_of(parts["tune"], problems) if "tune" in parts else None
    protocols = []
    if (node := parts.get("protocol")) is not None:
        several = node.items() if isinstance(node.value, list) and node.value else [node]
        # An invalid protocol is replaced by one that splits any rows, so that no further problems follow.
        protocols = [protocol_of(item, problems) or FEW_ROWS for item in several]
    where = {name: node.where for name, node in metrics.items()}
    readers: Mapping[str, Callable[[YamlNode, list[Problem]], Any]] = {
        "cost": costs_of,
        "budget": budget_of,
        "stages": stages_of,
        "expect": expectations_of,
    }
    plain = ("seed", "training", "fair", "similarity", "nested", "average", "name", "description")
    values = {"fair": "similarity" in parts} | {key: parts[key].value for key in plain if key in parts}
    values |= {key: reader(parts[key], problems) for key, reader in readers.items() if key in parts}
    experiment = Experiment(
        data=_data(parts, problems, base),
        models=tuple(models_of(parts["models"].items(), problems, base, tune)) if "models" in parts else None,
        protocol=protocols[0] if protocols else None,
        further_protocols=tuple(protocols[1:]),
        metrics=tuple(metrics),
        metrics_where={"cost": parts["cost"].where, **where} if "cost" in parts else where,
        source=source,
        reference_models=True,
        tune=tune,
        **values,
    )
    return with_costs(experiment), problems


def _add_plugins(node: YamlNode, base: Path | None, problems: list[Problem], to_run: bool) -> None:
    """Add the plug-in files; only a run imports them."""
    for item in node.items():
        if not isinstance(item.value, str):
            problems.append(item.problem(f"a plug-in is the path of a Python file; this is {item.given}"))
            continue
        path = (base or Path()) / item.value
        try:
            if not to_run and resolved_plugin(path) not in plugin_files():
                what = f"the plug-in {item.value} is not imported: only mlcli run runs code that a file names"
                raise UsageError(what, hint=f"if you trust its code: --plugin {shlex.quote(str(path))}")
            add_plugins([path])
        except MlcliError as error:
            problems += placed(error.problems, item.where)


def _metrics(node: YamlNode, problems: list[Problem]) -> dict[str, YamlNode]:
    metrics: dict[str, YamlNode] = {}
    for item in node.items():
        if not isinstance(item.value, str):
            problems.append(item.problem(f"a metric is its name, such as accuracy; this is {item.given}"))
        elif item.value in metrics:
            problems.append(item.problem(f"the metric '{item.value}' is listed twice", "leave one of them out"))
        else:
            metrics[item.value] = item
    return metrics


def _data(parts: dict[str, YamlNode], problems: list[Problem], base: Path | None) -> tuple[DataSpec, ...]:
    """The datasets in order; a folder or a pattern stands for each of its tables."""
    task = _task(parts, problems)
    items = parts["data"].items() if "data" in parts else []
    specs = [_dataset(item, task, problems) for item in until_too_many_problems(items, problems)]
    return tuple(
        replace(spec, reference=file)
        for spec in specs
        if spec is not None
        for file in table_files(spec.reference, base)
    )


def _dataset(node: YamlNode, task: str | None, problems: list[Problem]) -> DataSpec | None:
    """The dataset of an item: a name or path, or a mapping."""
    if isinstance(node.value, str) and node.value:
        return DataSpec(node.value, task=task, where=node.where)
    if not isinstance(node.value, dict):
        form = "a dataset is a shipped name, a path, or a mapping with 'path' or 'name'"
        problems.append(node.problem(f"{form}; this is {node.given}"))
        return None
    before = len(problems)
    parts = legal_parts(DATASET, node, problems, elsewhere=ELSEWHERE)
    if len(node.value.keys() & {"path", "name"}) != 1:
        example = "such as {path: mine.csv, target: y}"
        problems.append(node.problem("a dataset takes one of 'path' and 'name'", example))
    own_task = _task(parts, problems) or task
    columns: dict[str, tuple[str, ...]] = {}
    for key in ("sensitive", "drop"):
        items = parts[key].items() if key in parts else []
        columns[key] = tuple(item.value for item in items)
        problems += [
            item.problem(f"takes names of columns, was given {item.given}")
            for item in items
            if not isinstance(item.value, str)
        ]
    if len(problems) > before:
        return None
    values = {key: part.value for key, part in parts.items()}
    return DataSpec(
        values.get("path") or values["name"],
        values.get("target"),
        own_task,
        columns["sensitive"],
        columns["drop"],
        values.get("positive"),
        where=node.where,
    )


def _task(parts: dict[str, YamlNode], problems: list[Problem]) -> str | None:
    if "task" not in parts:
        return None
    try:
        return kind_named(parts["task"].value).name
    except MlcliError as error:
        problems += placed(error.problems, parts["task"].where)
        return None


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
EXPERIMENT: Keys = {
    "data": Value("the datasets: shipped names, paths, or mappings", (list,), filled=True),
    "models": Value("the models; left out: the panel of each dataset's kind of task", (list,), filled=True),
    "protocol": Value("how rows are split, or several ways; left out: as the kind of task"),
    "average": Value("the mean over splits, or of all answers at once", (str,), choices=AVERAGES),
    "cost": Value("what answers cost: {actual: {predicted: value}}, by which cost is measured"),
    "metrics": Value("what is measured; left out: the defaults of the kind of task", (list,), filled=True),
    "seed": Value("the random seed", (int,), ge=0, le=MAX_SEED),
    "task": Value("the kind of task of every dataset that does not name its own", (str,), filled=True),
    "stages": Value("at which stages of a fit models are scored, too"),
    "training": Value("whether training rows are answered, too", (bool,)),
    "fair": Value("whether fairness is shown, as by --show fairness", (bool,)),
    "similarity": Value(
        "how alike two rows must be for fairness to compare them; left out: 0.9", (float,), ge=0, lt=1
    ),
    "tune": Value("whether, and how, models are tuned by splits of training rows"),
    "nested": Value("whether the best model, chosen in each split for itself, is a row", (bool,)),
    "expect": Value("what models must reach: bounds of scores, models to beat", (list,), filled=True),
    "budget": Value("what a cell may take, in seconds and memory, and all in seconds"),
    "plugins": Value("Python files with methods of your own, relative to this file", (list,), filled=True),
    "name": Value("what the experiment is called", (str,)),
    "description": Value("what it is for", (str,)),
}
REQUIRED = ("data",)
DATASET: Keys = {
    "path": Value("a CSV file, relative to the experiment file", (str,), filled=True),
    "name": Value("a shipped dataset", (str,), filled=True),
    "target": Value("the column to predict", (str,), filled=True),
    "task": Value("the kind of task", (str,), filled=True),
    "sensitive": Value("columns by whose groups fairness is measured; no model sees them", (list,), filled=True),
    "drop": Value("columns that are left out", (list,), filled=True),
    "positive": Value("the class that is looked for, such as yes or malignant", (str,), filled=True),
}
