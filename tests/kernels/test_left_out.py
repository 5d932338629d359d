"""Downdated sums say what a fit to the other rows says, row by row: the twin fits again and again in NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from mlcli.core.schema import Column
from mlcli.core.tables import Array, Codes, Table
from mlcli.engines.expansion import Recipe, expanded
from mlcli.engines.sums import Sums
from mlcli.models.linear._left_out import downdated
from mlcli.prepare.impute import Impute
from mlcli.prepare.one_hot import OneHot
from mlcli.prepare.standardise import Standardise

ROWS = 40


def drawn(seed: int) -> tuple[Array, Codes, Array, Array]:
    """Numbers with gaps, levels with gaps, weights and a target."""
    rng = np.random.default_rng(seed)
    X = 50 + rng.normal(size=(ROWS, 3))
    X[rng.random(X.shape) < 0.15] = np.nan
    return (
        X,
        rng.integers(-1, 3, ROWS).astype(np.int32),
        rng.integers(1, 4, ROWS).astype(np.float64),
        rng.normal(size=ROWS),
    )


def ridge_without(row: int, X: Array, colour: Codes, weight: Array, y: Array, l2: float) -> float:
    """The twin: fill, scale, centre and solve from the other rows alone, and answer the row."""
    others = np.arange(ROWS) != row
    w = weight[others] / weight[others].sum()
    present = ~np.isnan(X)
    fills = [np.average(X[others & has, j], weights=weight[others & has]) for j, has in enumerate(present.T)]
    counts = np.bincount(colour[others & (colour >= 0)], weight[others & (colour >= 0)], minlength=3)
    filled = np.where(present, X, fills)
    mean = w @ filled[others]
    scaled = (filled - mean) / np.sqrt(w @ (filled[others] - mean) ** 2)
    levels = np.where(colour < 0, counts.argmax(), colour)[:, None] == np.arange(3)
    design = np.column_stack([scaled, levels])
    centre, level = w @ design[others], w @ y[others]
    D = (design[others] - centre) * np.sqrt(weight[others])[:, None]
    slopes = np.linalg.solve(D.T @ D + l2 * np.eye(6), D.T @ ((y[others] - level) * np.sqrt(weight[others])))
    return float((design[row] - centre) @ slopes + level)


@pytest.mark.parametrize("seed", range(3))
def testdowndated_sums_answer_as_a_fit_to_the_other_rows(seed: int) -> None:
    X, colour, weight, y = drawn(seed)
    parts = [(Column(f"x{j}", missing=True), cells) for j, cells in enumerate(X.T)]
    table = Table.of([*parts, (Column("colour", "nominal", ("a", "b", "c"), missing=True), colour)], ROWS)
    expansion = expanded(table, (Impute(), Standardise(), OneHot()))
    assert expansion is not None
    columns = np.column_stack([expansion.columns, y])
    held = downdated(Recipe.of(expansion), columns, weight, Sums.of(columns, weight), 2.5)
    twin = [ridge_without(row, X, colour, weight, y, 2.5) for row in range(ROWS)]
    assert not held.refused.any()
    np.testing.assert_allclose(held.answers, twin, rtol=1e-11, atol=1e-11)
