"""The cells of a batch while it runs: what is stored, what is missing, how each ended, and how far it is."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf, isfinite
from typing import TYPE_CHECKING

from mlcli.core.errors import ModelFileError
from mlcli.experiment.results import CompletedSplits, each, encoded
from mlcli.experiment.run.evaluation import BlockOutcome, Failure, code_of, message_of, trace_of
from mlcli.experiment.run.preparation import Block, BlockRange, ReadyCell, cell_key, prepare
from mlcli.experiment.spec.cells import POOLED, Cell, CellResult

if TYPE_CHECKING:
    from mlcli.experiment.run.workers import Stopped
    from mlcli.experiment.store.store import Ending, Store

MIN_SPLITS = 2
"""How many splits of a method tell how long others take."""


@dataclass(eq=False)
class CellProgress:
    """One cell while it runs; ``status`` is empty until it has ended."""

    cell: Cell
    ready: ReadyCell | None = None
    key: str = ""
    id: int = 0
    completed: CompletedSplits = field(default_factory=CompletedSplits)
    failure: Failure | None = None
    status: str = ""
    why: str = ""
    trace: str = ""
    code: int = 0
    """The exit code of the error that it failed with."""
    notes: tuple[str, ...] = ()
    stored: int = 0
    """How many splits were in the store beforehand."""
    untouched: bool = True
    """Whether nothing of it has run now."""
    seconds: float = 0.0
    """The time of the completed splits, including stored ones, which a budget counts."""
    quickest: float = inf
    """The time of its quickest split."""
    suspect: bool = False
    """Whether it may bring its process down."""
    foreign: bool = False
    """Whether it has a method that is not mlcli's own, so that it must not run in this process."""
    watched: bool = False
    """Whether it has a budget, so that it runs in a child process that can be killed."""
    closed_form_tried: bool = False

    @property
    def total(self) -> int:
        """The number of its splits."""
        return len(self.ready.splits) if self.ready else 0

    @property
    def settled(self) -> int:
        """How many splits need no more work."""
        return self.total if self.status else len(self.completed)

    @property
    def ordinary(self) -> bool:
        """Whether it may run in this process or in a pool."""
        return not (self.watched or self.suspect)

    @property
    def size(self) -> int:
        """Rows × columns of its dataset."""
        return len(self.cell.dataset) * len(self.cell.dataset.schema.fields)

    def blocks(self) -> list[BlockRange]:
        """The missing blocks: first all of leave-one-out together, if the model can do that."""
        if self.ready is None or self.status:
            return []
        if self.ready.has_closed_form and not self.closed_form_tried:
            return [self.ready.everything]
        return self.ready.blocks([index not in self.completed for index in range(self.total)])

    def wants(self, first: int) -> bool:
        """Whether a block is still needed: not behind the first split that failed."""
        return not self.status and (self.failure is None or first < self.failure.index)

    def end(self, status: str, why: str = "", trace: str = "", code: int = 0) -> None:
        """End the cell; nothing more of it is run."""
        self.status, self.why, self.trace, self.code = status, why, trace, code

    def add(self, outcome: BlockOutcome) -> None:
        """Add the outcome of a block; the first split that failed is the one that is reported."""
        self.untouched, self.closed_form_tried = False, True
        self.completed.add(outcome.results)
        self.seconds += sum(each(outcome.results, "seconds"))
        self.quickest = min([self.quickest, *each(outcome.results, "seconds")])
        failure = outcome.failure
        if failure and (self.failure is None or failure.index < self.failure.index):
            self.failure = failure
        if not self.completed.has_first(self._needed):
            return
        if self.failure is None:
            self.end("done")
        else:
            self.end("failed", self.failure.why, self.failure.trace, self.failure.code)

    def result(self, cell: Cell) -> CellResult:
        """The result for ``cell``, which has the same key."""
        splits = self.ready.splits if self.ready is not None else ()
        swept = len(splits) > 0 and splits[0].coordinate is not None  # with a score for each coordinate
        pooled = self.ready is not None and self.ready.pooled
        if self.ready is not None and cell.average and not swept:
            pooled = cell.average == POOLED
        return CellResult(
            cell=cell,
            status=self.status,
            why=self.why,
            splits=self.completed.first(self._needed),
            pooled=pooled,
            stored=self.untouched and bool(self.key),
            notes=self.notes,
            key=self.key,
            trace=self.trace,
            code=self.code,
        )

    @property
    def _needed(self) -> int:
        """How many splits make the result complete: those before the first that failed, or all."""
        return self.total if self.failure is None else self.failure.index


