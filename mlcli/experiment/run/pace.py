"""How long blocks of splits may take, guessed from those that are done; it orders work and changes no result."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from math import inf, isfinite

from mlcli.experiment.run.cell_progress import Course

ENOUGH = 2
"""How many splits of a method tell how long others take."""


def seconds_per_split(courses: Iterable[Course]) -> Mapping[Course, float]:
    """A guess for each cell: its own quickest split, or that of its method by rows × columns, or infinite.

    The first split of a method may have loaded and compiled what it needs, so that one alone tells nothing.
    """
    courses = list(courses)
    known: Counter[str] = Counter()
    rates: dict[str, float] = defaultdict(lambda: inf)
    for course in courses:
        method = course.cell.model.use
        known[method] += len(course.found)
        rates[method] = min(rates[method], course.quickest / _size(course))
    return {course: _guess(course, rates, known) for course in courses}


def _guess(course: Course, rates: Mapping[str, float], known: Mapping[str, int]) -> float:
    method = course.cell.model.use
    if known[method] < ENOUGH:
        return inf
    return course.quickest if course.found else rates[method] * _size(course)


def longest_first(courses: Sequence[Course]) -> list[Course]:
    """Cells whose splits are asked for all at once, then by how long a block may take; unknown ones first."""
    guess = seconds_per_split(courses)
    return sorted(courses, key=lambda course: (-_at_once(course), -guess[course] * _splits_per_block(course)))


def seconds_left(courses: Sequence[Course], unknown: float) -> float:
    """How long all that is waiting may take; ``unknown`` stands for a cell of which nothing is known."""
    guess = seconds_per_split(courses)
    waiting = [course for course in courses if course.made is not None and not course.status]
    return sum(
        guess[course] * (course.total - course.settled) if isfinite(guess[course]) else unknown
        for course in waiting
    )


def largest_of_each_method(courses: Iterable[Course]) -> list[Course]:
    """The cell of each method with the largest table: from small ones little can be told of large ones."""
    chosen: dict[str, Course] = {}
    for course in sorted(courses, key=_size, reverse=True):
        chosen.setdefault(course.cell.model.use, course)
    return list(chosen.values())


def _size(course: Course) -> float:
    return float(len(course.cell.dataset) * len(course.cell.dataset.schema.fields))


def _at_once(course: Course) -> bool:
    return any(piece.at_once for piece in course.blocks())


def _splits_per_block(course: Course) -> int:
    return max((piece.splits for piece in course.blocks()), default=0)
