"""Estimators of ``mlcli.sklearn`` keep scikit-learn's conventions; what they learn is compared with its own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import AdaBoostClassifier
from sklearn.linear_model import ElasticNet, Lasso, LinearRegression, LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, OneClassSVM
from sklearn.tree import DecisionTreeClassifier

import mlcli.sklearn

made: Any = mlcli.sklearn
DIABETES: Any = load_diabetes(return_X_y=True)
IRIS: Any = load_iris(return_X_y=True)


@pytest.mark.parametrize(
    ("mine", "theirs"),
    [
        (made.LinearRegressionRegressor(), LinearRegression()),
        (made.RidgeRegressor(l2=2.0), Ridge(alpha=2.0)),
        (made.RidgeRegressor(l2=2.0, intercept=False), Ridge(alpha=2.0, fit_intercept=False)),
    ],
)
def test_coefficients_of_regressions_are_those_of_scikit_learn(mine: Any, theirs: Any) -> None:
    X, y = DIABETES
    mine, theirs = mine.fit(X, y), theirs.fit(X, y)
    assert mine.coef_.shape == theirs.coef_.shape == (mine.n_features_in_,)
    np.testing.assert_allclose(mine.coef_, theirs.coef_, rtol=1e-6)
    np.testing.assert_allclose(mine.intercept_, theirs.intercept_, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("classes", [2, 3])
def test_coefficients_of_classifiers_are_those_of_scikit_learn(classes: int) -> None:
    X, y = (part[IRIS[1] < classes] for part in IRIS)
    pairs = (
        (
            made.LogisticRegressionClassifier(l2=1.0, tolerance=1e-10),
            LogisticRegression(tol=1e-10, max_iter=10_000),
        ),
        (made.LdaClassifier(ddof=0), LinearDiscriminantAnalysis()),
    )
    for mine, theirs in pairs:
        mine, theirs = mine.fit(X, y), theirs.fit(X, y)
        assert mine.coef_.shape == theirs.coef_.shape
        np.testing.assert_allclose(mine.coef_, theirs.coef_, rtol=1e-3, atol=1e-4)
        np.testing.assert_allclose(mine.intercept_, theirs.intercept_, rtol=1e-3, atol=1e-4)


def test_coefficients_of_a_linear_classifier_reproduce_its_answers() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    for name in ("LinearSvmClassifier", "PerceptronClassifier", "LinearClassifierClassifier"):
        mine = getattr(made, name)().fit(X, y)
        scores = X @ mine.coef_[0] + mine.intercept_[0]
        np.testing.assert_array_equal(mine.predict(X), (scores > 0).astype(int))


@pytest.mark.parametrize("classes", [2, 3])
def test_coefficients_of_a_linear_kernel_are_those_of_scikit_learn(classes: int) -> None:
    X, y = (part[IRIS[1] < classes] for part in IRIS)
    mine = made.SvmClassifier(kernel="linear", tolerance=1e-6).fit(X, y)
    theirs = SVC(kernel="linear", tol=1e-6).fit(X, y)
    np.testing.assert_allclose(mine.coef_, theirs.coef_, atol=1e-3)
    np.testing.assert_allclose(mine.intercept_, theirs.intercept_, atol=1e-3)
    rest = made.SvmClassifier(kernel="linear", multiclass="one-against-rest").fit(X, y)
    scores = X @ rest.coef_.T + rest.intercept_
    answers = scores[:, 0] > 0 if classes == 2 else scores.argmax(axis=1)
    assert (rest.predict(X) == answers).mean() > 0.95
    assert not hasattr(made.SvmClassifier().fit(X, y), "coef_")


def test_coefficients_of_a_support_vector_regression_reproduce_its_answers() -> None:
    X, y = DIABETES
    mine = made.SvmRegressionRegressor(kernel="linear").fit(X, y)
    assert mine.coef_.shape == (1, X.shape[1])
    np.testing.assert_allclose(X @ mine.coef_[0] + mine.intercept_, mine.predict(X))


def test_importances_and_centres_are_those_of_scikit_learn() -> None:
    X, y = IRIS
    centres = KMeans(3, n_init=10, random_state=0).fit(X).cluster_centers_
    mine = made.KMeansClusterer(clusters=3).fit(X)
    np.testing.assert_allclose(np.sort(mine.cluster_centers_, axis=0), np.sort(centres, axis=0), rtol=1e-6)
    stump = made.DecisionTreeClassifier(max_depth=1).fit(X[:, 2:3], y)
    assert stump.feature_importances_.tolist() == [1.0]
    X, y = load_breast_cancer(return_X_y=True)
    theirs = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y).feature_importances_
    mine = made.DecisionTreeClassifier(max_depth=2, criterion="gini").fit(X, y).feature_importances_
    np.testing.assert_allclose(np.sort(mine), np.sort(theirs), atol=1e-9)  # two columns part the same rows
    for name in ("RandomForestClassifier", "NewtonBoostingClassifier"):
        importances = getattr(made, name)().fit(*IRIS).feature_importances_
        assert importances.shape == (4,)
        assert importances.sum() == pytest.approx(1.0)


def test_attributes_are_there_after_fit_and_only_where_a_method_learns_such() -> None:
    X, y = IRIS
    assert not hasattr(made.RidgeRegressor(), "coef_")
    knn = made.KnnClassifier().fit(X, y)
    assert not any(hasattr(knn, name) for name in ("coef_", "feature_importances_", "cluster_centers_"))
    assert knn.n_features_in_ == 4


def test_nothing_is_scaled_unless_it_is_asked_for() -> None:
    """A column in another unit: scikit-learn's nearest neighbours, alone and behind its StandardScaler."""
    X, y = load_breast_cancer(return_X_y=True)
    plain, scaled = KNeighborsClassifier(5), make_pipeline(StandardScaler(), KNeighborsClassifier(5))
    train, test = np.arange(0, 569, 2), np.arange(1, 569, 2)
    of_plain, of_scaled = (one.fit(X[train], y[train]).predict(X[test]) for one in (plain, scaled))
    assert (of_plain != of_scaled).any()
    for scale, expected in ((False, of_plain), (True, of_scaled)):
        mine = made.KnnClassifier(k=5, scale=scale).fit(X[train], y[train])
        assert (mine.predict(X[test]) == expected).mean() > 0.99
        bagged = made.BaggingClassifier(base=made.KnnClassifier(k=5, scale=scale), bags=1)
        assert clone(bagged).base.scale is scale
    assert "scale : true or false, default False" in made.KnnClassifier.__doc__
    assert "scale" not in made.StandardiseTransformer().get_params()


