"""Tuning beside scikit-learn's searches, on the same inner folds: the same scores, and the same choice."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.linear_model import ElasticNet, Lasso, Ridge
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import GridSearchCV, HalvingGridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeRegressor

from mlcli.core.params import build
from mlcli.engines.content_seeds import order_of_content
from mlcli.models.wrappers.tuned import Tuned
from mlcli.tasks.table import kind_named
from tests.golden.asking import fitted
from tests.golden.shipped import in_numbers, standardised

SEED = 1


def tuned(base: Any, ranges: Any, **params: Any) -> Any:
    return build(Tuned, {"base": base, "ranges": ranges, **params})


def inner_folds_of(model: Any, data: Any) -> tuple[Any, Any]:
    """The rows in the order in which the method sees them, and its inner folds."""
    ordered = data.take(order_of_content(data))
    examination = model.inner_evaluation(ordered, np.random.default_rng(SEED).spawn(3)[0])
    return ordered, [(split.train, split.test) for split in examination.splits]


def scores_by(model: Any) -> dict[str, float]:
    return {one["what"]: one["score"] for one in model.trials_}


def beside(model: Any, data: Any, oracle: Any, grid: dict[str, Any], scoring: str) -> tuple[Any, Any]:
    """Our model after learning, and scikit-learn's search on the same folds."""
    ordered, folds = inner_folds_of(model, data)
    search = GridSearchCV(oracle, grid, scoring=scoring, cv=folds, refit=False)
    return fitted(model, data, SEED), search.fit(ordered.table.numbers, ordered.y)


def same_scores(model: Any, search: Any, names: dict[str, str], sign: float = 1.0, abs: float = 1e-9) -> None:
    """Every candidate has the score that scikit-learn gives it."""
    ours = scores_by(model)
    results = search.cv_results_
    assert len(ours) == len(results["params"])
    for params, score in zip(results["params"], results["mean_test_score"], strict=True):
        what = ", ".join(f"{ours_}={params[theirs]:g}" for ours_, theirs in names.items())
        assert ours[what] == pytest.approx(sign * score, rel=abs, abs=abs)


def test_k_of_nearest_neighbours() -> None:
    data, k = in_numbers("wine"), [1, 3, 5, 9, 15]
    base = {"use": "knn", "steps": ["standardise"], "params": {"tied_vote": "class-order"}}
    oracle = make_pipeline(StandardScaler(), KNeighborsClassifier())
    model, search = beside(
        tuned(base, {"k": k}), data, oracle, {"kneighborsclassifier__n_neighbors": k}, "accuracy"
    )
    same_scores(model, search, {"k": "kneighborsclassifier__n_neighbors"})
    assert model.values_["k"] == search.best_params_["kneighborsclassifier__n_neighbors"]
    assert model.score_ == pytest.approx(search.best_score_)


def test_penalty_of_ridge_in_closed_form() -> None:
    data, l2 = in_numbers("cpu"), [0.1, 1.0, 10.0, 100.0]
    oracle = make_pipeline(StandardScaler(), Ridge())
    base = {"use": "ridge", "steps": ["standardise"]}
    model, search = beside(
        tuned(base, {"l2": l2}), data, oracle, {"ridge__alpha": l2}, "neg_root_mean_squared_error"
    )
    same_scores(model, search, {"l2": "ridge__alpha"}, sign=-1)
    assert model.values_["l2"] == search.best_params_["ridge__alpha"]


@pytest.mark.parametrize(("use", "name"), [("lasso", "l1"), ("elastic-net", "strength")])
def test_path_of_lasso_and_elastic_net(use: str, name: str) -> None:
    data, strengths = in_numbers("cpu"), [50.0, 500.0, 5000.0]
    model = tuned({"use": use, "steps": []}, {name: strengths})
    ordered, folds = inner_folds_of(model, data)
    ours = scores_by(fitted(model, data, SEED))
    for strength in strengths:
        errors = []
        for train, test in folds:
            theirs = Lasso if use == "lasso" else ElasticNet
            oracle = theirs(strength / len(train), tol=1e-12, max_iter=1_000_000)
            oracle.fit(ordered.table.numbers[train], ordered.y[train])
            errors.append(np.sqrt(np.mean((oracle.predict(ordered.table.numbers[test]) - ordered.y[test]) ** 2)))
        assert ours[f"{name}={strength:g}"] == pytest.approx(np.mean(errors), rel=1e-5)