@dataclass(frozen=True)
class BatchProgress:
    """How far a batch is, and the cell that has just moved."""

    done_splits: int
    total_splits: int
    dataset: str
    label: str
    status: str = ""
    """How that cell ended; empty while it runs."""
    seconds_left: Callable[[], float] = field(default=float, compare=False, repr=False)
    """An estimate of the work that is left."""


OnProgress = Callable[[BatchProgress], None]


class BatchState:
    """All cells of a batch; the only place that writes results to the store and reports progress."""

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
        """The result of every cell, in the order of the cells."""
        unfinished = [progress.cell.label for progress in self.all_progress if not progress.status]
        if unfinished:
            raise RuntimeError(f"cells have not ended: {', '.join(unfinished)}")
        return [progress.result(cell) for cell, progress in zip(self._cells, self._progress_of, strict=True)]

    def shared_objects(self) -> list[object]:
        """The rows, splits and learners that blocks are made of."""
        ready = [progress.ready for progress in self.all_progress if progress.ready is not None]
        return [shared for cell in ready for shared in (cell.rows, cell.splits, cell.learner)]

    def waiting(self, cells: Sequence[CellProgress] | None = None) -> Iterator[tuple[CellProgress, int, Block]]:
        """The missing blocks of ordinary cells (None: of all), with the number of their first split."""
        for progress in self.all_progress if cells is None else cells:
            for block_range in progress.blocks() if progress.ordinary else []:
                if progress.wants(block_range.first) and progress.ready is not None:
                    yield progress, block_range.first, progress.ready.block(*block_range)

    def risk(self, progress: CellProgress | None) -> None:
        """Store that a cell runs in this very process (None: no longer), in case it brings the process down."""
        if progress is not None:
            self._notify(progress)
        if self._store is not None:
            self._store.put_risk(progress.id if progress else None)

    def receive(
        self, progress: CellProgress, first: int, outcome: BlockOutcome, payload: bytes | None = None
    ) -> None:
        """Keep the outcome of a block in memory and in the store; ``payload`` are its encoded results."""
        if not progress.wants(first):
            return
        progress.add(outcome)
        if self._store is not None and outcome.results:
            seconds = sum(each(outcome.results, "seconds"))
            blob = encoded(outcome.results) if payload is None else payload
            self._store.put_block(progress.id, first, len(outcome.results), blob, seconds, outcome.memory)
        if progress.status:
            self._store_ending(progress)
        self._notify(progress)

    def end(self, progress: CellProgress, stopped: Stopped) -> None:
        """End a cell that was stopped; if only the time of the batch was over, the next run continues it."""
        progress.untouched = False
        progress.end(stopped.status, stopped.why)
        if stopped.limit != "total":
            self._store_ending(progress, stopped.limit)
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
                progress.key = cell_key(cell, progress.ready)
        except ModelFileError:
            raise
        except Exception as error:
            why = message_of(error, "the making of rows and splits")
            progress.end("failed", why, trace_of(error), code_of(error))
        return progress

    def _load_stored(self, progress: CellProgress, store: Store, *, fresh: bool, retry: bool) -> None:
        """Load the stored splits of a cell, and how it ended unless there is a reason to try again."""
        find = store.add if fresh else store.find_or_add
        progress.id = find(progress.key, progress.cell, progress.total)
        stored = store.cell(progress.id, progress.cell.kind)
        progress.completed.add(stored.splits)
        progress.quickest = min(each(stored.splits, "seconds"), default=inf)
        progress.stored, progress.seconds = len(stored.splits), stored.seconds
        if stored.damaged:
            damaged = f"damaged blocks of the store that were run again: {stored.damaged}"
            progress.notes = (*progress.notes, damaged)
        if len(progress.completed) == progress.total:
            progress.end("done")
            return
        ending = stored.ending
        progress.suspect = stored.risky or (ending is not None and ending.status == "died")
        if ending is not None and not stored.damaged and _is_still_valid(ending, progress.cell, retry=retry):
            progress.end(ending.status, ending.why, ending.trace, ending.code)
            if ending.split is not None:
                progress.failure = Failure(ending.split, ending.why, ending.trace, ending.code)

    def _store_ending(self, progress: CellProgress, limit: str = "") -> None:
        if self._store is None or not progress.key:
            return
        from mlcli.experiment.store.store import Ending

        ending = Ending(
            progress.status,
            progress.why,
            progress.trace,
            split=progress.failure.index if progress.failure else None,
            budget=progress.cell.budget if limit == "seconds" else None,
            memory=progress.cell.memory if limit == "memory" else None,
            code=progress.code,
        )
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
    """Whether a stored ending stands: a failure until ``retry``, an exceeded budget until the budget grows."""
    if ending.status == "failed":
        return not retry
    if ending.status != "over-budget":
        return False
    limits = ((cell.budget, ending.budget), (cell.memory, ending.memory))
    return any(given is not None and before is not None and given <= before for given, before in limits)


