"""A saved tree is checked before rows walk it: shapes, bounds, no cycles."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from mlcli.core.state import check_loaded, packed, unpacked
from mlcli.models.trees.decision_tree import DecisionTree
from tests.golden.asking import fitted
from tests.support.rows import labelled, table_of

CELLS: dict[str, Any] = {
    "x": [1.0, 2.0, 3.0, None, 5.0, 6.0, 7.0, None],
    "c": ["u", "v", "u", "w", "v", "u", None, "w"],
}


def grown(algorithm: str = "id3") -> Any:
    """A tree that asks for both columns."""
    return fitted(DecisionTree(algorithm=algorithm), labelled(table_of(CELLS), list("abcabcab")))


@pytest.mark.parametrize("algorithm", ["cart", "id3", "c45"])
def test_a_grown_tree_passes(algorithm: str) -> None:
    model = grown(algorithm)
    check_loaded(model)
    assert set(model.tree_.feature) >= {-1, 0}


BROKEN: dict[str, tuple[str, Any]] = {
    "a child that is its parent": ("left", lambda a: np.where(a == 1, 0, a).astype(np.int32)),
    "a child that is not there": ("left", lambda a: np.where(a > 1, 1000, a).astype(np.int32)),
    "a feature that is not there": ("feature", lambda a: np.where(a >= 0, 2, a).astype(np.int32)),
    "a negative feature": ("feature", lambda a: np.where(a >= 0, -2, a).astype(np.int32)),
    "missing cells sent to the root": ("missing", lambda a: a * np.int32(0)),
    "levels sent to the root": ("child_of", lambda a: a * np.int32(0)),
    "a map that is too short": ("child_of", lambda a: a[:1]),
    "a map where a threshold is asked": ("offset", lambda a: a * np.int32(0)),
    "numbers for indices": ("left", lambda a: a.astype(float)),
    "too few thresholds": ("threshold", lambda a: a[1:]),
    "no thresholds": ("threshold", lambda a: a * np.nan),
    "values that are not numbers": ("value", lambda a: a * np.nan),
    "values of fewer classes": ("value", lambda a: a[:, :1]),
    "weights of another shape": ("weight", lambda a: a[:, None]),
    "no nodes": ("feature", lambda a: a[:0]),
    "a second tree": ("roots", lambda a: np.array([0, 3], np.int32)),
    "no trees": ("roots", lambda a: a[:0]),
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_broken_tree_is_refused(what: str) -> None:
    model = grown()
    name, damage = BROKEN[what]
    model.tree_ = replace(model.tree_, **{name: damage(getattr(model.tree_, name))})
    with pytest.raises(ValueError, match="tree"):
        check_loaded(model)


def test_other_arrays_than_those_of_a_tree_are_refused() -> None:
    arrays: dict[str, Any] = {}
    saved = packed(grown(), arrays)
    del saved["learned"]["tree_"]["dict"]["left"]
    with pytest.raises(ValueError, match="does not have the arrays"):
        unpacked(saved, arrays)


def test_fills_for_other_columns_are_refused() -> None:
    model = grown()
    model.fills_ = model.fills_[:1]
    with pytest.raises(ValueError, match=r"other columns|does not fit columns"):
        check_loaded(model)
