"""Experiment files: what is asked for, with every problem of a file found in one pass."""

from __future__ import annotations

import math
from pathlib import Path

from mlcli.core.errors import ExperimentError, MlcliError, Problem
from mlcli.core.strict_yaml import read
from mlcli.experiment.spec.cells import UNDEMANDING, DataSpec, Experiment, ProtocolSpec
from mlcli.experiment.spec.entries import models_of, protocol_of, stages_of
from mlcli.experiment.spec.written import Written, placed
from mlcli.tasks.table import kind_named

PLAIN = ("seed", "budget", "training", "name", "description")
"""The keys whose values are taken as they are."""
SPLITS_ANYTHING = ProtocolSpec(UNDEMANDING)
"""Stands in for a protocol that cannot be read, so that nothing is said of how it would split."""


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
    from mlcli.experiment.spec.plan import planned

    _, faults = planned(experiment)
    every = dict.fromkeys([*found, *faults.problems()])
    return sorted(every, key=lambda problem: _position(problem, str(experiment.source)))


def _position(problem: Problem, file: str) -> tuple[float, ...]:
    """Line and column in the file; what stands in other files comes last."""
    name, *numbers = problem.where.rsplit(":", 2)
    return tuple(map(int, numbers)) if name == file and len(numbers) == 2 else (math.inf,)


def _read(path: Path) -> tuple[Experiment, list[Problem]]:
    """The legal parts of an experiment file, and everything that is wrong with the others."""
    from mlcli.experiment.spec.shapes import ExperimentShape, legal_parts

    document = read(path, ExperimentError)
    written = Written(document.value, document)
    if not isinstance(document.value, dict):
        example = "such as data: [iris] on the first line"
        raise ExperimentError(written.problem("an experiment is a mapping of keys to values", example))
    found: list[Problem] = []
    parts = legal_parts(ExperimentShape, written, found)
    plain = {key: parts[key].value for key in PLAIN if key in parts}
    metrics = _metrics(parts, found)
    experiment = Experiment(
        data=_data(parts, found),
        models=tuple(models_of(parts["models"].items(), found, path.parent)) if "models" in parts else None,
        protocol=_protocol(parts, written, found),
        metrics=tuple(metrics),
        stages=stages_of(parts["stages"], found) if "stages" in parts else False,
        metrics_where={name: part.where for name, part in metrics.items()},
        source=path,
        **plain,
    )
    return experiment, found


def _data(parts: dict[str, Written], found: list[Problem]) -> tuple[DataSpec, ...]:
    task = _task(parts, found)
    specs = [_dataset(item, task, found) for item in (parts["data"].items() if "data" in parts else ())]
    return tuple(spec for spec in specs if spec is not None)


def _dataset(written: Written, task: str | None, found: list[Problem]) -> DataSpec | None:
    """The dataset of an item: a name or path, or a mapping."""
    from mlcli.experiment.spec.shapes import DataShape, legal_parts

    if isinstance(written.value, str) and written.value:
        return DataSpec(written.value, task=task, where=written.where)
    if not isinstance(written.value, dict):
        form = "a dataset is a shipped name, a path, or a mapping with 'path' or 'name'"
        found.append(written.problem(f"{form}; this is {written.given}"))
        return None
    known = len(found)
    parts = legal_parts(DataShape, written, found)
    if len(written.value.keys() & {"path", "name"}) != 1:
        found.append(
            written.problem("a dataset takes one of 'path' and 'name'", "such as {path: mine.csv, target: y}")
        )
    own_task = _task(parts, found) or task
    if len(found) > known:
        return None
    values = {key: part.value for key, part in parts.items()}
    reference = values.get("path") or values["name"]
    return DataSpec(reference, values.get("target"), own_task, where=written.where)


def _task(parts: dict[str, Written], found: list[Problem]) -> str | None:
    if "task" not in parts:
        return None
    try:
        return kind_named(parts["task"].value).name
    except MlcliError as error:
        found += placed(error.problems, parts["task"].where)
        return None


def _protocol(parts: dict[str, Written], written: Written, found: list[Problem]) -> ProtocolSpec | None:
    if "protocol" not in parts:
        return None
    return protocol_of(parts["protocol"], found) or SPLITS_ANYTHING


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
