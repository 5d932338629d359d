"""Options that several commands share: one by one, and in groups that a command takes as a dataclass."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mlcli.cli._app import column_names, data_names, metric_names, parameter_values, task_names
from mlcli.core.registry import MODELS, PROTOCOLS, STEPS
from mlcli.report.formats import FORMATS, known_format

if TYPE_CHECKING:
    from mlcli.experiment.spec.cells import DataSpec
    from mlcli.experiment.spec.expectations import Bound
    from mlcli.report.views.results import Details
    from mlcli.scoring.gates import ExperimentOutcome

MODELS_PANEL = "Models"
DATA_PANEL = "Data"
SPLITS_PANEL = "Splits"
SCORES_PANEL = "Scores"
TUNING_PANEL = "Tuning"
OUTPUT_PANEL = "Output"
RUNNING_PANEL = "Running"


def model_and_step_names() -> list[str]:
    """All methods and steps, each once, for the shell's completion."""
    return list(dict.fromkeys((*MODELS.names(), *STEPS.names())))


def _add_plugins(files: list[Path] | None) -> list[Path] | None:
    if files:
        from mlcli.cli._console import stdout_for_results
        from mlcli.core.registry import add_plugins

        with stdout_for_results():
            add_plugins(files)
    return files


def _allow_imports(paths: list[str] | None) -> list[str] | None:
    if paths:
        from mlcli.core.registry import allow_imports

        allow_imports(paths)
    return paths


@dataclass(frozen=True)
class CodeOptions:
    """Code that a command may import; callbacks read these options before all others."""

    plugin: Annotated[
        list[Path] | None,
        typer.Option(
            "--plugin",
            metavar="FILE",
            help="A Python file with your own methods; repeatable.",
            rich_help_panel=MODELS_PANEL,
            callback=_add_plugins,
            is_eager=True,
        ),
    ] = None
    allow_import: Annotated[
        list[str] | None,
        typer.Option(
            "--allow-import",
            metavar="CLASS",
            help="Allow files to import this class, such as sklearn.svm.SVC; repeatable.",
            rich_help_panel=MODELS_PANEL,
            callback=_allow_imports,
            is_eager=True,
        ),
    ] = None


