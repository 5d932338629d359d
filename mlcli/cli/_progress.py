"""Progress on stderr: a live bar where it is a terminal and the work lasts, otherwise nothing."""

from __future__ import annotations

import sys
from time import perf_counter
from types import TracebackType
from typing import Any, Self

from mlcli.cli._console import is_terminal, page_for
from mlcli.experiment.ledger import Progress as Now

PATIENCE = 0.5
"""Seconds before a bar appears: a shorter wait needs no explanation."""


class Progress:
    """How many splits of all are judged; told by the runner as they come in."""

    def __init__(self) -> None:
        self._started = perf_counter()
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, now: Now) -> None:
        """So much is done, and this cell has just moved."""
        if not is_terminal(sys.stderr) or perf_counter() - self._started < PATIENCE:
            return
        if self._bar is None:
            self._start()
        doing = page_for(sys.stderr).shown(f"{now.dataset}: {now.label}")
        self._bar.update(self._task, completed=now.done_splits, total=now.total_splits, description=doing)

    def _start(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn())
        self._bar = Bar(*columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True)
        self._task = self._bar.add_task("", total=None)
        self._bar.start()
