"""Guesses of how long work takes: from a cell's own splits, or from its method's by size; they only order work."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from mlcli.experiment.results import SplitResult
from mlcli.experiment.run.batch_state import (
    CellProgress,
    largest_of_each_method,
    longest_first,
    seconds_left,
    seconds_per_split,
)
from mlcli.experiment.run.evaluation import BlockOutcome
from mlcli.experiment.run.preparation import prepare
from mlcli.experiment.spec.cells import Cell, ProtocolSpec
from tests.experiment import toy


def progress_of(cell: Cell, *seconds: float) -> CellProgress:
    """A cell, some splits of which have taken so long."""
    progress = CellProgress(cell, prepare(cell))
    blank = SplitResult(0, "", 0, {}, 0.0, 0.0)
    splits = (replace(blank, index=index, fit_seconds=one) for index, one in enumerate(seconds))
    progress.add(BlockOutcome(tuple(splits)))
    return progress


def test_a_cell_is_guessed_by_its_own_splits_and_else_by_its_method_and_its_size() -> None:
    own = progress_of(toy.cell("naive-bayes", toy.dataset(40)), 9.0, 2.0)
    larger = progress_of(toy.cell("naive-bayes", toy.dataset(80)))
    unknown = progress_of(toy.cell("decision-tree"), 9.0)
    assert dict(seconds_per_split([own, larger, unknown])) == {own: 2.0, larger: 4.0, unknown: math.inf}


def test_what_is_left_counts_the_splits_that_are_waiting() -> None:
    begun, done = progress_of(toy.cell("naive-bayes"), 1.0, 1.0), progress_of(toy.cell("knn"), *[9.0] * 5)
    unknown = progress_of(toy.cell("decision-tree"))
    assert seconds_left([begun, done], 0.0) == pytest.approx(3.0)
    assert seconds_left([begun, done, unknown], 0.0) == pytest.approx(3.0)
    assert seconds_left([begun, done, unknown], math.inf) == math.inf


def test_shortcuts_come_first_then_the_unknown_then_the_longest_block() -> None:
    leave_one_out = {"kind": "regression", "protocol": ProtocolSpec("leave-one-out")}
    shortcut = toy.cell("linear-regression", toy.values(), **leave_one_out)
    closed_form = CellProgress(shortcut, prepare(shortcut))
    quick = progress_of(toy.cell("naive-bayes"), 1.0, 1.0)
    many = progress_of(toy.cell("knn", protocol=ProtocolSpec("repeated-holdout", {"repeats": 70})), 0.9, 0.9)
    unknown = progress_of(toy.cell("decision-tree"))
    assert many.blocks()[1].splits == 2
    assert longest_first([quick, many, unknown, closed_form]) == [closed_form, unknown, many, quick]


def test_of_each_method_the_cell_with_the_largest_table_is_tried() -> None:
    asked = (("knn", 20), ("knn", 60), ("naive-bayes", 40))
    small, large, other = (progress_of(toy.cell(model, toy.dataset(rows))) for model, rows in asked)
    assert set(largest_of_each_method([large, small, other])) == {large, other}
