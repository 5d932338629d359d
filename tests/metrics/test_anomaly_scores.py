"""Scores of oddness beside scikit-learn, by hand where it has none, undefined where nothing judges."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn import metrics as oracle

from mlcli.core.answers import Header
from mlcli.core.tables import Array
from mlcli.metrics.base import Undefined
from mlcli.metrics.registry import metric_named, names_for
from mlcli.metrics.summary import summarise
from mlcli.tasks.anomaly import ScoreAnswers, highest_f1
from mlcli.tasks.supervised import LabelAnswers

NAMES = ("auc", "average-precision", "precision", "recall", "f1", "precision-at-n", "specificity")


def answers_of(
    score: Any, truth: Any, threshold: float | None = None, weight: Array | None = None
) -> ScoreAnswers:
    n = len(score)
    return ScoreAnswers(
        header=Header(rows=np.arange(n), weight=weight),
        score=np.asarray(score, dtype=float),
        truth=np.asarray(truth, dtype=np.int32),
        classes=("good", "bad"),
        columns=(),
        reasons=np.full((n, 3), -1, np.int32),
        shares=np.zeros((n, 3)),
        threshold=None if threshold is None else np.full(n, threshold),
    )


def value(name: str, answers: ScoreAnswers) -> Any:
    return metric_named(name, ScoreAnswers).compute(answers)


def some(seed: int) -> ScoreAnswers:
    """Random answers, often with ties, with rows whose label is not known, and with weights every other time."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(6, 60))
    truth = rng.choice([-1, 0, 1], n, p=[0.2, 0.5, 0.3])
    truth[:2] = 0, 1
    score = np.round(rng.normal(size=n) + 0.5 * truth, int(rng.integers(0, 4))) * 10.0 ** rng.integers(-3, 4)
    weight = rng.choice([0.5, 1.0, 3.0], n) if seed % 2 else None
    return answers_of(score, truth, float(rng.choice(score)), weight)


def known(answers: ScoreAnswers) -> dict[str, Any]:
    """Truth and weights of the labelled rows, as scikit-learn takes them."""
    held = answers.truth >= 0
    return {"y_true": answers.truth[held], "sample_weight": answers.weights[held]}


@pytest.mark.parametrize("seed", range(60))
def test_rankings_are_those_of_scikit_learn(seed: int) -> None:
    answers = some(seed)
    score = answers.score[answers.truth >= 0]
    assert value("auc", answers) == pytest.approx(oracle.roc_auc_score(y_score=score, **known(answers)), abs=1e-9)
    expected = oracle.average_precision_score(y_score=score, **known(answers))
    assert value("average-precision", answers) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("seed", range(60))
def test_flags_are_scored_as_by_scikit_learn(seed: int) -> None:
    answers = some(seed)
    flagged = answers.flagged[answers.truth >= 0].astype(int)
    precision, recall, f1, _ = oracle.precision_recall_fscore_support(
        y_pred=flagged, average="binary", zero_division=0, **known(answers)
    )
    assert value("recall", answers) == pytest.approx(recall, abs=1e-9)
    assert value("f1", answers) == pytest.approx(f1, abs=1e-9)
    found = value("precision", answers)
    assert found == (pytest.approx(precision, abs=1e-9) if flagged.any() else Undefined("no row is flagged"))


@pytest.mark.parametrize("seed", range(60))
def test_the_threshold_is_the_highest_of_those_with_the_best_f1(seed: int) -> None:
    answers = some(seed)
    score = answers.score[answers.truth >= 0]
    precision, recall, thresholds = oracle.precision_recall_curve(y_score=score, **known(answers))
    # Some rows may be flagged in floats that differ in their last digit only.
    f1 = np.round(2 * precision * recall / np.maximum(precision + recall, 1e-300), 12)[:-1]
    assert highest_f1(answers) == thresholds[np.flatnonzero(f1 == f1.max())[-1]]


def test_precision_at_n_takes_as_many_rows_as_there_are_anomalies() -> None:
    # 3 anomalies; of the 3 highest scores 2 are theirs.
    answers = answers_of([9, 8, 7, 6, 5, 4], [1, 0, 1, 0, 1, 0])
    assert value("precision-at-n", answers) == pytest.approx(2 / 3)


def test_rows_that_tie_at_n_count_for_the_share_that_fits() -> None:
    # 2 anomalies: one row above, then three tie for one place, and one of the three is an anomaly.
    answers = answers_of([9, 5, 5, 5, 1], [1, 1, 0, 0, 0])
    assert value("precision-at-n", answers) == pytest.approx((1 + 1 / 3) / 2)
    order = np.array([3, 1, 4, 0, 2])
    assert value("precision-at-n", answers.take(order)) == pytest.approx((1 + 1 / 3) / 2)


def test_scores_that_all_tie_give_the_share_of_anomalies() -> None:
    # 1 of 4 rows, whichever of them is taken.
    answers = answers_of([5, 5, 5, 5], [0, 1, 0, 0])
    assert value("precision-at-n", answers) == value("precision@1", answers) == 0.25


@pytest.mark.parametrize("seed", range(60))
def test_scores_of_the_first_rows_are_those_of_flagging_them(seed: int) -> None:
    answers = some(seed)
    held = answers.truth >= 0
    order = np.flatnonzero(held)[np.argsort(-answers.score[held] + 1e-6 * np.arange(held.sum()))]
    apart = replace(
        answers.take(order).with_header(weight=None), score=-np.arange(len(order), dtype=float)
    )  # without ties
    for first in (1, 3, len(order) + 5):
        flagged = replace(apart, threshold=np.full(len(order), -float(first) + 1))
        for name in ("precision", "recall", "f1"):
            assert value(f"{name}@{first}", apart) == pytest.approx(value(name, flagged)), name


