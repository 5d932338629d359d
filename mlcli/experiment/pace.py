"""How long blocks of splits may take, guessed from those that are done; it orders work and changes no result."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from math import inf, isfinite

from mlcli.experiment.course import Course


def seconds_per_split(courses: Iterable[Course]) -> Mapping[Course, float]:
    """A guess for each cell: from its own splits, or from those of its method by rows × columns, or infinite."""
    courses = list(courses)
    seconds: dict[str, float] = defaultdict(float)
    sizes: dict[str, float] = defaultdict(float)
    for course in courses:
        seconds[course.cell.model.use] += course.seconds
        sizes[course.cell.model.use] += len(course.found) * _size(course)
    rates = {method: seconds[method] / size if size else inf for method, size in sizes.items()}
    return {course: _own(course) or rates[course.cell.model.use] * _size(course) for course in courses}


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


def _own(course: Course) -> float:
    return course.seconds / max(1, len(course.found))


def _size(course: Course) -> float:
    return float(len(course.cell.dataset) * len(course.cell.dataset.schema.fields))


def _at_once(course: Course) -> bool:
    return any(piece.at_once for piece in course.blocks())


def _splits_per_block(course: Course) -> int:
    return max((piece.splits for piece in course.blocks()), default=0)
