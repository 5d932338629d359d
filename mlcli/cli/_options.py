"""Options that several verbs share, declared once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from mlcli.cli._completion import column_names, data_names, parameter_values, task_names
from mlcli.cli._declaring import shared
from mlcli.core.registry import MODELS, PROTOCOLS, STEPS
from mlcli.report.formats.table import FORMATS, known_format


def model_and_step_names() -> list[str]:
    """All methods and steps, each once, for the shell's completion."""
    return list(dict.fromkeys((*MODELS.names(), *STEPS.names())))


Specs = Annotated[list[Path], typer.Argument(metavar="SPEC", help="Experiment files (YAML).")]
Data = Annotated[
    str, typer.Argument(metavar="DATA", help="A CSV file, or a shipped dataset.", autocompletion=data_names)
]
Target = Annotated[
    str | None,
    shared("--target", "COLUMN", "The column to predict. [default: sidecar, else guessed]", column_names),
]
Task = Annotated[
    str | None, shared("--task", "KIND", "The kind of task. [default: by models, sidecar, target]", task_names)
]
Params = Annotated[
    list[str] | None,
    shared("--param -p", "NAME=VALUE", "A parameter of the model, such as k=3; repeatable.", parameter_values),
]
Seed = Annotated[int, shared("--seed", "N", "The random seed: the same one gives the same numbers.", min=0)]
ProtocolName = Annotated[
    str | None,
    shared(
        "--protocol",
        "NAME",
        "How rows are split: an id, or '{use: good-only, repeats: 3}'. [default: by the task]",
        PROTOCOLS.names,
    ),
]
All = Annotated[bool, shared("--all", None, "Show advice, too: what could be better.")]
Strict = Annotated[bool, shared("--strict", None, "Leave with exit code 8 if something serious is found.")]
Jobs = Annotated[int | None, shared("--jobs -j", "N", "Worker processes. [default: one per core]", min=1)]
NoShortcut = Annotated[
    bool, shared("--no-shortcut", None, "Fit each split in turn, also where a shortcut gives the same answers.")
]
Store = Annotated[Path | None, shared("--store", "FILE", "Keep answers here; what it holds is not run again.")]
StoreToRead = Annotated[Path | None, shared("--store", "FILE", "The store. [default: .mlcli/runs.db, here]")]


def _format(help: str) -> Any:
    return shared("--format", "NAME", help, lambda: list(FORMATS), callback=known_format)


Format = Annotated[str, _format(f"How to print it: {', '.join(FORMATS)}; --json is short for the last.")]
RowFormat = Annotated[str, _format(f"How rows are written: {', '.join(FORMATS)}.")]
