"""A tuned model beside scikit-learn's `GridSearchCV`: the same steps and candidates, five inner folds each."""

from __future__ import annotations

import warnings
from collections.abc import Collection
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.rows import Made
from benchmarks.timing import for_a_while, markdown, median_ms
from mlcli.core.configuration import with_steps
from mlcli.core.params import build
from mlcli.core.pipeline import learn
from mlcli.core.registry import MODELS

PATIENCE, TURNS, FOLDS = 1.0, 3, 5
HEADER = ("method", "peer", "rows", "candidates", "ours", "theirs", "ratio", "in how many fits")
LEGEND = """Processor time of one thread: all candidates on five inner folds, then the winner on all rows. In how
many fits: ours, in fits of our own with default parameters to all rows."""
LIMITS = """Support vector machines of a grid find their kernel matrix ready, but each of ours also finds how sure
it is of its answers, which the peer does not (`probability=False`). Where machines are of a few dozen rows that
is most of it: five C on five folds are 3.3 to 3.7 times as fast on 2,000 × 20, on digits 2.7, on segment 2.5, on
150 × 4 2.3."""
PENALTIES = tuple(np.logspace(-3, 4, 20).tolist())


@dataclass(frozen=True)
class Search:
    """A method and its peer, ``module:class``, with the same values of parameters under their names."""

    name: str
    kind: str
    peer: str
    ranges: dict[str, tuple[Any, ...]]
    theirs: tuple[str, ...]
    """The names of the same parameters, in order."""
    size: Made
    scaled: bool = True
    by_rows: bool = False
    """Whether their penalty is divided by the number of rows."""
    peer_params: dict[str, Any] = field(default_factory=dict)

    @property
    def candidates(self) -> int:
        """How many combinations there are."""
        return int(np.prod([len(values) for values in self.ranges.values()]))

    def ours(self, data: Any) -> None:
        """Choose and fit."""
        ranges = {path: list(values) for path, values in self.ranges.items()}
        model = build(MODELS.load("tuned"), {"base": self.name, "ranges": ranges, "inner": self._inner})
        learn(model, data, np.random.default_rng(0))

    @property
    def _inner(self) -> dict[str, Any]:
        return {"use": "stratified-k-fold" if self.kind == "classification" else "k-fold", "folds": FOLDS}

    def searched_by_peer(self, data: Any) -> None:
        """Choose and fit."""
        module, _, name = self.peer.partition(":")
        model = getattr(import_module(module), name)(**self.peer_params)
        start = f"{name.lower()}__" if self.scaled else ""
        share = len(data) * (1 - 1 / FOLDS) if self.by_rows else 1.0
        named = zip(self.theirs, self.ranges.values(), strict=True)
        grid = {start + other: [value / share for value in own] if self.by_rows else own for other, own in named}
        pipeline = make_pipeline(StandardScaler(), model) if self.scaled else model
        GridSearchCV(pipeline, grid, cv=FOLDS).fit(data.table.numbers, data.y)

    def fit_once(self, data: Any) -> None:
        """One fit with default parameters."""
        model = with_steps(build(MODELS.load(self.name), {}), data.table.columns)
        learn(model, data, np.random.default_rng(0))


ROUNDS = (20, 40, 60, 80, 100)
SEARCHES = (
    Search("ridge", "regression", "sklearn.linear_model:Ridge", {"l2": PENALTIES}, ("alpha",), Made(20_000, 50)),
    Search(
        "lasso", "regression", "sklearn.linear_model:Lasso", {"l1": PENALTIES}, ("alpha",), Made(20_000, 50),
        by_rows=True,
    ),
    Search(
        "knn", "classification", "sklearn.neighbors:KNeighborsClassifier",
        {"k": tuple(range(1, 41, 2))}, ("n_neighbors",), Made(2_000, 20),
    ),
    Search(
        "svm", "classification", "sklearn.svm:SVC",
        {"C": (0.1, 1.0, 10.0, 100.0), "gamma": (0.01, 0.03, 0.1)}, ("C", "gamma"), Made(2_000, 20),
    ),
    Search(
        "newton-boosting", "classification", "sklearn.ensemble:HistGradientBoostingClassifier",
        {"rounds": ROUNDS, "learning_rate": (0.05, 0.1)}, ("max_iter", "learning_rate"), Made(2_000, 20),
        scaled=False, peer_params={"early_stopping": False},
    ),
    Search(
        "random-forest", "classification", "sklearn.ensemble:RandomForestClassifier",
        {"trees": (25, 50, 100), "min_leaf": (1, 3, 5)}, ("n_estimators", "min_samples_leaf"), Made(2_000, 20),
        scaled=False,
    ),
)  # fmt: skip
NARROWS_TO = frozenset(search.name for search in SEARCHES)


def table(only: Collection[str] = ()) -> str:
    """One row for each method."""
    warnings.simplefilter("ignore")
    rows = [compared(search) for search in SEARCHES if not only or search.name in only]
    return f"{LEGEND}\n\n{markdown(HEADER, rows)}"


def compared(search: Search) -> tuple[object, ...]:
    """One row of the table; a small search warms up."""
    small, _ = Made(200, search.size.p).halves(search.kind, 0)
    search.ours(small)
    data, _ = search.size.halves(search.kind, 0)
    things = {
        "ours": partial(search.ours, data),
        "theirs": partial(search.searched_by_peer, data),
        "one": partial(search.fit_once, data),
    }
    times = for_a_while(things, PATIENCE, TURNS)
    ratios = sorted(theirs / mine for theirs, mine in zip(times["theirs"], times["ours"], strict=True))
    return (
        search.name,
        f"scikit-learn {search.peer.partition(':')[2]}",
        search.size.label,
        search.candidates,
        median_ms(times["ours"]),
        median_ms(times["theirs"]),
        f"**{np.median(ratios):.1f}** ({ratios[0]:.1f} to {ratios[-1]:.1f})",
        f"{np.median(times['ours']) / max(np.median(times['one']), 1e-9):.1f}",
    )