def test_a_nested_estimator_is_scaled_as_it_says() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    nested = [made.VotingClassifier(models=[made.KnnClassifier(k=1, scale=scale)]) for scale in (False, True)]
    plain, scaled = (one.fit(X[::2], y[::2]).predict(X[1::2]) for one in nested)
    alone = [made.KnnClassifier(k=1, scale=scale).fit(X[::2], y[::2]).predict(X[1::2]) for scale in (False, True)]
    assert (plain == alone[0]).all()
    assert (scaled == alone[1]).all()
    assert (plain != scaled).any()


def test_a_star_import_has_every_estimator() -> None:
    namespace: dict[str, Any] = {}
    exec("from mlcli.sklearn import *", namespace)  # the statement stands in no function
    assert namespace["KnnClassifier"] is made.KnnClassifier
    assert set(made.names()) <= set(made.__all__) <= set(namespace)


@pytest.mark.parametrize("categories", [["low", "mid", "high"], [3, 1, 2]])
def test_ordered_categories_keep_their_order(categories: list[Any]) -> None:
    cells = pd.Categorical(np.resize(categories, 60), categories=categories, ordered=True)
    frame = pd.DataFrame({"risk": cells, "x": np.arange(60.0)})
    ranks = made.OrdinalTransformer().fit(frame).transform(frame)[:, 0]
    assert ranks[:3].tolist() == pytest.approx([0.0, 0.5, 1.0])
    y = np.resize([0.0, 1.0, 2.0], 60)
    model = made.LinearRegressionRegressor().fit(frame[["risk"]], y)
    np.testing.assert_allclose(model.predict(frame[["risk"]]), y, atol=1e-9)
    assert model.coef_ == pytest.approx([2.0])


def test_categories_without_an_order_are_levels() -> None:
    frame = pd.DataFrame({"code": pd.Categorical(np.resize([10, 20, 30], 60))})
    y = np.resize([1.0, 5.0, 2.0], 60)
    model = made.LinearRegressionRegressor().fit(frame, y)
    np.testing.assert_allclose(model.predict(frame), y, atol=1e-9)


def test_lasso_and_elastic_net_have_coefficients() -> None:
    """scikit-learn's penalty is of means: n times alpha is the penalty of a sum of squares."""
    X, y = DIABETES
    n = len(y)
    for mine, theirs in (
        (made.LassoRegressor(l1=0.5 * n), Lasso(alpha=0.5, tol=1e-10)),
        (
            made.ElasticNetRegressor(strength=0.5 * n, share=0.5),
            ElasticNet(alpha=0.5, l1_ratio=0.5, tol=1e-10),
        ),
    ):
        np.testing.assert_allclose(mine.fit(X, y).coef_, theirs.fit(X, y).coef_, rtol=1e-4, atol=1e-6)


def test_centres_of_k_medoids_are_rows() -> None:
    X, _ = IRIS
    centres = made.KMedoidsClusterer(clusters=3).fit(X).cluster_centers_
    assert centres.shape == (3, 4)
    assert all((centre == X).all(axis=1).any() for centre in centres)


def test_importances_of_adaboost_are_those_of_scikit_learn() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    stump = made.DecisionTreeClassifier(max_depth=1, criterion="gini")
    mine = made.AdaboostClassifier(base=stump, rounds=5).fit(X, y).feature_importances_
    theirs = AdaBoostClassifier(DecisionTreeClassifier(max_depth=1), n_estimators=5).fit(X, y)
    np.testing.assert_allclose(mine, theirs.feature_importances_, atol=1e-6)
    neighbours = made.AdaboostClassifier(base=made.NaiveBayesClassifier(), rounds=2).fit(X, y)
    assert not hasattr(neighbours, "feature_importances_")


def test_coefficients_of_a_linear_one_class_svm_point_as_in_scikit_learn() -> None:
    """Its coefficients sum to 1, where LIBSVM's sum to ν n."""
    X = IRIS[0]
    mine = made.OneClassSvmDetector(kernel="linear", nu=0.2, tolerance=1e-6).fit(X)
    theirs = OneClassSVM(kernel="linear", nu=0.2, tol=1e-8).fit(X)
    scale = 0.2 * len(X)
    np.testing.assert_allclose(mine.coef_, theirs.coef_ / scale, rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(mine.intercept_, theirs.intercept_ / scale, rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(X @ mine.coef_[0] + mine.intercept_, mine.score_samples(X), atol=1e-9)
    assert not hasattr(made.OneClassSvmDetector().fit(X), "coef_")
    assert not hasattr(made.SvddDetector(kernel="linear").fit(X), "coef_")