def test_cost_and_width_of_svm() -> None:
    data, costs, widths = in_numbers("ionosphere"), [0.1, 1.0, 10.0], [0.01, 0.1]
    base = {"use": "svm", "steps": ["standardise"], "params": {"tolerance": 1e-6}}
    oracle = make_pipeline(StandardScaler(), SVC(tol=1e-6))
    grid = {"svc__C": costs, "svc__gamma": widths}
    model, search = beside(tuned(base, {"C": costs, "gamma": widths}), data, oracle, grid, "accuracy")
    same_scores(model, search, {"C": "svc__C", "gamma": "svc__gamma"}, abs=5e-3)
    assert model.values_ == {"C": search.best_params_["svc__C"], "gamma": search.best_params_["svc__gamma"]}


def test_the_shape_of_a_gaussian_by_the_likelihood_of_rows_left_out() -> None:
    data = standardised("iris")
    data = kind_named("density").rows(table=data.table, rows=data.rows, labels=np.full(len(data), -1, np.int32))
    shapes = {"full": "full", "diagonal": "diag", "spherical": "spherical"}
    base = {"use": "gmm", "steps": [], "params": {"components": 1, "floor": 0.0}}
    model = tuned(base, {"covariance": list(shapes)})
    ordered, folds = inner_folds_of(model, data)
    search = GridSearchCV(GaussianMixture(reg_covar=0), {"covariance_type": list(shapes.values())}, cv=folds)
    search.fit(ordered.table.numbers)
    fitted(model, data, SEED)
    theirs = dict(zip(shapes, search.cv_results_["mean_test_score"], strict=True))
    assert scores_by(model) == pytest.approx({f"covariance={shape}": score for shape, score in theirs.items()})
    assert model.values_ == {"covariance": "full"}


def test_halving_chooses_what_scikit_learn_chooses() -> None:
    data, leaves = in_numbers("concrete"), [1, 2, 60, 120, 200, 250, 300, 350, 400]
    base = {"use": "decision-tree", "params": {"prune": "none"}}
    model = tuned(base, {"min_leaf": leaves}, search="halving")
    _, folds = inner_folds_of(model, data)
    learned = fitted(model, data, SEED)
    search = HalvingGridSearchCV(
        DecisionTreeRegressor(random_state=0), {"min_samples_leaf": leaves}, cv=5, random_state=0,
        scoring="neg_root_mean_squared_error", min_resources=300,
    ).fit(data.table.numbers, data.y)  # fmt: skip
    assert len(folds) == 5
    assert {learned.values_["min_leaf"], search.best_params_["min_samples_leaf"]} <= {1, 2}
    efforts = [one["effort"] for one in learned.trials_]
    assert efforts[0] == 1.0
    assert min(efforts) < 1.0


def test_the_chosen_model_is_the_one_fitted_to_all_rows() -> None:
    data = in_numbers("wine")
    model = fitted(tuned({"use": "knn", "steps": []}, {"k": [3, 7, 30]}), data, SEED)
    alone = KNeighborsClassifier(model.values_["k"]).fit(data.table.numbers, data.y)
    assert model.predict_proba(data.table) == pytest.approx(alone.predict_proba(data.table.numbers))


def test_one_standard_error_takes_the_simplest_that_is_near_the_best() -> None:
    data, l2 = in_numbers("cpu"), [0.01, 1.0, 10.0, 50.0, 1000.0]
    base = {"use": "ridge", "steps": ["standardise"]}
    model = fitted(tuned(base, {"l2": l2}, rule="one-standard-error"), data, SEED)
    scores = {float(one["what"].removeprefix("l2=")): one for one in model.trials_}
    best = min(scores.values(), key=lambda one: one["score"])
    near = [value for value, one in scores.items() if one["score"] <= best["score"] + best["error"]]
    assert model.values_["l2"] == max(near)
    assert len(near) > 1
