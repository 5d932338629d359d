"""Principal components beside the haematology table of the notes, scikit-learn, and each other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sklearn.decomposition

from mlcli.core.errors import FitError
from mlcli.core.pipeline import Pipeline, learn
from mlcli.core.tables import Array
from mlcli.metrics.registry import metric_named
from mlcli.models.density.gmm import GaussianMixture
from mlcli.models.projection.pca import PrincipalComponents
from mlcli.prepare.pca import PrincipalComponents as PcaStep
from mlcli.prepare.standardise import Standardise
from tests.golden.asking import answered, asked, fitted
from tests.golden.densities import numbers_of, unlabelled
from tests.prepare.preparing import fitted as fitted_step

# SOURCES.md section 7: nine blood samples by seven measures (S2 "Dimension Reduction").
HAEMATOLOGY = np.loadtxt(Path(__file__).parent / "haematology.csv", delimiter=",", skiprows=1, usecols=range(1, 8))
CENTRED = {
    0: [31.378604, 4.459708, 3.061992, 1.053974, 0.029136, 0.001793, 0.000380],
    1: [35.300929, 5.017172, 3.444741, 1.185721, 0.032779, 0.002017, 0.000427],
}
"""Eigenvalues of the covariance, by ddof."""
CORRELATION = [2.469806, 2.256864, 1.700473, 0.556669, 0.012687, 0.002476, 0.001025]
PRINTED = 5.1e-7
both_ways = pytest.mark.parametrize("by", ["svd", "eigen", "auto", "iterative"])


def components_of(X: Array, **params: Any) -> PrincipalComponents:
    """With the sample's variances, as scikit-learn and numpy's cov have them, where nothing else is said."""
    model: PrincipalComponents = fitted(PrincipalComponents(**{"ddof": 1, **params}), unlabelled(X, "projection"))
    return model


def step_on(X: Array, **params: Any) -> PcaStep:
    step: PcaStep = fitted_step(PcaStep(**params), unlabelled(X, "projection").table)
    return step


@both_ways
@pytest.mark.parametrize("ddof", CENTRED)
def test_the_eigenvalues_of_the_notes(by: str, ddof: int) -> None:
    model = components_of(HAEMATOLOGY, by=by, ddof=ddof)
    assert model.variances_ == pytest.approx(CENTRED[ddof], abs=PRINTED)
    assert model.variances_.sum() == pytest.approx({0: 39.985588, 1: 44.983786}[ddof], abs=PRINTED)
    shares = np.cumsum(model.variances_) / model.variances_.sum()
    assert shares[:6] == pytest.approx([0.7847, 0.8963, 0.9729, 0.9992, 0.9999, 1], abs=5e-5)


@both_ways
@pytest.mark.parametrize("ddof", [0, 1])
def test_the_eigenvalues_of_the_correlation(by: str, ddof: int) -> None:
    variances = step_on(HAEMATOLOGY, by=by, ddof=ddof).variances_
    assert variances == pytest.approx(CORRELATION, abs=PRINTED)
    assert variances.sum() == pytest.approx(7, rel=1e-12)
    shares = np.cumsum(variances) / 7
    assert shares[:6] == pytest.approx([0.3528, 0.6752, 0.9182, 0.9977, 0.9995, 0.9999], abs=5e-5)
    assert (variances > 1).sum() == 3


def test_the_method_after_standardising_has_the_eigenvalues_of_the_correlation() -> None:
    """Both divide by N at their defaults, so that the eigenvalues add up to the number of columns."""
    rows = unlabelled(HAEMATOLOGY, "projection")
    model = PrincipalComponents()
    learn(Pipeline(steps=(Standardise(),), model=model), rows, np.random.default_rng(1))
    assert model.variances_ == pytest.approx(CORRELATION, abs=PRINTED)


def test_the_singular_values_of_the_centred_table() -> None:
    singular = np.sqrt(components_of(HAEMATOLOGY, ddof=0).variances_ * 9)
    expected = [16.804982, 6.335407, 5.249565, 3.079897, 0.512082, 0.127024, 0.058477]
    assert singular == pytest.approx(expected, abs=PRINTED)


@both_ways
def test_the_first_direction_and_the_scores_of_the_notes(by: str) -> None:
    model = components_of(HAEMATOLOGY, by=by)
    direction = [-0.038720, -0.033581, 0.024711, 0.157381, 0.950668, 0.257007, -0.046604]
    assert model.directions_[:, 0] == pytest.approx(direction, abs=PRINTED)
    scores = model.project(unlabelled(HAEMATOLOGY, "projection").table)[:, 0]
    expected = [-6.3155, -5.0149, 0.2676, 10.6502, -6.6540, 7.1530, 1.1952, -2.3992, 1.1176]
    assert scores == pytest.approx(expected, abs=5.1e-5)


@both_ways
def test_the_first_direction_of_the_correlation(by: str) -> None:
    expected = [-0.136316, -0.540124, 0.062476, 0.023803, 0.560405, 0.595921, 0.126647]
    assert step_on(HAEMATOLOGY, by=by).directions_[:, 0] == pytest.approx(expected, abs=PRINTED)


@pytest.mark.parametrize(("components", "error"), [(1, 8.606984), (2, 4.147276), (3, 1.085283)])
def test_the_reconstruction_error_of_the_notes(components: int, error: float) -> None:
    # S0 (86): the sum of the eigenvalues that are left out.
    answers = answered(PrincipalComponents(components=components), unlabelled(HAEMATOLOGY, "projection"))
    assert metric_named("reconstruction-error", type(answers)).compute(answers) == pytest.approx(
        error, abs=PRINTED
    )
    kept = sum(CENTRED[0][:components]) / 39.985588
    assert metric_named("explained-variance", type(answers)).compute(answers) == pytest.approx(kept, abs=1e-7)


@pytest.mark.parametrize("before", [(), (Standardise(ddof=1),)])
def test_ninety_percent_of_the_variance_needs_three(before: Any) -> None:
    model = PrincipalComponents(share=0.9)
    learn(Pipeline(steps=before, model=model), unlabelled(HAEMATOLOGY, "projection"), np.random.default_rng(1))
    assert model.kept_ == 3
    table = unlabelled(HAEMATOLOGY, "projection").table
    step = fitted_step(PcaStep(share=0.9), table)
    assert len(step.apply(table).columns) == 3
    assert len(step.columns_left(table.columns)) == len(table.columns)
    # Of the eigenvalues of the correlations the fifth is farthest below the line from 2.470 to 0.001: by 0.811.
    by_elbow = fitted_step(PcaStep(choose="elbow"), unlabelled(HAEMATOLOGY, "projection").table)
    assert len(by_elbow.apply(unlabelled(HAEMATOLOGY, "projection").table).columns) == 5


@both_ways
@pytest.mark.parametrize("dataset", ["iris", "wine", "wdbc"])
def test_components_and_rows_are_those_of_scikit_learn(dataset: str, by: str) -> None:
    X = numbers_of(dataset)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    count = 3
    oracle = sklearn.decomposition.PCA(count, svd_solver="full").fit(X)
    model, table = components_of(X, components=count, by=by), unlabelled(X, "projection").table
    signs = np.sign((oracle.components_ * model.directions_[:, :count].T).sum(axis=1))
    assert model.variances_[:count] == pytest.approx(oracle.explained_variance_, rel=1e-9)
    assert model.directions_[:, :count].T * signs[:, None] == pytest.approx(oracle.components_, abs=1e-9)
    assert model.project(table) * signs == pytest.approx(oracle.transform(X), abs=1e-9)
    restored = oracle.inverse_transform(oracle.transform(X))
    assert model.reconstruct(table) == pytest.approx(restored, abs=1e-9)


@pytest.mark.parametrize("dataset", ["iris", "wine", "faithful"])
def test_eigen_and_svd_agree(dataset: str) -> None:
    X = numbers_of(dataset)
    one, other = components_of(X, by="svd"), components_of(X, by="eigen")
    assert one.variances_ == pytest.approx(other.variances_, rel=1e-9)
    assert one.directions_ == pytest.approx(other.directions_, abs=1e-9)
    assert one.kept_ == other.kept_


@both_ways
def test_more_columns_than_rows_leave_directions_without_entries(by: str) -> None:
    X = np.random.default_rng(4).normal(size=(5, 12))
    model = components_of(X, by=by, components=12)
    assert (model.variances_ > 0).sum() == 4
    assert not model.directions_[:, 4:].any()
    assert model.reconstruct(unlabelled(X, "projection").table) == pytest.approx(X, abs=1e-12)
    assert "the rows vary in 4 directions only" in model.explain()[0].note


@pytest.mark.parametrize("shape", [(40, 6), (6, 40)])
def test_a_distant_origin_costs_no_digits(shape: tuple[int, int]) -> None:
    # Squares of numbers near 1e7 less the square of their mean would leave 2 digits of a variance of 1.
    X = np.round(np.random.default_rng(5).normal(size=shape) * 2**20) / 2**20
    near, far = components_of(X, share=1.0), components_of(X + 1e7, share=1.0)
    assert far.variances_ == pytest.approx(near.variances_, rel=1e-9)
    assert far.directions_ == pytest.approx(near.directions_, abs=1e-8)
    singular = np.linalg.svd(X - X.mean(axis=0), compute_uv=False)
    count = np.sum(near.variances_ > 0)
    assert near.variances_[:count] == pytest.approx(singular[:count] ** 2 / (len(X) - 1), rel=1e-9)


def test_a_direction_that_hardly_varies_is_found_precisely() -> None:
    # Its variance is 1e-11 of the largest, of which squares of the rows keep 5 digits.
    turn = np.linalg.qr(np.random.default_rng(6).normal(size=(4, 4)))[0]
    X = np.random.default_rng(7).normal(size=(50, 4)) * [1, 1, 1, 1e-5] @ turn
    assert components_of(X).variances_ == pytest.approx(components_of(X, by="svd").variances_, rel=1e-12)
    exact = np.linalg.svd(X - X.mean(axis=0), compute_uv=False) ** 2 / 49
    assert components_of(X).variances_ == pytest.approx(exact, rel=1e-9)


@both_ways
def test_every_component_restores_every_row(by: str) -> None:
    answers = answered(PrincipalComponents(share=1.0, by=by), unlabelled(HAEMATOLOGY, "projection"))
    assert answers.error == pytest.approx(np.zeros(9), abs=1e-20)


def test_more_components_than_columns_are_refused() -> None:
    with pytest.raises(FitError, match="8 components of 7 columns"):
        components_of(HAEMATOLOGY, components=8)


def test_the_largest_entry_of_each_direction_is_positive() -> None:
    directions = components_of(numbers_of("wine")).directions_
    assert (directions[np.abs(directions).argmax(axis=0), np.arange(13)] > 0).all()


@pytest.mark.parametrize("standardise", [True, False])
def test_a_density_behind_all_components_is_that_of_the_columns(standardise: bool) -> None:
    data = unlabelled(numbers_of("wine"), "density")
    turned = Pipeline(
        steps=(PcaStep(components=None, standardise=standardise),), model=GaussianMixture(components=1)
    )
    learn(turned, data, np.random.default_rng(1))
    plain = fitted(GaussianMixture(components=1), data)
    assert asked(turned, data).log_density == pytest.approx(asked(plain, data).log_density, rel=1e-9)


def test_a_density_behind_fewer_components_is_refused() -> None:
    data = unlabelled(numbers_of("iris"), "density")
    with pytest.raises(FitError, match="2 of 4 columns"):
        learn(Pipeline(steps=(PcaStep(),), model=GaussianMixture()), data, np.random.default_rng(1))
