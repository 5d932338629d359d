"""``mlcli.eval`` and ``mlcli.run``: the commands of these names, with Python values in and results out."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mlcli.api.results import Results
from mlcli.api.running import RunOptions, planned, run_plan, store_for, without_effect
from mlcli.core.errors import ExperimentError, MlcliWarning, Problem, UsageError, raise_all
from mlcli.core.registry import add_plugins, allow_imports, import_paths_in
from mlcli.core.strict_yaml import YamlNode
from mlcli.data.shipped import table_files
from mlcli.data.source import source_of_frame
from mlcli.engines.imported import forget_earlier
from mlcli.experiment.spec.cells import AVERAGES, DataSpec, Experiment
from mlcli.experiment.spec.datasets import metrics_of_class
from mlcli.experiment.spec.entries import models_of, protocol_of, stages_of, tuning_of
from mlcli.experiment.spec.file import experiment_from, read_experiment
from mlcli.experiment.spec.shorthands import costs_of, with_costs

if TYPE_CHECKING:
    import pandas as pd

    Data = str | Path | pd.DataFrame
Entry = object
"""An id, a saved model, a mapping such as ``{"use": "knn", "params": {"k": 3}}``, or a scikit-learn estimator."""
Settings = Mapping[str, object]
PLAIN = (str, int, float, bool, type(None))


def eval(  # it is the verb
    data: Data | Sequence[Data],
    models: Entry | Sequence[Entry] | None = None,
    *,
    target: str | None = None,
    task: str | None = None,
    sensitive: Sequence[str] = (),
    drop: Sequence[str] = (),
    positive: str | None = None,
    sidecar: Settings | None = None,
    protocol: str | Settings | None = None,
    average: str = "",
    metrics: Sequence[str] = (),
    cost: Settings | None = None,
    tune: object = False,
    nested: bool = False,
    stages: object = False,
    training: bool = False,
    seed: int = 1,
    jobs: int | None = None,
    store: str | Path | None = None,
    plugins: Sequence[str | Path] = (),
) -> Results:
    """Evaluate methods on rows they have not seen: data frames, CSV files, or shipped datasets such as "iris".

    Without ``models`` a panel of methods for the task is evaluated. No model sees the columns of ``drop``, and
    ``positive`` is the positive class. ``sidecar`` holds for data frames what the sidecar of a file holds: roles,
    kinds of columns, words for missing cells. ``plugins`` are files with your own methods.
    """
    add_plugins(plugins)
    problems: list[Problem] = []
    settings = tuning_of(YamlNode(plain(tune)), problems)
    specs = None if models is None else models_of(model_entries(_as_list(models)), problems, tune=settings)
    split = None if protocol is None else protocol_of(YamlNode(plain(protocol)), problems)
    if average and average not in AVERAGES:
        problems.append(Problem(f"average is one of {', '.join(AVERAGES)}; was given {average!r}"))
    experiment = Experiment(
        data=tuple(
            dataset_spec(table, target, task, sensitive, drop, positive, sidecar=sidecar)
            for table in _tables(data)
        ),
        models=None if specs is None else tuple(specs),
        protocol=split,
        average=average,
        metrics=metrics_of_class(as_names(metrics), positive),
        cost=None if cost is None else costs_of(YamlNode(plain(cost)), problems),
        seed=seed,
        stages=stages_of(YamlNode(plain(stages)), problems),
        training=training,
        tune=settings,
        nested=nested,
        reference_models=True,
    )
    raise_all(UsageError, problems)
    return _results_of([(with_costs(experiment), None if store is None else Path(store))], RunOptions(jobs))


def run(
    *specs: str | Path | Settings,
    store: str | Path | None = None,
    jobs: int | None = None,
    fresh: bool = False,
    retry: bool = False,
    backend: str | None = None,
    address: str | None = None,
) -> Results:
    """Run experiments: files, or mappings with their keys; what is in the store is not run again.

    Results of a file are kept in .mlcli/runs.db beside it, those of a mapping in ``store``. ``backend`` names a
    cluster (dask, ray), at an ``address``, whose workers run everything.
    """
    if not specs:
        raise UsageError("no experiment is named", hint="mlcli.run takes files, or mappings with their keys")
    experiments = [_read_experiment(spec) for spec in specs]
    path = None if store is None else Path(store)
    placed = [(experiment, store_for(experiment, path)) for experiment in experiments]
    return _results_of(placed, RunOptions(jobs, fresh, retry, backend, address))


def dataset_spec(
    data: Data,
    target: str | None = None,
    task: str | None = None,
    sensitive: Sequence[str] = (),
    drop: Sequence[str] = (),
    positive: str | None = None,
    *,
    sidecar: Settings | None = None,
) -> DataSpec:
    """The dataset of a data frame, or of a reference to a file."""
    columns = target, task, as_names(sensitive), as_names(drop), positive
    if isinstance(data, str | Path):
        return DataSpec(str(data), *columns)
    source = source_of_frame(data, declared=sidecar)
    return DataSpec(source.name, *columns, source=source)


def as_names(names: str | Sequence[str]) -> tuple[str, ...]:
    """Names; a single one may be given as a text."""
    return (names,) if isinstance(names, str) else tuple(names)


def model_entries(models: Sequence[Entry]) -> list[YamlNode]:
    """Models as an experiment file would hold them; classes that the caller names may be imported."""
    entries = [YamlNode(plain(model)) for model in models]
    allow_imports(import_paths_in([entry.value for entry in entries]))
    return entries


def plain(value: Any, leaf: Callable[[object], object] | None = None) -> Any:
    """A value as YAML would hold it; ``leaf`` converts values that are not plain."""
    if is_estimator(value):
        return estimator_as_mapping(value)
    if isinstance(value, Mapping):
        return {str(key): plain(item, leaf) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset | range):
        return [plain(item, leaf) for item in value]
    value = value.item() if hasattr(value, "item") and hasattr(value, "dtype") and not value.ndim else value
    if leaf is None:
        return str(value) if isinstance(value, Path) else value
    return value if isinstance(value, PLAIN) else leaf(value)


def is_estimator(value: object) -> bool:
    """Whether a value has the methods of a scikit-learn estimator."""
    return not isinstance(value, type) and hasattr(value, "get_params") and hasattr(value, "fit")


def estimator_as_mapping(estimator: Any) -> dict[str, object]:
    """An estimator as a model of an experiment file; the steps of a pipeline come before its model."""
    if hasattr(estimator, "as_written"):  # one of mlcli.sklearn
        result: dict[str, object] = estimator.as_written()
        return result
    if type(estimator).__name__ == "Pipeline":
        *steps, model = (step for _, step in estimator.steps)
        return {
            **estimator_as_mapping(model),
            "steps": [estimator_as_mapping(step) for step in steps if is_estimator(step)],
        }
    path, default = _import_path(type(estimator)), type(estimator)().get_params(deep=False)
    forget_earlier(path, type(estimator))
    given = estimator.get_params(deep=False)
    changed = {name: value for name, value in given.items() if not _is_default(value, default.get(name))}
    params = {name: plain(value, partial(_refuse_value, path, name)) for name, value in changed.items()}
    return {"use": path, "params": params}


def _import_path(cls: type) -> str:
    """The shortest path that the class can be imported from."""
    public = ".".join(word for word in cls.__module__.split(".") if not word.startswith("_"))
    for module in filter(None, (public, cls.__module__)):
        with suppress(ImportError):
            if getattr(import_module(module), cls.__name__, None) is cls:
                return f"{module}.{cls.__name__}"
    what = f"the class {cls.__qualname__} cannot be found by name in its module {cls.__module__}"
    raise UsageError(what, hint="define it at the top level of the module, outside of any function")


def _is_default(value: object, default: object) -> bool:
    return value is default or (type(value) is type(default) and isinstance(value, PLAIN) and value == default)


def _refuse_value(path: str, name: str, value: object) -> None:
    what = f"{path}: {name} holds a {type(value).__name__}, which no experiment can write down"
    raise UsageError(what, hint="leave it at its default, or write a method around it: mlcli new model my-method")


def _tables(data: Data | Sequence[Data]) -> Iterator[Data]:
    """Each dataset; a folder or a pattern stands for each of its tables."""
    for table in _as_list(data):
        yield from table_files(str(table)) if isinstance(table, str | Path) else [table]


def _as_list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


def _read_experiment(spec: str | Path | Settings) -> Experiment:
    if not isinstance(spec, Mapping):
        return read_experiment(Path(spec), to_run=True)
    import yaml

    from mlcli.core.strict_yaml import parse

    text = yaml.safe_dump(plain(spec), allow_unicode=True, sort_keys=False)
    return experiment_from(parse(text, "experiment", ExperimentError))


def _results_of(placed: Sequence[tuple[Experiment, Path | None]], options: RunOptions) -> Results:
    """The results of experiments; all are planned before any is run."""
    plans = [(planned(experiment), store) for experiment, store in placed]
    for plan, _ in plans:
        for sentence in (*plan.split_warnings, *without_effect(plan)):
            warnings.warn(sentence, MlcliWarning, stacklevel=3)
    return Results(tuple(run_plan(plan, store, options) for plan, store in plans))
