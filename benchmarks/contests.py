"""Methods of trees and peers with equal settings, on tables that may have nominal columns and empty cells."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.pair import score
from mlcli.core.params import build
from mlcli.core.pipeline import learn, predict_rows
from mlcli.core.registry import MODELS
from mlcli.core.schema import Column
from mlcli.core.tables import MISSING_CODE, Table

Settings = Mapping[str, Any]


def indicators(table: Table) -> Any:
    """Numbers and ranks, and 0 or 1 for each level (missing is one), as our trees split them."""
    columns = [part for column, cells in table.parts() for part in _indicated(column, cells)]
    return np.column_stack(columns).astype(np.float64)


def _indicated(column: Column, cells: Any) -> list[Any]:
    if column.kind == "numeric":
        return [cells]
    if column.kind == "ordinal":
        return [np.where(cells == MISSING_CODE, np.nan, cells)]
    levels = [*range(len(column.levels)), *([MISSING_CODE] if column.missing else [])]
    return [cells == level for level in (levels if len(levels) > 2 else levels[:1])]


def without_gaps(table: Table) -> Any:
    """The same for a peer that refuses empty cells: they take the mean of their column."""
    cells = indicators(table)
    return np.where(np.isnan(cells), np.nanmean(cells, axis=0), cells)


def frame(table: Table) -> Any:
    """A data frame, nominal columns as categories, for peers that split by these themselves."""
    return pd.DataFrame({column.name: _categories(column, cells) for column, cells in table.parts()})


def _categories(column: Column, cells: Any) -> Any:
    if not column.coded:
        return cells
    return pd.Categorical.from_codes(cells, pd.Index(column.levels), ordered=column.kind == "ordinal")


@dataclass(frozen=True)
class Contest:
    """A method and a peer: ``peer`` is ``module:class``, with ``*`` for Classifier or Regressor."""

    method: str
    params: Settings
    peer: str
    peer_params: Settings
    given: Callable[[Table], Any]
    of_numbers: Settings = field(default_factory=dict)
    """What the peer is given as well where numbers are to be predicted."""

    @property
    def label(self) -> str:
        """The peer in words."""
        module, _, name = self.peer.partition(":")
        return f"{module.partition('.')[0]} {name.rstrip('*')}".replace("sklearn", "scikit-learn")

    def ours(self, train: Any, test: Any, seed: int) -> float:
        """Our score of rows not seen."""
        model = build(MODELS.load(self.method), dict(self.params))
        learn(model, train, np.random.default_rng(seed))
        return score(predict_rows(model, test).predicted, test)  # type: ignore[attr-defined]

    def theirs(self, train: Any, test: Any, seed: int) -> float:
        """The score of the peer."""
        module, _, name = self.peer.partition(":")
        kind, besides = KINDS[train.kind](self.of_numbers)
        model = getattr(import_module(module), name.replace("*", kind))
        fitted = model(**self.peer_params, **besides, random_state=seed).fit(self.given(train.table), train.y)
        return score(fitted.predict(self.given(test.table)), test)


KINDS: dict[str, Callable[[Settings], tuple[str, Settings]]] = {
    "classification": lambda of_numbers: ("Classifier", {}),
    "regression": lambda of_numbers: ("Regressor", of_numbers),
}


def contests(trees: int) -> tuple[Contest, ...]:
    """All of them, with as many trees or rounds each."""
    bagged = {"n_estimators": trees, "n_jobs": 1}
    half = {"max_features": 0.5}
    rounds = {"rounds": trees, "learning_rate": 0.1, "max_leaves": 31, "min_leaf": 20, "l2": 1.0}
    histograms = {"max_iter": trees, "learning_rate": 0.1, "max_leaf_nodes": 31, "min_samples_leaf": 20}
    lightgbm = {"n_estimators": trees, "learning_rate": 0.1, "num_leaves": 31, "min_child_samples": 20}
    return (
        Contest("decision-tree", {}, "sklearn.tree:DecisionTree*", {}, indicators),
        Contest("random-forest", {"trees": trees}, "sklearn.ensemble:RandomForest*", bagged, indicators, half),
        Contest("extra-trees", {"trees": trees}, "sklearn.ensemble:ExtraTrees*", bagged, indicators, half),
        Contest(
            "gradient-boosting",
            {"rounds": trees, "learning_rate": 0.1, "max_depth": 3, "min_leaf": 1},
            "sklearn.ensemble:GradientBoosting*",
            {"n_estimators": trees, "learning_rate": 0.1, "max_depth": 3},
            without_gaps,
        ),
        Contest(
            "newton-boosting",
            rounds,
            "sklearn.ensemble:HistGradientBoosting*",
            {**histograms, "l2_regularization": 1.0, "early_stopping": False},
            frame,
        ),
        Contest(
            "newton-boosting",
            rounds,
            "lightgbm:LGBM*",
            {**lightgbm, "reg_lambda": 1.0, "n_jobs": 1, "verbose": -1},
            frame,
        ),
    )
