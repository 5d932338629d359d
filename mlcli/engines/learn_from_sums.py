"""A method that learns from sums of rows: its answers to every part of a round, for little more than one fit.

Whoever has ``learn_from(sums)`` needs no more. For folds the sums of all others are merged; a single row is taken
away from those of all. What steps learn follows from the same sums. Rows that decide too much of them are refused,
and are then answered by a fit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

import numpy as np

from mlcli.core.blocks import row_blocks
from mlcli.core.held_out import HeldOut, Round
from mlcli.core.step import Step
from mlcli.core.tables import Array
from mlcli.engines.entries import Entries, entries_of
from mlcli.engines.split_sums import Batch, NotFromSumsError, SplitRows, by_parts, one_by_one
from mlcli.engines.sums import TrainingSums
from mlcli.tasks.classification import LabelledRows
from mlcli.tasks.regression import ValuedRows

ASKED_AT_ONCE = 2**19
"""How many numbers are worked on to answer some rows."""

ROUTES: dict[bool, tuple[str, Callable[[SplitRows], Iterator[Batch]]]] = {
    False: ("merged sums", by_parts),
    True: ("rows taken away from sums", one_by_one),
}
"""By whether every row is a part of its own."""


class Learned(Protocol):
    """What a method has learned from each of some sets of rows."""

    def answers(self, rows: Array) -> Array:
        """Values or probabilities for rows (sets × rows × columns); NaN where sums do not tell enough."""


class LearnsFromSums(Protocol):
    """A method that needs to know nothing of its training rows but sums."""

    def learn_from(self, sums: TrainingSums) -> Learned:
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
    for some in row_blocks(batch.asked.shape[1], sums.cells.mean.size, ASKED_AT_ONCE):
        asked = batch.asked[:, some]
        entries = rows.entries.rows(asked.ravel()).reshape(*asked.shape, -1)
        answers[asked] = learned.answers(batch.known.rows(features, entries))
