"""Names: whatever is misspelt is answered with the nearest name that would work."""

from __future__ import annotations

import json

import pytest

from tests.support.shell import typed


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["evla", "iris"], "eval"),
        (["eval", "iris", "--protcol", "k-fold"], "--protocol"),
        (["eval", "irsi"], "iris"),
        (["eval", "iris", "-m", "naive-bays"], "naive-bayes"),
        (["eval", "iris", "-m", "knn", "-p", "distanc=euclidean"], "distance"),
        (["eval", "iris", "-m", "knn", "-p", "distance=euclidian"], "euclidean"),
        (["eval", "iris", "--protocol", "stratified-kfold"], "stratified-k-fold"),
        (["eval", "iris", "--metric", "f1-marco"], "f1-macro"),
        (["eval", "iris", "--task", "clasification"], "classification"),
        (["eval", "iris", "--target", "specie"], "species"),
        (["models", "decision-three"], "decision-tree"),
        (["eval", "iris", "-m", "random forest"], "'random-forest'"),
        (["models", "sensitivity"], "--metric recall"),
        (["models", "f1-score"], "--metric f1-macro"),
        (["models", "loo"], "leave-one-out"),
        (["models", "k-fold"], "--protocol k-fold"),
        (["eval", "iris", "--metric", "negative log-likelihood"], "log-loss"),
        (["train", "iris", "-m", "lof", "-p", "k=3"], "neighbours"),
        (["train", "iris", "-m", "pca", "-p", "standardise=false"], "steps: []"),
        (["curve", "validation", "iris", "-m", "lda", "-p", "polynomial.degree=1..3"], "steps: [polynomial]"),
    ],
    ids=lambda part: part if isinstance(part, str) else "",
)
def test_a_misspelt_name_is_answered_with_the_nearest(words: list[str], meant: str) -> None:
    result = typed(*words)
    assert result.exit_code in (2, 4)
    assert meant in result.stderr


@pytest.mark.parametrize(
    ("word", "ids"),
    [
        ("gini", ["decision-tree", "random-forest"]),
        ("pseudo inverse", ["linear-regression", "rbf-network"]),
        ("Laplace", ["naive-bayes"]),
        ("maximum likelihood", ["linear-regression"]),
        ("Viterbi", ["crf", "hmm", "memm"]),
        ("softplus", ["mlp"]),
        ("decision boundary", ["lda", "qda"]),
        ("vote neighbours", ["knn"]),
        ("information gain", ["decision-tree", "mutual-information"]),
        ("fisher", ["lda", "lda-projection"]),
    ],
)
def test_a_word_that_is_no_id_is_looked_for_in_all_pages(word: str, ids: list[str]) -> None:
    result = typed("models", word)
    assert result.exit_code == 0
    assert f"What speaks of '{word}'" in result.stdout
    assert set(ids) <= {line.split(" ")[0] for line in result.stdout.splitlines()}


@pytest.mark.parametrize("name", ["SVM", "Random Forest", "t-SNE", "decision trees"])
def test_the_page_of_an_id_is_found_in_capitals_with_spaces_and_in_the_plural(name: str) -> None:
    assert typed("models", name).stdout.splitlines()[0] == name.lower().replace(" ", "-").removesuffix("s")


def test_what_speaks_of_a_word_is_plain_values_in_json() -> None:
    found = json.loads(typed("models", "multinomial", "--json").stdout)
    assert found["words"] == "multinomial"
    assert "naive-bayes" in [one["id"] for one in found["mentions"]]


def test_the_page_of_a_generative_method_says_so() -> None:
    # Notes S0 2.2.3: naive Bayes is generative, logistic regression discriminative.
    assert "mlcli sample" in typed("models", "naive-bayes").stdout
    assert "mlcli sample" not in typed("models", "logistic-regression").stdout
