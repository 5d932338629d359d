"""Diagnose a model of each shipped dataset: every option that is printed works, and sound models have no issue."""

from __future__ import annotations

import pytest

from mlcli.data.load import load
from mlcli.data.shipped import shipped_paths
from tests.checks.repairs import assert_options_work
from tests.checks.test_diagnosed import assert_no_serious_issue

pytestmark = pytest.mark.slow

METHODS = {
    "classification": "decision-tree",
    "regression": "ridge",
    "clustering": "k-means",
    "anomaly": "z-score",
    "ranking": "ranking-svm",
    "recommendation": "user-item-bias",
    "sequence-labelling": "hmm",
    "association": "fp-growth",
}
"""A method for each kind of task that a shipped dataset has."""


SOUND = (
    *(("iris", "lda"), ("wdbc", "logistic-regression"), ("penguins", "random-forest"), ("wine", "naive-bayes")),
    *(
        ("credit_g", "logistic-regression"),
        ("vote", "logistic-regression"),
        ("ionosphere", "knn"),
        ("olive", "knn"),
    ),
    *(("travelmode", "logistic-regression"), ("breast_cancer", "naive-bayes"), ("arrests", "logistic-regression")),
    *(("digits", "knn"), ("abalone", "linear-regression"), ("wdbc", "lda"), ("ionosphere", "knn")),
)
"""Sound shipped datasets, each with a method that suits it."""


@pytest.mark.parametrize("name", shipped_paths())
def test_options_of_a_diagnosis_of_a_shipped_dataset(name: str) -> None:
    assert_options_work(name, METHODS[str(load(name).task)])


def test_options_of_a_diagnosis_of_a_tuned_model() -> None:
    assert_options_work("zoo", "{use: knn, tune: {k: [1, 2]}}")


@pytest.mark.parametrize(("name", "model"), SOUND)
def test_a_model_that_suits_its_dataset_has_no_serious_issue(name: str, model: str) -> None:
    assert_no_serious_issue(name, model)
