"""Options that several verbs share, declared once, and what ``-o`` may not name."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from mlcli.cli._completion import column_names, data_names, parameter_values, task_names
from mlcli.core.errors import StoreError, UsageError
from mlcli.core.registry import MODELS, PROTOCOLS, STEPS
from mlcli.report.formats import FORMATS, known_format


def model_and_step_names() -> list[str]:
    """All methods and steps, each once, for the shell's completion."""
    return list(dict.fromkeys((*MODELS.names(), *STEPS.names())))


def in_a_folder(output: Path | None) -> Path | None:
    """A file to write, unless its folder is not there: that is said before any work is done."""
    if output is not None and not output.parent.is_dir():
        what = f"cannot be written: there is no folder '{output.parent}'"
        raise StoreError(what, where=str(output), hint=f"make it first: mkdir -p {output.parent}")
    return output


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
Sensitive = Annotated[
    list[str] | None,
    typer.Option(
        "--sensitive",
        metavar="COLUMN",
        autocompletion=column_names,
        help="A column by whose groups fairness is judged; repeatable.",
    ),
]
Drop = Annotated[
    list[str] | None,
    typer.Option(
        "--drop",
        "--ignore",
        metavar="COLUMN",
        autocompletion=column_names,
        help="Leave a column out, so that no model sees it; repeatable.",
    ),
]
Positive = Annotated[
    str | None,
    typer.Option(
        "--positive", metavar="CLASS", help="The class that is looked for: f1, precision, recall are those of it."
    ),
]
Fair = Annotated[
    bool, typer.Option("--fair", help="Show how groups are answered, and what fairness costs in accuracy.")
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
Stages = Annotated[
    bool, typer.Option("--stages", help="Judge models at stages of their fits, too, such as rounds of boosting.")
]
Tune = Annotated[
    bool, typer.Option("--tune", help="Tune models by inner splits of their training rows: see docs/tuning.md.")
]
Search = Annotated[
    str | None,
    typer.Option("--search", metavar="NAME", help="Tune by grid, random, or halving. [default: grid]"),
]
Trials = Annotated[
    int | None, typer.Option("--trials", min=1, metavar="N", help="Tune with so many candidates. [default: 20]")
]
Rule = Annotated[
    str | None,
    typer.Option("--rule", metavar="NAME", help="Tune by best or one-standard-error. [default: best]"),
]
Training = Annotated[bool, typer.Option("--training", help="Judge models on their training rows, too.")]
Decide = Annotated[
    str | None,
    typer.Option(
        "--decide",
        metavar="RULE",
        help="How classes are decided: f1, youden, cost, expected-cost, equalised-odds, or '{by: f1, folds: 10}';"
        " which rows are flagged: own, 'top 5', 'share 0.05', 'p < 0.05'.",
    ),
]
Cost = Annotated[
    str | None,
    typer.Option(
        "--cost", metavar="COSTS", help="What answers cost: '{actual: {predicted: value}}'; adds a score."
    ),
]
Store = Annotated[
    Path | None,
    typer.Option("--store", metavar="FILE", help="Keep answers here; what it holds is not run again."),
]
StoreToRead = Annotated[
    Path | None, typer.Option("--store", metavar="FILE", help="The store. [default: .mlcli/runs.db, here]")
]
FailUnder = Annotated[
    list[str] | None,
    typer.Option(
        "--fail-under",
        metavar="METRIC=VALUE",
        help="Exit 8 where the worse end of an interval is worse, or accuracy.mean=0.9: the score; repeatable.",
    ),
]
Junit = Annotated[
    Path | None,
    typer.Option("--junit", metavar="FILE", help="Write cells and gates as JUnit XML, for CI."),
]
StepSummary = Annotated[
    Path | None,
    typer.Option("--summary", metavar="FILE", help="Append tables and gates as Markdown, for CI."),
]
Classes = Annotated[
    bool, typer.Option("--classes", help="Show each class against the rest: precision, recall, specificity, ...")
]
Spread = Annotated[
    bool, typer.Option("--spread", help="Show how scores spread over the splits, and whether these agree.")
]
Curves = Annotated[
    bool,
    typer.Option("--curves", help="Draw ROC, precision against recall, and calibration of the probabilities."),
]
Verbose = Annotated[
    bool,
    typer.Option("--verbose", "-v", help="Show the answers of every model, and how intervals were made."),
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


def tuning(tune: bool, **given: str | int | None) -> dict[str, str | int] | None:
    """How models are tuned, where that is asked for: what belongs to it asks for it, too."""
    settings = {name: value for name, value in given.items() if value is not None}
    return settings if tune or settings else None


def refuse_to_overwrite(output: Path, data: str, model: Path | None = None) -> None:
    """Refuse an output that is the data, their sidecar or the model, by whatever path or link it is named."""
    from mlcli.data.new_rows import STANDARD_INPUT
    from mlcli.data.shipped import find
    from mlcli.data.sidecar import sidecar_places

    rows = Path("/dev/stdin") if data == STANDARD_INPUT else find(data)
    read = {rows: "the file that the rows are read from"}
    read |= dict.fromkeys(sidecar_places(rows), f"where the sidecar of {rows} belongs")
    read |= {model: "the model that is asked"} if model is not None else {}
    for path, what in read.items():
        if _are_same(output, path):
            raise UsageError(f"{output} is {what}: it was left alone", hint="name another file with -o FILE")


def _are_same(output: Path, path: Path) -> bool:
    """A sidecar that is not there yet has a place already: what is written there would be read as one."""
    if output.is_file() and path.is_file():
        return os.path.samefile(output, path)
    return not output.exists() and os.path.realpath(output) == os.path.realpath(path)
