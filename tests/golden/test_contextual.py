"""Contextual detection beside its formula over scikit-learn's neighbours; a day that is warm for winter only."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.neighbors import NearestNeighbors

from mlcli.core.errors import FitError
from mlcli.core.params import build
from mlcli.models.anomaly.contextual import Contextual
from tests.golden.asking import asked, fitted
from tests.golden.screening import cloud, rows_of, scores

K, FLOOR = 15, 0.1


def of_formula(X: np.ndarray, Z: np.ndarray) -> np.ndarray:
    """|z| of the last column, the first being the context, by the model of one column."""
    near = NearestNeighbors(n_neighbors=K).fit(X[:, :1])
    floor = FLOOR * X[:, 1].std()

    def z(values: np.ndarray, places: np.ndarray) -> np.ndarray:
        usual = X[places, 1]
        return np.asarray((values - usual.mean(axis=1)) / np.sqrt(usual.var(axis=1) + floor**2))

    own = z(X[:, 1], near.kneighbors()[1])
    other = z(Z[:, 1], near.kneighbors(Z[:, :1])[1])
    return np.asarray(np.abs(other - own.mean()) / own.std())


def test_differences_from_the_nearest_in_context_are_scored() -> None:
    X, Z = cloud(200, 2), cloud(60, 2, seed=1)
    model = build(Contextual, {"base": "z-score", "context": ["x0"], "neighbours": K, "floor": FLOOR})
    assert scores(model, X, Z) == pytest.approx(of_formula(X, Z), rel=1e-6)


def test_a_large_mean_takes_no_digits_of_the_scores() -> None:
    """Parts of 2⁻¹⁰ stay what they are beside 2²⁸, so that only where the cells lie is another."""
    X, Z = cloud(200, 2), cloud(60, 2, seed=1)
    X[:, 1], Z[:, 1] = (np.round(rows[:, 1] * 1024) / 1024 for rows in (X, Z))
    model = build(Contextual, {"base": "z-score", "context": ["x0"], "neighbours": K, "floor": FLOOR})
    far = np.array([0.0, 2.0**28])
    assert scores(model, X + far, Z + far) == pytest.approx(of_formula(X, Z), rel=1e-6)


def test_no_rows_have_no_scores_and_no_reasons() -> None:
    """As where no new row is flagged."""
    model = fitted(build(Contextual, {"base": "z-score", "context": ["x0"]}), rows_of(cloud(30, 2)))
    none = rows_of(cloud(30, 2)).table.take(np.arange(0))
    assert model.score_rows(none).shape == (0,)
    assert model.reasons(none)[1].shape == (0, 1)


def test_what_is_usual_in_summer_is_odd_in_winter() -> None:
    rng = np.random.default_rng(0)
    season = np.repeat([0.0, 1.0], 60)
    X = np.column_stack([season, 20 * season + rng.normal(size=120)])
    data, days = rows_of(X), rows_of(np.array([[0.0, 20.0], [1.0, 20.0], [1.0, 0.0]]), first=120)
    aware = asked(fitted(build(Contextual, {"context": ["x0"]}), data), days).score
    blind = asked(fitted(build(Contextual, {"base": "z-score"}), data), days).score
    assert aware[[0, 2]].min() > 5 * aware[1]
    assert blind.max() < 5


def test_a_context_that_is_no_column_is_refused() -> None:
    with pytest.raises(FitError, match="no column 'month'"):
        fitted(build(Contextual, {"context": ["month"]}), rows_of(cloud(30, 2)))
