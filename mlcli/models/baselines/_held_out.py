"""One-R for every part of a round, with each column sorted once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mlcli.core.held_out import Round, totals_outside
from mlcli.core.schema import Column
from mlcli.core.tables import Array, Rows
from mlcli.tasks.classification import LabelledRows

LARGEST_WEIGHTS = 2.0**50
"""Sums of whole weights up to this are exact."""


@dataclass(frozen=True, eq=False)
class Slots:
    """The values of all columns, side by side; each column ends with a slot for missing cells."""

    of_cells: Rows
    """The slot of each cell (n × columns)."""
    first: Rows
    values: Array

    @classmethod
    def of(cls, data: LabelledRows) -> Slots:
        """The slots of a table with columns."""
        first, slots, values = [0], [], []
        for column, cells in data.table.parts():
            known, which = _values(column, np.asarray(cells))
            slots.append(np.where(which < 0, len(known), which) + first[-1])
            values += [known, np.zeros(1)]
            first.append(first[-1] + len(known) + 1)
        return cls(np.column_stack(slots).astype(np.intp), np.array(first, np.intp), np.concatenate(values))


def _values(column: Column, cells: Array) -> tuple[Array, Rows]:
    """The values of a column in order, and which of them each cell is; -1 where it is missing."""
    if column.coded:
        return np.arange(len(column.levels), dtype=np.float64), cells.astype(np.intp)
    empty = np.isnan(cells)
    known, which = np.unique(cells[~empty], return_inverse=True)
    places = np.full(len(cells), -1, np.intp)
    places[~empty] = which
    return known, places


def sums_are_exact(weights: Array) -> bool:
    """Whether all weights are whole, so that taking rows away from sums leaves no rounding."""
    return bool((weights == np.floor(weights)).all()) and float(weights.sum()) <= LARGEST_WEIGHTS


def shares_outside(data: LabelledRows, round_: Round, min_bucket: int, named: int) -> Array | None:
    """The shares of classes that the rule outside each part answers for its rows; None where it has no rows."""
    from mlcli.kernels.one_rules import rules_outside

    counted = data.weights[:, None] * data.outputs
    overall = totals_outside(counted, round_)
    if (overall.sum(axis=1) <= 0).any():
        return None
    slots = Slots.of(data)
    totals = np.zeros((len(slots.values), len(data.classes)))
    for column in slots.of_cells.T:
        np.add.at(totals, (column, data.y), data.weights)
    rows, begins = np.concatenate(round_.rows_of), np.concatenate([[0], np.cumsum(round_.sizes)])
    coded = np.array([column.coded for column in data.table.columns])
    order = np.argsort(-overall, axis=1, kind="stable").astype(np.intp)
    answers = np.zeros(data.outputs.shape)
    rules_outside(
        slots.of_cells, slots.first, coded, slots.values, totals, data.y, data.weights,
        rows, begins.astype(np.intp), overall, order, float(min_bucket), named, answers,
    )  # fmt: skip
    return answers
