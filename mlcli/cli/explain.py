"""explain: show how a saved model comes to its answers about single rows."""

from __future__ import annotations

from os.path import exists
from pathlib import Path
from typing import TYPE_CHECKING

from mlcli.cli._declaring import argument, option
from mlcli.cli._options import Format
from mlcli.core.errors import UsageError
from mlcli.core.names import listed

if TYPE_CHECKING:
    from mlcli.data.new_rows import AlignedRows
    from mlcli.experiment.saved.saved_model import SavedModel

EXAMPLES = (
    "mlcli explain bayes.mlcli outlook=sunny temperature=hot humidity=high windy=TRUE",
    "mlcli explain tree.mlcli penguins --row 3 --row 200",
)


def explain_command(
    file: Path = argument("FILE", "A model that mlcli train -o has saved."),
    data: list[str] = argument("DATA", "A CSV file, - for standard input, or one row as column=value ..."),
    row: list[int] | None = option("--row", "N", "A row of the file, from 1; repeatable. [default: the first 20]"),
    format: Format = "text",
) -> None:
    """Show how a saved model comes to its answers about single rows.

    Neighbours with their votes, factors, the path through a tree, a score
    term by term, support vectors, Viterbi's table: what the method works with.
    For any method, what changes when a column is hidden.
    """
    from mlcli.experiment.saved.model_file import asking, load_model

    saved = load_model(file)
    rows = saved.new_rows(_reference(data))
    warn_of_unlike(saved, rows)
    with asking(file):
        show_explained(saved, rows, tuple(row or ()), format)


def warn_of_unlike(saved: SavedModel, rows: AlignedRows) -> None:
    """Say on stderr which rows are unlike those of training, and which columns the file lacks."""
    from mlcli.cli._console import remark

    for warning in rows.warnings():
        remark(f"Warning: {warning}")
    if absent := [name for name in rows.absent_features if name in saved.optional - saved.hidden]:
        remark(f"Warning: columns that the file lacks count as not there: {listed(absent)}")


def show_explained(saved: SavedModel, rows: AlignedRows, chosen: tuple[int, ...], format: str = "text") -> None:
    """Print how the answers about the chosen rows, or the first, come about."""
    from mlcli.cli._console import show_as
    from mlcli.report.views.trained_model import (
        MOST_EXPLAINED,
        answers_explained,
        explained_answers_as_json,
        explained_answers_of,
    )

    found = answers_explained(saved, rows, chosen)
    left_out = 0 if chosen else max(len(rows) - MOST_EXPLAINED, 0)
    show_as(format, lambda: explained_answers_of(found, left_out), lambda: explained_answers_as_json(found))


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
            raise UsageError(f"'{word}' is no cell", hint=hint)
        if name in cells:
            raise UsageError(f"column '{name}' is given twice")
        cells[name] = value
    return cells
