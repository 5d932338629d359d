"""predict: predict new rows with a saved model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mlcli.cli._console import remark
from mlcli.cli._options import CodeOptions, Force, RowFormat
from mlcli.cli._outputs import Output, refuse_to_replace, safe_cell, without_controls, write_rows
from mlcli.core.errors import UsageError
from mlcli.report.formats import CSV

EXAMPLES = (
    "mlcli predict tree.mlcli penguins --probabilities",
    "cat new.csv | mlcli predict tree.mlcli - > predictions.csv",
)

SavedModel = Annotated[Path, typer.Argument(metavar="MODEL", help="A model that mlcli train -o has saved.")]


def predict_command(
    *,
    file: SavedModel,
    data: Annotated[str, typer.Argument(metavar="DATA", help="A CSV file, or - for standard input.")],
    output: Output = None,
    probabilities: Annotated[bool, typer.Option("--probabilities", help="Add a column for each class.")] = False,
    log_density: Annotated[
        bool, typer.Option("--log-density", help="Add log p(x), the log-density of the row under the model.")
    ] = False,
    confidence: Annotated[
        bool,
        typer.Option(
            "--confidence",
            help="Add how sure the model is: the highest probability, its margin to the second, and the entropy "
            "in bits. The least sure rows are the ones to label next.",
        ),
    ] = False,
    force: Force = False,
    safe_csv: Annotated[
        bool,
        typer.Option(
            "--safe-csv", help="Put an apostrophe before cells that a spreadsheet would run as a formula."
        ),
    ] = False,
    format: RowFormat = "csv",
    code: CodeOptions,
) -> None:
    """Predict new rows with a saved model.

    The result is CSV: rows are numbered, and columns that the model does not
    use, such as ids, are copied. Values unlike those of training are reported
    on standard error.
    """
    from mlcli.api.models import load

    if safe_csv and format != CSV:
        raise UsageError("--safe-csv is for CSV", hint="leave it out")
    refuse_to_replace(output, force)
    if Path(data).suffix == ".mlcli":
        rows_file = "DATA" if file.suffix == ".mlcli" else file
        raise UsageError(
            f"{data} is a model, and stands first", hint=f"did you mean: mlcli predict {data} {rows_file}"
        )
    predictions = load(file).predictions(
        data, probabilities=probabilities, log_density=log_density, confidence=confidence
    )
    if predictions.decision_rule:
        remark(predictions.decision_rule)
    write_rows(predictions.columns, output, format, safe_cell if safe_csv else without_controls)
