"""A small form of benchmarks/honesty.py: intervals hold the truth, verdicts claim nothing that is not there."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.honesty import Setting, coverage
from benchmarks.known_truth import CLASSES, LINES, PROTOCOLS, Classes, lda, ridge
from benchmarks.verdicts import Contest, claimed, first_pair, gains, sure_of

pytestmark = pytest.mark.slow

TIMES = 40
LEAST = 0.8
"""Of 40 datasets, fewer than 32 are held by intervals of 95 % once in a hundred thousand times."""
WIDEST = 1.35
"""By the width that rows alone give; the goal is 1.3, and 40 datasets know it to a few per cent."""


@pytest.mark.parametrize(("place", "name"), [(0, "easy"), (2, "middle"), (3, "easy")])
def test_intervals_of_labels_hold_the_truth(place: int, name: str) -> None:
    setting = Setting(CLASSES[name], name, lda, PROTOCOLS[place], 200)
    for found in coverage(setting, TIMES):
        assert found.share >= LEAST, found
        assert found.beside_rows <= WIDEST, found
        assert not found.none_wide


@pytest.mark.parametrize("place", [0, 3])
def test_intervals_of_values_hold_the_truth(place: int) -> None:
    for found in coverage(Setting(LINES["middle"], "line", ridge, PROTOCOLS[place], 60), TIMES):
        assert found.share >= LEAST, found
        assert found.beside_rows <= WIDEST, found


def test_rows_of_groups_are_not_rows() -> None:
    """Of rows taken for independent, intervals of such data hold the truth in about half of the datasets."""
    setting = Setting(Classes(1.8, group_size=10), "groups", lda, PROTOCOLS[0], 300)
    for found in coverage(setting, TIMES):
        assert found.share >= LEAST, found


@pytest.mark.parametrize("place", [0, 3])
def test_nothing_is_claimed_of_equal_models_or_noise(place: int) -> None:
    for contest in (
        Contest("equal", (0.8, 0.8), first_pair, 60),
        Contest("six", (0.8,) * 6, sure_of, 60),
        Contest("noise", (0.5,) * 9, gains, 60, baseline=True),
    ):
        assert claimed(contest, PROTOCOLS[place], TIMES) <= 0.15, contest


def test_a_large_difference_is_told() -> None:
    assert claimed(Contest("apart", (0.85, 0.75), first_pair, 200), PROTOCOLS[0], TIMES) >= 0.25
    assert np.isclose(claimed(Contest("far", (0.85, 0.5), first_pair, 200), PROTOCOLS[0], 10), 1)
