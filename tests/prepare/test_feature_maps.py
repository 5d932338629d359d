"""Steps that make other features of numbers agree with scikit-learn, NumPy and sums by hand."""

from __future__ import annotations

import math
from datetime import date
from typing import Any

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.linear_model import LinearRegression
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import Binarizer, PolynomialFeatures

from mlcli.core.errors import FitError, UsageError
from mlcli.core.params import build
from mlcli.core.schema import Column
from mlcli.core.tables import Table
from mlcli.prepare.dates import Dates
from mlcli.prepare.drop import Drop
from mlcli.prepare.indicator import Indicator
from mlcli.prepare.interaction import Interaction
from mlcli.prepare.k_means_code import KMeansCode
from mlcli.prepare.keep_kinds import KeepKinds
from mlcli.prepare.landmarks import Landmarks
from mlcli.prepare.log import Log
from mlcli.prepare.polynomial import Polynomial
from mlcli.prepare.ratio import Ratio
from mlcli.prepare.threshold import Threshold
from mlcli.prepare.waterfall import Waterfall
from mlcli.prepare.winsorise import Winsorise
from tests.prepare.preparing import fitted, names, prepared
from tests.support.rows import table_of

X = load_breast_cancer().data[:, :5]
TABLE = Table(tuple(Column(f"x{j}") for j in range(5)), X, np.empty((len(X), 0), np.int32))


@pytest.mark.parametrize("degree", [1, 2, 3])
@pytest.mark.parametrize("interactions", [False, True])
def test_products_are_those_of_scikit_learn(degree: int, interactions: bool) -> None:
    theirs = PolynomialFeatures(degree, interaction_only=interactions, include_bias=False)
    changed = prepared(Polynomial(degree=degree, interactions=interactions), TABLE)
    assert changed.numbers == pytest.approx(theirs.fit_transform(X), rel=1e-12)


def test_products_are_named() -> None:
    table = table_of({"a": [1.0], "c": ["u"], "b": [2.0]})
    assert names(prepared(Polynomial(degree=2), table)) == ["a", "c", "b", "a^2", "a*b", "b^2"]


def test_too_many_products_are_refused_before_they_are_made() -> None:
    with pytest.raises(UsageError, match="degree 10 makes 30,044,994 products of 20 columns"):
        Polynomial(degree=10).columns_left(tuple(Column(f"x{j}") for j in range(20)))


def test_log_of_positive_numbers_and_of_others() -> None:
    table = table_of({"a": [1.0, math.e], "b": [-3.0, 0.0], "c": [None, 1.0]})
    step = fitted(Log(), table)
    assert step.shift_.tolist() == [0.0, 4.0, 0.0]
    assert step.apply(table).numbers[:, :2] == pytest.approx(np.array([[0.0, 0.0], [1.0, np.log(4)]]))
    assert np.isnan(step.apply(table).numbers[0, 2])
    # A number below all of training counts as the smallest of training.
    assert step.apply(table_of({"a": [1.0], "b": [-99.0], "c": [1.0]})).numbers[0, 1] == 0.0


def test_a_k_that_leaves_no_logarithm_is_refused() -> None:
    with pytest.raises(FitError, match=r"log\(x \+ 2\) of 'a', which goes down to -3, does not exist"):
        fitted(Log(k=2.0), table_of({"a": [-3.0, 1.0]}))
    assert prepared(Log(k=2.0), table_of({"a": [-1.0]})).numbers[0, 0] == 0.0


POINTS = load_breast_cancer().data[:, :5]


def numbers(POINTS: Any) -> Table:
    return Table(
        tuple(Column(f"x{j}") for j in range(POINTS.shape[1])), POINTS, np.empty((len(POINTS), 0), np.int32)
    )


@pytest.mark.parametrize(("low", "high"), [(0.05, 0.05), (0.1, 0.0), (0.0, 0.25)])
def test_far_off_numbers_move_to_the_quantiles_of_training(low: float, high: float) -> None:
    step = fitted(Winsorise(low=low, high=high), numbers(POINTS[:400]))
    edges = np.quantile(POINTS[:400], [low, 1 - high], axis=0, method="averaged_inverted_cdf")
    least, most = edges[0] if low else -np.inf, edges[1] if high else np.inf
    assert step.apply(numbers(10 * POINTS[400:])).numbers == pytest.approx(np.clip(10 * POINTS[400:], least, most))


@pytest.mark.parametrize("keep", ["below", "above"])
def test_one_side_of_a_threshold_counts(keep: str) -> None:
    side = np.minimum if keep == "below" else np.maximum
    assert np.array_equal(prepared(Threshold(at=15.0, keep=keep), numbers(POINTS)).numbers, side(POINTS, 15.0))


def test_positive_and_negative_parts() -> None:
    changed = prepared(Threshold(at=1.0, keep="parts"), table_of({"x": [-2.0, 1.0, 4.0, None], "c": list("uvuv")}))
    assert names(changed) == ["x above 1", "x below 1", "c"]
    assert changed.numbers[:3].tolist() == [[0.0, 3.0], [0.0, 0.0], [3.0, 0.0]]
    assert np.isnan(changed.numbers[3]).all()


