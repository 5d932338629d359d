"""Every metric against scikit-learn, with and without weights."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn import metrics as oracle
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris
from sklearn.linear_model import Ridge
from sklearn.model_selection import cross_val_predict
from sklearn.naive_bayes import GaussianNB

from mlcli.core.answers import Header
from mlcli.metrics.base import Undefined
from mlcli.metrics.fairness import CRITERIA
from mlcli.metrics.registry import metric_named, names_for
from mlcli.tasks.supervised import LabelAnswers, ValueAnswers
from tests.metrics.making import drawn_labels, drawn_values, label_answers, repeated, score, value_answers

OF_GROUPS = {*CRITERIA, "disparate-impact"}
"""Scores of fairness, which need a sensitive column."""


def _rates(function: Callable[..., Any], average: str) -> Callable[[LabelAnswers], float]:
    def asked(answers: LabelAnswers) -> float:
        return float(
            function(
                answers.truth, answers.predicted, average=average, sample_weight=answers.weight, zero_division=0
            )
        )

    return asked


def _auc(answers: LabelAnswers) -> float:
    assert answers.probabilities is not None
    scores = answers.probabilities[:, 1] if len(answers.classes) == 2 else answers.probabilities
    weight = answers.weight
    if weight is not None and len(answers.classes) > 2:
        return float(np.mean([_auc_of(answers, code) for code in range(len(answers.classes))]))
    return float(oracle.roc_auc_score(answers.truth, scores, multi_class="ovr", sample_weight=weight))


def _auc_of(answers: LabelAnswers, code: int) -> float:
    assert answers.probabilities is not None
    return float(
        oracle.roc_auc_score(answers.truth == code, answers.probabilities[:, code], sample_weight=answers.weight)
    )


def _brier(answers: LabelAnswers) -> float:
    assert answers.probabilities is not None
    scores = answers.probabilities[:, 1] if len(answers.classes) == 2 else answers.probabilities
    return float(oracle.brier_score_loss(answers.truth, scores, sample_weight=answers.weight))


def _of_labels(function: Callable[..., Any]) -> Callable[[LabelAnswers], float]:
    return lambda answers: float(function(answers.truth, answers.predicted, sample_weight=answers.weight))


def _kappa(answers: LabelAnswers) -> float:
    return float(oracle.cohen_kappa_score(answers.truth, answers.predicted, sample_weight=answers.weight))


def _log_loss(answers: LabelAnswers) -> float:
    return float(oracle.log_loss(answers.truth, answers.probabilities, sample_weight=answers.weight))


def _specificity(answers: LabelAnswers, average: str) -> float:
    """From scikit-learn's one-against-rest tables."""
    tables = oracle.multilabel_confusion_matrix(answers.truth, answers.predicted, sample_weight=answers.weight)
    tn, fp, fn, tp = tables[:, 0, 0], tables[:, 0, 1], tables[:, 1, 0], tables[:, 1, 1]
    averaged = {
        "macro": np.mean(tn / (tn + fp)),
        "micro": tn.sum() / (tn + fp).sum(),
        "weighted": np.average(tn / (tn + fp), weights=tp + fn),
    }
    return float(averaged[average])


def _averaged(average: str) -> dict[str, Callable[[LabelAnswers], float]]:
    recall = _rates(oracle.recall_score, average)
    return {
        f"precision-{average}": _rates(oracle.precision_score, average),
        f"recall-{average}": recall,
        f"f1-{average}": _rates(oracle.f1_score, average),
        f"fnr-{average}": lambda answers: 1 - recall(answers),
        f"specificity-{average}": lambda answers: _specificity(answers, average),
        f"fpr-{average}": lambda answers: 1 - _specificity(answers, average),
    }


