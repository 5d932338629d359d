"""The .632 and .632+ estimates: the formulas of Efron & Tibshirani 1997 by hand, and mlxtend where it agrees."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mlcli.core.answers import Header
from mlcli.core.errors import UsageError
from mlcli.experiment.run.batch import run
from mlcli.experiment.spec.cells import DataSpec, Experiment, ModelSpec, ProtocolSpec
from mlcli.experiment.spec.plan import plan
from mlcli.metrics.registry import metric_named
from mlcli.metrics.summary import corrected_for_optimism, no_information, overfitting, summarise
from mlcli.scoring.model_results import ModelResult, score_result
from mlcli.tasks.supervised import LabelAnswers

ACCURACY = metric_named("accuracy", LabelAnswers, ("a", "b"))


def answers(truth: str, predicted: str) -> LabelAnswers:
    codes = [np.array(["ab".index(one) for one in text], np.int32) for text in (truth, predicted)]
    return LabelAnswers(
        header=Header(rows=np.arange(len(truth))), truth=codes[0], predicted=codes[1], classes=("a", "b")
    )


JUDGED = [answers("aabb", "abbb"), answers("aabb", "aaab")]
"""Out of the bag 3 of 4 are right in both bags: an error of 0.25."""
TRAINING_ANSWERS = [answers("aabba", "aabba"), answers("aabbb", "aabba")]
"""In training all are right, then 4 of 5: an error of 0.1."""


def of(estimate: str | float) -> float:
    summary = corrected_for_optimism(
        summarise(ACCURACY, JUDGED, [5, 5]), ACCURACY, JUDGED, TRAINING_ANSWERS, estimate
    )
    assert summary.mean is not None
    return summary.mean


def test_the_estimates_by_hand() -> None:
    assert of("plain") == 0.75
    assert of(0.632) == pytest.approx(1 - (0.368 * 0.1 + 0.632 * 0.25))
    # Truths: 4 of 8 are a. Predictions: a in 4 of 8. No information: 1 - (0.5 · 0.5 + 0.5 · 0.5) = 0.5.
    rate = (0.25 - 0.1) / (0.5 - 0.1)
    weight = 0.632 / (1 - 0.368 * rate)
    assert of(".632+") == pytest.approx(1 - ((1 - weight) * 0.1 + weight * 0.25))


def test_the_score_of_no_information_is_that_of_every_pair() -> None:
    rng = np.random.default_rng(1)
    truth, predicted = ("".join(rng.choice(list("ab"), 60, p=[share, 1 - share])) for share in (0.3, 0.7))
    p, q = truth.count("a") / 60, predicted.count("a") / 60
    assert no_information(ACCURACY, answers(truth, predicted)) == pytest.approx(p * q + (1 - p) * (1 - q))


def test_of_no_information_a_row_of_weight_three_says_what_three_rows_do() -> None:
    # By hand: truths a 3, b 2; predictions a 4, b 1 of weight 5. Right: (3 · 4 + 2 · 1) / 25.
    weighted = answers("aab", "aba").with_header(weight=np.array([2.0, 1.0, 2.0]))
    assert no_information(ACCURACY, weighted) == pytest.approx((3 * 4 + 2 * 1) / 25)


def test_averages_over_classes_have_their_no_information_in_each_bag() -> None:
    """Who answers one class alone, in each bag another, knows nothing in any; together these would seem to."""
    f1 = metric_named("f1-macro", LabelAnswers)
    bags = [answers("aabb", "aaaa"), answers("aabb", "bbbb")]
    found = corrected_for_optimism(summarise(f1, bags, [4, 4]), f1, bags, bags, ".632+")
    assert found.mean == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("apparent", "outside", "none", "rate"),
    [(1.0, 0.5, 0.5, 1.0), (1.0, 0.3, 0.5, 1.0), (0.8, 0.8, 0.5, 0.0), (0.8, 0.9, 0.5, 0.0), (0.9, 0.7, 0.5, 0.5)],
)
def test_the_rate_of_overfitting_is_from_0_to_1(apparent: float, outside: float, none: float, rate: float) -> None:
    assert overfitting(ACCURACY, apparent, outside, none) == pytest.approx(rate)
    assert overfitting(replace(ACCURACY, better="low"), -apparent, -outside, -none) == pytest.approx(rate)


def scored_by(estimate: str | float) -> ModelResult:
    asked = ProtocolSpec("bootstrap", {"repeats": 15, "estimate": estimate})
    cells = plan(Experiment((DataSpec("iris"),), (ModelSpec("knn", {"k": 1}),), asked, metrics=("accuracy",)))
    return score_result(run(cells, jobs=1)[-1])


def test_the_632_estimate_is_that_of_mlxtend() -> None:
    """It asks each bag's model about all rows, where we ask it about its bag; the rest is the same."""
    from mlxtend.evaluate import BootstrapOutOfBag, bootstrap_point632_score
    from sklearn.datasets import load_breast_cancer
    from sklearn.tree import DecisionTreeClassifier

    X, y = load_breast_cancer(return_X_y=True)
    tree = DecisionTreeClassifier(max_depth=3, random_state=1)
    theirs = bootstrap_point632_score(tree, X, y, n_splits=10, random_seed=3).mean()
    judged: list[LabelAnswers] = []
    learned: list[LabelAnswers] = []
    for train, test in BootstrapOutOfBag(n_splits=10, random_seed=3).split(X):
        fitted = tree.fit(X[train], y[train])
        for found, rows in ((learned, np.arange(len(y))), (judged, test)):
            texts = ("".join("ab"[code] for code in codes) for codes in (y[rows], fitted.predict(X[rows])))
            found.append(answers(*texts))
    summary = summarise(ACCURACY, judged, [len(y)] * 10)
    assert corrected_for_optimism(summary, ACCURACY, judged, learned, 0.632).mean == pytest.approx(
        theirs, abs=1e-9
    )


def test_a_model_that_learns_by_heart_is_not_flattered() -> None:
    plain, corrected_, plus = (
        scored_by(estimate).summaries["accuracy"].mean for estimate in ("plain", 0.632, ".632+")
    )
    assert plain is not None
    assert corrected_ is not None
    assert plus is not None
    assert plain < plus < corrected_ < 1


def test_another_share_is_refused() -> None:
    with pytest.raises(UsageError, match="one of plain"):
        scored_by(0.5)