def test_rows_that_tie_for_the_last_of_the_first_places_count_by_share() -> None:
    # One row above, then three tie for the other place; one of the three is an anomaly.
    assert value("precision@2", answers_of([9, 5, 5, 5, 1], [1, 1, 0, 0, 0])) == pytest.approx((1 + 1 / 3) / 2)
    assert value("precision@1", answers_of([5, 5], [1, 0])) == pytest.approx(1 / 2)


def test_weights_count_as_repeats() -> None:
    plain = answers_of([4, 3, 2, 1], [1, 0, 1, 0], 2.0, np.array([1.0, 2, 3, 1]))
    times = np.repeat(np.arange(4), [1, 2, 3, 1])
    repeated = plain.take(times).with_header(weight=None)
    for name in (*NAMES, "recall@3"):
        assert value(name, plain) == pytest.approx(value(name, repeated)), name


def test_scores_that_differ_by_rounding_only_tie() -> None:
    assert value("auc", answers_of([1 + 1e-15, 1.0], [1, 0])) == 0.5
    assert value("auc", answers_of([-1e6 * (1 + 1e-15), -1e6], [0, 1])) == 0.5
    assert value("auc", answers_of([1 + 1e-12, 1.0], [1, 0])) == 1.0


@pytest.mark.parametrize("name", NAMES)
def test_without_labels_nothing_is_judged(name: str) -> None:
    assert "no labels" in value(name, answers_of([1, 2], [-1, -1], 1.0)).why


@pytest.mark.parametrize("name", NAMES[:-1])
@pytest.mark.parametrize(("label", "why"), [(0, "no test row is an anomaly"), (1, "every test row")])
def test_one_label_is_not_enough(name: str, label: int, why: str) -> None:
    assert why in value(name, answers_of([1, 2], [label, -1], 1.0)).why


@pytest.mark.parametrize("name", ["precision", "recall", "f1"])
def test_without_a_threshold_flags_are_undefined_and_the_protocol_that_chooses_one_is_named(name: str) -> None:
    assert "good-only" in value(name, answers_of([1, 2], [0, 1])).why


def test_no_threshold_is_chosen_where_no_row_is_known_to_be_an_anomaly() -> None:
    assert highest_f1(answers_of([1, 2], [0, -1])) is None


@pytest.mark.parametrize("name", NAMES)
def test_every_score_has_an_interval_from_its_rows(name: str) -> None:
    rng = np.random.default_rng(0)
    truth = (rng.random(200) < 0.2).astype(np.int32)
    summary = summarise(
        metric_named(name, ScoreAnswers), [answers_of(truth + rng.normal(size=200), truth, 1.0)], [9]
    )
    assert summary.mean is not None
    assert summary.low is not None
    assert summary.high is not None
    assert summary.low < summary.mean < summary.high


def test_specificity_is_the_share_of_good_rows_that_are_not_flagged() -> None:
    """By hand: of three good rows one scores at least 2; anomalies and unlabelled rows do not count."""
    assert value("specificity", answers_of([1, 1, 3, 9, 9], [0, 0, 0, 1, -1], 2.0)) == pytest.approx(2 / 3)
    assert value("specificity", answers_of([1, 3], [0, 0], 2.0)) == 0.5
    assert "every test row" in value("specificity", answers_of([1, 2], [1, -1], 1.0)).why


def test_these_are_all_of_them() -> None:
    assert set(names_for(ScoreAnswers)) == set(NAMES)


@pytest.mark.parametrize("rows", [60, 300])
def test_the_interval_of_an_area_is_that_of_classes_with_these_scores(rows: int) -> None:
    """Rows whose label is not known widen nothing."""
    rng = np.random.default_rng(rows)
    truth = (np.arange(rows) % 10 == 0).astype(np.int32)
    score = 1 / (1 + np.exp(-rng.normal(size=rows) - 1.5 * truth))
    beside = np.append(truth, [-1] * 20)
    of_anomalies = summarise(
        metric_named("auc", ScoreAnswers), [answers_of(np.append(score, rng.random(20)), beside)], [0]
    )
    labels = LabelAnswers(
        header=Header(rows=np.arange(rows)),
        truth=truth,
        predicted=truth,
        classes=("good", "bad"),
        probabilities=np.stack([1 - score, score], axis=1),
    )
    of_labels = summarise(metric_named("auc", LabelAnswers), [labels], [0])
    assert (of_anomalies.low, of_anomalies.high) == pytest.approx((of_labels.low, of_labels.high), rel=2e-3)


@pytest.mark.parametrize("name", ["average-precision", "precision", "f1", "precision-at-n"])
def test_precision_over_few_anomalies_is_taken_over_all_splits(name: str) -> None:
    """The mean of splits with two anomalies each would be 0.05 to 0.14 too high here, or undefined."""
    rng = np.random.default_rng(1)
    truth = (np.arange(200) % 10 == 0).astype(np.int32)
    whole = answers_of(rng.normal(size=200) + 1.5 * truth, truth, threshold=1.6)
    splits = [whole.take(np.arange(200) // 20 == part) for part in range(10)]
    found = summarise(metric_named(name, ScoreAnswers), splits, [180] * 10)
    assert found.mean == pytest.approx(value(name, whole))
