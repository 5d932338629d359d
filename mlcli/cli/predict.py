"""predict: ask a saved model about new rows; the answers are CSV."""

from __future__ import annotations

from collections.abc import Iterator, Set
from pathlib import Path
from typing import TYPE_CHECKING

from mlcli.cli._console import remark
from mlcli.cli._declaring import argument, flag
from mlcli.cli._options import RowFormat
from mlcli.cli._outputs import Output, refuse_to_overwrite, refuse_unlike
from mlcli.core.errors import UsageError
from mlcli.core.names import listed
from mlcli.report.numbers import counted

if TYPE_CHECKING:
    from mlcli.data.new_rows import NewRows, UnseenLevel

ROW = "row"
WITHOUT_CSV = "leave out --output, --probabilities and --log-density, or --explain"
MOST_LISTED = 8
"""Columns with unusual numbers of which each has a line of its own."""

EXAMPLES = (
    "mlcli predict tree.mlcli penguins --probabilities",
    "cat new.csv | mlcli predict tree.mlcli - > answers.csv",
)


def predict_command(
    file: Path = argument("FILE", "A model that mlcli train -o has saved."),
    data: str = argument("DATA", "A CSV file; - reads standard input."),
    output: Output = None,
    probabilities: bool = flag("--probabilities", "Add one column per class."),
    log_density: bool = flag(
        "--log-density", "Add log p(x): how probable a generative model finds the row itself."
    ),
    explain: bool = flag("--explain", "In place of CSV, show how answers come about; see mlcli explain."),
    force: bool = flag("--force", "Replace FILE whatever it is: the data, the model, a file of something else."),
    format: RowFormat = "csv",
) -> None:
    """Ask a saved model about new rows; the answers are CSV.

    Each row is numbered; columns that the model does not use are copied, ids
    among them. Values unlike those of training are reported on stderr.
    """
    from mlcli.cli._outputs import write_rows
    from mlcli.cli.explain import show_explained
    from mlcli.experiment.saved.model_file import asking, load_model
    from mlcli.report.columns.predictions import predictions_of

    if explain and (output is not None or probabilities or log_density):
        raise UsageError("--explain prints no CSV", hint=WITHOUT_CSV)
    if output is not None and not force:
        refuse_to_overwrite(output, data, file)
        refuse_unlike(output, "answers of mlcli predict")
    if Path(data).suffix == ".mlcli":
        rows_file = "DATA" if Path(file).suffix == ".mlcli" else file
        hint = f"did you mean: mlcli predict {data} {rows_file}"
        raise UsageError(f"{data} is a model, and stands first", hint=hint)
    saved = load_model(file)
    rows = saved.new_rows(data)
    for warning in _unlike_training(rows, saved.optional - saved.hidden):
        remark(f"Warning: {warning}")
    if explain:
        with asking(file):
            show_explained(saved, rows, ())
        return
    with asking(file):
        answers = predictions_of(saved, rows, probabilities=probabilities, evidence=log_density)
    if reading := saved.pipeline.final.reading():
        remark(reading)
    for name in rows.extra:
        if name in (ROW, *answers):
            remark(f"Warning: column '{name}' of the file is not copied: the answers have a column of that name")
    copied = {name: rows.text(name) for name in rows.extra if name not in (ROW, *answers)}
    write_rows({ROW: [str(number + 1) for number in range(len(rows))], **copied, **answers}, output, format)


def _unlike_training(rows: NewRows, optional: Set[str]) -> Iterator[str]:
    by_column: dict[str, list[UnseenLevel]] = {}
    for one in rows.unseen:
        by_column.setdefault(one.column, []).append(one)
    for column, unseen in by_column.items():
        values = listed([f"'{one.value}'" for one in unseen])
        were, they = ("was", "it counts") if len(unseen) == 1 else ("were", "they count")
        cells = sum(one.count for one in unseen)
        counts = f"{they} as missing" if not rows.letters else "features are made of letters alone"
        yield f"column '{column}': {values} {were} not there in training; {counts} (cells: {cells})"
    for outside in rows.outside[:MOST_LISTED]:
        yield (
            f"column '{outside.column}': cells outside the training range of {outside.low:g} to {outside.high:g}, "
            f"reaching from {outside.lowest:g} to {outside.highest:g} (cells: {outside.count})"
        )
    more = [outside.column for outside in rows.outside[MOST_LISTED:]]
    if more:
        yield f"cells outside the training range in {counted(len(more), 'more column')}: {listed(more)}"
    if absent := [name for name in rows.absent_features if name in optional]:
        yield f"columns that the file lacks count as not there: {listed(absent)}"
