"""How much one column says of another: beside plain loops over rows, NumPy and SciPy."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from scipy.stats import skew

from mlcli.checks.context import best_condition, share_explained, share_right
from mlcli.checks.data.numbers import skewness
from mlcli.core.schema import Column
from mlcli.core.tables import Array


def others_of(cells: Array, row: int) -> list[int]:
    """The other rows of the same value; where there are none, those of the values just below and above."""
    same = [other for other in range(len(cells)) if other != row and cells[other] == cells[row]]
    if same:
        return same
    below, above = (cells[cells < cells[row]], cells[cells > cells[row]])
    near = {*([below.max()] if len(below) else []), *([above.min()] if len(above) else [])}
    return [other for other in range(len(cells)) if cells[other] in near]


@pytest.mark.parametrize("digits", [0, 1, 6])
def test_classes_are_told_by_rows_of_the_same_or_the_nearest_value(digits: int) -> None:
    rng = np.random.default_rng(digits)
    cells = rng.normal(0, 2, 80).round(digits)
    classes = (cells + rng.normal(0, 1, 80) > 0).astype(np.int32)
    right = 0
    for row in range(80):
        counts = Counter(classes[other] for other in others_of(cells, row))
        right += max(range(2), key=lambda one: (counts[one], -one)) == classes[row]
    assert share_right(cells, classes, 2) == pytest.approx(right / 80)


@pytest.mark.parametrize("digits", [0, 1, 6])
def test_values_are_told_by_the_mean_of_such_rows(digits: int) -> None:
    rng = np.random.default_rng(digits)
    cells = rng.normal(0, 2, 80).round(digits)
    values = cells**2 + rng.normal(0, 1, 80)
    told = np.array([values[others_of(cells, row)].mean() for row in range(80)])
    expected = 1 - ((values - told) ** 2).sum() / ((values - values.mean()) ** 2).sum()
    assert share_explained(cells, values) == pytest.approx(expected)


def test_a_rule_is_weighed_by_its_correlation() -> None:
    rng = np.random.default_rng(1)
    cells = rng.normal(0, 1, 200)
    flags = cells + rng.normal(0, 0.3, 200) > 0.5
    rule = best_condition(flags, cells, Column("x"))
    assert rule is not None
    cut = float(rule.words.rpartition(" ")[2])
    met = cells > next(one for one in np.sort(cells) if one >= cut - 1e-3)
    assert rule.correlation == pytest.approx(np.corrcoef(flags, met)[0, 1], abs=0.02)
    assert rule.inside == pytest.approx(flags[cells > cut].mean(), abs=0.02)
    levels = Column("colour", "nominal", ("red", "blue"))
    codes = np.where(flags, 1.0, 0.0)
    exact = best_condition(flags, codes, levels)
    assert exact is not None
    assert abs(exact.correlation) == pytest.approx(1.0)
    assert exact.words == "colour = red"


def test_skewness_is_that_of_scipy() -> None:
    cells = np.random.default_rng(1).lognormal(0, 1, 100)
    assert skewness(cells) == pytest.approx(skew(cells), rel=1e-12)
