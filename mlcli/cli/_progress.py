"""Progress on stderr: a live bar where it is a terminal and the work lasts, otherwise nothing."""

from __future__ import annotations

import sys
from time import perf_counter
from types import TracebackType
from typing import Any, Self

from mlcli.cli._console import is_terminal, page_for
from mlcli.experiment.run.ledger import BatchProgress as Now

PATIENCE = 0.5
"""Seconds before a bar appears: a shorter wait needs no explanation."""
STILL = 0.1
"""Seconds for which it stands still at least."""


class Progress:
    """How many splits of all are judged; told by the runner as they come in."""

    def __init__(self) -> None:
        self._started = perf_counter()
        self._bar: Any = None
        self._task: Any = None
        self._drawn = 0.0

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
            self._make()
        doing = page_for(sys.stderr).shown(f"{now.dataset}: {now.label}")
        self._bar.update(self._task, completed=now.done_splits, total=now.total_splits, description=doing)
        if perf_counter() - self._drawn >= STILL:
            self._bar.start()
            self._bar.refresh()
            self._drawn = perf_counter()

    def _make(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn())
        # Without a thread of its own that draws it: copies of this process can then be workers.
        console = Console(stderr=True)
        self._bar = Bar(*columns, TimeRemainingColumn(), console=console, transient=True, auto_refresh=False)
        self._task = self._bar.add_task("", total=None)
