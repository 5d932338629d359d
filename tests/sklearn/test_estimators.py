"""Every method and step is a scikit-learn estimator, or stands in a table with its reason; and what these do."""

from __future__ import annotations

import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline

import mlcli
import mlcli.sklearn
from mlcli.core.params import parameters
from mlcli.core.registry import MODELS, STEPS
from mlcli.data.shipped import shipped_paths
from mlcli.prepare._columns import RowStep
from mlcli.sklearn._catalogue import CHANGES_ROWS, SUFFIXES, DescribedMethod
from mlcli.tasks.table import kinds_of
from tests.sklearn.checking import assert_passes
from tests.sklearn.exceptions import TABLE

made: Any = mlcli.sklearn


def penguins() -> tuple[pd.DataFrame, pd.Series[Any]]:
    frame = pd.read_csv(shipped_paths()["penguins"]).dropna(subset=["species"])
    return frame.drop(columns="species"), frame["species"]


def test_every_method_and_step_is_an_estimator_or_says_why_not() -> None:
    of_models = {
        DescribedMethod(name, kind.name).name
        for name in MODELS.names()
        for kind in kinds_of(MODELS.load(name))
        if kind.name in SUFFIXES and name not in made.NOT_MADE
    }
    of_steps = {DescribedMethod(name, "step").name for name in STEPS.names() if name not in made.NOT_MADE}
    assert set(made.names()) == of_models | of_steps
    assert len(made.names()) == len(of_models) + len(of_steps)
    for start in (start for starts, _, _ in TABLE for start in starts):
        assert any(name.startswith(start) for name in made.names())


def test_what_changes_rows_is_no_transformer_and_nothing_else_is_left_out_for_it() -> None:
    left_out = {name for name, why in made.NOT_MADE.items() if why == CHANGES_ROWS}
    assert left_out == {name for name in STEPS.names() if issubclass(STEPS.load(name), RowStep)}


@pytest.mark.parametrize(
    "name",
    ["NaiveBayesClassifier", "RidgeRegressor", "MahalanobisDetector", "AnovaTransformer"],
)
def test_some_pass_the_checks_of_scikit_learn(name: str) -> None:
    assert_passes(name)


def test_listing_imports_neither_scikit_learn_nor_numpy() -> None:
    code = "import sys, mlcli.sklearn; print(len(mlcli.sklearn.names())); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    count, loaded = done.stdout.split("\n", 1)
    assert int(count) == len(made.names())
    assert not {"sklearn", "numpy", "pandas"} & set(loaded.split())


def test_parameters_are_those_that_are_declared() -> None:
    estimator = made.KnnClassifier(k=3)
    declared = {one.name for one in parameters(MODELS.load("knn"))}
    assert estimator.get_params().keys() == declared | {"random_state", "scale"}
    assert "number of neighbours" in made.KnnClassifier.__doc__
    with pytest.raises(TypeError, match="unexpected keyword argument 'neighbours'"):
        made.KnnClassifier(neighbours=3)
    with pytest.raises(ValueError, match=r"(?s)k must be at least 1.*distance is one of"):
        made.KnnClassifier(k=0, distance="near").fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(AttributeError, match="names"):
        _ = made.NearestClassifier


def test_an_estimator_answers_what_the_method_answers() -> None:
    X, y = penguins()
    of_shell = mlcli.train(X.assign(species=y), {"use": "knn", "params": {"k": 3}}, target="species")
    estimator = made.KnnClassifier(k=3, scale=True).fit(X, y)
    shares = of_shell.predict(X, probabilities=True).filter(like="p(").to_numpy()
    assert estimator.classes_.tolist() == sorted(set(y))
    np.testing.assert_allclose(estimator.predict_proba(X), shares, atol=1e-12)


def test_levels_and_gaps_of_frames_are_seen_to() -> None:
    X, y = penguins()
    estimator = pickle.loads(pickle.dumps(made.LogisticRegressionClassifier().fit(X, y)))
    assert estimator.score(X, y) > 0.98
    assert len(estimator.predict(X.assign(island="Elsewhere"))) == len(X)
    full = X.dropna()
    with pytest.raises(ValueError, match="NaN in column 'bill_length_mm', which had none"):
        estimator.fit(full, y[full.index]).predict(X)


def test_estimators_stand_in_pipelines_searches_and_each_other() -> None:
    X, y = penguins()
    search = GridSearchCV(made.DecisionTreeClassifier(), {"max_depth": [1, 3]}, cv=3).fit(X, y)
    assert search.best_params_ == {"max_depth": 3}
    nested = made.BaggingClassifier(base=made.DecisionTreeClassifier(max_depth=2), bags=3)
    assert nested.get_params()["base__max_depth"] == 2
    behind = make_pipeline(made.OneHotTransformer(), nested)
    assert cross_val_score(behind, X, y, cv=3).mean() > 0.9


def test_a_transformer_names_its_columns() -> None:
    frame = pd.DataFrame({"size": [1.0, 2.0, 3.0], "colour": ["red", "blue", None]})
    coded = made.OneHotTransformer().set_output(transform="pandas").fit(frame).transform(frame)
    assert list(coded.columns) == ["size", "colour=red"]
    assert made.StandardiseTransformer().fit(frame).transform(frame)[:, 1].tolist()[:2] == [1.0, 0.0]


def test_noise_is_minus_one_and_odd_rows_are_flagged() -> None:
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(0, 0.1, (30, 2)), rng.normal(3, 0.1, (30, 2)), [[20.0, 20.0]]])
    assert set(made.DbscanClusterer(eps=0.1).fit_predict(X)) == {-1, 0, 1}
    detector = made.MahalanobisDetector().fit(X)
    assert detector.predict(X)[-1] == -1
    assert detector.score_samples(X).argmin() == 60
