"""Options that several verbs share, declared once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mlcli.core.registry import MODELS, PROTOCOLS, STEPS


def model_names(incomplete: str) -> list[str]:
    """The methods that start so, for the shell's completion."""
    return [name for name in MODELS.names() if name.startswith(incomplete)]


def model_and_step_names(incomplete: str) -> list[str]:
    """The methods and steps that start so, each once."""
    return [name for name in dict.fromkeys((*MODELS.names(), *STEPS.names())) if name.startswith(incomplete)]


def protocol_names(incomplete: str) -> list[str]:
    """The protocols that start so, for the shell's completion."""
    return [name for name in PROTOCOLS.names() if name.startswith(incomplete)]


def dataset_names(incomplete: str) -> list[str]:
    """The shipped datasets that start so, for the shell's completion."""
    from mlcli.data.shipped import shipped_paths

    return [name for name in shipped_paths() if name.startswith(incomplete)]


Target = Annotated[
    str | None,
    typer.Option("--target", metavar="COLUMN", help="The column to predict. [default: sidecar, else the last]"),
]
Task = Annotated[
    str | None,
    typer.Option("--task", metavar="KIND", help="The kind of task. [default: by models, sidecar, target]"),
]
Params = Annotated[
    list[str] | None,
    typer.Option("--param", "-p", metavar="NAME=VALUE", help="A parameter of the model, such as k=3; repeatable."),
]
Seed = Annotated[int, typer.Option("--seed", min=0, metavar="N", help="What all random numbers follow from.")]
Jobs = Annotated[
    int | None, typer.Option("--jobs", "-j", min=1, metavar="N", help="Worker processes. [default: one per core]")
]
NoShortcut = Annotated[
    bool,
    typer.Option("--no-shortcut", help="Fit each split in turn, also where a shortcut gives the same answers."),
]
Stages = Annotated[
    bool, typer.Option("--stages", help="Judge models at stages of their fits, too, such as rounds of boosting.")
]
Training = Annotated[
    bool, typer.Option("--training", help="Ask models about the rows that they learned from, too.")
]
Store = Annotated[
    Path | None,
    typer.Option("--store", metavar="FILE", help="Keep answers here; what it holds is not run again."),
]
Classes = Annotated[
    bool, typer.Option("--classes", help="Show each class against the rest: precision, recall, specificity, ...")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of tables.")]
