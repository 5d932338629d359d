"""How decision-tree learns where to cut back: from all rows, from rows held out, or fold by fold."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from mlcli.core.errors import MlcliWarning
from mlcli.core.tables import Array, Flags, Rows
from mlcli.engines.inner_splits import inner_folds, inner_holdout
from mlcli.engines.random_by_content import order_of_content
from mlcli.engines.trees.cells import ordered
from mlcli.engines.trees.pruning import by_held_out_rows, by_plausible_errors, cut_back, prices, prices_between
from mlcli.engines.trees.structure import Trees
from mlcli.tasks.classification import LabelledRows

if TYPE_CHECKING:
    from mlcli.models.trees.decision_tree import DecisionTree


Pruned = tuple[Trees, Flags]
"""A grown tree, and which of its nodes become leaves."""


def grown_out(model: DecisionTree, data: Any, rng: np.random.Generator) -> Pruned:
    """The tree as it is grown."""
    tree = model.grown(data)
    return tree, np.zeros(len(tree.feature), bool)


def by_reduced_error(model: DecisionTree, data: Any, rng: np.random.Generator) -> Pruned:
    """A tree of some rows, cut back to what the others bear out."""
    data = data.take(order_of_content(data))
    held = inner_holdout(data, model.validation, rng)
    if held.all() or not held.any():
        text = f"{len(data)} rows are too few to hold some out: the tree is not pruned"
        warnings.warn(text, MlcliWarning, stacklevel=3)
        return grown_out(model, data, rng)
    tree, rest = model.grown(data.take(np.flatnonzero(~held))), data.take(np.flatnonzero(held))
    reached = tree.reached(model.cells(rest.table), ordered(model.columns_))[0]
    return tree, by_held_out_rows(tree, reached, lambda rows, answers: _losses(model, rest, rows, answers))


def by_cost_complexity(model: DecisionTree, data: Any, rng: np.random.Generator) -> Pruned:
    """A tree whose questions take away at least the price of the leaves that they add."""
    tree = model.grown(data)
    found = prices(tree)
    price = model.prune_alpha if model.prune_alpha is not None else _best_price(model, data, found, rng)
    return tree, found <= price


def _best_price(model: DecisionTree, data: Any, found: Array, rng: np.random.Generator) -> float:
    """The price with the least loss on folds that trees of the others are asked about; of equals the largest."""
    data = data.take(order_of_content(data))
    tried, fold, by_threshold = prices_between(found), inner_folds(data, model.folds, rng), ordered(model.columns_)
    if not fold.any():
        return 0.0
    loss = np.zeros(len(tried))
    for number in range(fold.max() + 1):
        tree = model.grown(data.take(np.flatnonzero(fold != number)))
        rest, own = data.take(np.flatnonzero(fold == number)), prices(tree)
        cells, rows = model.cells(rest.table), np.arange(len(rest))
        for place, price in enumerate(tried):
            answers = cut_back(tree, own <= price).answers(cells, by_threshold)
            loss[place] += _losses(model, rest, rows, answers).sum()
    return float(tried[np.flatnonzero(loss <= loss.min() * (1 + 1e-12))[-1]])


def by_pessimism(model: DecisionTree, data: Any, rng: np.random.Generator) -> Pruned:
    """A tree whose leaves are plausibly wrong about fewer rows than the nodes above them."""
    if not isinstance(data, LabelledRows):
        text = f"pessimistic counts errors of classes, but {data.target} is a number: cost-complexity is used"
        warnings.warn(text, MlcliWarning, stacklevel=3)
        return by_cost_complexity(model, data, rng)
    tree = model.grown(data)
    return tree, by_plausible_errors(tree, model.confidence)


def _losses(model: DecisionTree, data: Any, rows: Rows, answers: Array) -> Array:
    """What answers about some rows cost, by their weight."""
    asked = data.take(rows)
    return np.asarray(asked.weights * data.base.losses(model, asked, answers))


PRUNINGS: dict[str, Callable[[DecisionTree, Any, np.random.Generator], Pruned]] = {
    "none": grown_out,
    "reduced-error": by_reduced_error,
    "cost-complexity": by_cost_complexity,
    "pessimistic": by_pessimism,
}
