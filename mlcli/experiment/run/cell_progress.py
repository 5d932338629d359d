"""One cell on its way: its answers so far, what is missing, and how it ended."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf

from mlcli.experiment.run.judge import Failure, Outcome
from mlcli.experiment.run.preparation import Piece, ReadyCell
from mlcli.experiment.run.split_results import Found, each
from mlcli.experiment.spec.cells import Cell, CellResult


@dataclass(eq=False)
class Course:
    """One cell on its way: ``status`` is empty until it has ended."""

    cell: Cell
    made: ReadyCell | None = None
    key: str = ""
    id: int = 0
    found: Found = field(default_factory=Found)
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
    """What the stored splits took; a budget counts them."""
    quickest: float = inf
    """The seconds of its quickest split."""
    suspect: bool = False
    """Whether it may bring its process down."""
    shortcut_tried: bool = False
    """Whether all splits were asked at once already."""

    @property
    def total(self) -> int:
        """How many splits it has."""
        return len(self.made.splits) if self.made else 0

    @property
    def settled(self) -> int:
        """How many splits need no more work."""
        return self.total if self.status else len(self.found)

    def blocks(self) -> list[Piece]:
        """What is still to be judged: all splits at once where that is worth a try, or else block by block."""
        if self.made is None or self.status:
            return []
        if self.made.may_be_answered_at_once and not self.shortcut_tried:
            return [self.made.everything]
        missing = [index not in self.found for index in range(self.total)]
        return [Piece(*block) for block in self.made.blocks(missing)]

    def wants(self, first: int) -> bool:
        """Whether a block is still of use: not beyond the first split that has failed."""
        return not self.status and (self.failure is None or first < self.failure.index)

    def end(self, status: str, why: str = "", trace: str = "") -> None:
        """Nothing more is run."""
        self.status, self.why, self.trace = status, why, trace

    def add(self, outcome: Outcome) -> None:
        """Take what came of a block; the first failing split of the cell is the one that is named."""
        self.untouched, self.shortcut_tried = False, True
        self.found.add(outcome.results)
        self.quickest = min([self.quickest, *each(outcome.results, "seconds")])
        failed = outcome.failure
        if failed and (self.failure is None or failed.index < self.failure.index):
            self.failure = failed
        needed = self.total if self.failure is None else self.failure.index
        if self.found.has_first(needed):
            self._close()

    def _close(self) -> None:
        if self.failure is None:
            self.end("done")
        else:
            self.end("failed", self.failure.why, self.failure.trace)

    def result(self, cell: Cell) -> CellResult:
        """What came of it, for a cell that asks for the same."""
        last = self.total if self.failure is None else self.failure.index
        return CellResult(
            cell=cell,
            status=self.status,
            why=self.why,
            splits=self.found.first(last),
            pooled=self.made.pooled if self.made else False,
            stored=self.untouched and bool(self.key),
            notes=self.notes,
            key=self.key,
            trace=self.trace,
        )
