"""Methods of one's own: files by --plugin and plugins:, estimators of other packages by import path, and `new`."""

from __future__ import annotations

import json
import os
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn
from jsonschema import Draft202012Validator
from sklearn.datasets import load_iris
from sklearn.svm import SVC

import mlcli
from mlcli.core.registry import MODELS, PLUGIN_FILES, add_plugins, allow_imports
from mlcli.data.shipped import shipped_paths
from mlcli.experiment.run.preparation import revisions_of
from mlcli.experiment.spec.json_schema import experiment_schema
from tests.support.shell import document, typed

FILE = "nearest_mean.py"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A place with a new method; what is plugged in there is gone afterwards."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(PLUGIN_FILES, "")
    assert typed("new", "model", "nearest-mean").exit_code == 0
    return tmp_path


def problem(*words: str) -> str:
    result = typed(*words)
    assert result.exit_code in (2, 3), result.output
    return result.stderr


def test_a_new_method_works_as_it_stands_and_passes_its_own_test(folder: Path) -> None:
    own = runpy.run_path(f"test_{FILE}")
    tests = [value for name, value in own.items() if name.startswith("test_")]
    assert len(tests) == 3
    for test in tests:
        test()


def test_new_leaves_alone_what_is_there(folder: Path) -> None:
    assert "nearest_mean.py exists" in problem("new", "model", "nearest-mean")
    assert "there is a model 'knn' already" in problem("new", "model", "knn")
    assert "'Nearest Mean' is no id" in problem("new", "model", "Nearest Mean")
    assert "did you mean 'model'" in problem("new", "modle", "x")


def test_a_method_of_ones_own_is_listed_explained_trained_and_asked(folder: Path) -> None:
    plugin = ("--plugin", FILE)
    assert "from nearest_mean.py" in typed("models", *plugin).stdout
    assert "must be above 0" in problem("eval", "iris", "-m", "nearest-mean", "-p", "power=0", *plugin)
    trained = typed("train", "iris", "-m", "nearest-mean", "-o", "means.mlcli", *plugin)
    assert "Mean of each class" in trained.stdout
    assert "\n1,setosa,setosa\n" in typed("predict", "means.mlcli", "iris", *plugin).stdout


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x = 1 +", r"mine.py:1: cannot be imported: SyntaxError"),
        ("\nx = 1 / 0", r"mine.py:2: cannot be imported: ZeroDivisionError: division by zero"),
        ("raise SystemExit(0)", "mine.py:1: cannot be imported: SystemExit: 0"),
        ("x = 1", "mine.py: registers nothing"),
        (
            "from mlcli.core.registry import register\nfrom mlcli.tasks.supervised import Regressor\n"
            "@register('knn', reference='')\nclass Mine(Regressor):\n    ...",
            "'knn', which mlcli has already",
        ),
        (None, "there is no plug-in 'mine.py'"),
    ],
)
def test_what_is_wrong_with_a_file_is_said_with_its_line(folder: Path, text: str | None, said: str) -> None:
    if text is not None:
        Path("mine.py").write_text(text)
    assert said in problem("eval", "iris", "-m", "mine", "--plugin", "mine.py")


@pytest.mark.parametrize("text", ["raise SystemExit(0)", "1 / 0"])
def test_a_package_that_cannot_be_imported_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    (tmp_path / "broken.py").write_text(text)
    about = tmp_path / "broken-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Name: broken\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[mlcli.models]\nbroken = broken\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(vars(MODELS), "_entry_points", raising=False)
    for name in ("broken", "broken.Model"):
        assert "broken: cannot be imported" in problem("eval", "iris", "-m", name)
    vars(MODELS).pop("_entry_points", None)


def test_a_file_names_its_plugins_and_answers_are_kept_by_what_they_hold(folder: Path) -> None:
    Path("e.yaml").write_text(f"plugins: [{FILE}]\ndata: [iris]\nmodels: [nearest-mean]\n")
    assert "in .mlcli/runs.db already" not in typed("run", "e.yaml", "-j", "1").stderr
    assert "3 of 3 cells were in" in typed("run", "e.yaml", "-j", "1").stderr
    source = Path(FILE).read_text()
    Path(FILE).write_text(source.replace("argmin(axis=1)", "argmax(axis=1)"))
    assert "2 of 3 cells were in" in typed("run", "e.yaml", "-j", "1").stderr
    assert "nearest-mean" not in MODELS
    Path("wrong.yaml").write_text("plugins: [nowhere.py]\ndata: [iris]\nmodels: [knn]\n")
    assert "wrong.yaml:1:11: there is no plug-in" in problem("run", "wrong.yaml")


def test_worker_processes_find_the_files(folder: Path) -> None:
    add_plugins([FILE])
    code = "from mlcli.core.registry import MODELS; print(MODELS.load('nearest-mean').__name__)"
    env = os.environ | {"PYTHONPATH": str(Path(mlcli.__file__).parents[1])}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    assert done.stdout == "NearestMean\n"


