"""Landmarks that a user names and sees, and kernels beside the Gaussian one, by hand and beside scikit-learn."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics.pairwise import euclidean_distances

from mlcli.core.errors import FitError
from mlcli.models.kernel_methods.similarity import Similarity
from mlcli.prepare.landmarks import Landmarks
from tests.cli.shell import document, typed
from tests.golden.asking import asked, fitted
from tests.rows import table_of, valued

LANDMARKS = table_of({"x": [0.0, 2.0, 0.0], "y": [0.0, 0.0, 2.0]})
ASKED = table_of({"x": [1.0, 0.5], "y": [0.0, 0.5]})

KERNELS = {
    "gaussian": lambda u: math.exp(-u),
    "laplacian": lambda u: math.exp(-math.sqrt(u)),
    "cauchy": lambda u: 1 / (1 + u),
    "epanechnikov": lambda u: max(1 - u, 0.0),
    "triangular": lambda u: max(1 - math.sqrt(u), 0.0),
}


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("form", ["plain", "normalised"])
def test_answers_are_weighted_by_the_kernel(kernel: str, form: str) -> None:
    model = fitted(Similarity(form=form, kernel=kernel, gamma=0.3), valued(LANDMARKS, [1.0, 1.0, 5.0]))
    distances = euclidean_distances(ASKED.numbers, LANDMARKS.numbers)
    weights = np.vectorize(KERNELS[kernel])(0.3 * distances**2)
    expected = weights @ [1.0, 1.0, 5.0] / (weights.sum(axis=1) if form == "normalised" else 1.0)
    assert asked(model, valued(ASKED, [0.0, 0.0])).predicted == pytest.approx(expected)


@pytest.mark.parametrize("kernel", ["epanechnikov", "triangular"])
def test_the_nearest_landmark_answers_where_the_kernel_has_ended(kernel: str) -> None:
    model = fitted(Similarity(kernel=kernel, gamma=1.0), valued(table_of({"x": [0.0, 1.0]}), [3.0, 5.0]))
    far = valued(table_of({"x": [-1e6, 1e6]}), [0.0, 0.0])
    assert asked(model, far).predicted.tolist() == [3.0, 5.0]


def test_only_named_rows_answer() -> None:
    """exp(−1/2) and exp(−1/2) of rows 1 and 2 at (1, 0): the mean of 1 and 4."""
    model = fitted(Similarity(sigma=1.0, landmark_rows=(1, 2)), valued(LANDMARKS, [1.0, 4.0, 9.0]))
    assert asked(model, valued(ASKED, [0.0, 0.0])).predicted[0] == pytest.approx(2.5)


def test_rows_that_are_not_there_are_refused() -> None:
    with pytest.raises(FitError, match="none of the landmark_rows 7, 8 is a training row"):
        fitted(Similarity(sigma=1.0, landmark_rows=(7, 8)), valued(LANDMARKS, [1.0, 4.0, 9.0]))


def test_train_shows_the_named_landmarks(tmp_path: Path) -> None:
    words = ("train", "iris", "-m", "{use: similarity, steps: []}", "-p", "landmark_rows=[1, 51, 101]")
    printed = document(typed(*words, "-p", "gamma=1", "-o", str(tmp_path / "m.mlcli"), "--json"))
    shown = next(one for one in printed["findings"] if one["title"] == "Landmarks")
    assert shown["rows"] == [
        [1, 5.1, 3.5, 1.4, 0.2, "setosa"],
        [51, 7.0, 3.2, 4.7, 1.4, "versicolor"],
        [101, 6.3, 3.3, 6.0, 2.5, "virginica"],
    ]


def test_the_step_takes_named_rows_and_other_kernels() -> None:
    step = Landmarks(landmark_rows=(3, 1), kernel="cauchy", gamma=0.5)
    step.learn(valued(LANDMARKS, [0.0, 0.0, 0.0]), np.random.default_rng(1))
    assert step.apply(ASKED).numbers == pytest.approx(np.array([[1 / 3.5, 1 / 1.5], [1 / 2.25, 1 / 1.25]]))


def test_named_rows_that_a_fold_holds_out(tmp_path: Path) -> None:
    """Five folds: each row is held out once, and the others still serve."""
    steps = "{use: landmarks, params: {landmark_rows: [1, 51, 101]}}"
    models = ("similarity", "-p", "landmark_rows=[1, 51, 101]"), (f"{{use: lda, steps: [{steps}]}}",)
    for number, model in enumerate(models):
        words = ("eval", "iris", "-m", *model, "--folds", "5", "--store", str(tmp_path / f"{number}.db"))
        printed = typed(*words)
        assert printed.exit_code == 0, printed.output
    saved = str(tmp_path / "m.mlcli")
    assert typed("train", "iris", "-m", models[1][0], "-o", saved).exit_code == 0
    assert typed("predict", saved, "iris").exit_code == 0
