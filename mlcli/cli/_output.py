"""What ``-o`` may not name: the files that a command reads."""

from __future__ import annotations

import os
from pathlib import Path

from mlcli.core.errors import UsageError


def refuse_to_overwrite(output: Path, data: str, model: Path | None = None) -> None:
    """Refuse an output that is the data, their sidecar or the model, by whatever path or link it is named."""
    from mlcli.data.new_rows import STANDARD_INPUT
    from mlcli.data.shipped import find
    from mlcli.data.sidecar import SUFFIXES

    rows = Path("/dev/stdin") if data == STANDARD_INPUT else find(data)
    read = {rows: "the file that the rows are read from"}
    read |= {rows.with_suffix(suffix): f"where the sidecar of {rows} belongs" for suffix in SUFFIXES}
    read |= {model: "the model that is asked"} if model is not None else {}
    for path, what in read.items():
        if _are_same(output, path):
            raise UsageError(f"{output} is {what}: it was left alone", hint="name another file with -o FILE")


def _are_same(output: Path, path: Path) -> bool:
    """A sidecar that is not there yet has a place already: what is written there would be read as one."""
    if output.is_file() and path.is_file():
        return os.path.samefile(output, path)
    return not output.exists() and os.path.realpath(output) == os.path.realpath(path)
