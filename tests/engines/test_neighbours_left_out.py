"""Leave-one-out by one search answers as a fit without each row, also where rows tie and cells are empty."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mlcli.core.held_out import Round
from mlcli.core.pipeline import Pipeline
from mlcli.core.step import Step
from mlcli.core.tables import Array
from mlcli.engines.neighbours.search import nearest
from mlcli.models.neighbours.knn import NearestNeighbours
from mlcli.prepare.impute import Impute
from mlcli.prepare.one_hot import OneHot
from mlcli.prepare.standardise import Standardise
from tests.contract.test_shortcuts import ROWS, assert_equal_or_refused, rows_of, table_of

EACH = np.arange(ROWS, dtype=np.int32)
STEPS: dict[str, tuple[Step, ...]] = {
    "as they are": (),
    "standardised": (Standardise(ddof=1),),
    "levels too": (OneHot(), Standardise()),
}
NUMBERS: dict[str, Callable[[np.random.Generator], Array]] = {
    "spread": lambda rng: rng.normal(size=(ROWS, 4)),
    "on a grid": lambda rng: np.round(rng.normal(size=(ROWS, 4)), 1) + 5,
    "few different rows": lambda rng: rng.integers(0, 3, (ROWS, 2)) / 10,
    "one column": lambda rng: np.round(rng.normal(size=(ROWS, 1)), 1),
}
SETTINGS: tuple[dict[str, Any], ...] = (
    {"k": 1},
    {"k": 7, "weights": "inverse"},
    {"k": 4, "weights": "inverse-linear", "tied_vote": "nearest"},
    {"tied_distance": "first", "tied_vote": "class-order"},
    {"tied_distance": "majority", "distance": "manhattan"},
)


@pytest.mark.parametrize("kind", ["classification", "regression"])
@pytest.mark.parametrize("numbers", NUMBERS)
@pytest.mark.parametrize("steps", STEPS)
@pytest.mark.parametrize("settings", SETTINGS)
def test_answers_are_those_of_the_loop(settings: Any, steps: str, numbers: str, kind: str) -> None:
    rng = np.random.default_rng(8)
    table = table_of(NUMBERS[numbers](rng), rng, gaps=False, levels=steps == "levels too")
    data = rows_of(kind, table, rng, weighted=kind == "regression")
    assert assert_equal_or_refused(NearestNeighbours(**settings), STEPS[steps], data, EACH) is not None


@pytest.mark.parametrize(("numbers", "levels"), [("mean", "most-frequent"), ("own-value", "own-value")])
@pytest.mark.parametrize("weights", ["uniform", "inverse"])
def test_gaps_are_filled_by_the_other_rows(weights: str, numbers: str, levels: str) -> None:
    rng = np.random.default_rng(9)
    data = rows_of("classification", table_of(NUMBERS["spread"](rng), rng, gaps=True, levels=True), rng, False)
    for steps in ((Impute(numbers=numbers, levels=levels), OneHot()), (Impute(), OneHot(), Standardise())):
        held = assert_equal_or_refused(NearestNeighbours(weights=weights), steps, data, EACH)
        assert held is not None
        assert held.refused.sum() <= 1


def test_cells_that_differ_in_k_share_one_search(monkeypatch: pytest.MonkeyPatch) -> None:
    searches: list[int] = []

    def counted(distance: Any, queries: Any, stored: Any, count: int, *more: Any) -> Any:
        searches.append(count)
        return nearest(distance, queries, stored, count, *more)

    monkeypatch.setattr("mlcli.engines.neighbours.leave_one_out.nearest", counted)
    rng = np.random.default_rng(10)
    data = rows_of(
        "classification", table_of(NUMBERS["on a grid"](rng), rng, gaps=False, levels=False), rng, False
    )
    found = {}
    for k in (5, 1, 3, 20, 12):
        held = assert_equal_or_refused(NearestNeighbours(k=k), (Standardise(),), data, EACH)
        assert held is not None
        found[k] = held.answers
    assert searches == [8 + 1, 20 + 1]
    for k, answers in found.items():
        fresh = data.take(slice(None))
        alone = Pipeline(steps=(Standardise(),), model=NearestNeighbours(k=k)).held_out(fresh, Round(EACH, ROWS))
        assert alone is not None
        np.testing.assert_array_equal(alone.answers, answers)


@pytest.mark.parametrize("tree", [False, True])
@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("numbers", NUMBERS)
def test_the_compiled_search_finds_the_same_to_the_bit(
    numbers: str, gaps: bool, tree: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(12)
    data = rows_of("regression", table_of(NUMBERS[numbers](rng), rng, gaps=gaps, levels=gaps), rng, True)
    steps: tuple[Step, ...] = (Impute(), OneHot(), Standardise()) if gaps else (Standardise(),)
    pipeline = Pipeline(steps=steps, model=NearestNeighbours(weights="inverse"))
    plain = pipeline.held_out(data.take(slice(None)), Round(EACH, ROWS))
    with monkeypatch.context() as patched:
        patched.setattr("mlcli.engines.neighbours.search.loops_pay", lambda pairs: True)
        patched.setattr("mlcli.engines.neighbours.search.TREE_PAYS", 0 if tree else np.inf)
        compiled = pipeline.held_out(data.take(slice(None)), Round(EACH, ROWS))
    assert plain is not None
    assert compiled is not None
    np.testing.assert_array_equal(compiled.refused, plain.refused)
    np.testing.assert_array_equal(compiled.answers, plain.answers)


def test_folds_too_few_rows_and_chance_are_left_to_the_loop() -> None:
    rng = np.random.default_rng(11)
    data = rows_of("regression", table_of(NUMBERS["spread"](rng), rng, gaps=False, levels=False), rng, False)
    for model in (NearestNeighbours(k=ROWS), NearestNeighbours(tied_distance="random")):
        assert Pipeline(model=model).held_out(data, Round(EACH, ROWS)) is None
    assert Pipeline(model=NearestNeighbours()).held_out(data, Round(EACH % 5, 5)) is None