LABEL_ORACLES: dict[str, Callable[[LabelAnswers], float]] = {
    "accuracy": _of_labels(oracle.accuracy_score),
    "error-rate": _of_labels(oracle.zero_one_loss),
    "cost": _of_labels(oracle.zero_one_loss),
    "balanced-accuracy": _of_labels(oracle.balanced_accuracy_score),
    "mcc": _of_labels(oracle.matthews_corrcoef),
    "kappa": _kappa,
    "log-loss": _log_loss,
    "brier": _brier,
    "auc": _auc,
    **_averaged("macro"),
    **_averaged("micro"),
    **_averaged("weighted"),
}
PLAIN = ("precision", "recall", "f1", "specificity", "fpr", "fnr")
VALUE_ORACLES: dict[str, Callable[..., Any]] = {
    "mse": oracle.mean_squared_error,
    "rmse": oracle.root_mean_squared_error,
    "mae": oracle.mean_absolute_error,
    "r2": oracle.r2_score,
    "median-absolute-error": oracle.median_absolute_error,
    "bias": lambda truth, predicted, sample_weight: np.average(predicted - truth, weights=sample_weight),
    "mean-residual": lambda truth, predicted, sample_weight: np.average(truth - predicted, weights=sample_weight),
    "sse": lambda truth, predicted, sample_weight: np.sum(
        (truth - predicted) ** 2 * (1 if sample_weight is None else sample_weight)
    ),
}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("classes", [2, 3, 7])
@pytest.mark.parametrize("name", LABEL_ORACLES)
def test_scores_of_labels_are_scikit_learns(name: str, classes: int, weighted: bool) -> None:
    answers = drawn_labels(classes, weighted=weighted)
    assert score(name, answers) == pytest.approx(LABEL_ORACLES[name](answers), abs=1e-9)


@pytest.mark.parametrize("load", [load_iris, load_breast_cancer, load_digits])
@pytest.mark.parametrize("name", [name for name in LABEL_ORACLES if name != "log-loss"])
def test_scores_of_naive_bayes_on_shipped_data_are_scikit_learns(name: str, load: Callable[..., Any]) -> None:
    answers = _bayes(load)
    assert score(name, answers) == pytest.approx(LABEL_ORACLES[name](answers), abs=1e-9)


_ASKED: dict[str, LabelAnswers] = {}


def _bayes(load: Callable[..., Any]) -> LabelAnswers:
    """Gaussian naive Bayes on ten folds: its probabilities crowd at 0 and 1."""
    if load.__name__ not in _ASKED:
        X, y = load(return_X_y=True)
        probabilities = cross_val_predict(GaussianNB(), X, y, method="predict_proba", cv=10)
        _ASKED[load.__name__] = LabelAnswers(
            header=Header(rows=np.arange(len(y))),
            truth=y.astype(np.int32),
            predicted=probabilities.argmax(axis=1).astype(np.int32),
            classes=tuple(map(str, range(probabilities.shape[1]))),
            probabilities=probabilities,
        )
    return _ASKED[load.__name__]


@pytest.mark.parametrize("name", PLAIN)
def test_a_plain_name_is_the_macro_average(name: str) -> None:
    answers = drawn_labels(3, weighted=True)
    assert score(name, answers) == score(f"{name}-macro", answers)


