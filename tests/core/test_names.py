"""Suggestions: of all that people type wrong, how much is answered with what they meant."""

from __future__ import annotations

import random
import string

import pytest

from mlcli.core.names import METHODS, SETTINGS, did_you_mean, likely_names, nearest, other_names
from mlcli.core.names import PROTOCOLS as PROTOCOL_NAMES
from mlcli.core.names import STEPS as STEP_NAMES
from mlcli.core.params import by_name, problems_with
from mlcli.core.registry import MODELS, PROTOCOLS, STEPS
from mlcli.data.shipped import shipped_paths
from mlcli.metrics.registry import names_for
from mlcli.tasks.table import KINDS

NOUNS = {
    "models": MODELS.names(),
    "steps": STEPS.names(),
    "protocols": PROTOCOLS.names(),
    "datasets": list(shipped_paths()),
    "kinds": [kind.name for kind in KINDS],
    "metrics": list(names_for(KINDS[0].answers)),
}


def with_a_slip(name: str, rng: random.Random) -> str:
    """A letter left out, added, changed, or swapped with the next."""
    place, letter = rng.randrange(len(name) - 1), rng.choice(string.ascii_lowercase)
    start, end = name[:place], name[place + 1 :]
    return rng.choice(
        (start + end, start + letter + name[place:], start + letter + end, start + end[0] + name[place] + end[1:])
    )


@pytest.mark.parametrize("noun", NOUNS)
def test_two_slips_are_put_right_in_at_least_95_of_100_cases(noun: str) -> None:
    """Of names of at least six letters; of shorter ones two slips leave too little."""
    rng = random.Random(1)
    names = [name for name in NOUNS[noun] if len(name) >= 6]
    right = total = 0
    for name in names:
        for _ in range(4):
            typed = with_a_slip(with_a_slip(name, rng), rng)
            if typed not in NOUNS[noun]:
                total, right = total + 1, right + (name in likely_names(typed, NOUNS[noun]))
    assert right >= 0.95 * total


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("rf", "random-forest"),
        ("RandomForestClassifier", "random-forest"),
        ("xgboost", "newton-boosting"),
        ("lr", "logistic-regression"),
        ("nb", "naive-bayes"),
        ("KNeighborsRegressor", "knn"),
        ("J48", "decision-tree"),
        ("kmeans", "k-means"),
        ("ovr", "one-against-rest"),
    ],
)
def test_names_of_other_programs_are_known(typed: str, meant: str) -> None:
    assert nearest(typed, MODELS.names()) == meant


@pytest.mark.parametrize(
    ("typed", "valid", "meant"),
    [
        ("n_neighbors", ["k", "distance"], "k"),
        ("n_estimators", ["rounds", "base"], "rounds"),
        ("C", ["l2", "intercept"], "l2"),
        ("roc_auc", ["auc", "accuracy"], "auc"),
    ],
)
def test_parameters_and_metrics_of_other_programs_are_known(typed: str, valid: list[str], meant: str) -> None:
    assert nearest(typed, valid) == meant


@pytest.mark.parametrize(("typed", "setting"), SETTINGS.items())
def test_what_makes_a_method_the_other_one_is_said(typed: str, setting: str) -> None:
    """And it is a parameter that the method, the step or the protocol has."""
    registry = next(one for one in (MODELS, STEPS, PROTOCOLS) if set(other_names(typed)) & set(one.names()))
    method = nearest(typed, registry.names())
    assert method is not None
    assert did_you_mean(typed, registry.names()) == f"did you mean '{method}' with {setting}?"
    name, _, value = setting.partition("=")
    use = registry.load(method)
    assert not problems_with(use, {name: by_name(use)[name].from_text(value)})


@pytest.mark.parametrize(
    ("typed", "noun", "meant"),
    [
        ("0-r", "models", "zero-r"),
        ("1-rule", "models", "one-r"),
        ("PLA", "models", "perceptron"),
        ("RBF", "models", "rbf-network"),
        ("maximum entropy", "models", "log-linear"),
        ("apriori", "models", "fp-growth"),
        ("baum-welch", "models", "hmm"),
        ("binning", "steps", "discretise"),
        ("normalise", "steps", "min-max"),
        ("z-score", "steps", "standardise"),
        ("upsample", "steps", "sample-rows"),
        ("tpr", "metrics", "recall"),
        ("ppv", "metrics", "precision"),
        ("group fairness", "metrics", "demographic-parity"),
        ("Gaussian naive Bayes", "models", "naive-bayes"),
        ("softmax regression", "models", "logistic-regression"),
        ("majority vote", "models", "voting"),
        ("stratification", "protocols", "stratified-holdout"),
    ],
)
def test_names_of_textbooks_are_known(typed: str, noun: str, meant: str) -> None:
    assert nearest(typed, NOUNS[noun]) == meant


@pytest.mark.parametrize("table", [METHODS, STEP_NAMES, PROTOCOL_NAMES])
def test_suggestions_are_names_that_there_are(table: dict[str, str]) -> None:
    assert set(table) <= {*MODELS.names(), *STEPS.names(), *PROTOCOLS.names()}


def test_equally_near_names_are_all_suggested() -> None:
    assert did_you_mean("f1-mxcro", ["f1-macro", "f1-micro"]) == "did you mean 'f1-macro' or 'f1-micro'?"


def test_what_is_near_to_nothing_is_answered_with_the_list() -> None:
    assert did_you_mean("zzzzzz", ["knn", "lda"], "models") == "models: knn, lda"
    assert nearest("xy", ["knn", "lda"]) is None


def test_nothing_is_suggested_for_a_name_that_is_far_too_long() -> None:
    assert likely_names("a" * 1_000_000, MODELS.names()) == []


def test_of_thousands_of_valid_names_some_are_listed() -> None:
    columns = [f"column {number}" for number in range(20_000)]
    advice = did_you_mean("x", columns, "columns")
    assert advice.endswith("and 19800 more")
    assert len(advice) < 5_000
