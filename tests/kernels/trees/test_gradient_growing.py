"""The compiled growing of boosted trees beside a plain one, which tries every cut of every node with floats."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

from mlcli.core.tables import Array, Flags
from mlcli.engines.trees.growing import Grower
from mlcli.engines.trees.structure import Cells, Trees
from mlcli.kernels.trees.records import Binned, Limits
from mlcli.models.boosting._boosted import GradientGrower

KNOWN = np.array([5, 40, 7, 3, 6])
"""Bins of values of each column; cells in the bin after them are missing."""
NOMINAL = np.array([False, False, False, False, True])


class Toy(NamedTuple):
    """Binned rows with gradients and hessians."""

    bins: Any
    gradient: Array
    hessian: Array


def toy(rows: int = 90, seed: int = 0) -> Toy:
    """Some cells are missing, but none of the first column's."""
    rng = np.random.default_rng(seed)
    highest = KNOWN + np.array([0, 1, 1, 1, 1])
    bins = (rng.random((len(KNOWN), rows)) * highest[:, None]).astype(np.uint8)
    return Toy(bins, rng.normal(size=rows) + 0.3 * bins[1] - 5.0 * (bins[4] == 3), rng.random(rows) + 0.1)


def cells_of(bins: Any) -> Cells:
    """The cells that lie in these bins: a number is its bin, a missing level a level."""
    cells: Array = bins.T.astype(float)
    cells[:, ~NOMINAL] = np.where(cells[:, ~NOMINAL] == KNOWN[~NOMINAL], np.nan, cells[:, ~NOMINAL])
    return Cells(cells, np.where(NOMINAL, KNOWN + 1, 0))


def grower(bins: Any, **changes: Any) -> GradientGrower:
    """Trees of eight leaves of at least four rows."""
    limits: dict[str, Any] = {"max_leaves": 8, "min_leaf": 4, "l2": 0.5}
    values = np.repeat(np.arange(256.0)[None], len(KNOWN), axis=0)
    rows = Binned(bins, KNOWN, ~NOMINAL, values, values)
    level_bins = tuple(np.arange(count + 1) for count in KNOWN)
    own = Grower(rows, Limits(**(limits | changes)), level_bins=level_bins)
    return GradientGrower(own, np.ones(bins.shape[1]), np.zeros(len(KNOWN), np.intp))


def tree_of(made: Toy, chosen: Any = None, **changes: Any) -> Trees:
    """The tree that grows on them."""
    own = grower(made.bins, **changes)
    grown, _ = own.grow(made.gradient, made.hessian, chosen)
    return own.to_trees([grown])


def worth(toy_: Toy, rows: Flags) -> float:
    """What the best score of some rows lowers the loss by."""
    return float(toy_.gradient[rows].sum() ** 2 / (toy_.hessian[rows].sum() + 0.5) / 2)


def plain_cuts(toy_: Toy, rows: Flags, column: int) -> Any:
    """All ways to part the rows of a node by one column: which of them go left."""
    codes = toy_.bins[column]
    if NOMINAL[column]:
        levels = np.unique(codes[rows])
        ratio = [
            toy_.gradient[rows & (codes == k)].sum() / (toy_.hessian[rows & (codes == k)].sum() + 0.5)
            for k in levels
        ]
        order = levels[np.argsort(ratio)]
        return [rows & np.isin(codes, order[:cut]) for cut in range(1, len(order))]
    missing = codes == KNOWN[column]
    right = [rows & (codes <= cut) for cut in range(KNOWN[column])]
    return right + [rows & ((codes <= cut) | missing) for cut in range(KNOWN[column] - 1)]


def plain_best(toy_: Toy, rows: Flags) -> tuple[float, Flags]:
    """The split of a node that gains most, and what goes left."""
    allowed = [
        left
        for column in range(len(KNOWN))
        for left in plain_cuts(toy_, rows, column)
        if left.sum() >= 4 and (rows & ~left).sum() >= 4
    ]
    gains = [worth(toy_, left) + worth(toy_, rows & ~left) - worth(toy_, rows) for left in allowed]
    best = int(np.argmax(gains)) if gains else 0
    return (gains[best], allowed[best]) if gains and gains[best] > 0 else (0.0, rows)


def plain_scores(toy_: Toy, leaves: int) -> Array:
    """The score of each row in a tree grown leaf by leaf."""
    parts = [np.ones(len(toy_.gradient), bool)]
    while len(parts) < leaves:
        found = [plain_best(toy_, rows) for rows in parts]
        best = int(np.argmax([gain for gain, _ in found]))
        if found[best][0] <= 0:
            break
        rows, left = parts[best], found[best][1]
        parts[best : best + 1] = [left, rows & ~left]
    scores = np.empty(len(toy_.gradient))
    for rows in parts:
        scores[rows] = -toy_.gradient[rows].sum() / (toy_.hessian[rows].sum() + 0.5)
    return scores


@pytest.mark.parametrize("seed", range(4))
def test_a_tree_is_that_of_the_plain_search(seed: int) -> None:
    made = toy(seed=seed)
    _, answers = grower(made.bins).grow(made.gradient, made.hessian)
    assert answers == pytest.approx(plain_scores(made, 8), abs=1e-9)


def test_training_rows_walk_to_the_leaf_that_holds_them() -> None:
    made = toy()
    own = grower(made.bins)
    grown, answers = own.grow(made.gradient, made.hessian)
    tree = own.to_trees([grown])
    assert np.array_equal(answers, tree.predict(cells_of(made.bins))[:, 0])
    assert tree.weight[tree.leaves].sum() == len(made.gradient)


def test_the_order_of_rows_changes_no_bit() -> None:
    made, order = toy(), np.random.default_rng(3).permutation(90)
    straight = tree_of(made)
    bins = np.ascontiguousarray(made.bins[:, order])
    shuffled = tree_of(Toy(bins, made.gradient[order], made.hessian[order]))
    assert all(
        np.array_equal(array, vars(shuffled)[name], equal_nan=array.dtype.kind == "f")
        for name, array in vars(straight).items()
    )


def test_a_tree_asks_only_for_chosen_columns() -> None:
    made = toy()
    tree = tree_of(made, np.array([0, 3, 4]))
    assert set(tree.feature[tree.left >= 0]) <= {0, 3, 4}
    assert (tree.left >= 0).any()


def test_limits_are_kept() -> None:
    made = toy()
    tree = tree_of(made, max_leaves=5, max_depth=2, min_leaf=15)
    assert 1 < tree.leaves.sum() <= 4
    assert tree.weight[tree.leaves].min() >= 15