@pytest.mark.parametrize("weighted", [False, True])
def test_a_class_has_its_own_rates_and_auc(weighted: bool) -> None:
    answers = drawn_labels(3, weighted=weighted)
    rates = oracle.precision_recall_fscore_support(answers.truth, answers.predicted, sample_weight=answers.weight)
    for stem, values in zip(("precision", "recall", "f1"), rates, strict=False):
        assert [score(f"{stem}[{label}]", answers) for label in "abc"] == pytest.approx(values, abs=1e-12)
    aucs = [_auc_of(answers, code) for code in range(3)]
    assert [score(f"auc[{label}]", answers) for label in "abc"] == pytest.approx(aucs, abs=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", VALUE_ORACLES)
def test_scores_of_values_are_scikit_learns(name: str, weighted: bool) -> None:
    for answers in (drawn_values(weighted=weighted), _ridge(weighted)):
        expected = VALUE_ORACLES[name](answers.truth, answers.predicted, sample_weight=answers.weight)
        assert score(name, answers) == pytest.approx(expected, rel=1e-9, abs=1e-9)


def _ridge(weighted: bool) -> ValueAnswers:
    X, y = load_diabetes(return_X_y=True)
    weight = np.random.default_rng(1).uniform(0.5, 2, len(y)) if weighted else None
    predicted = cross_val_predict(Ridge(), X, y)
    return ValueAnswers(
        header=Header(rows=np.arange(len(y)), weight=weight),
        truth=y,
        predicted=predicted,
    )


def test_every_metric_has_an_oracle() -> None:
    """Those of fairness have theirs in tests/golden/test_fairness.py."""
    assert set(names_for(LabelAnswers)) == {*LABEL_ORACLES, *PLAIN, *OF_GROUPS}
    assert set(names_for(ValueAnswers)) == set(VALUE_ORACLES)


def _weighted_twins() -> list[tuple[str, Any]]:
    labels, values = drawn_labels(3, rows=40), drawn_values(rows=40)
    asked = [
        (name, answers)
        for answers in (labels, values)
        for name in names_for(type(answers))
        if name not in OF_GROUPS
    ]
    return [*asked, ("recall[b]", labels), ("auc[b]", labels)]


@pytest.mark.parametrize(("name", "answers"), _weighted_twins())
def test_whole_weights_are_repeated_rows(name: str, answers: Any) -> None:
    times = np.random.default_rng(2).integers(0, 4, len(answers))
    weighted = answers.with_header(weight=times.astype(np.float64))
    assert score(name, weighted) == pytest.approx(score(name, repeated(answers, times)), rel=1e-12)


@pytest.mark.parametrize("name", ["rmse", "r2"])
def test_many_weightings_of_values_at_once_equal_the_loop(name: str) -> None:
    answers = drawn_values(rows=30)
    answers = replace(answers, truth=1e6 + answers.truth, predicted=1e6 + answers.predicted)
    weightings = np.random.default_rng(3).integers(0, 3, (50, 30)).astype(np.float64)
    weightings[0] = np.arange(30) == 4  # one value only
    metric = metric_named(name, ValueAnswers)
    assert metric.under is not None
    looped = [metric.compute(answers.with_header(weight=weighting)) for weighting in weightings]
    expected = [np.nan if isinstance(found, Undefined) else found for found in looped]
    assert metric.under(answers, weightings) == pytest.approx(expected, nan_ok=True, rel=1e-9)


@pytest.mark.parametrize("name", ["f1-macro", "balanced-accuracy", "mcc", "kappa", "auc", "auc[b]", "recall[c]"])
def test_many_weightings_at_once_equal_the_loop(name: str) -> None:
    answers = drawn_labels(3, rows=30)
    weightings = np.random.default_rng(3).integers(0, 3, (50, 30)).astype(np.float64)
    weightings[0] = answers.truth == 0  # one class only
    metric = metric_named(name, LabelAnswers)
    assert metric.under is not None
    looped = [metric.compute(answers.with_header(weight=weighting)) for weighting in weightings]
    expected = [np.nan if isinstance(found, Undefined) else found for found in looped]
    assert metric.under(answers, weightings) == pytest.approx(expected, nan_ok=True, abs=1e-12)


@pytest.mark.parametrize(
    ("name", "truth", "predicted", "why"),
    [
        ("auc", "aaaa", "aaaa", "only one class among the test rows"),
        ("auc[a]", "aaaa", "aaaa", "the test rows do not hold both a and another class"),
        ("mcc", "aabb", "aaaa", "the same class is predicted for every row"),
        ("mcc", "aaaa", "aabb", "only one class among the test rows"),
        ("kappa", "aaaa", "aaaa", "truth and predictions are one and the same class, so chance agrees always"),
        ("precision[b]", "aabb", "aaaa", "b is never predicted: its precision is 0/0"),
        ("recall[b]", "aaaa", "aabb", "no test row is b: its recall is 0/0"),
        ("fnr[b]", "aaaa", "aabb", "no test row is b: its fnr is 0/0"),
        ("f1[c]", "aabb", "abab", "c is neither among the true nor the predicted classes: its f1 is 0/0"),
        ("specificity[a]", "aaaa", "aabb", "every test row is a: its specificity is 0/0"),
        ("specificity", "aaaa", "aaaa", "every test row is a: specificity is 0/0"),
        ("fpr-micro", "aaaa", "aaaa", "every test row is a: fpr is 0/0"),
        ("accuracy", "", "", "no test row has weight"),
        ("recall[z]", "aabb", "abab", "there is no class 'z' here"),
    ],
)
def test_what_cannot_be_computed_is_undefined_with_its_reason(
    name: str, truth: str, predicted: str, why: str
) -> None:
    answers = label_answers(truth, predicted, "abc", probabilities=[(0.5, 0.3, 0.2)] * len(truth))
    found = score(name, answers)
    assert isinstance(found, Undefined)
    assert found.why == why


@pytest.mark.parametrize("name", ["log-loss", "brier", "auc", "auc[a]"])
def test_scores_of_probabilities_need_probabilities(name: str) -> None:
    assert score(name, label_answers("ab", "ab", "ab")) == Undefined("the model gives no probabilities")


@pytest.mark.parametrize(("truth", "weight"), [([2, 2, 2], None), ([5], None), ([2, 2, 9], [1, 1, 0])])
def test_r2_of_a_constant_is_undefined(truth: list[float], weight: list[float] | None) -> None:
    found = score("r2", value_answers(truth, [1] * len(truth), weight))
    assert isinstance(found, Undefined)
    assert found.why == "the test rows all have the same value"


def test_rows_without_weight_do_not_count_even_where_infinite() -> None:
    answers = label_answers("ab", "ab", "ab", weight=[1, 0], probabilities=[(0.5, 0.5), (1, 0)])
    assert score("log-loss", answers) == pytest.approx(np.log(2))
    assert score("mcc", label_answers("aab", "aab", "ab", weight=[1, 1, 0])) == Undefined(
        "only one class among the test rows", "stratified splits, or fewer, would help"
    )


def test_log_loss_of_an_impossible_truth_is_infinite_and_marked() -> None:
    answers = label_answers("aab", "aab", "ab", probabilities=[(0.5, 0.5), (0, 1), (1, 0)])
    metric = metric_named("log-loss", LabelAnswers)
    assert metric.compute(answers) == np.inf
    assert metric.marks is not None
    assert metric.marks(answers) == ("infinite: the true class has probability 0 in 2 of 3 rows",)


def _marks(name: str, answers: LabelAnswers) -> tuple[str, ...]:
    metric = metric_named(name, LabelAnswers)
    assert metric.marks is not None
    return metric.marks(answers)


def test_averages_mark_what_counts_as_worst_and_what_is_left_out() -> None:
    answers = label_answers("aab", "aac", "abcd")
    left_out = "no test row is d: it is left out of the mean over classes"
    assert _marks("precision", answers) == ("b is never predicted: its precision 0/0 counts as 0", left_out)
    assert _marks("recall-macro", answers) == ("no test row is c: its recall 0/0 counts as 0", left_out)
    assert _marks("fnr-macro", answers) == ("no test row is c: its fnr 0/0 counts as 1", left_out)
    assert _marks("precision-weighted", answers) == ("b is never predicted: its precision 0/0 counts as 0",)
    assert _marks("recall-weighted", answers) == ()
    assert _marks("precision-micro", answers) == ()
    assert score("recall-macro", answers) == pytest.approx(1 / 3)  # scikit-learn's: a 1, b 0, c 0/0
    assert score("balanced-accuracy", answers) == pytest.approx(1 / 2)  # scikit-learn's: a 1, b 0
    assert _marks("balanced-accuracy", answers) == (
        "no test row is c: it is left out of the mean over classes",
        left_out,
    )


def test_probabilities_that_differ_by_rounding_tie() -> None:
    near = [(0.3, 0.7), (0.3, 0.1 * 7)]
    assert near[0][1] < near[1][1]
    assert score("auc", label_answers("ab", "ab", "ab", probabilities=near)) == 0.5
    assert score("auc", label_answers("ba", "ab", "ab", probabilities=near)) == 0.5


def test_probabilities_at_the_ends_are_told_apart() -> None:
    ends = [(1e-300, 1.0), (2e-300, 1.0), (0.0, 1.0 - 2**-53)]
    assert score("auc[a]", label_answers("bab", "aab", "ab", probabilities=ends)) == 1.0
    assert score("auc[b]", label_answers("bba", "bbb", "ab", probabilities=ends)) == 1.0
