"""Which rows a detector flags: every rule of ``decide``, as text, as a mapping, and on few rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2, norm

from mlcli.core.errors import UsageError
from mlcli.core.params import build, settings
from mlcli.core.pipeline import learn, predict_rows, set_threshold
from mlcli.core.registry import MODELS
from mlcli.tasks.anomaly import ScoreAnswers
from mlcli.tasks.anomaly_thresholds import LearnedScores
from tests.golden.screening import cloud, rows_of

X = np.vstack([cloud(29, 2), [[60.0, -60.0]]])


def decided_by(model: str, decide: Any, X: Any = X) -> ScoreAnswers:
    """The answers of a kept model about the rows that it has learned from, which have no labels."""
    data = rows_of(X).unlabelled()
    made = build(MODELS.load(model), {} if decide is None else {"decide": decide})
    learn(made, data, np.random.default_rng(0))
    set_threshold(made, data, data)
    answers = predict_rows(made, data)
    assert isinstance(answers, ScoreAnswers)
    return answers


@pytest.mark.parametrize(
    "model",
    [
        "knn-distance",
        "inverse-distance",
        "fixed-radius",
        "z-score",
        "grubbs",
        "mahalanobis",
        "isolation-forest",
        "cblof",
    ],
)
def test_of_thirty_rows_without_labels_the_odd_one_is_flagged(model: str) -> None:
    assert decided_by(model, None).flagged[29]


@pytest.mark.parametrize("written", ["top 3", "top: 3", {"top": 3}])
def test_the_oddest_rows_are_flagged_by_number(written: Any) -> None:
    answers = decided_by("lof", written)
    assert set(np.flatnonzero(answers.flagged)) == set(np.argsort(-answers.score)[:3])


def test_a_share_flags_at_least_one_row() -> None:
    assert decided_by("knn-distance", "share: 0.1").flagged.sum() == 3
    assert decided_by("knn-distance", {"share": 0.001}).flagged.sum() == 1


def test_a_threshold_is_taken_as_it_is() -> None:
    answers = decided_by("z-score", {"threshold": 1.5})
    assert answers.flagged.tolist() == (answers.score >= 1.5).tolist()


def test_p_by_ranks_is_the_share_of_rows_at_least_as_odd() -> None:
    answers = decided_by("knn-distance", "p < 0.05")
    p = np.array([(answers.score >= score).mean() for score in answers.score])
    assert answers.flagged.tolist() == (p < 0.05).tolist()
    few = decided_by("knn-distance", "p < 0.05", X[-12:])
    assert not few.flagged.any()
    assert "none can be" in few.threshold_from


def test_p_by_the_distribution_that_the_method_knows() -> None:
    answers = decided_by("mahalanobis", {"p": 0.05})
    assert answers.flagged.tolist() == (chi2.sf(answers.score**2, 2) < 0.05).tolist()
    answers = decided_by("z-score", {"p": 0.05})
    assert answers.flagged.tolist() == (1 - (1 - 2 * norm.sf(answers.score)) ** 2 < 0.05).tolist()


def test_rows_that_all_score_alike_are_not_flagged_by_what_is_far_out() -> None:
    assert not decided_by("knn-distance", "own", np.repeat(np.arange(5.0), 2)[:, None]).flagged.any()


def test_rows_that_tie_are_flagged_together_or_not_at_all() -> None:
    rows = LearnedScores(np.array([1.0, 3, 3, 2]), np.ones(4))
    assert rows.at_most(1, least_one=True) == 3
    assert rows.at_most(1, least_one=False) > 3
    assert rows.at_most(2, least_one=False) == 3
    assert rows.at_most(3, least_one=False) == 2


@pytest.mark.parametrize("wrong", ["most", {"top": 0}, {"share": 2}, {"top": 1, "p": 0.1}, 5, "p < 1"])
def test_what_says_no_rule_is_refused(wrong: Any) -> None:
    with pytest.raises(UsageError, match="decide"):
        build(MODELS.load("lof"), {"decide": wrong})


@pytest.mark.parametrize("written", ["own", {"top": 2}, {"p": 0.05}, {"share": 0.1}, {"threshold": -1.0}])
def test_settings_make_the_same_model_again(written: Any) -> None:
    made = build(MODELS.load("lof"), {"decide": written})
    assert settings(made)["decide"] == written
    assert build(MODELS.load("lof"), settings(made)).decide == made.decide