Specs = Annotated[list[Path], typer.Argument(metavar="SPEC", help="Experiment files (YAML).")]
Data = Annotated[
    str, typer.Argument(metavar="DATA", help="A CSV file or a shipped dataset.", autocompletion=data_names)
]
Models = Annotated[
    list[str],
    typer.Option(
        "--model",
        "-m",
        metavar="MODEL",
        help="An id such as knn, or a mapping such as '{use: knn, params: {k: 3}, steps: [standardise]}'.",
        autocompletion=MODELS.names,
        rich_help_panel=MODELS_PANEL,
    ),
]
Params = Annotated[
    list[str] | None,
    typer.Option(
        "--param",
        "-p",
        metavar="NAME=VALUE",
        help="Set a parameter of the model, such as k=3; repeatable.",
        autocompletion=parameter_values,
        rich_help_panel=MODELS_PANEL,
    ),
]
Target = Annotated[
    str | None,
    typer.Option(
        "--target",
        metavar="COLUMN",
        help="The column to predict. [default: as in the sidecar, else guessed]",
        autocompletion=column_names,
        rich_help_panel=DATA_PANEL,
    ),
]
Task = Annotated[
    str | None,
    typer.Option(
        "--task",
        metavar="TASK",
        help="The kind of task. [default: by the models, the sidecar or the target]",
        autocompletion=task_names,
        rich_help_panel=DATA_PANEL,
    ),
]
ProtocolName = Annotated[
    str | None,
    typer.Option(
        "--protocol",
        metavar="NAME",
        help="How rows are split: an id, or a mapping such as '{use: good-only, repeats: 3}'. "
        "[default: by the task]",
        autocompletion=PROTOCOLS.names,
        rich_help_panel=SPLITS_PANEL,
    ),
]
Seed = Annotated[
    int,
    typer.Option(
        "--seed",
        metavar="N",
        help="The random seed: the same seed gives the same results.",
        min=0,
        rich_help_panel=SPLITS_PANEL,
    ),
]
Metric = Annotated[
    str | None,
    typer.Option(
        "--metric",
        metavar="NAME",
        help="The score. [default: the first of the task]",
        autocompletion=metric_names,
        rich_help_panel=SCORES_PANEL,
    ),
]
Jobs = Annotated[
    int | None,
    typer.Option(
        "--jobs",
        "-j",
        metavar="N",
        help="The number of worker processes. [default: one per core]",
        min=1,
        rich_help_panel=RUNNING_PANEL,
    ),
]
NoShortcut = Annotated[
    bool,
    typer.Option(
        "--no-shortcut",
        help="Fit every split, even where a closed form gives the same results.",
        rich_help_panel=RUNNING_PANEL,
    ),
]
Store = Annotated[
    Path | None,
    typer.Option(
        "--store",
        metavar="FILE",
        help="Keep results in this file, and do not run again what it holds.",
        rich_help_panel=RUNNING_PANEL,
    ),
]
StoreToRead = Annotated[
    Path | None,
    typer.Option(
        "--store",
        metavar="FILE",
        help="The store. [default: .mlcli/runs.db, beside the experiment file or here]",
        rich_help_panel=RUNNING_PANEL,
    ),
]
All = Annotated[
    bool,
    typer.Option("--all", help="Show suggestions as well as problems.", rich_help_panel=OUTPUT_PANEL),
]
Strict = Annotated[
    bool,
    typer.Option(
        "--strict", help="Fail (exit code 8) if a serious problem is found.", rich_help_panel=OUTPUT_PANEL
    ),
]
Verbose = Annotated[
    bool,
    typer.Option(
        "--verbose",
        "-v",
        help="Show the details of every model, and how intervals were computed.",
        rich_help_panel=OUTPUT_PANEL,
    ),
]
Force = Annotated[
    bool, typer.Option("--force", help="Replace output files that exist.", rich_help_panel=OUTPUT_PANEL)
]


def format_option(help: str) -> Any:
    """The option ``--format``, which takes the same names in every command."""
    return typer.Option(
        "--format",
        metavar="NAME",
        help=help,
        autocompletion=lambda: list(FORMATS),
        callback=lambda name: name and known_format(name),
        rich_help_panel=OUTPUT_PANEL,
    )


Format = Annotated[
    str, format_option(f"The output format: {', '.join(FORMATS)}. --json is short for --format json.")
]
RowFormat = Annotated[str, format_option(f"The format of the rows: {', '.join(FORMATS)}.")]


@dataclass(frozen=True)
class ColumnOptions:
    """What the columns of a dataset are, where its sidecar does not say."""

    target: Target = None
    task: Task = None
    drop: Annotated[
        list[str] | None,
        typer.Option(
            "--drop",
            metavar="COLUMN",
            help="Hide a column from all models; repeatable.",
            autocompletion=column_names,
            rich_help_panel=DATA_PANEL,
        ),
    ] = None

    def of(self, reference: str) -> DataSpec:
        """The dataset of a reference, with these columns."""
        from mlcli.experiment.spec.cells import DataSpec

        return DataSpec(reference, self.target, self.task, drop=tuple(self.drop or ()))


@dataclass(frozen=True)
class JudgedColumnOptions(ColumnOptions):
    """The same, with what predictions are scored by."""

    sensitive: Annotated[
        list[str] | None,
        typer.Option(
            "--sensitive",
            metavar="COLUMN",
            help="A column whose groups fairness is measured for; repeatable.",
            autocompletion=column_names,
            rich_help_panel=DATA_PANEL,
        ),
    ] = None
    positive: Annotated[
        str | None,
        typer.Option(
            "--positive",
            metavar="CLASS",
            help="The positive class, for f1, precision and recall.",
            rich_help_panel=DATA_PANEL,
        ),
    ] = None

    def of(self, reference: str) -> DataSpec:
        """The dataset of a reference, with these columns."""
        return replace(super().of(reference), sensitive=tuple(self.sensitive or ()), positive=self.positive)


