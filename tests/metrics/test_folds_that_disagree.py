"""Splits that differ by more than chance are named, and the interval and the test use them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from mlcli.core.answers import Answers
from mlcli.metrics.difference import compare
from mlcli.metrics.interval_rules import fold_stability
from mlcli.metrics.registry import metric_named
from mlcli.metrics.summary import summarise
from mlcli.tasks.supervised import LabelAnswers
from tests.metrics.making import drawn_labels, folds_of, label_answers, number
from tests.support.shell import document, typed

SHARES = (80, 44, 99, 60, 87)
"""Percent right in each fold: the inconsistent folds of the lecture notes."""
ACCURACY = metric_named("accuracy", LabelAnswers)


def folds_with(shares: tuple[int, ...]) -> list[Answers]:
    """Folds of 1,000 rows of two classes, so many percent of each class right."""
    right = ["ab" * (5 * share) + "ba" * (500 - 5 * share) for share in shares]
    return [label_answers("ab" * 500, answers, "ab", first_row=1000 * k) for k, answers in enumerate(right)]


def test_the_interval_of_folds_that_disagree_is_that_of_the_folds() -> None:
    """SciPy's t over the five shares, with Nadeau & Bengio's correction; Wilson over rows gave ±0.014."""
    found = summarise(ACCURACY, folds_with(SHARES), [4000] * 5)
    error = np.std(SHARES, ddof=1) / 100 * np.sqrt(1 / 5 + 1 / 4)
    low, high = stats.t.interval(0.95, 4, loc=0.74, scale=error)
    assert (found.mean, found.low, found.high) == pytest.approx((0.74, low, min(high, 1.0)))
    assert any("differ by more than their rows explain" in mark for mark in found.marks)


@pytest.mark.parametrize("name", ["f1-macro", "mcc", "balanced-accuracy"])
def test_so_is_that_of_other_metrics_also_over_all_rows_at_once(name: str) -> None:
    metric, folds = metric_named(name, LabelAnswers), folds_with(SHARES)
    for pooled in (False, True):
        found = summarise(metric, folds, [4000] * 5, pooled)
        assert found.low is not None
        assert found.high is not None
        assert found.high - found.low > 0.4
        assert any("differ by more" in mark for mark in found.marks)


def test_folds_that_agree_keep_the_interval_of_their_rows() -> None:
    found = summarise(ACCURACY, folds_with((74, 73, 76, 74, 73)), [4000] * 5)
    assert found.interval.startswith("Wilson over 5000 distinct rows")
    assert not found.marks


def test_chance_alone_is_not_called_disagreement() -> None:
    """Random folds of one model: at most a few of 200 datasets by a test at 1 %."""
    metrics = [metric_named(name, LabelAnswers) for name in ("accuracy", "f1-macro", "auc", "log-loss")]
    flagged = 0
    for seed in range(50):
        folds = folds_of(drawn_labels(2, rows=200, seed=seed), 10)
        found = [summarise(metric, folds, [180] * 10) for metric in metrics]
        flagged += sum("differ by more" in mark for one in found for mark in one.marks)
    assert flagged <= 2


def test_models_are_compared_by_folds_where_their_differences_disagree() -> None:
    """One is better in some folds and worse in others: over rows that was p < 0.001."""
    ours, theirs = folds_with(SHARES), folds_with((60, 80, 60, 60, 60))
    found = compare(ACCURACY, ours, theirs, [4000] * 5)
    gains = [number("accuracy", a) - number("accuracy", b) for a, b in zip(ours, theirs, strict=True)]
    error = np.std(gains, ddof=1) * np.sqrt(1 / 5 + 1 / 4)
    assert found.p == pytest.approx(2 * stats.t.sf(abs(np.mean(gains)) / error, 4))
    assert found.test.startswith("corrected resampled t over 5 splits")


def test_the_table_says_so_unasked(tmp_path: Path) -> None:
    """`x` tells the class in so many percent of each fold's rows."""
    lines = ["x,z,fold,y"]
    for fold, share in enumerate(SHARES):
        for row in range(200):
            label, right = row % 2, row % 100 < share
            lines.append(f"{label if right else 1 - label},{row * 7919 % 101},{fold},{'yes' if label else 'no'}")
    data = tmp_path / "folds.csv"
    data.write_text("\n".join(lines) + "\n")
    words = ("eval", str(data), "-m", "naive-bayes", "--protocol", "given", "--metric", "accuracy", "-j", "1")
    shown = " ".join(typed(*words).stdout.split())
    assert "naive-bayes: accuracy: the splits differ by more than their rows explain" in shown
    assert "naive-bayes: accuracy varies between the splits" in shown
    (cell,) = (cell for cell in document(typed(*words, "--json"))["cells"] if cell["model"] == "naive-bayes")
    accuracy = cell["metrics"]["accuracy"]
    assert accuracy["splits"] == pytest.approx([share / 100 for share in SHARES])
    assert accuracy["high"] - accuracy["low"] > 0.5


