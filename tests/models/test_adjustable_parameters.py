"""Adjustable parameters: as many as the textbook counts, effective ones where it has such."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.svm import SVC

from mlcli.core.params import build
from mlcli.core.pipeline import adjustable_parameters
from mlcli.core.registry import MODELS
from mlcli.core.schema import Column
from mlcli.core.tables import Table
from tests.golden.asking import fitted
from tests.support.rows import labelled, valued
from tests.support.shell import document, typed


def table_of(X: Any) -> Table:
    return Table(tuple(Column(f"x{j}") for j in range(X.shape[1])), X, np.empty((len(X), 0), np.int32))


def counted(use: str, data: Any, **params: Any) -> float | None:
    return adjustable_parameters(fitted(build(MODELS.load(use), params), data), data.table)


IRIS = load_iris()
CLASSES = labelled(table_of(IRIS.data), [str(one) for one in IRIS.target])
DIABETES = load_diabetes()
VALUES = valued(table_of(DIABETES.data), DIABETES.target.tolist())


@pytest.mark.parametrize(
    ("use", "params", "expected"),
    [
        ("zero-r", {}, 2),
        ("lda", {}, 2 * 5),
        ("naive-bayes", {}, 2 + 2 * 3 * 4),
        ("knn", {"k": 5}, 30),
        ("decision-tree", {"max_depth": 1}, 2),
        ("mlp", {"hidden": [7], "epochs": 2}, 4 * 7 + 7 + 7 * 3 + 3),
        ("random", {}, None),
    ],
)
def test_of_classes(use: str, params: dict[str, Any], expected: float | None) -> None:
    assert counted(use, CLASSES, **params) == expected


def test_of_numbers() -> None:
    assert counted("zero-r", VALUES) == 1
    assert counted("linear-regression", VALUES) == 11
    assert counted("linear-regression", VALUES, intercept=False) == 10
    assert counted("knn", VALUES, k=442) == 1


def test_ridge_has_the_trace_of_its_hat_matrix() -> None:
    X = DIABETES.data - DIABETES.data.mean(axis=0)
    for l2 in (0.01, 1.0, 30.0):
        hat = X @ np.linalg.solve(X.T @ X + l2 * np.eye(10), X.T)
        assert counted("ridge", VALUES, l2=l2) == pytest.approx(np.trace(hat) + 1)


def test_train_says_how_many() -> None:
    assert "5 adjustable parameters" in typed("train", "iris", "-m", "decision-tree", "-p", "max_depth=3").stdout
    assert document(typed("train", "iris", "-m", "random", "--json"))["adjustable_parameters"] is None


TAGS = "s,word,tag\n1,the,D\n1,dog,N\n1,runs,V\n2,a,D\n2,cat,N\n2,sleeps,V\n3,the,D\n3,cat,N\n"

SIDECAR = "target: tag\ntask: sequence-labelling\ncolumns:\n  s: {role: sequence}\n"


@pytest.fixture
def tags(tmp_path: Path) -> str:
    """Eight words of six kinds with three tags."""
    (tmp_path / "tags.csv").write_text(TAGS, encoding="utf-8")
    (tmp_path / "tags.yaml").write_text(SIDECAR, encoding="utf-8")
    return str(tmp_path / "tags.csv")


def adjusted(data: str, method: str, folder: Path, *params: str) -> float | None:
    """What ``train`` says of a method."""
    words = [word for param in params for word in ("-p", param)]
    trained = typed("train", data, "-m", method, *words, "-o", str(folder / "m.mlcli"), "--json")
    assert trained.exit_code == 0, trained.output
    count: float | None = document(trained)["adjustable_parameters"]
    return count


@pytest.mark.parametrize(
    ("method", "params", "expected"),
    [
        # outlook and temperature have 3 levels, humidity, windy and play 2: each but one in both classes, and play
        ("bayes-net", ("structure=naive",), 1 + 2 * (2 + 2 + 1 + 1)),
        # each level but one by itself, and with play
        ("mrf", ("structure=star",), (1 + 2 + 2 + 1 + 1) + (2 + 2 + 1 + 1)),
        ("one-r", ("feature=outlook",), 3),
    ],
)
def test_of_levels_in_the_shell(method: str, params: tuple[str, ...], expected: int, tmp_path: Path) -> None:
    assert adjusted("weather_nominal", method, tmp_path, *params) == expected


@pytest.mark.parametrize(
    ("method", "params", "expected"),
    [
        # 2 free shares at the start and after each of 3 tags; each tag has 6 words and the unknown one but one
        ("hmm", (), 2 + 3 * 2 + 3 * 6),
        # behind the start no stop; after 3 tags and 9 pairs of tags one more
        ("hmm", ("order=trigram", "stop=true"), 2 + (3 + 9) * 3 + 3 * 6),
        # for each tag six words, one of every row, one of the first and one of the last; and each tag after each
        ("crf", ("templates=[word]",), (6 + 3) * 3 + 3 * 3),
        ("memm", ("templates=[word]",), (6 + 3) * 3 + 3 * 3),
        ("most-frequent-tag", (), 6 + 1),
    ],
)
def test_of_sequences_in_the_shell(
    method: str, params: tuple[str, ...], expected: int, tags: str, tmp_path: Path
) -> None:
    assert adjusted(tags, method, tmp_path, *params) == expected


@pytest.mark.parametrize(
    ("method", "params", "expected"),
    [
        ("one-r", ("feature=petal_width",), 3 + 2),
        ("random-forest", ("trees=10", "max_leaves=4"), 10 * 4),
        ("extra-trees", ("trees=10", "max_leaves=2"), 10 * 2),
        # three classes: a score each before any round, and a tree each in every round
        ("newton-boosting", ("rounds=5", "max_leaves=2"), 3 + 5 * 3 * 2),
        ("gradient-boosting", ("rounds=5", "max_leaves=2"), 3 + 5 * 3 * 2),
        # a multiplier for each stump besides
        ("gradient-boosting", ("rounds=4", "base=decision-tree", "base.max_depth=1"), 3 + 4 * 3 * (2 + 1)),
        ("tuned", ("base=decision-tree", "ranges={max_depth: [1]}"), 2),
    ],
)
def test_of_numbers_in_the_shell(method: str, params: tuple[str, ...], expected: int, tmp_path: Path) -> None:
    assert adjusted("iris", method, tmp_path, *params) == expected


def test_of_support_vectors(tmp_path: Path) -> None:
    """Scikit-learn's dual coefficients of each class against the rest, that are not 0, and an offset each."""
    X, y = load_iris(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    machines = [SVC(C=1.0, gamma=0.25, tol=1e-9).fit(X, y == label) for label in range(3)]
    expected = sum(np.count_nonzero(machine.dual_coef_) + 1 for machine in machines)
    params = ("C=1", "gamma=0.25", "multiclass=one-against-rest")
    assert adjusted("iris", "svm", tmp_path, *params) == pytest.approx(expected, abs=1)