@dataclass(frozen=True)
class TuningOptions:
    """How models are tuned."""

    tune: Annotated[
        bool,
        typer.Option(
            "--tune",
            help="Tune the models in inner splits of their training rows: see docs/tuning.md.",
            rich_help_panel=TUNING_PANEL,
        ),
    ] = False
    search: Annotated[
        str | None,
        typer.Option(
            "--search",
            metavar="NAME",
            help="How --tune searches: grid, random or halving, or a mapping such as "
            "'{search: random, trials: 50, rule: one-standard-error}'. [default: grid]",
            rich_help_panel=TUNING_PANEL,
        ),
    ] = None

    def settings(self) -> Mapping[str, Any] | None:
        """The settings of tuning; None without. ``--search`` implies ``--tune``."""
        from mlcli.experiment.spec.entries import tuning_from_text

        return tuning_from_text(self.search) if self.search else {} if self.tune else None


VIEWS = ("classes", "spread", "curves", "fairness")


@dataclass(frozen=True)
class ViewOptions:
    """What is shown beside the tables of scores."""

    show: Annotated[
        list[str] | None,
        typer.Option(
            "--show",
            metavar="WHAT",
            help="Show more: classes (scores of each class), spread (scores of each split), curves (ROC, "
            "precision-recall, calibration), fairness (rates by group); repeatable.",
            autocompletion=lambda: list(VIEWS),
            rich_help_panel=OUTPUT_PANEL,
        ),
    ] = None
    verbose: Verbose = False

    def wanted(self, also: Sequence[str] = ()) -> tuple[str, ...]:
        """The names behind ``--show``; ``also`` lists names that this command knows besides the views."""
        from mlcli.core.errors import UsageError
        from mlcli.core.names import did_you_mean

        names = tuple(name.strip() for text in self.show or () for name in text.split(","))
        for name in names:
            if name not in (*VIEWS, *also):
                hint = did_you_mean(name, (*VIEWS, *also), "what can be shown")
                raise UsageError(f"--show takes no '{name}'", hint=hint)
        return names

    def details(self, also: Sequence[str] = ()) -> Details:
        """The same as details of a report."""
        from mlcli.report.views.results import Details

        names = self.wanted(also)
        return Details(self.verbose, "classes" in names, "curves" in names, "fairness" in names, "spread" in names)


FailUnder = Annotated[
    list[str] | None,
    typer.Option(
        "--fail-under",
        metavar="METRIC=VALUE",
        help="Fail (exit code 8) if the confidence bound of METRIC misses VALUE; accuracy.mean=0.9 tests the "
        "score itself; repeatable.",
        rich_help_panel=SCORES_PANEL,
    ),
]


def bounds_of(fail_under: Sequence[str] | None) -> tuple[Bound, ...]:
    """The bounds of ``--fail-under``."""
    from mlcli.experiment.spec.expectations import fail_under as bounds_from_text

    return bounds_from_text(fail_under or ())


@dataclass(frozen=True)
class CiOptions:
    """Files that a CI server reads."""

    junit: Annotated[
        Path | None,
        typer.Option(
            "--junit",
            metavar="FILE",
            help="Write results and failed bounds as JUnit XML, for CI.",
            rich_help_panel=OUTPUT_PANEL,
        ),
    ] = None
    summary: Annotated[
        Path | None,
        typer.Option(
            "--summary",
            metavar="FILE",
            help="Append tables and failed bounds as Markdown, for CI.",
            rich_help_panel=OUTPUT_PANEL,
        ),
    ] = None

    def write(self, outcomes: Sequence[ExperimentOutcome]) -> None:
        """Write the files that were named."""
        if self.junit is None and self.summary is None:
            return
        from mlcli.report.ci import append_summary, write_junit

        if self.junit is not None:
            write_junit(self.junit, outcomes)
        if self.summary is not None:
            append_summary(self.summary, outcomes)
