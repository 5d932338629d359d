"""Rounds of a sweep: the splits that judge the same rows at different coordinates."""

from __future__ import annotations

from collections.abc import Sequence

from mlcli.core.answers import Answers, Coordinate
from mlcli.metrics.pooling import rounds_of
from tests.metrics.making import value_answers


def judging(*firsts: int) -> list[Answers]:
    """Two rows each, the first of which is given."""
    return [value_answers([1, 2], [1, 2], first_row=first) for first in firsts]


def at(*values: float) -> Sequence[Coordinate]:
    return [Coordinate("share", value) for value in values]


def test_splits_of_the_same_rows_are_one_round() -> None:
    assert rounds_of(at(0.1, 0.1, 1, 1), judging(0, 5, 0, 5)) == [0, 1, 0, 1]


def test_a_lost_split_moves_no_other() -> None:
    assert rounds_of(at(0.1, 1, 1), judging(5, 0, 5)) == [0, 1, 0]


def test_rows_that_are_dealt_twice_are_two_rounds() -> None:
    assert rounds_of(at(0.1, 0.1, 1, 1), judging(0, 0, 0, 0)) == [0, 1, 0, 1]


def test_without_coordinates_there_are_no_rounds() -> None:
    assert rounds_of([None, None], judging(0, 0)) is None
