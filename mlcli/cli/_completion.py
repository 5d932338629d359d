"""What the shell may complete beside names of methods: columns, tasks, metrics, parameters and runs."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

SUBJECTS = ("data", "reference", "subjects")
"""What verbs call the tables that they are given."""
DELIMITERS = ",;\t|"


def data_names(ctx: Any, incomplete: str) -> list[str]:
    """The shipped datasets, and the tables of the folder, that start so."""
    from mlcli.data.shipped import FILE_SUFFIXES, shipped_paths

    folder = Path(incomplete).parent if "/" in incomplete else Path()
    found = [str(path) for path in _listed(folder) if path.name.lower().endswith(FILE_SUFFIXES)]
    return _starting((*shipped_paths(), *found), incomplete)


def column_names(ctx: Any, incomplete: str) -> list[str]:
    """The columns of the first table on the command line."""
    # Behind an option that has no value yet, arguments have not found their names.
    given = next((ctx.params[name] for name in SUBJECTS if ctx.params.get(name)), ctx.args)
    first = given if isinstance(given, str) else next(iter(given), "")
    return _starting(_header_of(first), incomplete) if first else []


def task_names(ctx: Any, incomplete: str) -> list[str]:
    """The kinds of task."""
    from mlcli.tasks.table import BY_NAME

    return _starting(BY_NAME, incomplete)


def metric_names(ctx: Any, incomplete: str) -> list[str]:
    """The metrics of the kind of task that is named, or all."""
    from mlcli.metrics.registry import names_for
    from mlcli.tasks.table import BY_NAME, KINDS

    kinds = [BY_NAME[ctx.params["task"]]] if ctx.params.get("task") in BY_NAME else KINDS
    return _starting(dict.fromkeys(name for kind in kinds for name in names_for(kind.answers)), incomplete)


def parameter_values(ctx: Any, incomplete: str) -> list[str]:
    """The parameters of the models on the command line, each with its default, or with each of its choices."""
    from mlcli.core.params import parameters
    from mlcli.core.registry import MODELS

    given = ctx.params.get("models") or ctx.params.get("model") or ()
    uses = [use for use in ((given,) if isinstance(given, str) else given) if use in MODELS]
    declared = [one for use in uses for one in parameters(MODELS.load(use))]
    values = ((one.name, choice) for one in declared for choice in one.choices or (_typed(one.default),))
    return _starting(dict.fromkeys(f"{name}={value}" for name, value in values), incomplete)


def run_numbers(ctx: Any, incomplete: str) -> list[tuple[str, str]]:
    """The runs of the store, with their titles."""
    from mlcli.core.errors import MlcliError
    from mlcli.experiment.store.store import DEFAULT_PLACE, Store

    with suppress(MlcliError), Store.read(Path(ctx.params.get("store") or DEFAULT_PLACE)) as opened:
        return [(str(run.id), run.title) for run in opened.runs.all() if str(run.id).startswith(incomplete)]
    return []


def _starting(names: Iterable[str], incomplete: str) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]


def _listed(folder: Path) -> list[Path]:
    with suppress(OSError):
        return sorted(folder.iterdir())
    return []


def _header_of(reference: str) -> list[str]:
    """The names in the first line of a table, read as simply as will do."""
    import csv

    from mlcli.data.shipped import find_or_none

    path = find_or_none(reference)
    if path is None:
        return []
    with suppress(OSError, UnicodeDecodeError), path.open(encoding="utf-8-sig", newline="") as file:
        line = file.readline()
        return next(csv.reader([line], delimiter=max(DELIMITERS, key=line.count)), [])
    return []


def _typed(value: Any) -> str:
    return "none" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
