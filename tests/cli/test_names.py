"""Names: whatever is misspelt is answered with the nearest name that would work."""

from __future__ import annotations

import pytest

from tests.cli.shell import document, typed


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
        (["models", "random forest"], "'random-forest'"),
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
    ("words", "methods"),
    [
        ("Viterbi", {"crf", "hmm", "memm"}),
        ("hinge", {"linear-svm", "random-distance", "ranking-svm"}),
        ("bigrams", {"hmm"}),
        ("maximum likelihood", {"gaussian-bayes", "lda", "linear-regression", "mahalanobis", "qda"}),
    ],
)
def test_a_word_of_the_field_finds_the_methods_whose_pages_say_it(words: str, methods: set[str]) -> None:
    # Notes S0: sections 7.3.1, 5.5.4, 7.1 and 3.1.
    found = document(typed("models", words, "--json"))
    assert {one["id"] for one in found["models"]} == methods
    assert "\nsteps\n" not in typed("models", words).stdout


def test_the_page_of_a_generative_method_says_so() -> None:
    # Notes S0 2.2.3: naive Bayes is generative, logistic regression discriminative.
    assert "mlcli sample" in typed("models", "naive-bayes").stdout
    assert "mlcli sample" not in typed("models", "logistic-regression").stdout
