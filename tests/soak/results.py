"""A small experiment, and what of its results must be the same again."""

from __future__ import annotations

import json
from typing import Any

from tests.soak.subject import BrokenPromiseError, unbroken

EXPERIMENT = """data: [weather_nominal, labor, contact_lenses]
models: [naive-bayes, decision-tree, knn, {use: random-forest, params: {trees: 20}}, logistic-regression]
protocol: {use: stratified-k-fold, folds: 3, repeats: 4}
metrics: [accuracy, f1-macro, log-loss]
"""


def scores_of(text: str) -> Any:
    """What must be the same again of a result in JSON."""
    names = "dataset", "label", "status", "splits", "metrics"
    with unbroken("what was printed"):
        return [[cell[name] for name in names] for cell in json.loads(text)["cells"]]


def same_scores(one: Any, other: Any) -> None:
    """Refuse results that differ."""
    if one != other:
        raise BrokenPromiseError("scores differ from those of the undisturbed run")
