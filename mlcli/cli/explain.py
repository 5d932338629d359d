"""explain: explain single predictions of a saved model."""

from __future__ import annotations

from os.path import exists
from typing import TYPE_CHECKING, Annotated

import typer

from mlcli.cli._options import CodeOptions, Format
from mlcli.cli.predict import SavedModel
from mlcli.core.errors import UsageError
from mlcli.core.names import listed

if TYPE_CHECKING:
    from mlcli.data.new_rows import AlignedRows
    from mlcli.experiment.saved import saved_model

EXAMPLES = (
    "mlcli explain bayes.mlcli outlook=sunny temperature=hot humidity=high windy=TRUE",
    "mlcli explain tree.mlcli penguins --row 3 --row 200",
)


def explain_command(
    *,
    file: SavedModel,
    data: Annotated[
        list[str],
        typer.Argument(metavar="DATA", help="A CSV file, - for standard input, or one row as column=value ..."),
    ],
    code: CodeOptions,
    row: Annotated[
        list[int] | None,
        typer.Option(
            "--row", metavar="N", help="A row of the file, counted from 1; repeatable. [default: the first 20]"
        ),
    ] = None,
    format: Format = "text",
) -> None:
    """Explain single predictions of a saved model.

    You see what the method works with: the neighbours and their votes, the
    path through a tree, each term of a score, the support vectors, the table
    of Viterbi's algorithm. For every method you see how the prediction changes
    if a column is hidden.
    """
    from mlcli.experiment.saved.model_file import asking, load_model

    saved = load_model(file)
    rows = saved.new_rows(_reference(data))
    warn_of_unlike(saved, rows)
    with asking(file):
        show_explained(saved, rows, tuple(row or ()), format)


def warn_of_unlike(saved: saved_model.SavedModel, rows: AlignedRows) -> None:
    """Say on stderr which rows are unlike those of training, and which columns the file lacks."""
    from mlcli.cli._console import remark

    for warning in rows.warnings():
        remark(f"Warning: {warning}")
    if absent := [name for name in rows.absent_features if name in saved.optional - saved.hidden]:
        remark(f"Warning: columns that the file lacks count as not there: {listed(absent)}")


def show_explained(
    saved: saved_model.SavedModel, rows: AlignedRows, chosen: tuple[int, ...], format: str = "text"
) -> None:
    """Print how the answers about the chosen rows, or the first, come about."""
    from mlcli.cli._console import show_as
    from mlcli.report.views.trained_model import (
        MOST_EXPLAINED,
        answers_explained,
        explained_answers_of,
    )

    found = answers_explained(saved, rows, chosen)
    left_out = 0 if chosen else max(len(rows) - MOST_EXPLAINED, 0)
    show_as(format, lambda: explained_answers_of(found, left_out), lambda: found)


def _reference(words: list[str]) -> str | dict[str, str]:
    if len(words) == 1 and ("=" not in words[0] or exists(words[0])):
        return words[0]
    cells = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals:
            hint = "give one file, or one row as column=value column=value ..."
            if exists(words[0]) and all(one.isdigit() for one in words[1:]):
                hint = f"rows of a file are named by {' '.join(f'--row {one}' for one in words[1:])}"
            raise UsageError(f"'{word}' is not column=value", hint=hint)
        if name in cells:
            raise UsageError(f"column '{name}' is given twice")
        cells[name] = value
    return cells
