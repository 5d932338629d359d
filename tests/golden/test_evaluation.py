"""Evaluation in SOURCES.md, sections 1.1, 1.2 and 4, through protocols, engine and summaries."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import pytest

from mlcli.core.answers import Header
from mlcli.core.rows import SplitInfo
from mlcli.experiment.run.batch import run
from mlcli.experiment.spec.cells import CellResult, DataSpec, Experiment, ModelSpec, ProtocolSpec
from mlcli.experiment.spec.plan import plan
from mlcli.metrics.base import Summary
from mlcli.metrics.intervals import wilson
from mlcli.metrics.registry import metric_named
from mlcli.metrics.summary import summarise
from mlcli.protocols.holdout import StratifiedHoldout
from mlcli.protocols.k_fold import KFold
from mlcli.tasks.supervised import LabelAnswers


def by_leave_one_out(model: ModelSpec) -> CellResult:
    asked_for = Experiment(
        data=(DataSpec("weather_nominal"),), models=(model,), protocol=ProtocolSpec("leave-one-out")
    )
    return run(plan(asked_for), jobs=1)[-1]


def summary(result: CellResult, metric: str) -> Summary:
    answers = [split.answers["test"] for split in result.splits]
    rows = [split.train_rows for split in result.splits]
    return summarise(metric_named(metric, LabelAnswers), answers, rows, result.pooled)


@pytest.mark.parametrize(
    ("smoothing", "right", "loss"), [("alpha", 7, 0.7459), ("none", 8, math.inf)], ids=["Laplace", "none"]
)
def test_naive_bayes_by_leave_one_out_on_the_weather_table(smoothing: str, right: int, loss: float) -> None:
    """Section 1.2; without smoothing the truth of row 6 is impossible."""
    result = by_leave_one_out(ModelSpec("naive-bayes", {"smoothing": smoothing}))
    assert summary(result, "accuracy").mean == pytest.approx(right / 14)
    assert summary(result, "log-loss").mean == pytest.approx(loss, abs=5e-5)


def test_zero_r_by_leave_one_out_on_the_weather_table() -> None:
    """Section 1.1; the Wilson interval of 5 errors in 14 rows (section 4) is wider where each counts as 0.8."""
    found, fewer = summary(by_leave_one_out(ModelSpec("zero-r")), "error-rate"), wilson(5 / 14, 0.8 * 14)
    assert (found.mean, found.low, found.high) == pytest.approx((5 / 14, fewer.low, fewer.high))
    whole = wilson(5 / 14, 14)
    assert (whole.low, whole.high) == pytest.approx((0.163447, 0.612356), abs=5e-7)


def test_of_100_rows_of_ten_classes_80_to_20_judges_20_rows_2_of_each_class() -> None:
    """Section 4 (S0 4.4)."""
    classes = np.repeat(np.arange(10, dtype=np.int32), 10)
    protocol = StratifiedHoldout(test_share=0.2)
    (split,) = protocol.splits(SplitInfo(100, classes), np.random.default_rng(1))
    assert (len(split.train), len(split.test)) == (80, 20)
    assert np.bincount(classes[split.test]).tolist() == [2] * 10


def test_3000_rows_in_3_folds_are_1000_a_fold() -> None:
    """Section 4 (S0 4.4)."""
    splits = KFold(folds=3).splits(SplitInfo(3000), np.random.default_rng(1))
    assert [len(split.test) for split in splits] == [1000] * 3


@pytest.mark.parametrize(
    ("percents", "mean", "variance", "deviation"),
    [
        ((92.0, 91.5, 92.0, 92.5, 91.8), 91.96, 0.1330, 0.3647),
        ((92.0, 44.0, 91.5, 92.5, 91.8), 82.36, 459.973, 21.4470),
        ((92.0, 91.5, 92.5, 91.8), 91.95, 0.4203**2, 0.4203),
        ((80.0, 44.0, 99.0, 60.0, 87.0), 74.0, 481.5, 21.9431),
    ],
)
def test_mean_variance_and_deviation_of_folds(
    percents: tuple[float, ...], mean: float, variance: float, deviation: float
) -> None:
    """Section 4 (S0 4.4); variances divide by n - 1."""
    folds = [fold(round(10 * percent), 1000 * number) for number, percent in enumerate(percents)]
    found = summarise(metric_named("accuracy", LabelAnswers), folds, [4000] * len(folds))
    assert found.mean is not None
    assert found.std is not None
    assert 100 * found.mean == pytest.approx(mean, abs=1e-9)
    assert (100 * found.std, (100 * found.std) ** 2) == pytest.approx((deviation, variance), rel=2e-4)


def fold(right: int, first: int) -> LabelAnswers:
    """A fold of 1000 rows, some of them right."""
    truth = np.zeros(1000, np.int32)
    predicted = (np.arange(1000) >= right).astype(np.int32)
    return LabelAnswers(
        header=Header(rows=np.arange(first, first + 1000)),
        truth=truth,
        predicted=predicted,
        classes=("good", "bad"),
    )


@pytest.mark.parametrize(("deviations", "share"), [(1.96, 0.950004), (3.0, 0.997300)])
def test_the_normal_range(deviations: float, share: float) -> None:
    """Section 4: 1.96 and 3 standard deviations (S0 equation 23, S2)."""
    assert NormalDist().inv_cdf((1 + share) / 2) == pytest.approx(deviations, abs=1e-4)
