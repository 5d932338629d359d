"""What is seen while work lasts: a bar on a terminal, else a few lines; and what ends long work on a guess."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from threading import current_thread, main_thread
from time import perf_counter
from types import FrameType, TracebackType
from typing import Any, Self

from mlcli.cli._console import is_terminal, page_for, remark
from mlcli.core.names import counted, listed
from mlcli.core.progress import advancing, compiling
from mlcli.core.quantities import duration
from mlcli.experiment.run.batch_state import BatchProgress
from mlcli.experiment.spec.cells import Cell
from mlcli.experiment.spec.suitability import (
    doubt_of,
    is_too_long,
    memory_remarks,
    refuse_longer,
)

PATIENCE = 0.5
"""Seconds before a bar appears: a shorter wait needs no explanation."""
REDRAW_AFTER = 0.1
"""Seconds for which a bar stands still at least."""
TICK = 0.5
"""Seconds after which a bar moves by itself, while one computation lasts."""
SHOWN_MODELS = 3
BETWEEN_LINES = 10.0
"""Seconds between two lines at least, where there is no terminal."""


class WorkTooLong(KeyboardInterrupt):
    """Work that is not to go on: like Ctrl-C, no method is at fault for it."""


class Progress:
    """How far the work on some cells is, on stderr: a live bar on a terminal where it lasts, else a few lines.

    A line names the model that is running. There is one when a model is done, at most one in ten seconds; while
    one model runs, the same line comes again each time that the wait has doubled.

    Above it stands what cannot be done well, for who waits; when the bar is gone, the table of results says it.
    It is drawn when a split is done, and by a timer of the system in between: without a thread of its own, so that
    copies of this process can be workers.
    """

    def __init__(self, cells: Sequence[Cell] = (), foreseen: Sequence[str] = ()) -> None:
        self._doubt = doubt_of(cells)
        self._foreseen = foreseen
        self._memory = memory_remarks(cells)
        self._unfinished = {(cell.dataset.name, cell.label): None for cell in cells if not cell.skipped}
        self._models = len(self._unfinished)
        self._line_models, self._line_seconds = 0, 0.0
        self._started = perf_counter()
        self._compiled_before = compiling.seconds
        self._shown = is_terminal(sys.stderr)
        self._bar: Any = None
        self._task: Any = None
        self._drawn = 0.0
        self._handler: Any = None
        self._doing = _described(cells[0].dataset.name, cells[0].label) if cells else "at work"

    def __enter__(self) -> Self:
        for sentence in self._memory:
            remark(sentence)
        if hasattr(signal, "setitimer") and current_thread() is main_thread():
            self._handler = signal.signal(signal.SIGALRM, self._tick)
            signal.setitimer(signal.ITIMER_REAL, TICK, TICK)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._handler is not None:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
            signal.signal(signal.SIGALRM, self._handler)
        if self._bar is not None:
            self._bar.stop()
        if isinstance(problem, WorkTooLong):
            refuse_longer(self._doubt, self._elapsed, "more than")

    def __call__(self, now: BatchProgress) -> None:
        """So much is done, and this cell has just moved."""
        refuse_longer(self._doubt, self._elapsed + now.seconds_left())
        self._doing = _described(now.dataset, now.label)
        if now.status:
            self._unfinished.pop((now.dataset, now.label), None)
        self._draw(completed=now.done_splits, total=now.total_splits)

    @property
    def _elapsed(self) -> float:
        """Seconds of work so far; compiling is done once and is none."""
        return perf_counter() - self._started - (compiling.seconds - self._compiled_before)

    def _tick(self, number: int, frame: FrameType | None) -> None:
        """The timer has moved on, in the midst of whatever this process does."""
        if is_too_long(self._doubt, self._elapsed):
            raise WorkTooLong
        self._draw()

    def _draw(self, **now: int) -> None:
        if not self._shown:
            self._print_line()
            return
        if perf_counter() - self._started < PATIENCE:
            return
        if self._bar is None:
            self._make()
        share = f" ({advancing.share:.0%} of a search)" if advancing.share is not None else ""
        self._bar.update(self._task, description=self._doing + share, **now)
        if perf_counter() - self._drawn >= REDRAW_AFTER:
            self._bar.start()
            self._bar.refresh()
            self._drawn = perf_counter()

    def _print_line(self) -> None:
        """Print how far the work is, unless that was done just now."""
        seconds, done = perf_counter() - self._started, self._models - len(self._unfinished)
        if seconds - self._line_seconds < BETWEEN_LINES or (
            done == self._line_models and seconds < 2 * self._line_seconds
        ):
            return
        self._line_models, self._line_seconds = done, seconds
        models = f"{done} of {counted(self._models, 'model')} done"
        with suppress(RuntimeError):  # the timer may come while a remark is being printed
            remark(f"{models} after {duration(round(seconds))}; running: {self._running()}")

    def _running(self) -> str:
        """The model that has moved last, or where that is done those that are left."""
        names = [f"{dataset}: {model}" for dataset, model in self._unfinished]
        if self._doing in names:
            return self._doing
        return listed(names, SHOWN_MODELS) or "scores"

    def _make(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar
        from rich.text import Text

        above = [Text(page_for(sys.stderr).shown(sentence)) for sentence in self._foreseen]

        class BarBelow(Bar):
            def get_renderables(self) -> Iterator[Any]:
                yield from above
                yield from super().get_renderables()

        columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn())
        times = (TimeElapsedColumn(), TimeRemainingColumn())
        console = Console(stderr=True)
        self._bar = BarBelow(*columns, *times, console=console, transient=True, auto_refresh=False)
        self._task = self._bar.add_task("", total=None)


def _described(dataset: str, model: str) -> str:
    return page_for(sys.stderr).shown(f"{dataset}: {model}")
