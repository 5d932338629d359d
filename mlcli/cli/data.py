"""data: list the shipped datasets, profile one or a CSV file, or compare one with another."""

from __future__ import annotations

from typing import Annotated

import typer

from mlcli.cli._options import Format, Target, Task, dataset_names
from mlcli.cli._pages import Html, PictureFormat, Pictures

Reference = Annotated[
    str | None,
    typer.Argument(metavar="NAME|FILE", help="A shipped dataset, or a CSV file.", autocompletion=dataset_names),
]
Write = Annotated[
    bool, typer.Option("--write-sidecar", help="Write what was inferred beside the CSV file, for review.")
]

Plot = Annotated[
    list[str] | None,
    typer.Option("--plot", metavar="COLUMN", help="Draw a column; two columns against each other; repeatable."),
]

Against = Annotated[
    str | None,
    typer.Option("--against", metavar="FILE", help="Compare with the rows of another file: is it like this one?"),
]

EXAMPLES = (
    "mlcli data iris",
    "mlcli data",
    "mlcli data iris --plot petal_length --plot petal_width",
    "mlcli data my.csv --write-sidecar",
    "mlcli data last_year.csv --against this_year.csv",
)


def data_command(
    reference: Reference = None,
    target: Target = None,
    task: Task = None,
    plot: Plot = None,
    against: Against = None,
    write_sidecar: Write = False,
    html: Html = None,
    pictures: Pictures = None,
    picture_format: PictureFormat = "svg",
    format: Format = "text",
) -> None:
    """List the shipped datasets, profile one or a CSV file, or compare one with another.

    A profile shows each column with its kind and how that was found, missing
    cells, ranges, small histograms, the balance of the classes, and warnings.
    --against compares column by column, and by a model that tells files apart.
    """
    from mlcli.cli._console import remark, show_as
    from mlcli.cli._pages import Pages
    from mlcli.core.errors import UsageError

    pages = Pages(html, pictures, picture_format)
    if reference is None:
        if write_sidecar or target or task or plot or against or pages.wanted:
            raise UsageError("a file is missing", hint="such as mlcli data my.csv --write-sidecar")
        _list(format)
        return

    from mlcli.checks.audit import issues_of_data
    from mlcli.data.load import load
    from mlcli.data.profile import profile
    from mlcli.report.profile import profile_of

    dataset = load(reference, target=target, task=task)
    if write_sidecar:
        from mlcli.data.write_sidecar import write_sidecar as write

        remark(f"wrote {write(dataset)}: correct what is wrong there, and it is used from now on")
    if against is not None:
        from mlcli.experiment.likeness import likeness
        from mlcli.report.likeness import as_json as plain
        from mlcli.report.likeness import likeness_of

        alike = likeness(dataset, against)
        show_as(format, lambda: likeness_of(alike), lambda: plain(alike))
        pages.write(lambda: likeness_of(alike))
        return
    if plot:
        from mlcli.core.findings import as_json
        from mlcli.report.findings import explained
        from mlcli.report.plots import plot_of

        picture = plot_of(dataset, plot)
        show_as(format, lambda: explained([picture]), lambda: as_json(picture))
        pages.write(lambda: explained([picture]))
        return
    issues = issues_of_data(dataset)
    found = profile(dataset, [issue.sentence for issue in issues])
    tables = [finding for issue in issues for finding in issue.shown]
    show_as(format, lambda: profile_of(found, tables), found.to_json)
    pages.write(lambda: profile_of(found, tables))


def _list(format: str) -> None:
    from mlcli.cli._console import show_as
    from mlcli.data.shipped import shipped
    from mlcli.report.profile import datasets_of

    plain = [{"name": name, "summary": summary} for name, summary in shipped().items()]
    show_as(format, lambda: datasets_of(shipped()), lambda: {"datasets": plain})
