"""What the shell completes: datasets, columns, tasks, metrics, parameters, runs; Typer filters by prefix."""

from __future__ import annotations

import os
from collections.abc import MutableMapping
from contextlib import suppress
from pathlib import Path
from typing import Any

WORDS, INDEX, NAMED = "COMP_WORDS", "COMP_CWORD", "MLCLI_COMP_NAME"
"""Variables: the words that bash has, the index of the one to complete, and the name whose value that is."""


def join_words(environment: MutableMapping[str, str]) -> None:
    """Join words that bash breaks at every "=", such as k=3; of the last word the value is left."""
    environment.pop(NAMED, None)
    if INDEX not in environment:
        return
    *given, last = environment[WORDS].split("\n")[: int(environment[INDEX]) + 1]
    if last == "=":
        given, last = [*given, last], ""
    if given[-1:] == ["="]:
        given.pop()
        if not given[-1].startswith("-"):
            environment[NAMED] = given.pop()
    joined = "\n".join(given).replace("\n=\n", "=")
    environment.update({WORDS: f"{joined}\n{last}", INDEX: str(joined.count("\n") + 1)})


def data_names(incomplete: str) -> list[str]:
    """The shipped datasets, and the tables of the folder that is typed."""
    from mlcli.data.shipped import FILE_SUFFIXES, shipped_paths

    folder = Path(incomplete).parent if "/" in incomplete else Path()
    paths: list[Path] = []
    with suppress(OSError):
        paths = sorted(folder.iterdir())
    return [*shipped_paths(), *(str(path) for path in paths if path.name.lower().endswith(FILE_SUFFIXES))]


def column_names(ctx: Any) -> list[str]:
    """The columns of the first table on the command line."""
    import csv

    from mlcli.data.shipped import find_or_none

    # After an option that has no value yet, the arguments have no names.
    names = ("data", "reference", "subjects")
    tables = next((ctx.params[name] for name in names if ctx.params.get(name)), ctx.args)
    first = tables if isinstance(tables, str) else next(iter(tables), "")
    path = find_or_none(first) if first else None
    if path is not None:
        with suppress(OSError, UnicodeDecodeError), path.open(encoding="utf-8-sig", newline="") as file:
            line = file.readline()
            return next(csv.reader([line], delimiter=max(",;\t|", key=line.count)), [])
    return []


def task_names() -> list[str]:
    """The kinds of task."""
    from mlcli.tasks.table import BY_NAME

    return list(BY_NAME)


def metric_names(ctx: Any) -> list[str]:
    """The metrics of the kind of task that is named, or all."""
    from mlcli.metrics.registry import names_for
    from mlcli.tasks.table import BY_NAME, KINDS

    kinds = [BY_NAME[ctx.params["task"]]] if ctx.params.get("task") in BY_NAME else KINDS
    return list(dict.fromkeys(name for kind in kinds for name in names_for(kind.answers)))


def parameter_values(ctx: Any) -> list[str]:
    """The parameters of the models on the command line, each with its default, or with each of its choices."""
    from mlcli.core.params import parameters
    from mlcli.core.registry import MODELS

    given = ctx.params.get("models") or ctx.params.get("model") or ()
    uses = [use for use in ((given,) if isinstance(given, str) else given) if use in MODELS.names()]
    declared = [parameter for use in uses for parameter in parameters(MODELS.load(use))]
    values = [
        (parameter.name, choice)
        for parameter in declared
        for choice in map(str, parameter.choices or (_typed(parameter.default),))
    ]
    named = os.environ.get(NAMED)
    generator = (value if name == named else f"{name}={value}" for name, value in values if named in (None, name))
    return list(dict.fromkeys(generator))


def run_numbers(ctx: Any) -> list[tuple[str, str]]:
    """The runs of the store, with their titles."""
    from mlcli.core.errors import MlcliError
    from mlcli.experiment.store.store import DEFAULT_PLACE, Store

    with suppress(MlcliError), Store.read(Path(ctx.params.get("store") or DEFAULT_PLACE)) as opened:
        return [(str(run.id), run.title) for run in opened.runs.all(newest=100)]
    return []


def _typed(value: object) -> str:
    return "none" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
