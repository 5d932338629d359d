"""Metrics on SOURCES.md: section 1.2 (scores of probabilities), 3 (red, blue, gold) and 4 (evaluation)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mlcli.core.answers import Header
from mlcli.core.tables import Array
from mlcli.metrics.base import Undefined
from mlcli.metrics.confusion import confusion
from mlcli.metrics.interval_rules import fold_stability
from mlcli.metrics.intervals import wald, wilson
from mlcli.metrics.registry import metric_named
from mlcli.metrics.scores.labels import one_against_rest
from mlcli.tasks.supervised import LabelAnswers
from tests.golden.weather import printed, weather
from tests.metrics.making import label_answers, score, value_answers

RED_BLUE_GOLD = label_answers("RBRBG", "RRBRB", "RBG")
"""Section 3: labels and predictions of the slide "Averaging"."""


def naive_bayes(column: str) -> LabelAnswers:
    """The 14 weather rows with the P(yes) that section 1.2 prints for a smoothing."""
    yes, asked = printed(column), weather()
    return LabelAnswers(
        header=Header(rows=np.arange(14)),
        truth=asked.y,
        predicted=(yes > 0.5).astype(np.int32),
        classes=asked.classes,
        probabilities=np.column_stack([1 - yes, yes]),
    )


@pytest.mark.parametrize(
    ("column", "auc", "log_loss"),
    [("p_yes_mle", 43 / 45, 0.305213), ("p_yes_laplace1", 41.5 / 45, 0.384984)],
)
def test_naive_bayes_in_sample(column: str, auc: float, log_loss: float) -> None:
    answers = naive_bayes(column)
    assert score("auc", answers) == pytest.approx(auc, abs=1e-12)
    assert score("auc[yes]", answers) == pytest.approx(auc, abs=1e-12)
    assert score("auc[no]", answers) == pytest.approx(auc, abs=1e-12)
    assert score("log-loss", answers) == pytest.approx(log_loss, abs=5e-7)
    assert score("accuracy", answers) == 13 / 14


def test_brier_in_sample_with_laplace() -> None:
    assert score("brier", naive_bayes("p_yes_laplace1")) == pytest.approx(0.115077, abs=5e-7)


def test_a_rounding_error_does_not_break_the_tie_of_rows_2_and_6() -> None:
    """Section 1.2: the two tie exactly under Laplace, and a rounding error moves the AUC by 1/90."""
    answers = naive_bayes("p_yes_laplace1")
    assert answers.probabilities is not None
    assert answers.probabilities[1, 1] == answers.probabilities[5, 1]
    for ulps in (-3, 3):
        nudged = answers.probabilities.copy()
        nudged[1, 1] += ulps * np.spacing(nudged[1, 1])
        assert score("auc", naive_bayes_with(nudged)) == pytest.approx(41.5 / 45, abs=1e-12)


def naive_bayes_with(probabilities: Array) -> LabelAnswers:
    return replace(naive_bayes("p_yes_laplace1"), probabilities=probabilities)


def test_log_loss_of_an_impossible_truth_is_infinite() -> None:
    """Section 1.2, leave-one-out without smoothing: P(yes) of row 6 (a no) is 1."""
    answers = naive_bayes("p_yes_mle")
    assert answers.probabilities is not None
    left_out = answers.probabilities.copy()
    left_out[5] = (0, 1)
    assert score("log-loss", naive_bayes_with(left_out)) == np.inf


@pytest.mark.parametrize(("ranking", "auc"), [((0.1, 0.2, 0.8, 0.9), 1), ((0.9, 0.8, 0.2, 0.1), 0)])
def test_perfect_and_reversed_rankings(ranking: tuple[float, ...], auc: float) -> None:
    """Section 4, from S0 4.3.2."""
    answers = label_answers("nnyy", "nnyy", "ny", probabilities=[(1 - p, p) for p in ranking])
    assert score("auc", answers) == auc


def test_the_confusion_matrix_of_red_blue_gold() -> None:
    assert confusion(RED_BLUE_GOLD).counts.tolist() == [[1, 1, 0], [2, 0, 0], [0, 1, 0]]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("precision-macro", 0.111111),
        ("recall-macro", 0.166667),
        ("precision-micro", 0.2),
        ("recall-micro", 0.2),
        ("precision-weighted", 0.133333),
        ("recall-weighted", 0.2),
        ("accuracy", 0.2),
        ("error-rate", 0.8),
        ("f1-macro", 0.133333),
        ("f1-micro", 0.2),
        ("f1-weighted", 0.16),
        ("specificity-macro", (1 / 3 + 1 / 3 + 1) / 3),
        ("balanced-accuracy", 0.166667),
        ("kappa", -0.333333),
        ("mcc", -0.360844),
    ],
)
def test_averages_of_red_blue_gold(name: str, expected: float) -> None:
    assert score(name, RED_BLUE_GOLD) == pytest.approx(expected, abs=5e-7)


def test_each_class_of_red_blue_gold() -> None:
    red, blue, gold = one_against_rest(RED_BLUE_GOLD)
    assert (red.precision, blue.precision) == pytest.approx((1 / 3, 0))
    assert gold.precision is None  # 0/0
    assert (red.recall, blue.recall, gold.recall) == (0.5, 0, 0)
    assert (red.f1, blue.f1, gold.f1) == pytest.approx((0.4, 0, 0))
    assert (red.specificity, blue.specificity, gold.specificity) == pytest.approx((1 / 3, 1 / 3, 1))
    assert (red.fpr, blue.fpr, gold.fpr) == pytest.approx((2 / 3, 2 / 3, 0))
    assert (red.lean, blue.lean, gold.lean) == pytest.approx((0.2, 0, -0.2))
    assert (red.support, blue.support, gold.support) == (2, 2, 1)


def test_gold_is_never_predicted_and_that_is_marked() -> None:
    metric = metric_named("precision", LabelAnswers)
    assert metric.marks is not None
    assert metric.marks(RED_BLUE_GOLD) == ("G is never predicted: its precision 0/0 counts as 0",)
    assert isinstance(score("precision[G]", RED_BLUE_GOLD), Undefined)


def test_bias_in_both_signs() -> None:
    """Section 4, from S2 "Model bias in regression"."""
    answers = value_answers([1, 2, 3], [2, 2, 4])
    assert score("bias", answers) == pytest.approx(0.666667, abs=5e-7)
    assert score("mean-residual", answers) == pytest.approx(-0.666667, abs=5e-7)


@pytest.mark.parametrize(
    ("errors", "rows", "by_wald", "by_wilson"),
    [
        (4, 5, (0.449385, 1.150615), (0.375535, 0.963776)),
        (4, 14, (0.049071, 0.522357), (0.117214, 0.546491)),
        (5, 14, (0.106145, 0.608141), (0.163447, 0.612356)),
        (1, 14, (-0.063479, 0.206336), (0.012722, 0.314687)),
        (2, 20, (-0.031481, 0.231481), (0.027866, 0.301034)),
        (0, 14, (0, 0), (0, 0.215311)),
    ],
)
def test_intervals_of_an_error_rate(
    errors: int, rows: int, by_wald: tuple[float, float], by_wilson: tuple[float, float]
) -> None:
    """Section 4; Wald is S0 equation (23)."""
    for made, (low, high) in ((wald, by_wald), (wilson, by_wilson)):
        found = made(errors / rows, rows)
        assert (found.low, found.high) == pytest.approx((low, high), abs=5e-7)


FOLDS = {
    "consistent": [92.0, 91.5, 92.0, 92.5, 91.8],
    "outlier split": [92.0, 44.0, 91.5, 92.5, 91.8],
    "inconsistent": [80.0, 44.0, 99.0, 60.0, 87.0],
}
"""The three lists of S0 4.4, in percent."""


@pytest.mark.parametrize("rows", [20, 100, 1000])
@pytest.mark.parametrize("verdict", FOLDS)
def test_the_verdicts_on_the_three_lists_of_folds(verdict: str, rows: int) -> None:
    """The notes speak of folds of 20 rows (100 rows, 80 : 20) and of 1000 (3000 rows, 3 folds)."""
    found = fold_stability([share / 100 for share in FOLDS[verdict]], [rows] * 5)
    assert found.verdict == verdict
    assert found.apart == ((1,) if verdict == "outlier split" else ())


@pytest.mark.parametrize(
    ("verdict", "spread"), [("consistent", 0.30), ("outlier split", 0.44), ("inconsistent", 28.17)]
)
def test_the_spread_of_the_three_lists_of_folds(verdict: str, spread: float) -> None:
    found = fold_stability([share / 100 for share in FOLDS[verdict]], [1000] * 5)
    assert 100 * found.spread == pytest.approx(spread, abs=0.005)
