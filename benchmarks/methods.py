"""Each method beside scikit-learn's: fit, and fit with predict, on the same rows in one process, in turns."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
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


@dataclass(frozen=True)
class Pair:
    """One of our methods and the peer that does the same thing."""

    method: str
    kind: str
    peer: Callable[[], Any]
    params: dict[str, Any] = field(default_factory=dict)

    def ours(self, train: Any) -> Any:
        """Our model after learning."""
        model = build(MODELS.load(self.method), self.params)
        learn(model, train, np.random.default_rng(0))
        return model

    def ours_predicts(self, train: Any, test: Any) -> Any:
        """What our model answers after learning."""
        return ask(self.ours(train), test).predicted  # type: ignore[attr-defined]

    def theirs(self, train: Any) -> Any:
        """The peer after learning."""
        return self.peer().fit(train.table.numbers, train.y)

    def theirs_predicts(self, train: Any, test: Any) -> Any:
        """What the peer answers after learning."""
        return self.theirs(train).predict(test.table.numbers)


PAIRS = (
    Pair("naive-bayes", "classification", GaussianNB),
    Pair("knn", "classification", KNeighborsClassifier),
    Pair("knn", "regression", KNeighborsRegressor),
    Pair("decision-tree", "classification", DecisionTreeClassifier),
    Pair("decision-tree", "regression", partial(DecisionTreeRegressor, min_samples_leaf=5), {"min_leaf": 5}),
    Pair("linear-regression", "regression", LinearRegression),
    Pair("ridge", "regression", Ridge),
    Pair("logistic-regression", "classification", partial(LogisticRegression, tol=1e-6, max_iter=1000)),
)


def table() -> str:
    """One row per method and size; a ratio above 1 means that mlcli is faster."""
    warnings.simplefilter("ignore")
    header = ("method", "kind", "rows × columns", "our fit", "ratio", "our fit + predict", "ratio", "scores")
    return markdown(header, [row(pair, *size) for pair in PAIRS for size in SIZES])


def row(pair: Pair, n: int, p: int) -> tuple[object, ...]:
    """One method at one size."""
    train, test = halves(pair.kind, n, p)
    things = {
        "ours": partial(pair.ours, train),
        "theirs": partial(pair.theirs, train),
        "ours, predicting": partial(pair.ours_predicts, train, test),
        "theirs, predicting": partial(pair.theirs_predicts, train, test),
    }
    times = in_turns(things, REPEATS)
    scores = [score(predict(train, test), test) for predict in (pair.ours_predicts, pair.theirs_predicts)]
    return (
        pair.method,
        pair.kind,
        f"{n:,} × {p}",
        spread(times["ours"]),
        f"**{ratio(times['theirs'], times['ours']):.2f}**",
        spread(times["ours, predicting"]),
        f"**{ratio(times['theirs, predicting'], times['ours, predicting']):.2f}**",
        f"{scores[0]:.4f} / {scores[1]:.4f}",
    )


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
