"""All cells of a batch while it runs: what is stored, what is waiting, what has come of them, how far it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING

from mlcli.core.errors import ModelFileError
from mlcli.experiment.run.cell_progress import CellProgress, seconds_left
from mlcli.experiment.run.evaluation import BlockOutcome, Failure, message_of, trace_of
from mlcli.experiment.run.preparation import Block, prepare
from mlcli.experiment.run.split_results import each
from mlcli.experiment.spec.cells import Cell, CellResult
from mlcli.experiment.store.codec import encoded

if TYPE_CHECKING:
    from mlcli.experiment.run.workers import Stopped
    from mlcli.experiment.store.store import Ending, Store, StoredCell


@dataclass(frozen=True)
class BatchProgress:
    """How far a batch is, and the cell that has just moved."""

    done_splits: int
    total_splits: int
    dataset: str
    label: str
    status: str = ""
    """How that cell ended, or empty while it runs."""
    seconds_left: Callable[[], float] = field(default=float, compare=False, repr=False)
    """How much work is foreseen, as far as anything is known of it."""


OnProgress = Callable[[BatchProgress], None]


class BatchState:
    """All cells of a batch; the one place that writes the store and tells of progress."""

    def __init__(
        self,
        cells: Sequence[Cell],
        store: Store | None,
        on_progress: OnProgress | None,
        *,
        fresh: bool = False,
        retry: bool = False,
        watched: bool = False,
    ) -> None:
        self._store = store
        self._watched = watched
        self._on_progress = on_progress
        self._cells = cells
        by_key: dict[str, CellProgress] = {}
        self._progress_of: list[CellProgress] = []
        for cell in cells:
            progress = self._prepared(cell)
            if progress.key not in by_key and progress.key and store is not None:
                self._load_stored(progress, store, fresh=fresh, retry=retry)
            self._progress_of.append(by_key.setdefault(progress.key, progress) if progress.key else progress)
        self.all_progress = list(dict.fromkeys(self._progress_of))
        self._total_splits = sum(progress.total for progress in self.all_progress)
        self._settled = dict.fromkeys(self.all_progress, 0)
        self._done_splits = 0
        for progress in self.all_progress:
            if progress.status or progress.stored:
                self._notify(progress)

    def results(self) -> list[CellResult]:
        """What came of every cell, in the order in which they were asked for."""
        lost = [progress.cell.label for progress in self.all_progress if not progress.status]
        if lost:
            raise RuntimeError(f"cells were left without an end: {', '.join(lost)}")
        return [progress.result(cell) for cell, progress in zip(self._cells, self._progress_of, strict=True)]

    def shared_objects(self) -> list[object]:
        """The tables, splits and learners of which all blocks are made."""
        ready = [progress.ready for progress in self.all_progress if progress.ready is not None]
        return [thing for cell in ready for thing in (cell.rows, cell.splits, cell.learner)]

    def waiting(self, cells: Sequence[CellProgress] | None = None) -> Iterator[tuple[CellProgress, int, Block]]:
        """The missing blocks of ordinary cells (None: of all), each made when it is asked for if still of use."""
        for progress in self.all_progress if cells is None else cells:
            for block_range in progress.blocks() if progress.ordinary else []:
                if progress.wants(block_range.first) and progress.ready is not None:
                    yield progress, block_range.first, progress.ready.block(*block_range)

    def risk(self, progress: CellProgress | None) -> None:
        """Note that a cell runs in this very process (None: no longer), in case it brings the process down."""
        if progress is not None:
            self._notify(progress)
        if self._store is not None:
            self._store.put_risk(progress.id if progress else None)

    def receive(
        self, progress: CellProgress, first: int, outcome: BlockOutcome, payload: bytes | None = None
    ) -> None:
        """Keep what came of a block, in memory and in the store; ``payload`` is the same, already encoded."""
        if not progress.wants(first):
            return
        progress.add(outcome)
        if self._store is not None and outcome.results:
            seconds = sum(each(outcome.results, "seconds"))
            blob = encoded(outcome.results) if payload is None else payload
            self._store.put_block(progress.id, first, len(outcome.results), blob, seconds, outcome.memory)
        if progress.status:
            self._keep_ending(progress)
        self._notify(progress)

    def end(self, progress: CellProgress, stopped: Stopped) -> None:
        """Close a cell that did not get to its end by itself; the next run goes on where only time was over."""
        progress.untouched = False
        progress.end(stopped.status, stopped.why)
        if stopped.limit != "total":
            self._keep_ending(progress, stopped.limit)
        self._notify(progress)

    def _prepared(self, cell: Cell) -> CellProgress:
        progress = CellProgress(cell)
        progress.watched = self._watched or cell.budget is not None or cell.memory is not None
        if cell.skipped:
            progress.end("skipped", cell.skipped)
            return progress
        try:
            progress.ready = prepare(cell)
            progress.notes = progress.ready.notes
            progress.foreign = any(not _is_our_own(cls) for _, cls in progress.ready.learner.parts())
            if self._store is not None:
                from mlcli.experiment.store.keys import cell_key

                progress.key = cell_key(cell, progress.ready)
        except ModelFileError:
            raise
        except Exception as problem:
            progress.end("failed", message_of(problem, "the making of rows and splits"), trace_of(problem))
        return progress

    def _load_stored(self, progress: CellProgress, store: Store, *, fresh: bool, retry: bool) -> None:
        """Take what the store has of a cell; a recorded ending stands unless there is a reason to try again."""
        enter = store.add if fresh else store.find_or_add
        progress.id = enter(progress.key, progress.cell, progress.total)
        stored = store.cell(progress.id, progress.cell.kind)
        progress.completed.add(stored.splits)
        progress.quickest = min(each(stored.splits, "seconds"), default=inf)
        progress.stored, progress.seconds = len(stored.splits), stored.seconds
        if stored.damaged:
            damaged = f"damaged blocks of the store that were run again: {stored.damaged}"
            progress.notes = (*progress.notes, damaged)
        self._load_ending(progress, stored, retry=retry)

    def _load_ending(self, progress: CellProgress, stored: StoredCell, *, retry: bool) -> None:
        if len(progress.completed) == progress.total:
            progress.end("done")
            return
        ending = stored.ending
        progress.suspect = stored.risky or (ending is not None and ending.status == "died")
        if ending is not None and not stored.damaged and _is_still_valid(ending, progress.cell, retry=retry):
            progress.end(ending.status, ending.why, ending.trace)
            if ending.split is not None:
                progress.failure = Failure(ending.split, ending.why, ending.trace)

    def _keep_ending(self, progress: CellProgress, limit: str = "") -> None:
        if self._store is None or not progress.key:
            return
        from mlcli.experiment.store.store import Ending

        split = progress.failure.index if progress.failure else None
        seconds = progress.cell.budget if limit == "seconds" else None
        memory = progress.cell.memory if limit == "memory" else None
        ending = Ending(progress.status, progress.why, progress.trace, split, seconds, memory)
        self._store.put_ending(progress.id, ending)

    def _notify(self, progress: CellProgress) -> None:
        self._done_splits += progress.settled - self._settled[progress]
        self._settled[progress] = progress.settled
        if self._on_progress is None:
            return
        self._on_progress(
            BatchProgress(
                done_splits=self._done_splits,
                total_splits=self._total_splits,
                dataset=progress.cell.dataset.name,
                label=progress.cell.label,
                status=progress.status,
                seconds_left=lambda: seconds_left(self.all_progress, unknown=0.0),
            )
        )


def _is_our_own(cls: type) -> bool:
    return cls.__module__.partition(".")[0] == "mlcli"


def _is_still_valid(ending: Ending, cell: Cell, *, retry: bool) -> bool:
    """A failure stands until it is asked to be tried again; a budget that was too small, until it grows."""
    if ending.status == "failed":
        return not retry
    if ending.status == "over-budget":
        return _not_increased(cell.budget, ending.budget) or _not_increased(cell.memory, ending.memory)
    return False


def _not_increased(given: float | None, before: float | None) -> bool:
    """Whether what was too little before is all that is given now."""
    return given is not None and before is not None and given <= before
