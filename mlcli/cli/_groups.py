"""Options that go together: fields of a dataclass, which a command takes as one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mlcli.cli._completion import column_names
from mlcli.cli._options import Target, Task

if TYPE_CHECKING:
    from mlcli.experiment.spec.cells import DataSpec
    from mlcli.experiment.spec.expectations import Bound
    from mlcli.report.outcome import Outcome
    from mlcli.report.results import Parts


@dataclass(frozen=True)
class Columns:
    """What is known of a table's columns beside its sidecar."""

    target: Target = None
    task: Task = None
    drop: Annotated[
        list[str] | None,
        typer.Option(
            "--drop",
            "--ignore",
            metavar="COLUMN",
            autocompletion=column_names,
            help="Leave a column out, so that no model sees it; repeatable.",
        ),
    ] = None

    def of(self, reference: str) -> DataSpec:
        """The dataset that is asked for."""
        from mlcli.experiment.spec.cells import DataSpec

        return DataSpec(reference, self.target, self.task, drop=tuple(self.drop or ()))


@dataclass(frozen=True)
class JudgedColumns(Columns):
    """And by which columns and of which class answers are judged."""

    sensitive: Annotated[
        list[str] | None,
        typer.Option(
            "--sensitive",
            metavar="COLUMN",
            autocompletion=column_names,
            help="A column by whose groups fairness is judged; repeatable.",
        ),
    ] = None
    positive: Annotated[
        str | None,
        typer.Option(
            "--positive",
            metavar="CLASS",
            help="The class that is looked for: f1, precision, recall are those of it.",
        ),
    ] = None

    def of(self, reference: str) -> DataSpec:
        """The dataset that is asked for."""
        from dataclasses import replace

        return replace(super().of(reference), sensitive=tuple(self.sensitive or ()), positive=self.positive)


@dataclass(frozen=True)
class Tuning:
    """How models are tuned."""

    tune: Annotated[
        bool,
        typer.Option("--tune", help="Tune models by inner splits of their training rows: see docs/tuning.md."),
    ] = False
    search: Annotated[
        str | None,
        typer.Option("--search", metavar="NAME", help="Tune by grid, random, or halving. [default: grid]"),
    ] = None
    trials: Annotated[
        int | None,
        typer.Option("--trials", min=1, metavar="N", help="Tune with so many candidates. [default: 20]"),
    ] = None
    rule: Annotated[
        str | None,
        typer.Option("--rule", metavar="NAME", help="Tune by best or one-standard-error. [default: best]"),
    ] = None

    def settings(self) -> dict[str, str | int] | None:
        """What was asked for, if anything: what belongs to tuning asks for it, too."""
        given = {"search": self.search, "trials": self.trials, "rule": self.rule}
        settings = {name: value for name, value in given.items() if value is not None}
        return settings if self.tune or settings else None


@dataclass(frozen=True)
class Views:
    """What is shown beside the tables of results."""

    classes: Annotated[
        bool,
        typer.Option("--classes", help="Show each class against the rest: precision, recall, specificity, ..."),
    ] = False
    spread: Annotated[
        bool, typer.Option("--spread", help="Show how scores spread over the splits, and whether these agree.")
    ] = False
    curves: Annotated[
        bool,
        typer.Option("--curves", help="Draw ROC, precision against recall, and calibration of the probabilities."),
    ] = False
    fair: Annotated[
        bool, typer.Option("--fair", help="Show how groups are answered, and what fairness costs in accuracy.")
    ] = False
    verbose: Annotated[
        bool,
        typer.Option("--verbose", "-v", help="Show the answers of every model, and how intervals were made."),
    ] = False

    def parts(self) -> Parts:
        """The same as parts of a report."""
        from mlcli.report.results import Parts

        return Parts(self.verbose, self.classes, self.curves, self.fair, self.spread)


@dataclass(frozen=True)
class Gates:
    """What must hold, and where CI reads whether it did."""

    fail_under: Annotated[
        list[str] | None,
        typer.Option(
            "--fail-under",
            metavar="METRIC=VALUE",
            help="Exit 8 where the worse end of an interval is worse, or accuracy.mean=0.9: the score;"
            " repeatable.",
        ),
    ] = None
    junit: Annotated[
        Path | None, typer.Option("--junit", metavar="FILE", help="Write cells and gates as JUnit XML, for CI.")
    ] = None
    summary: Annotated[
        Path | None,
        typer.Option("--summary", metavar="FILE", help="Append tables and gates as Markdown, for CI."),
    ] = None

    def __post_init__(self) -> None:
        from mlcli.cli._outputs import refuse_unlike

        refuse_unlike(self.junit, "JUnit XML", instead="name another file")

    def bounds(self) -> tuple[Bound, ...]:
        """The scores that are asked for."""
        from mlcli.experiment.spec.expectations import fail_under

        return fail_under(self.fail_under or ())

    def write(self, outcomes: Sequence[Outcome]) -> None:
        """Write the files that were asked for."""
        if self.junit is None and self.summary is None:
            return
        from mlcli.report.for_ci import append_summary, write_junit

        if self.junit is not None:
            write_junit(self.junit, outcomes)
        if self.summary is not None:
            append_summary(self.summary, outcomes)
