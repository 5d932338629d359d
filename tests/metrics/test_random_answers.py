"""Metrics on hundreds of small random answers equal scikit-learn's: absent classes, ties, weights of 0, one row.

Oracle: scikit-learn; where its convention differs (a class that is only predicted, 0/0) mlcli says "undefined".
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn import metrics as oracle

from mlcli.core.answers import Header
from mlcli.metrics.base import Undefined
from mlcli.tasks.supervised import LabelAnswers, ValueAnswers
from tests.metrics.making import score

SEEDS = range(150)

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning", "ignore::UserWarning")


def labels(seed: int) -> LabelAnswers:
    """Up to 25 rows of up to 5 classes, often lacking some; probabilities in quarters, so that they tie."""
    rng = np.random.default_rng(seed)
    rows, classes = int(rng.integers(1, 26)), int(rng.integers(2, 6))
    votes = rng.multinomial(4, rng.dirichlet(np.ones(classes)), rows)
    weight = rng.choice([0.0, 0.5, 1.0, 3.0], rows)
    weight[0] = 1.0
    return LabelAnswers(
        header=Header(rows=np.arange(rows), weight=weight if seed % 2 else None),
        truth=rng.integers(0, rng.integers(1, classes + 1), rows).astype(np.int32),
        predicted=votes.argmax(axis=1).astype(np.int32),
        classes=tuple("abcde"[:classes]),
        probabilities=votes / 4,
    )


def counting(answers: LabelAnswers) -> dict[str, Any]:
    """Truth, answers and weights of the rows that count, as scikit-learn takes them."""
    held = answers.weights > 0
    return {
        "y_true": answers.truth[held],
        "y_pred": answers.predicted[held],
        "sample_weight": answers.weights[held],
    }


def averaged(average: str) -> Any:
    def scores(answers: LabelAnswers) -> dict[str, float]:
        precision, recall, f1, _ = oracle.precision_recall_fscore_support(
            **counting(answers), average=average, zero_division=0
        )
        return {f"precision-{average}": precision, f"recall-{average}": recall, f"f1-{average}": f1}

    return scores


def expected_of_labels(answers: LabelAnswers) -> dict[str, float]:
    seen = counting(answers)
    found = {
        "accuracy": oracle.accuracy_score(**seen),
        "balanced-accuracy": oracle.recall_score(
            **seen, average="macro", labels=np.unique(seen["y_true"]), zero_division=0
        ),
        "mcc": oracle.matthews_corrcoef(**seen),
        "brier": _brier(answers),
        "auc": _auc(answers),
    }
    if len(np.unique([seen["y_true"], seen["y_pred"]])) > 1:
        found["kappa"] = oracle.cohen_kappa_score(
            seen["y_true"], seen["y_pred"], sample_weight=seen["sample_weight"]
        )
    for average in ("macro", "micro", "weighted"):
        found |= averaged(average)(answers)
    return found


def _brier(answers: LabelAnswers) -> float:
    assert answers.probabilities is not None
    distance = ((answers.probabilities - np.eye(len(answers.classes))[answers.truth]) ** 2).sum(axis=1)
    return float(np.average(distance, weights=answers.weights)) / (2 if len(answers.classes) == 2 else 1)


def _auc(answers: LabelAnswers) -> float:
    """The mean of scikit-learn's areas, over the classes that have rows and a rest; NaN without any."""
    assert answers.probabilities is not None
    held = answers.weights > 0
    truth, weight = answers.truth[held], answers.weights[held]
    codes = [1] if len(answers.classes) == 2 else range(len(answers.classes))
    areas = [
        oracle.roc_auc_score(truth == code, answers.probabilities[held, code], sample_weight=weight)
        for code in codes
        if 0 < (truth == code).sum() < len(truth)
    ]
    return float(np.mean(areas)) if areas else float("nan")


def test_scores_of_random_labels_are_scikit_learns_or_undefined_with_a_reason() -> None:
    undefined: dict[str, int] = {}
    for seed in SEEDS:
        answers = labels(seed)
        for name, value in expected_of_labels(answers).items():
            found = score(name, answers)
            if isinstance(found, Undefined):
                assert found.why, name
                assert value in (0.0, 1.0) or np.isnan(value), (seed, name, value)
                undefined[name] = undefined.get(name, 0) + 1
            else:
                assert found == pytest.approx(value, abs=1e-12), (seed, name)
    assert set(undefined) <= {"auc", "mcc", "precision-macro", "precision-weighted", "recall-macro", "f1-macro"}


def test_a_permutation_of_the_rows_changes_no_score() -> None:
    for seed in range(60):
        answers = labels(seed)
        other = answers.take(np.random.default_rng(seed).permutation(len(answers)))
        for name in ("accuracy", "auc", "mcc", "f1-macro", "log-loss"):
            first, second = score(name, answers), score(name, other)
            assert isinstance(first, Undefined) == isinstance(second, Undefined)
            if not isinstance(first, Undefined):
                assert second == pytest.approx(first, rel=1e-12, abs=1e-12)


def test_scores_of_random_values_are_scikit_learns() -> None:
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        rows = int(rng.integers(2, 30))
        truth = rng.normal(10.0 ** rng.integers(-6, 7), 1, rows)
        weight = rng.uniform(0.1, 4, rows)
        answers = ValueAnswers(
            header=Header(rows=np.arange(rows), weight=weight),
            truth=truth,
            predicted=truth + rng.normal(size=rows),
        )
        told = {"y_true": truth, "y_pred": answers.predicted, "sample_weight": weight}
        for name, function in {
            "mse": oracle.mean_squared_error,
            "rmse": oracle.root_mean_squared_error,
            "mae": oracle.mean_absolute_error,
            "r2": oracle.r2_score,
        }.items():
            assert score(name, answers) == pytest.approx(function(**told), rel=1e-9), (seed, name)
        assert score("sse", answers) == pytest.approx(weight @ (truth - answers.predicted) ** 2)
        assert score("bias", answers) == pytest.approx(
            np.average(answers.predicted - truth, weights=weight), rel=1e-7, abs=1e-9
        )


def test_log_loss_of_random_labels_is_scikit_learns_where_it_is_finite() -> None:
    finite = 0
    for seed in SEEDS:
        answers = labels(seed)
        assert answers.probabilities is not None
        held = answers.weights > 0
        possible = (answers.probabilities[np.arange(len(answers)), answers.truth] > 0)[held].all()
        found = score("log-loss", answers)
        assert np.isfinite(found) == possible  # type: ignore[arg-type]
        if possible:
            finite += 1
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                value = oracle.log_loss(
                    answers.truth[held],
                    answers.probabilities[held],
                    sample_weight=answers.weights[held],
                    labels=np.arange(len(answers.classes)),
                )
            assert found == pytest.approx(value, abs=1e-9)
    assert finite > 10
