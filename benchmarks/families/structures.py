"""Graphs, rules, ratings and fairness beside scikit-learn, mlxtend and fairlearn: the same models, in turns.

`bayes-net` has naive arrows, which is CategoricalNB; biases are a ridge regression on indicators of users and
items, solved there by conjugate gradients as far; rules are all that mlxtend makes of the same itemsets; the
mixture and the thresholds are for demographic parity, over a logistic regression of the same rows on both sides.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from fairlearn.postprocessing import ThresholdOptimizer
from fairlearn.reductions import DemographicParity, ExponentiatedGradient
from mlxtend.frequent_patterns import association_rules, fpgrowth
from scipy.sparse import csr_array
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import CategoricalNB

from benchmarks.kinds import Comparison, ours, rows_as_table
from mlcli.core.schema import Column
from mlcli.core.tables import Array, Table
from mlcli.data.load import load
from mlcli.tasks.association import Transactions, baskets_of, items_of
from mlcli.tasks.recommendation import Ratings
from mlcli.tasks.supervised import LabelledRows

NARROWS_TO = ("bayes-net", "fp-growth", "user-item-bias", "exponentiated-gradient", "fair-thresholds")
LIMITS = """`mrf`, factorised ratings and neighbours of ratings stand alone: the packages that have them (pgmpy,
Surprise, LensKit) want a compiler or half a gigabyte of another framework. Biases of users and items take turns
until none moves, some sixty of them, where conjugate gradients need a dozen steps."""
LEVELS = 5


def table(only: Collection[str] = ()) -> str:
    """A row for each method and question."""
    return rows_as_table((one for compared in (graphs, rules, ratings, fair) for one in compared()), only)


def graphs() -> Iterator[Comparison]:
    """Naive arrows: counted, and asked."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, LEVELS, size=(20_000, 20)).astype(np.int32)
    y = ((codes[:, :3].sum(axis=1) + rng.integers(0, 4, len(codes))) % 3).astype(np.int32)
    columns = tuple(Column(f"x{place}", "nominal", tuple("abcde")) for place in range(codes.shape[1]))
    cells = Table(columns, np.empty((len(codes), 0)), codes)
    data = LabelledRows(table=cells, rows=np.arange(len(y)), target="y", y=y, classes=("a", "b", "c"))
    fit, peer = partial(ours, "bayes-net", {"structure": "naive"}, data), CategoricalNB()
    yield Comparison("bayes-net", "naive", codes, fit, partial(peer.fit, codes, y), "CategoricalNB, learning")
    asked, answered = partial(fit().predict_proba, cells), partial(peer.fit(codes, y).predict_proba, codes)
    yield Comparison("bayes-net", "naive", codes, asked, answered, "CategoricalNB, probabilities")


def rules() -> Iterator[Comparison]:
    """Itemsets and rules of baskets."""
    dataset = load("supermarket_2000")
    data = Transactions.from_table(dataset.table, dataset.schema)
    items = items_of(data.table.columns)
    baskets = pd.DataFrame(baskets_of(data.table, items), columns=[item.name for item in items])
    for support in (0.1, 0.05):
        params = {"min_support": support, "max_items": 3, "most": 100_000}
        yield Comparison(
            *("fp-growth", f"support {support}", baskets.to_numpy()),
            *(partial(ours, "fp-growth", params, data), partial(found_by_peer, baskets, support)),
            "mlxtend, itemsets and rules of up to 3 items",
        )


def found_by_peer(baskets: pd.DataFrame, support: float) -> Any:
    """The peer's rules."""
    sets = fpgrowth(baskets, min_support=support, max_len=3, use_colnames=False)
    return association_rules(sets, metric="confidence", min_threshold=0.6)


def ratings() -> Iterator[Comparison]:
    """Biases of users and items."""
    dataset = load("insteval_1200")
    data = Ratings.from_table(dataset.table, dataset.schema)
    users = len(data.table.columns[0].levels)
    places = np.column_stack([data.users, users + data.items]).ravel()
    width = int(places.max()) + 1
    indicators = csr_array((np.ones(len(places)), places, np.arange(0, len(places) + 1, 2)), (len(data), width))
    away = data.y - data.y.mean()
    peer = Ridge(alpha=5.0, fit_intercept=False, solver="sparse_cg", tol=1e-11)
    mine = partial(ours, "user-item-bias", {"l2": 5.0}, data)
    size = np.empty((len(data), 2))
    yield Comparison("user-item-bias", "", size, mine, partial(peer.fit, indicators, away), "Ridge on indicators")


def fair() -> Iterator[Comparison]:
    """A mixture that keeps a constraint, and thresholds by group."""
    dataset = load("arrests")
    data = LabelledRows.from_table(dataset.table, dataset.schema)
    X = indicators_of(data.table)
    assert data.context is not None
    sex, base = data.context.cells("sex"), LogisticRegression(max_iter=1000)
    mixture = ExponentiatedGradient(base, DemographicParity(difference_bound=0.02), max_iter=15)
    by_sex: dict[str, Any] = {"sensitive_features": sex}
    mine = partial(ours, "exponentiated-gradient", {"bound": 0.02, "by": ("sex",)}, data)
    yield Comparison("exponentiated-gradient", "", X, mine, partial(mixture.fit, X, data.y, **by_sex), "fairlearn")
    thresholds = ThresholdOptimizer(
        estimator=base, constraints="demographic_parity", predict_method="predict_proba"
    )
    mine = partial(ours, "fair-thresholds", {"groups": ("sex",), "lots": True}, data)
    theirs = partial(thresholds.fit, X, data.y, **by_sex)
    yield Comparison("fair-thresholds", "", X, mine, theirs, "fairlearn, one fit where ours chooses in 5 folds")


def indicators_of(table: Table) -> Array:
    """Numbers on one scale, and levels as 0 and 1, without the columns that make groups."""
    scaled = (table.numbers - table.numbers.mean(axis=0)) / table.numbers.std(axis=0)
    hidden = [column.sensitive for column in table.code_columns]
    shown = [np.eye(len(column.levels))[cells] for (column, cells), out in _coded(table, hidden) if not out]
    return np.hstack([scaled, *shown])


def _coded(table: Table, hidden: list[bool]) -> Iterator[tuple[Any, bool]]:
    return zip(zip(table.code_columns, table.codes.T, strict=True), hidden, strict=True)
