"""sample: draw new rows from a saved generative model."""

from __future__ import annotations

from typing import Annotated

import typer

from mlcli.cli._options import CodeOptions, Force, RowFormat, Seed
from mlcli.cli._outputs import Output, refuse_to_replace, without_controls, write_rows
from mlcli.cli.predict import SavedModel

EXAMPLES = ("mlcli sample bayes.mlcli -n 5", "mlcli sample mixture.mlcli -n 1000 --seed 7 -o drawn.csv")


def sample_command(
    *,
    file: SavedModel,
    rows: Annotated[
        int, typer.Option("--rows", "-n", metavar="N", help="How many rows, or sequences of a tagger.", min=1)
    ] = 10,
    seed: Seed = 1,
    output: Output = None,
    force: Force = False,
    format: RowFormat = "csv",
    code: CodeOptions,
) -> None:
    """Draw new rows from a saved generative model.

    The result is CSV with the columns, levels and decimals of the training
    file.
    """
    from mlcli.api.models import load

    refuse_to_replace(output, force)
    write_rows(load(file).sample(rows, seed), output, format, without_controls)
