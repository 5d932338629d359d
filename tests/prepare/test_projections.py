"""Projections as steps agree with scikit-learn, up to the sign of their directions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.spatial.distance import pdist
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.decomposition import PCA
from sklearn.decomposition import FactorAnalysis as Peer
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from mlcli.core.schema import Column
from mlcli.core.tables import Table
from mlcli.prepare.autoencoder import AutoencoderCode
from mlcli.prepare.factor_analysis import FactorAnalysis
from mlcli.prepare.lda_projection import DiscriminantProjection
from mlcli.prepare.random_projection import RandomProjection
from tests.support.rows import labelled, valued


def numbers(X: Any) -> Table:
    return Table(tuple(Column(f"x{j}") for j in range(X.shape[1])), X, np.empty((len(X), 0), np.int32))


def learned(step: Any, data: Any) -> Any:
    step.learn(data, np.random.default_rng(1))
    return step


def signed_alike(ours: Any, theirs: Any) -> Any:
    return theirs * np.sign((ours * theirs).sum(axis=0))


@pytest.mark.parametrize("loaded", [load_iris(), load_wine(), load_breast_cancer()], ids=["iris", "wine", "wdbc"])
def test_discriminants_are_those_of_scikit_learn(loaded: Any) -> None:
    data = labelled(numbers(loaded.data), [str(y) for y in loaded.target])
    step = learned(DiscriminantProjection(components=2), data)
    theirs = LinearDiscriminantAnalysis().fit(loaded.data, loaded.target)
    # Its directions have variance 1 within the classes when that is divided by N; here it is N − K.
    rows, classes = len(loaded.data), len(theirs.classes_)
    expected = theirs.transform(loaded.data) * np.sqrt((rows - classes) / rows)
    count = expected.shape[1]
    ours = step.apply(data.table).numbers
    assert ours[:, :count] == pytest.approx(signed_alike(ours[:, :count], expected), abs=1e-7)
    assert (ours[:, count:] == 0).all()
    shares = step.ratios_ / step.ratios_.sum()
    assert shares[:count] == pytest.approx(theirs.explained_variance_ratio_, abs=1e-9)


def test_a_constant_column_has_no_part_in_discriminants() -> None:
    loaded = load_iris()
    wide = np.column_stack([loaded.data, np.full(150, 7.0)])
    labels = [str(y) for y in loaded.target]
    step = learned(DiscriminantProjection(), labelled(numbers(wide), labels))
    narrow = learned(DiscriminantProjection(), labelled(numbers(loaded.data), labels))
    assert step.directions_[:4] == pytest.approx(narrow.directions_, abs=1e-9)
    assert (step.directions_[4] == 0).all()


@pytest.mark.parametrize("factors", [1, 2, 3])
def test_factors_are_those_of_scikit_learn(factors: int) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3)) @ rng.normal(size=(3, 8)) + rng.normal(size=(400, 8)) * rng.uniform(0.5, 2, 8)
    # Of several maxima both find the one that is near to noise alone in standardised columns.
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    step = FactorAnalysis(factors=factors, floor=1e-9, tolerance=1e-13, most_steps=20_000)
    learned(step, valued(numbers(X), [0.0] * 400))
    theirs = Peer(factors, tol=1e-11, max_iter=20_000, svd_method="lapack").fit(X)
    assert step.likelihood_ == pytest.approx(theirs.score(X), rel=1e-7)
    assert step.noise_ == pytest.approx(theirs.noise_variance_, rel=1e-3)
    ours = step.apply(numbers(X)).numbers
    assert ours == pytest.approx(signed_alike(ours, theirs.transform(X)), abs=1e-3)


def test_the_unit_of_a_column_does_not_matter_to_factors() -> None:
    X = load_wine().data
    one, other = (learned(FactorAnalysis(), valued(numbers(x), [0.0] * 178)) for x in (X, X * 1000))
    assert one.apply(numbers(X)).numbers == pytest.approx(other.apply(numbers(1000 * X)).numbers, abs=1e-6)


@pytest.mark.parametrize("by", ["gaussian", "sparse"])
def test_random_sums_keep_squared_distances_on_average(by: str) -> None:
    X = np.random.default_rng(0).normal(size=(30, 500))
    step = learned(RandomProjection(components=400, by=by), valued(numbers(X), [0.0] * 30))
    ratio = (pdist(step.apply(numbers(X)).numbers) / pdist(X)) ** 2
    assert ratio.mean() == pytest.approx(1.0, abs=0.05)
    assert ratio.std() < 2 * np.sqrt(2 / 400)


def test_a_sparse_projection_is_mostly_zeros() -> None:
    step = learned(RandomProjection(components=50, by="sparse"), valued(numbers(np.zeros((2, 900))), [0.0] * 2))
    assert np.mean(step.directions_ != 0) == pytest.approx(1 / 30, abs=0.005)


def test_the_code_of_a_straight_autoencoder_spans_the_principal_components() -> None:
    # Baldi & Hornik 1989: the best linear code is the space of the first principal components.
    X = load_iris().data - load_iris().data.mean(axis=0)
    long: dict[str, Any] = {"batch": None, "epochs": 3000, "learning_rate": 0.01, "patience": None, "l2": 0.0}
    step = learned(AutoencoderCode(hidden=(), code=2, **long), valued(numbers(X), [0.0] * len(X)))
    codes = step.apply(numbers(X))
    assert [column.name for column in codes.columns] == ["code_1", "code_2"]
    components = PCA(2).fit_transform(X)
    left = components - codes.numbers @ np.linalg.lstsq(codes.numbers, components, rcond=None)[0]
    assert np.abs(left).max() < 1e-3 * np.abs(components).max()
    decoded = codes.numbers @ step.weights_[1] + step.biases_[1]
    assert decoded == pytest.approx(step.restored(numbers(X)), abs=1e-9)