def seconds_per_split(all_progress: Sequence[CellProgress]) -> Mapping[CellProgress, float]:
    """An estimate for each cell: its own quickest split, or that of its method by rows × columns, or infinity.

    The first split of a method may have loaded and compiled code, so one split alone tells nothing.
    """
    counts: Counter[str] = Counter()
    rates: dict[str, float] = defaultdict(lambda: inf)
    for progress in all_progress:
        method = progress.cell.model.use
        counts[method] += len(progress.completed)
        rates[method] = min(rates[method], progress.quickest / progress.size)
    estimates = dict.fromkeys(all_progress, inf)
    for progress in all_progress:
        method = progress.cell.model.use
        if counts[method] >= MIN_SPLITS:
            estimates[progress] = progress.quickest if progress.completed else rates[method] * progress.size
    return estimates


def longest_first(all_progress: Sequence[CellProgress]) -> list[CellProgress]:
    """Cells that answer leave-one-out at once, then others by how long a block may take, unknown ones first.

    The order changes no result.
    """
    estimates = seconds_per_split(all_progress)

    def order(progress: CellProgress) -> tuple[bool, float]:
        blocks = progress.blocks()
        most_splits = max((block.splits for block in blocks), default=0)
        return not any(block.closed_form for block in blocks), -estimates[progress] * most_splits

    return sorted(all_progress, key=order)


def seconds_left(all_progress: Sequence[CellProgress], unknown: float) -> float:
    """An estimate of all that is waiting; ``unknown`` stands for a cell of which nothing is known."""
    estimates = seconds_per_split(all_progress)
    waiting = [progress for progress in all_progress if progress.ready is not None and not progress.status]
    return sum(
        estimates[progress] * (progress.total - progress.settled) if isfinite(estimates[progress]) else unknown
        for progress in waiting
    )


def largest_of_each_method(all_progress: Iterable[CellProgress]) -> list[CellProgress]:
    """The cell of each method with the largest table: small ones tell little about large ones."""
    largest: dict[str, CellProgress] = {}
    for progress in sorted(all_progress, key=lambda progress: progress.size, reverse=True):
        largest.setdefault(progress.cell.model.use, progress)
    return list(largest.values())
