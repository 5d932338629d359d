"""t-SNE beside scikit-learn: the same probabilities, as little divergence, as many neighbours kept."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits
from sklearn.manifold import TSNE, trustworthiness
from sklearn.manifold._t_sne import _joint_probabilities

from mlcli.models.projection.t_sne import StochasticNeighbours, joint

DIGITS = load_digits().data[:600]


def test_probabilities_are_those_of_scikit_learn() -> None:
    """With 3 · 20 + 1 neighbours in 62 rows all pairs count, and p is that of the exact method."""
    X = DIGITS[:62]
    start, near, p = joint(X, 20.0)
    ours = np.zeros((62, 62))
    ours[np.repeat(np.arange(62), np.diff(start)), near] = p
    theirs = _joint_probabilities(cdist(X, X, "sqeuclidean").astype(np.float32), 20.0, 0)
    upper = np.triu_indices(62, 1)
    assert ours[upper] == pytest.approx(theirs, abs=1e-6)


def test_divergence_and_neighbours_are_as_good_as_those_of_scikit_learn() -> None:
    """Over several tables: where descent ends differs by a tenth with the rounding of the processor, in both."""
    divergences, kept = [], []
    for X in np.split(DIGITS, 4):
        places, said = StochasticNeighbours().placed(X)
        theirs = TSNE(init="pca", random_state=0, n_jobs=1).fit(X)
        divergences.append((float(said.split()[2]), theirs.kl_divergence_))
        kept.append((trustworthiness(X, places), trustworthiness(X, theirs.embedding_)))
    ours, least = np.mean(divergences, axis=0)
    assert ours < 1.1 * least
    ours, most = np.mean(kept, axis=0)
    assert ours > most - 0.01


@pytest.mark.parametrize("components", [1, 2, 3])
def test_it_has_as_many_dimensions_as_asked_for(components: int) -> None:
    places, _ = StochasticNeighbours(components=components, steps=200, perplexity=10.0).placed(DIGITS[:80])
    assert places.shape == (80, components)
    assert np.isfinite(places).all()


@pytest.mark.parametrize("rows", [1, 3, 4, 10])
def test_few_and_equal_rows_are_harmless(rows: int) -> None:
    assert np.isfinite(StochasticNeighbours(steps=50).placed(np.ones((rows, 2)))[0]).all()
