"""All cells of a batch while it runs: what is stored, what is waiting, what has come of them, how far it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

from mlcli.core.errors import ModelFileError
from mlcli.experiment.run.cell_progress import Course
from mlcli.experiment.run.judge import Failure, Outcome, in_words, trace_of
from mlcli.experiment.run.preparation import Block, Preparation
from mlcli.experiment.run.split_results import each
from mlcli.experiment.spec.cells import Cell, CellResult
from mlcli.experiment.store.codec import encoded
from mlcli.protocols._base import Split

if TYPE_CHECKING:
    from mlcli.experiment.store.store import Ending, Store, StoredCell


@dataclass(frozen=True)
class Progress:
    """How far a batch is, and the cell that has just moved."""

    done_splits: int
    total_splits: int
    stored_splits: int
    done_cells: int
    total_cells: int
    dataset: str
    label: str
    status: str = ""
    """How that cell ended, or empty while it runs."""


OnProgress = Callable[[Progress], None]


class Ledger:
    """All cells of a batch; the one place that writes the store and tells of progress."""

    def __init__(
        self,
        cells: Sequence[Cell],
        store: Store | None,
        on_progress: OnProgress | None,
        *,
        fresh: bool = False,
        retry: bool = False,
    ) -> None:
        self._store = store
        self._on_progress = on_progress
        self._cells = cells
        self._preparation = Preparation()
        self._splits_digests: dict[int, tuple[Sequence[Split], str]] = {}
        by_key: dict[str, Course] = {}
        self._course_of: list[Course] = []
        for cell in cells:
            course = self._prepared(cell)
            if course.key not in by_key and course.key and store is not None:
                self._recall(course, store, fresh=fresh, retry=retry)
            self._course_of.append(by_key.setdefault(course.key, course) if course.key else course)
        self.courses = list(dict.fromkeys(self._course_of))
        self._totals = sum(course.total for course in self.courses), sum(course.stored for course in self.courses)
        self._settled = dict.fromkeys(self.courses, 0)
        self._done_splits = self._done_cells = 0
        self._tell_of_the_stored()

    def results(self) -> list[CellResult]:
        """What came of every cell, in the order in which they were asked for."""
        lost = [course.cell.label for course in self.courses if not course.status]
        if lost:
            raise RuntimeError(f"cells were left without an end: {', '.join(lost)}")
        return [course.result(cell) for cell, course in zip(self._cells, self._course_of, strict=True)]

    def made(self) -> list[object]:
        """The tables, splits and learners of which all blocks are made."""
        made = [course.made for course in self.courses if course.made is not None]
        return [thing for one in made for thing in (one.rows, one.splits, one.learner)]

    def waiting(
        self, which: Callable[[Course], bool], courses: Sequence[Course] | None = None
    ) -> Iterator[tuple[Course, int, Block]]:
        """The blocks that are missing, each made when it is asked for and only if it is still of use.

        ``courses`` are cells in the order in which they are wanted; None: all, as they were asked for.
        """
        for course in self.courses if courses is None else courses:
            for piece in course.blocks() if which(course) else []:
                if course.wants(piece.first) and course.made is not None:
                    yield course, piece.first, course.made.block(*piece)

    def risk(self, course: Course | None) -> None:
        """Note that a cell runs in this very process (None: no longer), in case it brings the process down."""
        if self._store is not None:
            self._store.put_risk(course.id if course else None)

    def receive(self, course: Course, first: int, outcome: Outcome, payload: bytes | None = None) -> None:
        """Keep what came of a block, in memory and in the store; ``payload`` is the same, already encoded."""
        if not course.wants(first):
            return
        course.add(outcome)
        if self._store is not None and outcome.results:
            seconds = sum(each(outcome.results, "seconds"))
            blob = encoded(outcome.results) if payload is None else payload
            self._store.put_block(course.id, first, len(outcome.results), blob, seconds)
        if course.status:
            self._keep_ending(course)
        self._tell(course)

    def end(self, course: Course, status: str, why: str) -> None:
        """Close a cell that did not get to its end by itself."""
        course.untouched = False
        course.end(status, why)
        self._keep_ending(course)
        self._tell(course)

    def _prepared(self, cell: Cell) -> Course:
        course = Course(cell)
        if cell.skipped:
            course.end("skipped", cell.skipped)
            return course
        try:
            course.made = self._preparation.ready(cell)
            course.notes = course.made.notes
            course.key = self._key(course) if self._store is not None else ""
        except ModelFileError:
            raise
        except Exception as problem:
            course.end("failed", in_words(problem, "the making of rows and splits"), trace_of(problem))
        return course

    def _key(self, course: Course) -> str:
        from mlcli.experiment.store.keys import cell_key, splits_digest

        assert course.made is not None
        splits = course.made.splits
        if id(splits) not in self._splits_digests:  # the splits are kept, so that no others get their id
            self._splits_digests[id(splits)] = (splits, splits_digest(splits))
        return cell_key(course.cell, course.made, self._splits_digests[id(splits)][1])

    def _recall(self, course: Course, store: Store, *, fresh: bool, retry: bool) -> None:
        """Take what the store has of a cell; a recorded ending stands unless there is a reason to try again."""
        enter = store.add if fresh else store.find_or_add
        course.id = enter(course.key, course.cell, course.total)
        stored = store.cell(course.id, course.cell.kind)
        course.found.add(stored.splits)
        course.quickest = min(each(stored.splits, "seconds"), default=inf)
        course.stored, course.seconds = len(stored.splits), stored.seconds
        if stored.damaged:
            course.notes = (*course.notes, f"damaged blocks of the store that were run again: {stored.damaged}")
        self._recall_ending(course, stored, retry=retry)

    def _recall_ending(self, course: Course, stored: StoredCell, *, retry: bool) -> None:
        if len(course.found) == course.total:
            course.end("done")
            return
        ending = stored.ending
        course.suspect = stored.risky or (ending is not None and ending.status == "died")
        if ending is not None and not stored.damaged and _stands(ending, course.cell, retry=retry):
            course.end(ending.status, ending.why, ending.trace)
            if ending.split is not None:
                course.failure = Failure(ending.split, ending.why, ending.trace)

    def _keep_ending(self, course: Course) -> None:
        if self._store is None or not course.key:
            return
        from mlcli.experiment.store.store import Ending

        split = course.failure.index if course.failure else None
        ending = Ending(course.status, course.why, course.trace, split, course.cell.budget)
        self._store.put_ending(course.id, ending)

    def _tell_of_the_stored(self) -> None:
        for course in self.courses:
            if course.status or course.stored:
                self._tell(course)

    def _tell(self, course: Course) -> None:
        self._done_splits += course.settled - self._settled[course]
        self._done_cells += bool(course.status)
        self._settled[course] = course.settled
        if self._on_progress is None:
            return
        total, stored = self._totals
        self._on_progress(
            Progress(
                done_splits=self._done_splits,
                total_splits=total,
                stored_splits=stored,
                done_cells=self._done_cells,
                total_cells=len(self.courses),
                dataset=course.cell.dataset.name,
                label=course.cell.label,
                status=course.status,
            )
        )


def _stands(ending: Ending, cell: Cell, *, retry: bool) -> bool:
    """A failure stands until it is asked to be tried again; a budget that was too small, until it grows."""
    if ending.status == "failed":
        return not retry
    if ending.status == "over-budget":
        return cell.budget is not None and ending.budget is not None and cell.budget <= ending.budget
    return False
