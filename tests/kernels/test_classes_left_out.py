"""Scores without each row are those of the twin, which fills, and takes means and covariances, from the others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from mlcli.core.held_out import Round
from mlcli.core.schema import Column
from mlcli.core.tables import Array, Codes, Table
from mlcli.models.discriminants.lda import LinearDiscriminants
from mlcli.models.discriminants.qda import QuadraticDiscriminants
from mlcli.prepare.impute import Impute
from mlcli.tasks.classification import LabelledRows

ROWS = 40


def drawn(seed: int) -> tuple[Array, Codes]:
    """Numbers with gaps, and a class for each row."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, ROWS).astype(np.int32)
    X = 50 + rng.normal(size=(ROWS, 3)) + y[:, None]
    X[rng.random(X.shape) < 0.15] = np.nan
    return X, y


def posterior_without(row: int, X: Array, y: Codes, shared: bool) -> Array:
    """The twin: means of the others fill gaps, then Bayes' rule with SciPy's normal densities."""
    others = np.arange(ROWS) != row
    filled = np.where(np.isnan(X), np.nanmean(X[others], axis=0), X)
    classes = [filled[others & (y == k)] for k in range(3)]
    own = [np.cov(rows.T) for rows in classes]
    pooled = sum((len(rows) - 1) * one for rows, one in zip(classes, own, strict=True)) / (ROWS - 1 - 3)
    joint = [
        len(rows) * multivariate_normal(rows.mean(axis=0), pooled if shared else one).pdf(filled[row])
        for rows, one in zip(classes, own, strict=True)
    ]
    return np.asarray(np.array(joint) / sum(joint))


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(("model", "shared"), [(LinearDiscriminants(), True), (QuadraticDiscriminants(), False)])
def test_posteriors_without_each_row_are_those_of_a_fit_to_the_others(seed: int, model: Any, shared: bool) -> None:
    X, y = drawn(seed)
    table = Table.of([(Column(f"x{j}", missing=True), cells) for j, cells in enumerate(X.T)], ROWS)
    data = LabelledRows(table=table, rows=np.arange(ROWS), target="y", y=y, classes=("a", "b", "c"))
    held = model.held_out(data, Round(np.arange(ROWS, dtype=np.int32), ROWS), (Impute(),))
    assert held is not None
    assert not held.refused.any()
    twin = [posterior_without(row, X, y, shared) for row in range(ROWS)]
    np.testing.assert_allclose(held.answers, twin, rtol=0, atol=1e-11)
