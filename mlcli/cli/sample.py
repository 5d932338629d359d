"""sample: draw new rows from a saved model of how rows come about; they are CSV."""

from __future__ import annotations

from pathlib import Path

from mlcli.cli._declaring import argument, option
from mlcli.cli._options import RowFormat
from mlcli.cli._outputs import Force, Output, refuse_to_replace

EXAMPLES = ("mlcli sample bayes.mlcli -n 5", "mlcli sample mixture.mlcli -n 1000 --seed 1 -o drawn.csv")


def sample_command(
    file: Path = argument("FILE", "A model that mlcli train -o has saved."),
    rows: int = option("--rows -n", None, "How many rows; of a tagger, how many sequences.", default=10, min=1),
    seed: int = option("--seed", "N", "The random seed.", default=0, min=0),
    output: Output = None,
    force: Force = False,
    format: RowFormat = "csv",
) -> None:
    """Draw new rows from a saved model of how rows come about; they are CSV.

    Columns, levels and decimals are those of the file that it learned from.
    """
    from mlcli.cli._outputs import without_controls, write_rows
    from mlcli.experiment.saved.model_file import load_model
    from mlcli.report.columns import sample_columns

    refuse_to_replace(output, force)
    write_rows(sample_columns(load_model(file), rows, seed), output, format, without_controls)
