"""The pocket algorithm beside the best plane that there is, found by trying all."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from mlcli.models.linear.linear_classifier import LinearClassifier
from mlcli.models.linear.perceptron import Perceptron
from mlcli.models.linear.pocket import Pocket
from tests.golden.asking import answered, fitted
from tests.golden.shipped import numeric, standardised
from tests.support.rows import labelled


def fewest_errors(X: np.ndarray, y: np.ndarray) -> int:
    """Of all lines through two rows, turned and moved a little."""
    best = min(y.sum(), (~y).sum())
    for one, other in combinations(range(len(X)), 2):
        along = X[other] - X[one]
        for turn in (-1e-7, 1e-7):
            normal = np.array([-along[1], along[0]]) + turn * along
            for at in (X[one], X[other]):
                for shift in (-1e-9, 1e-9):
                    wrong = int((((X - at) @ normal > shift) != y).sum())
                    best = min(best, wrong, len(X) - wrong)
    return int(best)


@pytest.mark.parametrize("start", ["zero", "linear", "random"])
def test_it_finds_the_fewest_errors_of_any_line(start: str) -> None:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(40, 2))
    y = X[:, 0] + 0.8 * rng.normal(size=40) > 0
    data = labelled(numeric(X), list(np.where(y, "yes", "no")))
    said = answered(Pocket(start=start, max_passes=500), data)
    assert (said.predicted != data.y).sum() <= fewest_errors(X, y) + 1


@pytest.mark.filterwarnings("ignore::mlcli.core.errors.MlcliWarning")
def test_it_errs_less_on_training_rows_than_what_it_starts_from_and_what_forgets() -> None:
    data = standardised("wdbc")
    wrong = [
        (answered(model, data).predicted != data.y).sum() for model in (Pocket(), LinearClassifier(), Perceptron())
    ]
    assert wrong[0] <= min(wrong[1:])


def test_a_separating_plane_ends_the_passes() -> None:
    data = standardised("iris").take(np.arange(100))
    assert fitted(Pocket(start="linear"), data).errors_ == ((),)
    assert len(fitted(Pocket(start="zero"), data).errors_[0]) < 100
