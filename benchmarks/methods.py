"""Each method beside scikit-learn's: fit, and fit with predict, on the same rows in one process, in turns."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from benchmarks.timing import in_turns, markdown, ratio, spread
from mlcli.core.containers import LabelledRows, ValuedRows
from mlcli.core.learning import ask, learn
from mlcli.core.params import build
from mlcli.core.registry import MODELS
from mlcli.core.schema import Column
from mlcli.core.tables import Table

SIZES = ((150, 4), (2_000, 20), (20_000, 20))
REPEATS = 7
CLASSES = 3
PEERS: tuple[tuple[str, str, dict[str, Any], Callable[[], Any]], ...] = (
    ("naive-bayes", "classification", {}, GaussianNB),
    ("knn", "classification", {"k": 5}, lambda: KNeighborsClassifier(5)),
    ("knn", "regression", {"k": 5}, lambda: KNeighborsRegressor(5)),
    ("decision-tree", "classification", {}, lambda: DecisionTreeClassifier(random_state=0)),
    (
        "decision-tree",
        "regression",
        {"min_leaf": 5},
        lambda: DecisionTreeRegressor(min_samples_leaf=5, random_state=0),
    ),
    ("linear-regression", "regression", {}, LinearRegression),
    ("ridge", "regression", {"l2": 1.0}, lambda: Ridge(alpha=1.0)),
    (
        "logistic-regression",
        "classification",
        {"l2": 1.0},
        lambda: LogisticRegression(C=1.0, tol=1e-6, max_iter=1000),
    ),
)


def table() -> str:
    """One row per method and size."""
    warnings.simplefilter("ignore")
    header = (
        "method",
        "kind",
        "rows × columns",
        "mlcli fit",
        "fit ratio",
        "mlcli fit + predict",
        "ratio",
        "scores",
    )
    return markdown(header, list(rows()))


def rows() -> Iterator[tuple[object, ...]]:
    """Ratios above 1 mean that mlcli is faster."""
    for name, kind, params, peer in PEERS:
        for n, p in SIZES:
            train, test = halves(kind, n, p)
            things: dict[str, Callable[[], Any]] = {
                "ours": lambda: fitted(name, params, train),
                "peer": lambda: peer().fit(train.table.numbers, train.y),
                "ours with predict": lambda: ask(fitted(name, params, train), test).predicted,
                "peer with predict": lambda: peer().fit(train.table.numbers, train.y).predict(test.table.numbers),
            }
            times = in_turns(things, REPEATS)
            yield (
                name,
                kind,
                f"{n:,} × {p}",
                spread(times["ours"]),
                f"**{ratio(times['peer'], times['ours']):.2f}**",
                spread(times["ours with predict"]),
                f"**{ratio(times['peer with predict'], times['ours with predict']):.2f}**",
                f"{score(things['ours with predict'](), test):.4f} / {score(things['peer with predict'](), test):.4f}",
            )


def fitted(name: str, params: dict[str, Any], train: Any) -> Any:
    """One of our models after learning."""
    model = build(MODELS.load(name), params)
    learn(model, train, np.random.default_rng(0))
    return model


def halves(kind: str, n: int, p: int) -> tuple[Any, Any]:
    """Rows to learn from and as many to predict: noisy classes, or a noisy linear target with a bend."""
    rng = np.random.default_rng(n + p)
    X = rng.normal(size=(2 * n, p))
    weights = rng.normal(size=(p, CLASSES))
    values = X @ weights[:, 0] + np.abs(X[:, 0]) + rng.normal(size=2 * n)
    labels = np.argmax(X @ weights + 2 * rng.gumbel(size=(2 * n, CLASSES)), axis=1).astype(np.int32)
    columns = [(Column(f"x{j}"), X[:, j]) for j in range(p)]
    common: dict[str, Any] = {"table": Table.of(columns, 2 * n), "rows": np.arange(2 * n), "target": "y"}
    made: dict[str, Callable[[], Any]] = {
        "classification": lambda: LabelledRows(**common, y=labels, classes=("a", "b", "c")),
        "regression": lambda: ValuedRows(**common, y=values),
    }
    data = made[kind]()
    return data.take(np.arange(n)), data.take(np.arange(n, 2 * n))


def score(predicted: Any, test: Any) -> float:
    """Accuracy, or R2."""
    if test.kind == "classification":
        return float(np.mean(predicted == test.y))
    return float(1 - np.var(test.y - predicted) / np.var(test.y))
