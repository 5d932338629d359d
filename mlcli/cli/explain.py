"""explain: explain single predictions of a saved model."""

from __future__ import annotations

from os.path import exists
from typing import Annotated

import typer

from mlcli.cli._options import CodeOptions, Format
from mlcli.cli.predict import SavedModel
from mlcli.core.errors import UsageError

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
    row: Annotated[
        list[int] | None,
        typer.Option(
            "--row", metavar="N", help="A row of the file, counted from 1; repeatable. [default: the first 20]"
        ),
    ] = None,
    format: Format = "text",
    code: CodeOptions,
) -> None:
    """Explain single predictions of a saved model.

    You see what the method works with: the neighbours and their votes, the
    path through a tree, each term of a score, the support vectors, the table
    of Viterbi's algorithm. For every method you see how the prediction changes
    if a column is hidden.
    """
    from mlcli.api.models import load
    from mlcli.cli._console import show_result

    show_result(load(file).explain(_rows_from(data), row or ()), format)


def _rows_from(words: list[str]) -> str | dict[str, str]:
    """A file, or the cells of one row."""
    if len(words) == 1 and ("=" not in words[0] or exists(words[0])):
        return words[0]
    cells = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals:
            hint = "give one file, or one row as column=value column=value ..."
            if exists(words[0]) and all(word.isdigit() for word in words[1:]):
                hint = f"rows of a file are named by {' '.join(f'--row {word}' for word in words[1:])}"
            raise UsageError(f"'{word}' is not column=value", hint=hint)
        if name in cells:
            raise UsageError(f"column '{name}' is given twice")
        cells[name] = value
    return cells
