"""One of our methods and its best peer on the same rows: how both learn, how both answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from mlcli.core.params import build
from mlcli.core.pipeline import learn, predict_rows
from mlcli.core.registry import MODELS

MOST_ASKED = 20_000
"""How many rows are predicted at most."""


@dataclass(frozen=True)
class Pair:
    """A method by its id, and the peer that does the same thing as ``module:class``."""

    method: str
    kind: str
    peer: str
    params: dict[str, Any] = field(default_factory=dict)
    peer_params: dict[str, Any] = field(default_factory=dict)
    asked: int = MOST_ASKED
    most: int = 1_000_000
    """How many made rows are learned from at most."""
    remark: str = ""
    """What distinguishes it from another pair of the same method."""

    @property
    def peer_name(self) -> str:
        """The package and the class of the peer, and its solver if one is chosen."""
        module, _, name = self.peer.partition(":")
        solver = f" ({self.peer_params['solver']})" if "solver" in self.peer_params else ""
        return f"{module.partition('.')[0]} {name}{solver}".replace("sklearn", "scikit-learn")

    @property
    def missing(self) -> str:
        """What of the two is not there, or nothing."""
        if self.method not in MODELS:
            return self.method
        module = self.peer.partition(".")[0].partition(":")[0]
        return "" if find_spec(module) else module

    def learners(self) -> dict[str, Callable[[Any], Any]]:
        """What learns from rows, by whose it is."""
        return {"ours": self.ours, "theirs": self.theirs}

    def ours(self, train: Any) -> Any:
        """Our model after learning."""
        model = build(MODELS.load(self.method), self.params)
        learn(model, train, np.random.default_rng(0))
        return model

    def theirs(self, train: Any) -> Any:
        """The peer after learning."""
        module, _, name = self.peer.partition(":")
        return getattr(import_module(module), name)(**self.peer_params).fit(train.table.numbers, train.y)


def answers_of_ours(model: Any, test: Any) -> Any:
    """What our model says of rows: classes or values."""
    return predict_rows(model, test).predicted  # type: ignore[attr-defined]


def answers_of_theirs(model: Any, test: Any) -> Any:
    """What the peer says of rows."""
    return model.predict(test.table.numbers)


def score(predicted: Any, test: Any) -> float:
    """Accuracy, or R²."""
    if test.kind == "classification":
        return float(np.mean(predicted == test.y))
    return float(1 - np.sum((test.y - predicted) ** 2) / np.sum((test.y - test.y.mean()) ** 2))
