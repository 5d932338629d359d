"""Options that several verbs share, declared once: one by one, and groups that a command takes as a dataclass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mlcli.cli._completion import column_names, data_names, parameter_values, task_names
from mlcli.cli._declaring import flag, option, shared
from mlcli.core.registry import MODELS, PROTOCOLS, STEPS
from mlcli.report.formats._registry import FORMATS, known_format

if TYPE_CHECKING:
    from mlcli.experiment.spec.cells import DataSpec
    from mlcli.experiment.spec.expectations import Bound
    from mlcli.report.views.results import Details
    from mlcli.scoring.gates import ExperimentOutcome


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
StoreToRead = Annotated[
    Path | None, shared("--store", "FILE", "The store. [default: .mlcli/runs.db, beside the file or here]")
]


def _format(help: str) -> Any:
    return shared("--format", "NAME", help, lambda: list(FORMATS), callback=known_format)


Format = Annotated[str, _format(f"How to print it: {', '.join(FORMATS)}; --json is short for the last.")]
RowFormat = Annotated[str, _format(f"How rows are written: {', '.join(FORMATS)}.")]


@dataclass(frozen=True)
class ColumnOptions:
    """What is known of a table's columns beside its sidecar."""

    target: Target = None
    task: Task = None
    drop: list[str] | None = option(
        "--drop --ignore", "COLUMN", "Leave a column out, so that no model sees it; repeatable.", column_names
    )

    def of(self, reference: str) -> DataSpec:
        """The dataset that is asked for."""
        from mlcli.experiment.spec.cells import DataSpec

        return DataSpec(reference, self.target, self.task, drop=tuple(self.drop or ()))


@dataclass(frozen=True)
class JudgedColumnOptions(ColumnOptions):
    """And by which columns and of which class answers are judged."""

    sensitive: list[str] | None = option(
        "--sensitive", "COLUMN", "A column by whose groups fairness is judged; repeatable.", column_names
    )
    positive: str | None = option(
        "--positive", "CLASS", "The class that is looked for: f1, precision, recall are those of it."
    )

    def of(self, reference: str) -> DataSpec:
        """The dataset that is asked for."""
        from dataclasses import replace

        return replace(super().of(reference), sensitive=tuple(self.sensitive or ()), positive=self.positive)


@dataclass(frozen=True)
class TuningOptions:
    """How models are tuned."""

    tune: bool = flag("--tune", "Tune models by inner splits of their training rows: see docs/tuning.md.")
    search: str | None = option("--search", "NAME", "Tune by grid, random, or halving. [default: grid]")
    trials: int | None = option("--trials", "N", "Tune with so many candidates. [default: 20]", min=1)
    rule: str | None = option("--rule", "NAME", "Tune by best or one-standard-error. [default: best]")

    def settings(self) -> dict[str, str | int] | None:
        """What was asked for, if anything: what belongs to tuning asks for it, too."""
        given = {"search": self.search, "trials": self.trials, "rule": self.rule}
        settings = {name: value for name, value in given.items() if value is not None}
        return settings if self.tune or settings else None


@dataclass(frozen=True)
class ViewOptions:
    """What is shown beside the tables of results."""

    classes: bool = flag("--classes", "Show each class against the rest: precision, recall, specificity, ...")
    spread: bool = flag("--spread", "Show how scores spread over the splits, and whether these agree.")
    curves: bool = flag("--curves", "Draw ROC, precision against recall, and calibration of the probabilities.")
    fair: bool = flag("--fair", "Show rates by group, criteria of fairness, and their trade-off with accuracy.")
    similarity: float | None = option(
        "--similarity",
        "SHARE",
        "With --fair, how alike two rows must be for their answers to be compared. [default: 0.9]",
    )
    verbose: bool = flag("--verbose -v", "Show the answers of every model, and how intervals were made.")

    def details(self) -> Details:
        """The same as details of a report."""
        from dataclasses import replace

        from mlcli.core.errors import UsageError
        from mlcli.report.views.results import Details

        if self.similarity is not None and not 0 <= self.similarity < 1:
            what = f"--similarity is a share from 0 to below 1, was given {self.similarity:g}"
            raise UsageError(what, hint="0.9 compares rows that are more than 0.9 alike")
        fair, similarity = self.fair or self.similarity is not None, self.similarity
        shown = Details(self.verbose, self.classes, self.curves, fair, self.spread)
        return shown if similarity is None else replace(shown, similarity=similarity)


@dataclass(frozen=True)
class GateOptions:
    """What must hold, and where CI reads whether it did."""

    fail_under: list[str] | None = option(
        "--fail-under",
        "METRIC=VALUE",
        "Exit 8 where the worse end of an interval is worse, or accuracy.mean=0.9: the score; repeatable.",
    )
    junit: Path | None = option("--junit", "FILE", "Write cells and gates as JUnit XML, for CI.")
    summary: Path | None = option("--summary", "FILE", "Append tables and gates as Markdown, for CI.")

    def __post_init__(self) -> None:
        from mlcli.cli._outputs import refuse_unlike

        refuse_unlike(self.junit, "JUnit XML", instead="name another file")

    def bounds(self) -> tuple[Bound, ...]:
        """The scores that are asked for."""
        from mlcli.experiment.spec.expectations import fail_under

        return fail_under(self.fail_under or ())

    def write(self, outcomes: Sequence[ExperimentOutcome]) -> None:
        """Write the files that were asked for."""
        if self.junit is None and self.summary is None:
            return
        from mlcli.report.ci import append_summary, write_junit

        if self.junit is not None:
            write_junit(self.junit, outcomes)
        if self.summary is not None:
            append_summary(self.summary, outcomes)
