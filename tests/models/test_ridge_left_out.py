"""A ridge without each row in turn: all at once equals what scikit-learn's pipeline learns from the others."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import Ridge as Oracle

from mlcli.core.tables import Array, Flags
from mlcli.engines.expansion import UNSCALED, Recipe
from mlcli.engines.sums import Sums
from mlcli.models.linear._rescaled import without_each

ROWS = 40


def recipe(columns: int, ddof: int) -> Recipe:
    """Columns as they are, without gaps or levels; the first is not standardised."""
    places, none = np.arange(columns), np.full(columns, -1)
    scaled = np.full(columns, ddof)
    scaled[0] = UNSCALED
    return Recipe(places, places, np.zeros(columns, bool), none, scaled, none, ())


def answered(columns: Array, weights: Array, ddof: int, l2: float) -> tuple[Array, Flags]:
    return without_each(recipe(columns.shape[1] - 1, ddof), columns, weights, Sums.of(columns, weights), l2)


def alone(columns: Array, weights: Array, row: int, ddof: int, l2: float) -> float:
    """What scikit-learn says of a row by all others."""
    others = np.arange(len(columns)) != row
    X, w = columns[others, :-1], weights[others]
    mean = np.average(X, axis=0, weights=w)
    unit = np.sqrt(((X - mean) ** 2 * w[:, None]).sum(axis=0) / (w.sum() - ddof))
    unit[0] = 1.0
    model = Oracle(alpha=l2).fit((X - mean) / unit, columns[others, -1], sample_weight=w)
    return float(model.predict((columns[[row], :-1] - mean) / unit)[0])


@pytest.mark.parametrize("l2", [1e-3, 1.0, 100.0])
@pytest.mark.parametrize("ddof", [0, 1])
@pytest.mark.parametrize("weighted", [False, True])
def test_every_row_by_all_others(weighted: bool, ddof: int, l2: float) -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(ROWS, 4)) * [1, 10, 0.1, 3] + [0, 5, 1, -2]
    columns = np.column_stack([X, X @ [1.0, -0.2, 4.0, 0.5] + rng.normal(size=ROWS)])
    weights = rng.uniform(0.5, 2.0, ROWS) if weighted else np.ones(ROWS)
    answers, sure = answered(columns, weights, ddof, l2)
    expected = [alone(columns, weights, row, ddof, l2) for row in range(ROWS)]
    np.testing.assert_allclose(answers[sure], np.array(expected)[sure], rtol=1e-11, atol=1e-11)
    assert sure.mean() > (0.9 if l2 < 100 else 0.0)


def test_rows_that_change_much_are_left_to_others() -> None:
    rng = np.random.default_rng(3)
    columns = rng.normal(size=(ROWS, 4))
    columns[7, 1], columns[9, 3] = 1e6, 1e6
    weights = np.ones(ROWS)
    weights[11] = 0.0
    sure = answered(columns, weights, 0, 1.0)[1]
    assert not sure[[7, 9]].any()
    assert not answered(columns[:, [0, 1, 1, 3]], weights, 0, 1e-9)[1].any(), "equal columns are collinear"
    weights[:] = 1e-9
    weights[5] = 3.0
    assert not answered(columns, weights, 0, 1.0)[1][5], "next to nothing is left without the row that counts"
