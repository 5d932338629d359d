"""predict: ask a saved model about new rows; the answers are CSV."""

from __future__ import annotations

from pathlib import Path

from mlcli.cli._console import remark
from mlcli.cli._declaring import argument, flag
from mlcli.cli._options import RowFormat
from mlcli.cli._outputs import Output, refuse_to_overwrite, refuse_unlike
from mlcli.core.errors import UsageError
from mlcli.report.formats._registry import CSV

ROW = "row"
WITHOUT_CSV = "leave out --output, --probabilities, --log-density and --confidence, or --explain"

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
    confidence: bool = flag(
        "--confidence",
        "Add how sure it is of a class: P(y1), the margin P(y1) - P(y2), the entropy in bits; the least sure rows "
        "are worth a label.",
    ),
    explain: bool = flag("--explain", "In place of CSV, show how answers come about; see mlcli explain."),
    force: bool = flag("--force", "Replace FILE whatever it is: the data, the model, a file of something else."),
    safe_csv: bool = flag(
        "--safe-csv", "Write an apostrophe before cells that a spreadsheet would run as a formula, such as =1+1."
    ),
    format: RowFormat = "csv",
) -> None:
    """Ask a saved model about new rows; the answers are CSV.

    Each row is numbered; columns that the model does not use are copied, ids
    among them; control characters are escaped. Values unlike those of training
    are reported on stderr.
    """
    from mlcli.cli._outputs import safe_cell, without_controls, write_rows
    from mlcli.cli.explain import show_explained, warn_of_unlike
    from mlcli.core.pipeline import decision_in_words
    from mlcli.experiment.saved.model_file import asking, load_model
    from mlcli.report.columns import predictions_of

    if explain and (output is not None or probabilities or log_density or confidence):
        raise UsageError("--explain prints no CSV", hint=WITHOUT_CSV)
    if safe_csv and (explain or format != CSV):
        raise UsageError("--safe-csv is for CSV", hint="leave it out")
    if output is not None and not force:
        refuse_to_overwrite(output, data, file)
        refuse_unlike(output, "answers of mlcli predict")
    if Path(data).suffix == ".mlcli":
        rows_file = "DATA" if Path(file).suffix == ".mlcli" else file
        hint = f"did you mean: mlcli predict {data} {rows_file}"
        raise UsageError(f"{data} is a model, and stands first", hint=hint)
    saved = load_model(file)
    rows = saved.new_rows(data)
    warn_of_unlike(saved, rows)
    if explain:
        with asking(file):
            show_explained(saved, rows, ())
        return
    with asking(file):
        answers = predictions_of(
            saved, rows, probabilities=probabilities, evidence=log_density, confidence=confidence
        )
    if rule := decision_in_words(saved.pipeline):
        remark(rule)
    for name in rows.extra:
        if name in (ROW, *answers):
            remark(f"Warning: column '{name}' of the file is not copied: the answers have a column of that name")
    copied = {name: rows.text(name) for name in rows.extra if name not in (ROW, *answers)}
    columns = {ROW: [str(number + 1) for number in range(len(rows))], **copied, **answers}
    write_rows(columns, output, format, safe_cell if safe_csv else without_controls)
