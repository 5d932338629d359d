"""Factor analysis as a method beside scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.decomposition import FactorAnalysis as Peer

from mlcli.core.errors import FitError
from mlcli.models.projection.factor_analysis import FactorAnalysis
from tests.golden.asking import fitted
from tests.golden.densities import unlabelled

RNG = np.random.default_rng(0)
X = RNG.normal(size=(400, 2)) @ RNG.normal(size=(2, 7)) + RNG.normal(size=(400, 7)) * RNG.uniform(0.5, 1, 7)
X = (X - X.mean(axis=0)) / X.std(axis=0)


def test_rows_are_shown_and_made_again_as_by_scikit_learn() -> None:
    data = unlabelled(X, "projection")
    model = fitted(FactorAnalysis(factors=2, floor=1e-9, tolerance=1e-13), data)
    theirs = Peer(2, tol=1e-11, max_iter=20_000, svd_method="lapack").fit(X)
    assert model.likelihood_ == pytest.approx(theirs.score(X), rel=1e-7)
    made = theirs.transform(X) @ theirs.components_ + theirs.mean_
    assert model.reconstruct(data.table) == pytest.approx(made, abs=1e-3)
    ours, expected = model.project(data.table), theirs.transform(X)
    assert ours * np.sign((ours * expected).sum(axis=0)) == pytest.approx(expected, abs=1e-3)


def test_as_many_factors_as_the_elbow_says() -> None:
    model = fitted(FactorAnalysis(), unlabelled(X, "projection"))
    assert model.project(unlabelled(X, "projection").table).shape == (400, 3)  # the third begins the flat part
    assert model.scree_ == pytest.approx(np.linalg.eigvalsh(np.corrcoef(X.T))[::-1])
    certain = "which is uncertain: 2 to 4 lie nearly as far below the line"
    assert model.explain()[0].note == f"3 factors are taken; the elbow of the plot is at 3, {certain}"


def test_more_factors_than_columns_are_refused() -> None:
    with pytest.raises(FitError, match="8 factors of 7 columns"):
        fitted(FactorAnalysis(factors=8), unlabelled(X, "projection"))
