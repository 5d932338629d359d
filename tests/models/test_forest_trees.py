"""Saved forests are checked before rows walk them, and come out alike on any number of threads."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest

from mlcli.core.state import check_loaded
from mlcli.core.threads import cores_for_a_fit, threads_of_a_fit
from mlcli.engines.content_seeds import Bag, order_of_content
from mlcli.models.forests.extra_trees import ExtraTrees
from mlcli.models.forests.random_forest import RandomForest
from tests.contract.toys import EVERYTHING, rows_for
from tests.golden.asking import asked, fitted

MODELS = [RandomForest(trees=5, shuffle=True), ExtraTrees(trees=5)]


def grown() -> Any:
    """Three trees on columns of both kinds."""
    return fitted(RandomForest(trees=3), rows_for("classification", EVERYTHING, 60))


BROKEN: dict[str, tuple[str, Any]] = {
    "a child that is its parent": ("left", lambda a: np.arange(len(a), dtype=np.int32)),
    "a child that is not there": ("left", lambda a: a + np.int32(1000)),
    "a child in another tree": ("left", lambda a: np.where(a > 0, len(a) - 2, a).astype(np.int32)),
    "too few values": ("value", lambda a: a[:2]),
    "trees without nodes": ("roots", lambda a: np.r_[a[:1], a].astype(np.int32)),
    "no trees": ("roots", lambda a: a[:0]),
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_broken_forest_is_refused(what: str) -> None:
    model = grown()
    check_loaded(model)
    name, damage = BROKEN[what]
    model.trees_ = replace(model.trees_, **{name: damage(getattr(model.trees_, name))})
    with pytest.raises(ValueError, match="the saved"):
        check_loaded(model)


def test_importances_of_other_columns_are_refused() -> None:
    model = grown()
    model.gained_ = model.gained_[1:]
    with pytest.raises(ValueError, match=r"other columns|does not fit columns"):
        check_loaded(model)


@pytest.mark.parametrize("kind", ["classification", "regression"])
@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_two_threads_grow_the_forest_of_one_to_the_bit(model: Any, kind: str) -> None:
    data = rows_for(kind, EVERYTHING, 80)
    alone = fitted(model.fresh(), data)
    with cores_for_a_fit(2):
        assert threads_of_a_fit() == 2
        together = fitted(model.fresh(), data)
    assert threads_of_a_fit() == 1
    for field in fields(alone.trees_):
        array, other = (getattr(model.trees_, field.name) for model in (alone, together))
        assert np.array_equal(array, other, equal_nan=array.dtype.kind == "f")
    for name in ("gained_", "shuffled_", "curve_"):
        assert np.array_equal(getattr(alone, name), getattr(together, name))


def test_a_model_that_learns_again_forgets_what_it_knew() -> None:
    data = rows_for("regression", EVERYTHING, 40)
    model = fitted(RandomForest(trees=3), data)
    before = asked(model, data).predicted
    again = fitted(model, replace(data, y=data.y + 100.0))
    assert asked(again, data).predicted == pytest.approx(before + 100.0)


@pytest.mark.parametrize("kind", ["classification", "regression"])
@pytest.mark.parametrize("bins", [5, 255])
def test_rows_out_of_the_bag_come_to_the_leaves_that_they_are_told_later(kind: str, bins: int) -> None:
    data = rows_for(kind, EVERYTHING, 700)
    data = data.take(order_of_content(data))
    for seed in range(3):
        model = fitted(RandomForest(trees=1, bins=bins, features="all"), data, seed)
        (drawn,) = np.random.default_rng(seed).integers(0, 2**62, 1)
        out = Bag.of(data.weights).repeats(np.random.default_rng(drawn)) == 0
        wrong = asked(model, data).predicted[out] - data.y[out]
        lost = wrong != 0 if kind == "classification" else wrong**2
        expected = np.average(lost, weights=data.weights[out])
        expected = expected if kind == "classification" else np.sqrt(expected)
        assert model.curve_[0] == pytest.approx([1, expected], rel=1e-12)
