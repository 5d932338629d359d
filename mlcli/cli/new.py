"""new: write a method of your own to start from, with its test."""

from __future__ import annotations

from pathlib import Path

from mlcli.cli._declaring import argument, option

NOUNS = ("model",)

EXAMPLES = ("mlcli new model nearest-mean", "mlcli eval iris -m nearest-mean --plugin nearest_mean.py")


def new_command(
    what: str = argument("WHAT", "What to write: model."),
    name: str = argument("NAME", "Its id, such as nearest-mean."),
    output: Path = option("--output -o", "FOLDER", "Write the files here.", default=Path()),
) -> None:
    """Write a method of your own to start from, with its test.

    The file works as it stands: change what it learns and answers.
    """
    from mlcli.cli._console import remark, show_line
    from mlcli.cli._outputs import in_a_folder
    from mlcli.core.errors import UsageError
    from mlcli.core.names import did_you_mean
    from mlcli.experiment.spec.templates import write_model

    if what not in NOUNS:
        raise UsageError(f"there is no '{what}' to write", hint=did_you_mean(what, NOUNS, "what can be written"))
    in_a_folder(output / name)
    for path in (written := write_model(name, output)):
        show_line(str(path))
    remark(f"next: mlcli eval iris -m {name} --plugin {written[0]}; pytest {written[1]}")