@pytest.mark.parametrize("protocol", ["leave-groups-out", "forward-chaining"])
@pytest.mark.parametrize(("noise", "told"), [((0.2, 3.0, 0.5, 6.0, 1.0, 4.0), True), ((1.0,) * 6, False)])
def test_the_table_says_so_where_the_interval_is_over_splits_anyway(
    tmp_path: Path, protocol: str, noise: tuple[float, ...], told: bool
) -> None:
    """Errors of regression at six sites, one after the other, differ 30 times, or not at all."""
    rng = np.random.default_rng(4)
    site = np.repeat(range(6), 200)
    x, errors = rng.normal(size=(2, 1200))
    data = tmp_path / "sites.csv"
    pd.DataFrame({"site": site, "x": x, "y": 2 * x + np.array(noise)[site] * errors}).to_csv(data, index=False)
    (tmp_path / "sites.yaml").write_text("target: y\ncolumns: {site: {role: group}}\n")
    drop = ["--drop", "site", "--folds", "5"] if protocol == "forward-chaining" else []
    words = ("eval", str(data), "-m", "linear-regression", "--protocol", protocol, "--metric", "rmse", "-j", "1")
    shown = " ".join(typed(*words, *drop).stdout.split())
    assert ("rmse: the splits differ by more than their rows explain" in shown) is told


NOT_CONSISTENT = "naive-bayes: accuracy varies between the splits"


def shown_for(shares: tuple[int, ...], rows: int, folder: Path, *options: str) -> str:
    """Folds of which `x` tells the class in so many percent of the rows."""
    lines = ["x,fold,y"]
    for fold, share in enumerate(shares):
        for row in range(rows):
            label, right = row % 2, 100 * row < share * rows
            lines.append(f"{label if right else 1 - label},{fold},{'yes' if label else 'no'}")
    (folder / "folds.csv").write_text("\n".join(lines) + "\n")
    words = ("-m", "naive-bayes", "--protocol", "given", "--metric", "accuracy", "-j", "1", *options)
    return " ".join(typed("eval", str(folder / "folds.csv"), *words).stdout.split())


def test_the_inconsistent_folds_of_the_notes_are_told_unasked(tmp_path: Path) -> None:
    assert NOT_CONSISTENT in shown_for((80, 44, 99, 60, 87), 100, tmp_path)


def test_a_fold_that_stands_apart_is_named_unasked(tmp_path: Path) -> None:
    said = shown_for((92, 91, 92, 60, 92), 100, tmp_path)
    assert f"{NOT_CONSISTENT}: outlier split: fold 4 (0.600)" in said


def test_what_chance_explains_is_told_where_it_is_asked_for(tmp_path: Path) -> None:
    """34 rows a fold, of which one has 3 wrong: a verdict by the rule of the notes, yet what chance gives."""
    shares = (100, 100, 100, 100, 91, 100, 100)
    assert NOT_CONSISTENT not in shown_for(shares, 34, tmp_path)
    assert NOT_CONSISTENT in shown_for(shares, 34, tmp_path, "-v")


def test_consistent_folds_have_no_verdict_below_the_table(tmp_path: Path) -> None:
    assert "varies between the splits" not in shown_for((92, 91, 92, 93, 92), 100, tmp_path, "-v")


@pytest.mark.parametrize(
    ("share", "rows", "folds"), [(0.95, 15, 10), (0.6, 20, 5), (0.8, 200, 10), (0.99, 50, 10)]
)
def test_chance_alone_is_mostly_called_consistent(share: float, rows: int, folds: int) -> None:
    rng = np.random.default_rng(1)
    verdicts = [
        fold_stability([right / rows for right in rng.binomial(rows, share, folds)], [rows] * folds).verdict
        for _ in range(200)
    ]
    assert verdicts.count("consistent") >= 180


def test_one_wrong_row_in_small_folds_is_chance() -> None:
    assert fold_stability([1, 1, 1, 1, 14 / 15], [15] * 5).verdict == "consistent"


def test_one_bad_fold_is_named() -> None:
    found = fold_stability([0.9, 0.91, 0.2, 0.9, 0.89], [100] * 5)
    assert (found.verdict, found.apart) == ("outlier split", (2,))
    assert "fold 3 (0.200)" in found.why


def test_a_small_fold_may_be_further_off() -> None:
    values = [0.9, 0.91, 0.6, 0.9, 0.89]
    assert fold_stability(values, [1000, 1000, 5, 1000, 1000]).verdict == "consistent"
    assert fold_stability(values, [1000, 1000, 1000, 1000, 1000]).verdict == "outlier split"


def test_two_bad_folds_are_inconsistent() -> None:
    found = fold_stability([0.9, 0.91, 0.2, 0.9, 0.3, 0.9, 0.9], [100] * 7)
    assert (found.verdict, found.apart) == ("inconsistent", (2, 4))