def test_indicators_are_those_of_scikit_learn() -> None:
    expected = Binarizer(threshold=15.0).fit_transform(POINTS)
    assert np.array_equal(prepared(Indicator(at=15.0), numbers(POINTS)).numbers, expected)
    assert fitted(Indicator(), numbers(POINTS)).thresholds_ == pytest.approx(np.median(POINTS, axis=0))


def test_interactions_are_those_of_scikit_learn() -> None:
    theirs = PolynomialFeatures(2, interaction_only=True, include_bias=False).fit_transform(POINTS)
    assert prepared(Interaction(), numbers(POINTS)).numbers == pytest.approx(theirs, rel=1e-12)


def test_ratios() -> None:
    table = table_of({"a": [1.0, 2.0, 3.0], "b": [2.0, 0.0, None], "c": [4.0, 4.0, 4.0]})
    changed = prepared(Ratio(by="b", zero=-1.0), table)
    assert names(changed) == ["a", "b", "c", "a/b", "c/b"]
    assert changed.numbers[:2, 3:].tolist() == [[0.5, 2.0], [-1.0, -1.0]]
    assert np.isnan(changed.numbers[2, 3:]).all()
    assert names(prepared(Ratio(columns=("a", "c")), table)) == ["a", "b", "c", "a/c"]
    assert names(prepared(Ratio(columns=("c",), by="b"), table)) == ["a", "b", "c", "c/b"]
    with pytest.raises(UsageError, match="no numeric column 'bb' to divide by"):
        prepared(Ratio(by="bb"), table)


def test_pieces_add_up_and_let_a_line_bend_where_they_meet() -> None:
    x = np.linspace(-3, 3, 200)
    y = np.where(x < -1, 2 * x, np.where(x < 1, -x - 3, 4 * x - 8))
    pieces = prepared(Waterfall(edges=(-1.0, 1.0)), numbers(x[:, None])).numbers
    assert pieces.sum(axis=1) == pytest.approx(x)
    model = LinearRegression().fit(pieces, y)
    assert model.coef_ == pytest.approx([2, -1, 4])
    assert model.predict(pieces) == pytest.approx(y)
    edges = fitted(Waterfall(pieces=4), numbers(POINTS)).edges_
    expected = np.quantile(POINTS, [0.25, 0.5, 0.75], axis=0, method="averaged_inverted_cdf")
    assert edges == pytest.approx(expected.T)
    with pytest.raises(UsageError, match="edges must ascend"):
        build(Waterfall, {"edges": [2.0, 1.0]})


def test_similarities_are_those_of_scikit_learn() -> None:
    Z = (POINTS - POINTS.mean(axis=0)) / POINTS.std(axis=0)
    step = fitted(Landmarks(landmarks=7), numbers(Z))
    assert step.gamma_ == pytest.approx(1 / 5)
    assert step.apply(numbers(Z)).numbers == pytest.approx(rbf_kernel(Z, step.rows_, gamma=1 / 5), abs=1e-12)
    assert all((np.abs(Z - row) < 1e-9).all(axis=1).any() for row in step.rows_)


def test_fewer_rows_than_landmarks_leave_columns_of_0() -> None:
    changed = prepared(Landmarks(landmarks=4, gamma=1.0), table_of({"x": [0.0, 0.0, 1.0]}))
    assert (changed.numbers[:, 2:] == 0).all()
    assert sorted(changed.numbers[2, :2].tolist()) == pytest.approx([np.exp(-1), 1.0])


def test_clusters_are_as_tight_as_those_of_scikit_learn() -> None:
    Z = load_iris().data
    step = fitted(KMeansCode(k=3, restarts=10), numbers(Z))
    changed = step.apply(numbers(Z))
    cluster = changed.codes[:, 0]
    within = sum(((Z[cluster == k] - Z[cluster == k].mean(axis=0)) ** 2).sum() for k in range(3))
    assert within == pytest.approx(KMeans(3, n_init=10, random_state=0).fit(Z).inertia_, rel=1e-6)
    assert (np.diff(np.bincount(cluster)) <= 0).all()
    assert names(changed) == ["cluster"]
    assert names(prepared(KMeansCode(beside=True), numbers(Z)))[-2:] == ["x3", "cluster"]


def test_parts_of_dates() -> None:
    days = ["2024-02-29", None, "1969-12-31T23:59", "2025-12-28"]
    table = table_of({"when": days, "what": ["2024-01-01", "u", "v", "w"]})
    parts = ("year", "month", "day", "weekday", "day-of-year", "days")
    changed = prepared(Dates(parts=parts), table)
    assert names(changed) == [*(f"when {part}" for part in parts), "what"]
    assert changed.numbers[0].tolist() == [2024, 2, 29, date(2024, 2, 29).isoweekday(), 60, 19782]
    assert changed.numbers[2].tolist() == [1969, 12, 31, 3, 365, -1]
    assert np.isnan(changed.numbers[1]).all()
    assert changed.columns[0].missing


def test_columns_of_some_kinds_stay_and_others_can_be_dropped() -> None:
    table = table_of({"a": [1.0], "c": ["u"], "b": [2.0]})
    assert names(prepared(KeepKinds(), table)) == ["a", "b"]
    assert names(prepared(KeepKinds(keep=("nominal",)), table)) == ["c"]
    assert names(prepared(Drop(columns=("b", "nominal")), table)) == ["a"]
