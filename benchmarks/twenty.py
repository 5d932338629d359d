"""The 20 datasets on which scores are compared: shipped ones, and scikit-learn's classical generators."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from sklearn.datasets import make_friedman1, make_friedman2, make_friedman3, make_hastie_10_2, make_moons

from mlcli.core.schema import Column
from mlcli.core.tables import Table
from mlcli.data.load import load
from mlcli.tasks.supervised import LabelledRows, ValuedRows
from mlcli.tasks.table import kind_named

MOST = 1_000
"""How many rows are taken of larger datasets, at random."""


def shipped(name: str, kind: str) -> Any:
    """A dataset of ours with all its features."""
    dataset = load(name)
    data = kind_named(kind).rows.from_table(dataset.table, dataset.schema)
    return data.take(np.random.default_rng(0).permutation(len(data))[:MOST])


def values(made: Callable[..., Any], rows: int, **settings: Any) -> Any:
    """Made numbers to predict."""
    X, y = made(n_samples=rows, random_state=0, **settings)
    return ValuedRows(table=_numbers(X), rows=np.arange(rows), target="y", y=y)


def classes(made: Callable[..., Any], rows: int, **settings: Any) -> Any:
    """Made classes to predict."""
    X, y = made(n_samples=rows, random_state=0, **settings)
    names, codes = np.unique(y, return_inverse=True)
    return LabelledRows(
        table=_numbers(X),
        rows=np.arange(rows),
        target="y",
        y=codes.astype(np.int32),
        classes=tuple(f"{name:g}" for name in names),
    )


def _numbers(X: Any) -> Table:
    return Table(tuple(Column(f"x{j}") for j in range(X.shape[1])), X, np.empty((len(X), 0), np.int32))


OF_CLASSES = (
    "breast_cancer",
    "credit_g",
    "glass",
    "ionosphere",
    "iris",
    "penguins",
    "segment",
    "travelmode",
    "vote",
    "wdbc",
    "wine",
)
OF_NUMBERS = ("abalone", "concrete", "cpu", "diabetes_progression")

TWENTY: Mapping[str, Callable[[], Any]] = {
    **{name: partial(shipped, name, "classification") for name in OF_CLASSES},
    "hastie_10_2": partial(classes, make_hastie_10_2, 1_000),
    "moons": partial(classes, make_moons, 500, noise=0.3),
    **{name: partial(shipped, name, "regression") for name in OF_NUMBERS},
    "friedman1": partial(values, make_friedman1, 500, noise=1.0),
    "friedman2": partial(values, make_friedman2, 500, noise=100.0),
    "friedman3": partial(values, make_friedman3, 500, noise=0.1),
}
"""How to get each."""
