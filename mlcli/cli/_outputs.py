"""Files that commands write: where ``-o`` points, and what it may not replace."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Annotated

from mlcli.cli._declaring import shared
from mlcli.core.errors import StoreError, UsageError


def in_a_folder(output: Path | None) -> Path | None:
    """A file to write, unless its folder is not there: that is said before any work is done."""
    if output is not None and not output.parent.is_dir():
        what = f"cannot be written: there is no folder '{output.parent}'"
        raise StoreError(what, where=str(output), hint=f"make it first: mkdir -p {output.parent}")
    return output


Output = Annotated[
    Path | None, shared("--output -o", "FILE", "Write here instead of standard output.", callback=in_a_folder)
]
Force = Annotated[bool, shared("--force", None, "Replace FILE if it is there.")]
INSTEAD = "name another file, or replace it with --force"
EARLIER = {
    "answers of mlcli predict": rb"row,|\| *row\b|\[\s*{\s*\"row\":",
    "page of mlcli": rb"\s*<!DOCTYPE html>.*?<meta name=\"generator\" content=\"mlcli ",
    "picture of mlcli": rb".*?Matplotlib v|%PDF-1\.\d\n%\xac\xdc \xab\xba",
    "JUnit XML": rb"<\?xml[^>]*>\s*<testsuites\b",
}
"""How files begin that may be replaced by another of their kind."""
BEGINNING = 2048


def refuse_to_replace(output: Path | None, force: bool) -> None:
    """Refuse a file that is there, unless it is to be replaced."""
    if output is not None and output.exists() and not force:
        raise UsageError(f"{output} exists: it was left alone", hint=INSTEAD)


def refuse_unlike(output: Path | None, what: str, force: bool = False, instead: str = INSTEAD) -> None:
    """Refuse a file that is nothing earlier of the same kind, and whatever a link leads to."""
    if output is None or force:
        return
    if output.is_symlink() and (output.is_file() or not output.exists()):
        raise UsageError(f"{output} is a link to {output.resolve()}: it was left alone", hint=instead)
    if output.is_file():
        with output.open("rb") as file:
            beginning = file.read(BEGINNING)
        if beginning and not re.match(EARLIER[what], beginning, re.DOTALL):
            raise UsageError(f"{output} exists and holds no {what}: it was left alone", hint=instead)


def refuse_to_overwrite(output: Path, data: str, model: Path | None = None) -> None:
    """Refuse an output that is the data, their sidecar or the model, by whatever path or link it is named."""
    from mlcli.data.new_rows import STANDARD_INPUT
    from mlcli.data.shipped import find
    from mlcli.data.sidecar import sidecar_places

    rows = Path("/dev/stdin") if data == STANDARD_INPUT else find(data)
    read = {rows: "the file that the rows are read from"}
    read |= dict.fromkeys(sidecar_places(rows), f"where the sidecar of {rows} belongs")
    read |= {model: "the model that is asked"} if model is not None else {}
    for path, what in read.items():
        if _are_same(output, path):
            raise UsageError(f"{output} is {what}: it was left alone", hint="name another file with -o FILE")


def _are_same(output: Path, path: Path) -> bool:
    """A sidecar that is not there yet has a place already: what is written there would be read as one."""
    if output.is_file() and path.is_file():
        return os.path.samefile(output, path)
    return not output.exists() and os.path.realpath(output) == os.path.realpath(path)
