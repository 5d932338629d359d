"""CSV that a command gives: to a file, whole or not at all, or to standard output, safe to print on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TextIO

from mlcli.cli._console import page_for, remark
from mlcli.core.files import replacing
from mlcli.report.numbers import counted


def give(columns: Mapping[str, Sequence[str]], output: Path | None) -> None:
    """Write columns as CSV; what was written to a file is said."""
    if output is None:
        _write(_PrintableStream(sys.stdout) if sys.stdout.isatty() else sys.stdout, columns)
        return
    with replacing(output) as beside, beside.open("w", encoding="utf-8", newline="") as target:
        _write(target, columns)
    rows = len(next(iter(columns.values()), ()))
    remark(f"wrote {counted(rows, 'row')} to {output}")


class _PrintableStream:
    """A terminal that is sent no control characters; files and pipes get every cell as it was."""

    def __init__(self, terminal: TextIO) -> None:
        self._terminal, self._page = terminal, page_for(terminal)

    def write(self, line: str) -> int:
        """Write a line of CSV."""
        return self._terminal.write(self._page.shown(line.removesuffix("\n")) + "\n")


def _write(stream: TextIO | _PrintableStream, columns: Mapping[str, Sequence[str]]) -> None:
    import csv

    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
