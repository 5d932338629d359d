"""One cell on its way: its answers so far, what is missing and how long that may take, and how it ended."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf, isfinite

from mlcli.experiment.run.evaluation import BlockOutcome, Failure
from mlcli.experiment.run.preparation import BlockRange, ReadyCell
from mlcli.experiment.run.split_results import CompletedSplits, each
from mlcli.experiment.spec.cells import POOLED, Cell, CellResult

MIN_SPLITS = 2
"""How many splits of a method tell how long others take."""


@dataclass(eq=False)
class CellProgress:
    """One cell on its way: ``status`` is empty until it has ended."""

    cell: Cell
    ready: ReadyCell | None = None
    key: str = ""
    id: int = 0
    completed: CompletedSplits = field(default_factory=CompletedSplits)
    failure: Failure | None = None
    status: str = ""
    why: str = ""
    trace: str = ""
    notes: tuple[str, ...] = ()
    stored: int = 0
    """How many splits were in the store beforehand."""
    untouched: bool = True
    """Whether nothing of it has run now."""
    seconds: float = 0.0
    """What the answered splits took, stored ones included; a budget counts them."""
    quickest: float = inf
    """The seconds of its quickest split."""
    suspect: bool = False
    """Whether it may bring its process down."""
    foreign: bool = False
    """Whether a method in it is not mlcli's own, so that it runs in no process that anything else needs."""
    watched: bool = False
    """Whether it runs in a child that is killed when its budget, or that of all, is over."""
    closed_form_tried: bool = False

    @property
    def total(self) -> int:
        """How many splits it has."""
        return len(self.ready.splits) if self.ready else 0

    @property
    def settled(self) -> int:
        """How many splits need no more work."""
        return self.total if self.status else len(self.completed)

    @property
    def ordinary(self) -> bool:
        """Whether it may run in this process or in a pool: no budget, and no suspicion."""
        return not (self.watched or self.suspect)

    @property
    def size(self) -> int:
        """Rows × columns of its dataset."""
        return len(self.cell.dataset) * len(self.cell.dataset.schema.fields)

    def blocks(self) -> list[BlockRange]:
        """The missing blocks: the closed form where that is worth a try, or else block by block."""
        if self.ready is None or self.status:
            return []
        if self.ready.has_closed_form and not self.closed_form_tried:
            return [self.ready.everything]
        return self.ready.blocks([index not in self.completed for index in range(self.total)])

    def wants(self, first: int) -> bool:
        """Whether a block is still of use: not beyond the first split that has failed."""
        return not self.status and (self.failure is None or first < self.failure.index)

    def end(self, status: str, why: str = "", trace: str = "") -> None:
        """Nothing more is run."""
        self.status, self.why, self.trace = status, why, trace

    def add(self, outcome: BlockOutcome) -> None:
        """Take what came of a block; the first failing split of the cell is the one that is named."""
        self.untouched, self.closed_form_tried = False, True
        self.completed.add(outcome.results)
        self.seconds += sum(each(outcome.results, "seconds"))
        self.quickest = min([self.quickest, *each(outcome.results, "seconds")])
        failed = outcome.failure
        if failed and (self.failure is None or failed.index < self.failure.index):
            self.failure = failed
        if not self.completed.has_first(self._needed):
            return
        if self.failure is None:
            self.end("done")
        else:
            self.end("failed", self.failure.why, self.failure.trace)

    def result(self, cell: Cell) -> CellResult:
        """What came of it, for a cell that asks for the same."""
        return CellResult(
            cell=cell,
            status=self.status,
            why=self.why,
            splits=self.completed.first(self._needed),
            pooled=self._pooled(cell),
            stored=self.untouched and bool(self.key),
            notes=self.notes,
            key=self.key,
            trace=self.trace,
        )

    def _pooled(self, cell: Cell) -> bool:
        """Whether scores are of all answers at once; what lies at several places of a sweep never is."""
        if self.ready is None:
            return False
        swept = len(self.ready.splits) > 0 and self.ready.splits[0].coordinate is not None
        return cell.average == POOLED if cell.average and not swept else self.ready.pooled

    @property
    def _needed(self) -> int:
        """How many splits make it whole: those before the first that has failed, or all."""
        return self.total if self.failure is None else self.failure.index


def seconds_per_split(all_progress: Sequence[CellProgress]) -> Mapping[CellProgress, float]:
    """A guess for each cell: its own quickest split, or that of its method by rows × columns, or infinite.

    The first split of a method may have loaded and compiled what it needs, so that one alone tells nothing.
    """
    counts: Counter[str] = Counter()
    rates: dict[str, float] = defaultdict(lambda: inf)
    for progress in all_progress:
        method = progress.cell.model.use
        counts[method] += len(progress.completed)
        rates[method] = min(rates[method], progress.quickest / progress.size)
    known = [progress for progress in all_progress if counts[progress.cell.model.use] >= MIN_SPLITS]
    guesses = (
        progress.quickest if progress.completed else rates[progress.cell.model.use] * progress.size
        for progress in known
    )
    return {**dict.fromkeys(all_progress, inf), **dict(zip(known, guesses, strict=True))}


def longest_first(all_progress: Sequence[CellProgress]) -> list[CellProgress]:
    """Cells in closed form, then by how long a block may take; unknown ones first. It changes no result."""
    guess = seconds_per_split(all_progress)

    def order(progress: CellProgress) -> tuple[bool, float]:
        blocks = progress.blocks()
        longest = max((block.splits for block in blocks), default=0)
        return not any(block.closed_form for block in blocks), -guess[progress] * longest

    return sorted(all_progress, key=order)


def seconds_left(all_progress: Sequence[CellProgress], unknown: float) -> float:
    """How long all that is waiting may take; ``unknown`` stands for a cell of which nothing is known."""
    guess = seconds_per_split(all_progress)
    waiting = [progress for progress in all_progress if progress.ready is not None and not progress.status]
    return sum(
        guess[progress] * (progress.total - progress.settled) if isfinite(guess[progress]) else unknown
        for progress in waiting
    )


def largest_of_each_method(all_progress: Iterable[CellProgress]) -> list[CellProgress]:
    """The cell of each method with the largest table: from small ones little can be told of large ones."""
    chosen: dict[str, CellProgress] = {}
    for progress in sorted(all_progress, key=lambda progress: progress.size, reverse=True):
        chosen.setdefault(progress.cell.model.use, progress)
    return list(chosen.values())
