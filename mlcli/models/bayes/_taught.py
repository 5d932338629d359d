"""What the rows outside a part teach naive Bayes: spreads of numbers and counts of levels, for each class.

For folds they are merged from those of the parts, never subtracted; for single rows the row is taken away from its
class, unless next to nothing would be left. The first axis is 1 where all rows asked have the same teachers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from mlcli.core.blocks import row_blocks
from mlcli.core.held_out import Round
from mlcli.core.moments import MAY_BE_CONSTANT, Spread, spreads
from mlcli.core.tables import Array, Flags, Rows
from mlcli.models.bayes._columns import SeenColumns
from mlcli.tasks.classification import LabelledRows

LOST = 1e-3
"""What must be left of the squares of a column when a row is taken away."""
ALONE = 1e-9


@dataclass(frozen=True, eq=False)
class Taught:
    """What the teachers of some rows have."""

    rows: Rows
    classes: Array
    """Weight of each class (b or 1 × K)."""
    numbers: tuple[Spread, ...]
    """Of the numbers that are there, for each class (b or 1 × m)."""
    overall: Spread
    counts: Array
    """Weight of each indicator in each class (b or 1 × K × L)."""
    unknown: Flags
    """The rows asked (b or 1) of which only a fit can tell."""


def by_parts(seen: SeenColumns, data: LabelledRows, round_: Round) -> Iterator[Taught]:
    """For each part what the rows outside it teach."""
    K = len(data.classes)
    group = np.where(round_.part < 0, round_.parts, round_.part).astype(np.intp) * K + data.y
    groups = (round_.parts + 1) * K
    found = spreads(seen.numbers, data.weights, group, groups)
    parts = [Spread(*(one[start : start + K] for one in _fields(found))) for start in range(0, groups, K)]
    tallies = _counted(seen, data, group, groups).reshape(round_.parts + 1, K, -1)
    numbers, counts = _outside(parts), tallies.sum(axis=0)
    for part, rows in enumerate(round_.rows_of):
        # Counts are whole numbers, or sums that a rounding changes by nothing that matters.
        rest = np.maximum(counts - tallies[part], 0.0)
        of_class = tuple(Spread(*(one[k][None] for one in _fields(numbers[part]))) for k in range(K))
        overall = Spread(*(one[None] for one in _fields(numbers[part].together())))
        unknown = np.array([any(map(_rounded, (*of_class, overall)))])
        yield Taught(rows, rest[None, :, -1], of_class, overall, rest[None, :, :-1], unknown)


def one_by_one(seen: SeenColumns, data: LabelledRows) -> Iterator[Taught]:
    """For each row what all others teach, some rows at a time."""
    K = len(data.classes)
    found = spreads(seen.numbers, data.weights, data.y, K)
    of_class = [Spread(*(one[k][None] for one in _fields(found))) for k in range(K)]
    overall = Spread(*(one[None] for one in _fields(found.together())))
    counts = _counted(seen, data, data.y.astype(np.intp), K)
    always = any(map(_rounded, (*of_class, overall)))
    for k, rows in _of_one_class(seen, data):
        numbers, weights = seen.numbers[rows], data.weights[rows]
        left = np.repeat(counts[None], len(rows), axis=0)
        left[:, k, :-1] -= weights[:, None] * seen.levels[rows]
        left[:, k, -1] -= weights
        left[left <= ALONE * counts] = 0.0
        unknown = np.full(len(rows), always)
        own = _without(seen, of_class[k], weights, numbers, left[:, k], unknown)
        everyone = _without(seen, overall, weights, numbers, left.sum(axis=1), unknown)
        without = (*of_class[:k], own, *of_class[k + 1 :])
        yield Taught(rows, left[:, :, -1], without, everyone, left[:, :, :-1], unknown)


def _of_one_class(seen: SeenColumns, data: LabelledRows) -> Iterator[tuple[int, Rows]]:
    """The rows in blocks of one class each."""
    for k in range(len(data.classes)):
        rows = np.flatnonzero(data.y == k)
        for block in row_blocks(len(rows), max(1, seen.numbers.shape[1])):
            yield k, rows[block]


def _without(
    seen: SeenColumns, spread: Spread, weights: Array, numbers: Array, counts: Array, unknown: Flags
) -> Spread:
    """The spread without each row in turn (Welford 1962, backwards); ``unknown`` where too little is left.

    Indicators have the spread that their counts say.
    """
    gone = np.where(np.isnan(numbers), 0.0, weights[:, None]) if seen.gaps else weights[:, None]
    weight = spread.weight - gone
    none = weight <= ALONE * spread.weight
    weight = np.where(none, 0.0, weight)
    rest = np.where(none, 1.0, weight)
    away = np.where(gone > 0, numbers - spread.mean, 0.0) if seen.gaps else numbers - spread.mean
    step = gone / rest * away
    mean = spread.mean - step
    away *= step
    away *= spread.weight
    squares = spread.squares - away
    if none.any():
        mean, squares = np.where(none, 0.0, mean), np.where(none, 0.0, squares)
    if seen.indicates.any():
        levels = counts[:, seen.place]
        share = np.where(none, 0.0, levels / rest)
        mean = np.where(seen.indicates, share, mean)
        squares = np.where(seen.indicates, levels * (1 - share), squares)
    low = squares <= LOST * spread.squares
    if low.any():
        unknown |= (low & (spread.squares > 0) & (gone > 0) & ~none & ~seen.indicates).any(axis=1)
    return Spread(weight, mean, np.maximum(squares, 0.0))


def _outside(parts: list[Spread]) -> list[Spread]:
    """For each part but the last, all others merged."""
    *judged, always = parts
    before = list(accumulate(judged[:-1], _merged, initial=always))
    nothing = Spread(*(np.zeros_like(one) for one in _fields(always)))
    after = list(accumulate(judged[:0:-1], _merged, initial=nothing))
    return [_merged(left, right) for left, right in zip(before, reversed(after), strict=True)]


def _merged(one: Spread, other: Spread) -> Spread:
    """The spread of these rows and those (Chan, Golub & LeVeque 1979)."""
    weight = one.weight + other.weight
    share = other.weight / np.where(weight > 0, weight, 1.0)
    apart = other.mean - one.mean
    return Spread(
        weight, one.mean + share * apart, one.squares + other.squares + one.weight * share * apart * apart
    )


def _fields(spread: Spread) -> tuple[Array, Array, Array]:
    return spread.weight, spread.mean, spread.squares


def _rounded(spread: Spread) -> bool:
    """Whether a column varies by so little that only its cells can tell whether it does."""
    doubtful = (spread.squares > 0) & (spread.squares <= spread.weight * (MAY_BE_CONSTANT * spread.mean) ** 2)
    return bool(doubtful.any())


def _counted(seen: SeenColumns, data: LabelledRows, group: Rows, groups: int) -> Array:
    """The weight of each indicator, and of all rows, in each group."""
    columns = (*seen.levels.T, np.ones(len(data)))
    return np.column_stack([np.bincount(group, data.weights * one, groups) for one in columns])
