"""Splits that share test rows: tests and intervals are no narrower than the distinct rows allow."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from mlcli.core.answers import Answers, Header
from mlcli.metrics.difference import compare
from mlcli.metrics.intervals import weightings
from mlcli.metrics.registry import metric_named
from mlcli.metrics.summary import summarise
from mlcli.tasks.anomaly import ScoreAnswers
from mlcli.tasks.supervised import LabelAnswers
from tests.metrics.making import drawn_labels, folds_of, label_answers, number


def detector(flagged: list[int], rows: list[int]) -> ScoreAnswers:
    """Answers to 40 good rows (0 to 39) and 10 anomalies (40 to 49), some of which are flagged."""
    score = np.isin(rows, flagged).astype(np.float64)
    return ScoreAnswers(
        header=Header(rows=np.array(rows)),
        score=score,
        truth=(np.array(rows) >= 40).astype(np.int32),
        classes=("good", "bad"),
        columns=("x",),
        reasons=np.full((len(rows), 3), -1, np.int32),
        shares=np.zeros((len(rows), 3)),
        threshold=np.full(len(rows), 0.5),
    )


def three_repeats(*false_alarms: int) -> list[Answers]:
    """Eight of ten anomalies are flagged in each of three tests, and these good rows."""
    flagged = [*range(40, 48), *false_alarms]
    return [detector(flagged, [*range(start, start + 30), *range(40, 50)]) for start in (0, 1, 2)]


@pytest.mark.parametrize("name", ["precision", "f1"])
def test_detectors_one_false_alarm_apart_cannot_be_told_apart(name: str) -> None:
    """Row 20 is judged in all three tests; resampled rows lack it in (1 - 1/42)^42 = 36 % of cases."""
    metric = metric_named(name, ScoreAnswers)
    quiet, loud = three_repeats(10, 1), three_repeats(10, 1, 20)
    found = compare(metric, quiet, loud, [24] * 3)
    assert found.p is not None
    assert found.p > 0.36
    assert found.low is not None
    assert found.low <= 0


def test_the_interval_over_repeats_is_no_narrower_than_the_rows_allow() -> None:
    """All tests judge the same ten anomalies: recall 8 of 10 whatever the repeat; Efron's percentiles by SciPy."""
    found = summarise(metric_named("recall", ScoreAnswers), three_repeats(5), [24] * 3)
    low, high = stats.binom.ppf([0.025, 0.975], 10, 0.8) / 10
    assert (found.mean, found.low, found.high) == pytest.approx((0.8, low, high), abs=0.06)


def test_answers_to_one_row_are_drawn_together() -> None:
    twice = drawn_labels(2, rows=30).take(np.tile(np.arange(30), 2))
    drawn = np.concatenate(list(weightings(twice)))
    assert (drawn[:, :30] == drawn[:, 30:]).all()


def test_accuracy_over_overlapping_splits_is_no_surer_than_its_rows() -> None:
    """Splits that judge the same 60 rows but a few: the paired t over rows is the floor of p."""
    ours, theirs = (drawn_labels(2, rows=66, seed=1, skill=skill) for skill in (0.6, 0.5))
    places = [np.arange(start, start + 60) for start in range(0, 7, 2)]
    splits = [[answers.take(place) for place in places] for answers in (ours, theirs)]
    found = compare(metric_named("accuracy", LabelAnswers), splits[0], splits[1], [200] * 4)
    per_row = compare(metric_named("accuracy", LabelAnswers), [ours], [theirs], [0])
    assert found.p is not None
    assert per_row.p is not None
    assert found.p >= 0.8 * per_row.p


def five_by_two(seed: int) -> tuple[list[Answers], list[Answers]]:
    rng = np.random.default_rng(seed)
    truth = "ab" * 40
    ours, theirs = (
        [
            "".join(
                label if right else "ba"["ab".index(label)]
                for label, right in zip(truth, rng.random(80) < p, strict=True)
            )
            for _ in range(5)
        ]
        for p in (0.75, 0.70)
    )
    models = [[label_answers(truth, answers, "ab") for answers in of_model] for of_model in (ours, theirs)]
    return [one for a in models[0] for one in folds_of(a, 2)], [one for b in models[1] for one in folds_of(b, 2)]


def test_star_and_interval_of_five_by_two_agree() -> None:
    """Dietterich's p by SciPy; the interval leaves out 0 exactly where p < 0.05, and always holds the mean."""
    metric, seen = metric_named("accuracy", LabelAnswers), {True: 0, False: 0}
    for seed in range(150):
        ours, theirs = five_by_two(seed)
        found = compare(metric, ours, theirs, [40] * 10, test="5x2")
        gains = np.array(
            [number("accuracy", a) - number("accuracy", b) for a, b in zip(ours, theirs, strict=True)]
        )
        t = gains[0] / np.sqrt(gains.reshape(5, 2).var(axis=1, ddof=1).mean())
        p = 2 * stats.t.sf(abs(t), 5)
        if found.p is None:
            assert gains[0] * gains.mean() < 0
            assert "another sign" in found.why
            continue
        assert found.p == pytest.approx(p)
        assert found.low is not None
        assert found.high is not None
        assert found.low <= gains.mean() + 1e-12
        assert gains.mean() - 1e-12 <= found.high
        assert (found.low > 0 or found.high < 0) == found.distinguishable == (p < 0.05)
        seen[found.distinguishable] += 1
    assert min(seen.values()) > 3