def test_an_estimator_by_import_path_answers_what_it_answers_alone() -> None:
    model = mlcli.train("iris", {"use": "sklearn.svm.SVC", "params": {"C": 3, "kernel": "linear"}})
    X, y = load_iris(return_X_y=True)
    alone = SVC(C=3, kernel="linear").fit(X, y)
    said = model.predict("iris")["prediction"]
    assert said.tolist() == [("setosa", "versicolor", "virginica")[code] for code in alone.predict(X)]
    ridge = mlcli.train("cpu", {"use": "sklearn.linear_model.Ridge", "steps": [{"use": "keep-kinds"}]})
    assert "Coefficients" in str(ridge)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("-m", "sklearn.svm.SVCC"), "did you mean 'SVC'?"),
        (("-m", "sklearn.svmm.SVC"), "there is no module 'sklearn.svmm'"),
        (("-m", "nowhere.Model"), "nowhere is not installed"),
        (("-m", "sklearn.svm.SVC", "-p", "CC=3"), "no parameter 'CC'"),
        (("-m", "sklearn.svm.SVC", "-p", "C=-3"), "must be a float in the range (0.0, inf]"),
        (("-m", "sklearn.preprocessing.StandardScaler"), "steps: [{use: sklearn.preprocessing.StandardScaler}]"),
        (("-m", "{use: knn, steps: [{use: sklearn.svm.SVC}]}"), "is no transformer"),
        (("-m", "collections.Counter"), "is no estimator"),
        (("-m", "sklearn.ensemble.VotingClassifier"), "cannot be made without parameters"),
    ],
)
def test_what_is_wrong_with_an_import_path_is_said(words: tuple[str, ...], said: str) -> None:
    assert said in problem("eval", "iris", *words)


@pytest.mark.parametrize(
    "model",
    [
        {
            "use": "sklearn.ensemble.BaggingClassifier",
            "params": {"estimator": {"use": "sklearn.svm.SVC"}, "n_estimators": 2},
        },
        {"use": "bagging", "params": {"base": "sklearn.svm.SVC", "bags": 2}},
        {"use": "lda", "steps": [{"use": "sklearn.decomposition.PCA", "params": {"n_components": 2}}]},
        {"use": "lightgbm.LGBMClassifier", "params": {"n_estimators": 5, "min_child_samples": 5}},
    ],
    ids=lambda model: str(model["use"]),
)
def test_estimators_stand_in_each_other_and_behind_transformers(model: dict[str, Any]) -> None:
    trained = mlcli.train("iris", model)
    assert np.mean(trained.predict("iris")["prediction"] == pd.read_csv(shipped_paths()["iris"])["species"]) > 0.9


def test_without_probabilities_nothing_is_said_of_them(folder: Path) -> None:
    words = ("-m", "sklearn.svm.LinearSVC", "--metric", "log-loss", "-j", "1", "--json")
    (*_, cell) = document(typed("eval", "iris", *words))["cells"]
    assert "the model gives no probabilities" in cell["metrics"]["log-loss"]["why"]


def test_what_other_packages_learn_is_not_saved(tmp_path: Path) -> None:
    file = str(tmp_path / "m.mlcli")
    assert "cannot be saved" in problem("train", "iris", "-m", "sklearn.svm.SVC", "-o", file)
    with pytest.raises(mlcli.MlcliError, match="cannot be saved"):
        mlcli.train("iris", "sklearn.svm.SVC").save(file)


def test_clusterers_and_detectors_of_other_packages_answer() -> None:
    found = mlcli.train("iris", {"use": "sklearn.cluster.KMeans", "params": {"n_clusters": 3}}, task="clustering")
    assert set(found.predict("iris")["cluster"]) == {0.0, 1.0, 2.0}
    forest = {"use": "sklearn.ensemble.IsolationForest", "params": {"n_estimators": 10, "contamination": 0.1}}
    flagged = mlcli.train("iris", forest, task="anomaly").predict("iris")["flagged"]
    assert 10 <= (flagged == "yes").sum() <= 20


def test_the_schema_knows_plugins_and_import_paths() -> None:
    schema = Draft202012Validator(experiment_schema())
    svc = {"use": "sklearn.svm.SVC", "params": {"C": 2}, "as": "SVC"}
    bags = {"use": "bagging", "params": {"base": "sklearn.svm.SVC"}}
    legal = {"plugins": ["mine.py"], "data": ["iris"], "models": [svc, "sklearn.svm.SVC", bags]}
    assert schema.is_valid(json.loads(json.dumps(legal)))
    assert not schema.is_valid({**legal, "plugins": "mine.py"})


def test_answers_of_another_package_are_kept_by_its_version() -> None:
    path = "sklearn.svm.SVC"
    allow_imports([path])
    ((noun, (_, version, _)),) = revisions_of([(path, MODELS.load(path))]).items()
    assert (noun, version) == (f"model {path}", f"scikit-learn {sklearn.__version__}")
