"""A method that learns from sums of rows: its answers to every part of a round, for little more than one fit.

Whoever has ``learn_from(sums)`` needs no more. For folds the sums of all others are merged; a single row is taken
away from those of all. What steps learn follows from the same sums. Rows that decide too much of them are refused,
and are then answered by a fit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import NamedTuple, Protocol

import numpy as np

from mlcli.core.held_out import HeldOut, Round, totals_outside
from mlcli.core.moments import Spread, quotient
from mlcli.core.rooms import blocks_of, filled
from mlcli.core.step import Step
from mlcli.core.tables import Array, Flags, Rows
from mlcli.engines.entries import Entries, entries_of, with_shares
from mlcli.engines.linear_columns import LinearColumns
from mlcli.engines.sums import ColumnLayout, Sums, TrainingSums, all_but_one
from mlcli.tasks.classification import LabelledRows
from mlcli.tasks.regression import ValuedRows

ALONE = 1e-9
"""A row that leaves less than this share of the weight of its class is all that the class has."""
LOST = 1e-4
"""A row that leaves less than this share of the squares of a column in its class takes too many digits away."""
AT_ONCE = 2**22
"""How many numbers the sums without some rows may be."""
LARGEST_SUMS = 2e7
"""How many numbers the sums outside all parts may be."""

Chosen = Callable[[Array], Array]
"""Some of the scatters of all classes, or their sums."""


class NotFromSumsError(Exception):
    """What a step learns does not follow from sums, or what it does is not linear; or there are too many sums."""


class Batch(NamedTuple):
    """Some sets of training rows, what the method sees of them, and the test rows of each (sets × rows)."""

    parts: Rows
    test: Rows
    doubtful: Flags
    """The sets of which sums do not tell enough."""
    known: LinearColumns
    scatter_of: Callable[[LinearColumns, Rows, Chosen], Array]

    def sums(self, rows: SplitRows) -> TrainingSums:
        """What the method learns from, by set."""
        known, features = self.known, np.append(entries_of(self.known.places), rows.targets).astype(np.intp)
        return TrainingSums(
            weight=known.total,
            cells=known.by_class.at(features),
            origin=rows.entries.origin_of(features) * known.scale[:, features],
            layout=ColumnLayout.of(known.places),
            scatter_of=partial(self.scatter_of, known, features),
            constant=known.constant(features),
        )


@dataclass(frozen=True, eq=False)
class SplitRows:
    """Entries of rows, their classes, and the parts that they are dealt into."""

    entries: Entries
    y: Rows
    classes: int
    round_: Round
    steps: Sequence[Step]
    targets: tuple[int, ...] = ()
    """The entry that is the target, if one is."""

    def through_steps(self, by_class: Spread, total: Array) -> tuple[LinearColumns, Flags]:
        """What steps make of the entries by sets of rows, and the sets where they may be wrong."""
        known = LinearColumns.of(self.entries, by_class, total)
        doubtful = known.doubtful(self.entries)
        for step in self.steps:
            known = step.from_sums(known)
            if known is None:
                raise NotFromSumsError
        return known, doubtful

    @cached_property
    def everything(self) -> Spread:
        """Of all rows, by class."""
        return self.entries.spreads(self.y, self.classes)

    @cached_property
    def total(self) -> Array:
        """The weight of each class."""
        return np.bincount(self.y, self.entries.weights, self.classes).astype(np.float64)

    @cached_property
    def filled(self) -> Array:
        """The entries of all rows, 0 where they are empty."""
        width = self.entries.width
        if width == len(self.entries.origin):
            return self.entries.rows(slice(None))
        return filled(
            (len(self.y), width), np.float64, lambda some: np.nan_to_num(self.entries.rows(some), copy=False)
        )

    @cached_property
    def sums(self) -> Sums:
        """The sums of each class."""
        return self.sums_of(np.arange(len(self.y)))

    @cached_property
    def sums_outside(self) -> Sums:
        """The sums of each class of the rows outside each part (parts × classes)."""
        if self.round_.parts * self.classes * self.entries.width**2 > LARGEST_SUMS:
            raise NotFromSumsError
        parts = [self.sums_of(rows) for rows in self.round_.rows_of]
        return Sums.stacked(all_but_one(parts, self.sums_of(self.round_.learned_only)))

    def sums_of(self, rows: Rows) -> Sums:
        """The sums of each class of some rows."""
        by_class = (rows[self.y[rows] == k] for k in range(self.classes))
        return Sums.stacked([Sums.of(self.filled, self.entries.weights, of_class) for of_class in by_class])


def by_parts(rows: SplitRows) -> Iterator[Batch]:
    """A set for each part: the rows outside it, their sums merged from those of the other parts."""
    round_, classes = rows.round_, rows.classes
    part = np.where(round_.part < 0, round_.parts, round_.part).astype(np.intp)
    found = rows.entries.spreads(part * classes + rows.y, (round_.parts + 1) * classes)
    *judged, always = (found.of(slice(k * classes, (k + 1) * classes)) for k in range(round_.parts + 1))
    total = totals_outside(rows.entries.weights[:, None] * np.eye(classes)[rows.y], round_)
    known, doubtful = rows.through_steps(Spread.stacked(all_but_one(judged, always)), total)
    for parts in _of_one_size(round_.sizes):
        test = [round_.rows_of[k] for k in parts.tolist()]
        longest = np.arange(max(map(len, test)))
        # A part that is shorter than others asks some of its rows again.
        padded = np.array([one[longest % len(one)] if len(one) else one for one in test])
        yield Batch(parts, padded, doubtful[parts], known.take(parts), partial(_scatter_outside, rows, parts))


def _of_one_size(sizes: Rows) -> Iterable[Rows]:
    """All parts together, or one by one where most are far smaller than the largest."""
    parts = np.arange(len(sizes))
    return [parts] if sizes.min() > sizes.max() / 2 else parts[:, None]


def _scatter_outside(rows: SplitRows, parts: Rows, known: LinearColumns, features: Rows, chosen: Chosen) -> Array:
    """The scatter of some entries without each part."""
    return known.scatter(features, chosen(rows.sums_outside.scatter[parts]))


def one_by_one(rows: SplitRows) -> Iterator[Batch]:
    """A set for each row: all others, by what is left of the sums of all rows."""
    width = rows.entries.width
    for block in blocks_of(len(rows.y), width * (width + rows.classes), AT_ONCE):
        left_out = np.arange(*block.indices(len(rows.y)))
        own, lost = _without_each(rows, left_out)
        total = _less(rows.total[rows.y[left_out]], rows.entries.weights[left_out])
        by_class = Spread(
            *(_with_own(all_, rows.y[left_out], one) for all_, one in zip(rows.everything, own, strict=True))
        )
        known, doubtful = rows.through_steps(by_class, _with_own(rows.total, rows.y[left_out], total))
        yield Batch(left_out, left_out[:, None], doubtful | lost, known, partial(_scatter_without, rows, left_out))


def _without_each(rows: SplitRows, left_out: Rows) -> tuple[Spread, Flags]:
    """The spread of its class without each row (Welford 1962, backwards); and whether digits are lost."""
    entries, before = rows.entries.rows(left_out), rows.everything.of(rows.y[left_out])
    gone = np.where(np.isnan(entries), 0.0, rows.entries.weights[left_out, None])
    left = _less(before.weight, gone)
    away = np.where(gone > 0, entries - before.mean, 0.0)
    step = quotient(gone, left) * away
    squares = np.maximum(before.squares - step * before.weight * away, 0.0) * (left > 0)
    mean = np.where(left > 0, before.mean - step, 0.0)
    first = len(rows.entries.origin)
    mean[:, first:] = _less(before.weight * before.mean, gone * np.nan_to_num(entries))[:, first:]
    lost = (squares <= LOST * before.squares) & (before.squares > 0) & (gone > 0) & (left > 0)
    return with_shares(Spread(left, mean, squares), first), np.asarray(lost[:, :first].any(axis=1))


def _less(whole: Array, part: Array) -> Array:
    """What is left of weights; next to nothing is nothing."""
    left = whole - part
    return np.where(left <= ALONE * whole, 0.0, left)


def _with_own(by_class: Array, own: Rows, changed: Array) -> Array:
    """What is known of all classes for each of some rows, that of its own class changed."""
    found = np.repeat(by_class[None], len(own), axis=0)
    found[np.arange(len(own)), own] = changed
    return found


def _scatter_without(
    rows: SplitRows, left_out: Rows, known: LinearColumns, features: Rows, chosen: Chosen
) -> Array:
    """The scatter of some entries without each row."""
    from mlcli.kernels.sums.without_each_row import scatters_without_each

    scatters, own, weight = (
        np.ascontiguousarray(chosen(rows.sums.scatter)),
        rows.y[left_out],
        rows.entries.weights[left_out],
    )
    left = _less(rows.total[own], weight)
    factor = quotient(weight * rows.total[own], left)
    away = rows.filled[left_out] - rows.sums.mean[own]
    found = np.empty((len(left_out), len(scatters), len(features), len(features)))
    changed = own if len(scatters) == rows.classes else np.zeros_like(own)
    scatters_without_each(
        scatters, away, changed, factor, features, known.gap[features], *known.slopes(features), found
    )
    return found


ROWS_AT_ONCE = 2**19
"""How many numbers are worked on to answer some rows."""

ROUTES: dict[bool, tuple[str, Callable[[SplitRows], Iterator[Batch]]]] = {
    False: ("merged sums", by_parts),
    True: ("rows taken away from sums", one_by_one),
}
"""By whether every row is a part of its own."""


class LearnedFromSums(Protocol):
    """What a method has learned from each of some sets of rows."""

    def answers(self, rows: Array) -> Array:
        """Values or probabilities for rows (sets × rows × columns); NaN where sums do not tell enough."""


class LearnsFromSums(Protocol):
    """A method that needs to know nothing of its training rows but sums."""

    def learn_from(self, sums: TrainingSums) -> LearnedFromSums:
        """What follows from the sums of each set of rows."""


def held_out_classes(
    method: LearnsFromSums, data: LabelledRows, round_: Round, steps: Sequence[Step]
) -> HeldOut | None:
    """Probabilities of all rows, each by the rows outside its part; None where steps do not follow from sums."""
    entries, classes = Entries.of(data.table, data.weights), len(data.classes)
    rows = SplitRows(entries, data.y.astype(np.intp), classes, round_, steps)
    return _held_out(method, rows, np.full((len(data), classes), np.nan))


def held_out_values(
    method: LearnsFromSums, data: ValuedRows, round_: Round, steps: Sequence[Step]
) -> HeldOut | None:
    """Values of all rows, each by the rows outside its part; None where steps do not follow from sums."""
    entries, one_class = Entries.of(data.table, data.weights, data.y), np.zeros(len(data), np.intp)
    rows = SplitRows(entries, one_class, 1, round_, steps, targets=(len(entries.origin) - 1,))
    held = _held_out(method, rows, np.full(len(data), np.nan))
    return None if held is None else HeldOut(held.answers + entries.origin[-1], held.refused, held.route)


def _held_out(method: LearnsFromSums, rows: SplitRows, answers: Array) -> HeldOut | None:
    """The answers of each batch in the place of nothing."""
    refused = np.zeros(rows.round_.parts, bool)
    route, batches = ROUTES[rows.round_.one_by_one]
    try:
        for batch in batches(rows):
            refused[batch.parts] = batch.doubtful
            # What is not a number is refused.
            with np.errstate(all="ignore"):
                _answer(method, rows, batch, answers)
    except NotFromSumsError:
        return None
    return HeldOut(answers, refused, route)


def _answer(method: LearnsFromSums, rows: SplitRows, batch: Batch, answers: Array) -> None:
    sums = batch.sums(rows)
    learned, features = method.learn_from(sums), entries_of(batch.known.places)
    for some in blocks_of(batch.test.shape[1], sums.cells.mean.size, ROWS_AT_ONCE):
        test = batch.test[:, some]
        entries = rows.entries.rows(test.ravel()).reshape(*test.shape, -1)
        answers[test] = learned.answers(batch.known.rows(features, entries))
