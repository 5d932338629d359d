"""Classes that tie on paper tie in floating point: 0.1 + 0.2 against 0.3 goes to the first class, in any order."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from mlcli.models.baselines.zero_r import ZeroR
from mlcli.models.neighbours.knn import NearestNeighbours
from mlcli.tasks.supervised import first_of_the_largest
from tests.golden.asking import answered
from tests.support.rows import labelled, table_of

pytestmark = pytest.mark.filterwarnings("ignore::mlcli.core.errors.MlcliWarning")


@pytest.mark.parametrize(
    "model", [ZeroR(), NearestNeighbours(k=3), NearestNeighbours(tied_vote="class-order")], ids=str
)
@pytest.mark.parametrize("order", list(permutations(range(3))), ids=str)
def test_weights_that_tie_on_paper_tie(model: object, order: tuple[int, ...]) -> None:
    told = [("a", 0.1), ("a", 0.2), ("b", 0.3)]
    for first, second in (("a", "b"), ("b", "a")):  # whichever class rounds upwards
        named = [({"a": first, "b": second}[told[row][0]], told[row][1]) for row in order]
        labels, weight = [label for label, _ in named], [w for _, w in named]
        answers = answered(model.fresh(), labelled(table_of({"x": [1.0, 1.0, 1.0]}), labels, weight=weight))  # type: ignore[attr-defined]
        assert answers.predicted.tolist() == [0, 0, 0]


def test_the_first_of_the_largest_of_each_row() -> None:
    shares = np.array([[0.3, 0.1 + 0.2, 0.4], [0.5, 0.5, 0.0], [0.5 - 1e-13, 0.5 + 1e-13, 0.0], [0.4, 0.6, 0.0]])
    assert first_of_the_largest(shares).tolist() == [2, 0, 0, 1]
    assert first_of_the_largest(np.empty((0, 3))).tolist() == []
