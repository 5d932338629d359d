"""Saved training rows are checked before rows are compared with them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mlcli.core.state import check_loaded
from mlcli.models.neighbours.knn import NearestNeighbours
from tests.golden.asking import fitted
from tests.support.rows import table_of, valued


def stored(distance: str) -> Any:
    """Rows with a number and a level each."""
    table = table_of({"x": [1.0, 2.0, 3.0], "c": ["u", "v", "u"]})
    return fitted(NearestNeighbours(k=1, distance=distance), valued(table, [1.0, 2.0, 3.0]))


@pytest.mark.parametrize("distance", ["hamming", "simple-matching", "jaccard", "mixed"])
def test_stored_rows_pass(distance: str) -> None:
    model = stored(distance)
    check_loaded(model)
    assert model.numbers_.shape == (1, 3)


BROKEN: dict[str, tuple[str, Any]] = {
    "fewer numbers": ("numbers_", lambda a: a[:, 1:]),
    "another column": ("numbers_", lambda a: np.vstack([a, a])),
    "flat codes": ("codes_", lambda a: a[0]),
    "fewer outputs": ("outputs_", lambda a: a[1:]),
    "outputs that are not numbers": ("outputs_", lambda a: a * np.nan),
    "a weight of 0": ("weights_", lambda a: a * 0),
    "more ranges": ("spans_", lambda a: np.ones(2)),
    "no rows": ("weights_", lambda a: a[:0]),
}


@pytest.mark.parametrize("what", BROKEN)
def test_broken_rows_are_refused(what: str) -> None:
    model = stored("mixed")
    name, damage = BROKEN[what]
    setattr(model, name, damage(getattr(model, name)))
    with pytest.raises(ValueError, match="stored"):
        check_loaded(model)


def test_ties_everywhere_are_held_batch_by_batch() -> None:
    rows = 1500
    model = fitted(NearestNeighbours(), valued(table_of({"x": [1.0] * rows}), list(range(rows))))
    batches = [len(pairs.query) for pairs, _ in model.neighbours(table_of({"x": [1.0] * rows}))]
    assert sum(batches) == rows * rows
    assert max(batches) < rows * rows / 3
