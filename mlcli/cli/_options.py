"""Options that several verbs share, declared once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mlcli.cli._completion import column_names, data_names, parameter_values, task_names
from mlcli.core.registry import MODELS, PROTOCOLS, STEPS
from mlcli.report.formats import FORMATS, known_format


def model_and_step_names() -> list[str]:
    """All methods and steps, each once, for the shell's completion."""
    return list(dict.fromkeys((*MODELS.names(), *STEPS.names())))


Specs = Annotated[list[Path], typer.Argument(metavar="SPEC", help="Experiment files (YAML).")]
Data = Annotated[
    str, typer.Argument(metavar="DATA", help="A CSV file, or a shipped dataset.", autocompletion=data_names)
]
Target = Annotated[
    str | None,
    typer.Option(
        "--target",
        metavar="COLUMN",
        autocompletion=column_names,
        help="The column to predict. [default: sidecar, else guessed]",
    ),
]
Task = Annotated[
    str | None,
    typer.Option(
        "--task",
        metavar="KIND",
        autocompletion=task_names,
        help="The kind of task. [default: by models, sidecar, target]",
    ),
]
Params = Annotated[
    list[str] | None,
    typer.Option(
        "--param",
        "-p",
        metavar="NAME=VALUE",
        autocompletion=parameter_values,
        help="A parameter of the model, such as k=3; repeatable.",
    ),
]
Seed = Annotated[
    int, typer.Option("--seed", min=0, metavar="N", help="The random seed: the same one gives the same numbers.")
]
Plugins = Annotated[
    list[Path] | None,
    typer.Option("--plugin", metavar="FILE", help="A Python file with methods of your own; repeatable."),
]
ProtocolName = Annotated[
    str | None,
    typer.Option(
        "--protocol",
        metavar="NAME",
        autocompletion=PROTOCOLS.names,
        help="How rows are split: an id, or '{use: good-only, repeats: 3}'. [default: by the task]",
    ),
]
Strict = Annotated[bool, typer.Option("--strict", help="Leave with exit code 8 if something serious is found.")]
Jobs = Annotated[
    int | None, typer.Option("--jobs", "-j", min=1, metavar="N", help="Worker processes. [default: one per core]")
]
NoShortcut = Annotated[
    bool,
    typer.Option("--no-shortcut", help="Fit each split in turn, also where a shortcut gives the same answers."),
]
Store = Annotated[
    Path | None,
    typer.Option("--store", metavar="FILE", help="Keep answers here; what it holds is not run again."),
]
StoreToRead = Annotated[
    Path | None, typer.Option("--store", metavar="FILE", help="The store. [default: .mlcli/runs.db, here]")
]
Format = Annotated[
    str,
    typer.Option(
        "--format",
        metavar="NAME",
        callback=known_format,
        autocompletion=lambda: list(FORMATS),
        help=f"How to print it: {', '.join(FORMATS)}; --json is short for the last.",
    ),
]
RowFormat = Annotated[
    str,
    typer.Option(
        "--format",
        metavar="NAME",
        callback=known_format,
        autocompletion=lambda: list(FORMATS),
        help=f"How rows are written: {', '.join(FORMATS)}.",
    ),
]
