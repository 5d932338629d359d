"""Fairness by groups beside fairlearn, AIF360's formulas by hand, and Newcombe's published interval."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from fairlearn import metrics as theirs
from sklearn.metrics import accuracy_score, precision_score
from sklearn.neighbors import NearestNeighbors

from mlcli.core.answers import Header
from mlcli.core.rows import groups_by, sensitive_names
from mlcli.core.schema import Column
from mlcli.core.tables import Table
from mlcli.metrics.base import Undefined
from mlcli.metrics.fairness import FEW, GroupRates, Rate, gap, gower_distances, individual_fairness, rates_by_group
from mlcli.metrics.registry import metric_named
from mlcli.tasks.supervised import LabelAnswers

RACE = Column("race", "nominal", ("a", "b", "c"), sensitive=True)
SEX = Column("sex", "nominal", ("f", "m"), sensitive=True)


def answers(n: int = 400, weighted: bool = False) -> LabelAnswers:
    rng = np.random.default_rng(3)
    codes = np.column_stack([rng.choice(3, n, p=(0.5, 0.3, 0.2)), rng.integers(0, 2, n)]).astype(np.int32)
    p = rng.uniform(0, 1, n) * (1 - 0.2 * codes[:, 0])
    truth = (rng.uniform(0, 1, n) < p).astype(np.int32)
    header = Header(
        rows=np.arange(n),
        weight=rng.integers(1, 5, n).astype(np.float64) if weighted else None,
        columns=(RACE, SEX),
        numbers=np.empty((n, 0)),
        codes=codes,
    )
    said = (p > 0.45).astype(np.int32)
    both = np.column_stack([1 - p, p])
    return LabelAnswers(header=header, truth=truth, predicted=said, classes=("no", "yes"), probabilities=both)


def told(given: LabelAnswers, column: int) -> dict[str, Any]:
    assert given.header.codes is not None
    return {
        "y_true": given.truth,
        "y_pred": given.predicted,
        "sensitive_features": given.header.codes[:, column],
        "sample_weight": given.weights,
    }


@pytest.mark.parametrize("weighted", [False, True])
def test_differences_and_ratios_are_those_of_fairlearn(weighted: bool) -> None:
    given = answers(weighted=weighted)
    for place, column in enumerate(("race", "sex")):
        found = rates_by_group(given, groups_by(given.header.context, [column]), 1)
        apart = {name: gap(name, found) for name in ("demographic-parity", "equalised-odds", "equal-opportunity")}
        asked = told(given, place)
        assert apart["demographic-parity"].difference == pytest.approx(
            theirs.demographic_parity_difference(**asked), abs=1e-12
        )
        assert apart["demographic-parity"].ratio == pytest.approx(
            theirs.demographic_parity_ratio(**asked), abs=1e-12
        )
        assert apart["equalised-odds"].difference == pytest.approx(
            theirs.equalized_odds_difference(**asked), abs=1e-12
        )
        assert apart["equalised-odds"].ratio == pytest.approx(theirs.equalized_odds_ratio(**asked), abs=1e-12)
        assert apart["equal-opportunity"].difference == pytest.approx(
            theirs.equal_opportunity_difference(**asked), abs=1e-12
        )


def test_rates_of_groups_and_of_intersections_are_those_of_fairlearn() -> None:
    given = answers()
    codes = given.header.codes
    assert codes is not None
    frame = theirs.MetricFrame(
        metrics={
            "selected": theirs.selection_rate,
            "tpr": theirs.true_positive_rate,
            "fpr": theirs.false_positive_rate,
            "fnr": theirs.false_negative_rate,
            "accuracy": accuracy_score,
            "precision": precision_score,
        },
        y_true=given.truth,
        y_pred=given.predicted,
        sensitive_features=codes,
    )
    found = rates_by_group(given, groups_by(given.header.context, ["race", "sex"]), 1)
    assert [one.label for one in found] == [f"{race}, {sex}" for race in "abc" for sex in "fm"]
    for one, (_, expected) in zip(found, frame.by_group.iterrows(), strict=True):
        for name in expected.index:
            assert one.rates[name].value == pytest.approx(expected[name], abs=1e-12)


def test_scores_are_the_worst_of_all_sensitive_columns() -> None:
    given = answers(weighted=True)
    worst = max(theirs.demographic_parity_difference(**told(given, place)) for place in (0, 1))
    smallest = min(theirs.demographic_parity_ratio(**told(given, place)) for place in (0, 1))
    odds = max(theirs.equalized_odds_difference(**told(given, place)) for place in (0, 1))
    for name, expected in (
        ("demographic-parity", worst),
        ("disparate-impact", smallest),
        ("equalised-odds", odds),
    ):
        assert metric_named(name, LabelAnswers).compute(given) == pytest.approx(expected, abs=1e-12)


def test_predictive_parity_is_the_difference_of_precisions() -> None:
    given = answers()
    codes = given.header.codes
    assert codes is not None
    found = [
        precision_score(given.truth[codes[:, 1] == sex], given.predicted[codes[:, 1] == sex]) for sex in (0, 1)
    ]
    apart = gap("predictive-parity", rates_by_group(given, groups_by(given.header.context, ["sex"]), 1))
    assert apart.difference == pytest.approx(abs(found[0] - found[1]), abs=1e-12)


def test_the_interval_of_a_difference_is_newcombes() -> None:
    """Newcombe 1998, table II, method 10: 56/70 against 48/80 has 0.0524 to 0.3339."""
    from mlcli.metrics.intervals import wilson

    def group(label: str, hits: int, rows: int) -> GroupRates:
        reach = wilson(hits / rows, rows)
        rate = Rate(hits / rows, reach.low, reach.high, rows)
        return GroupRates(label, rows, {"selected": rate}, rate)

    found = gap("demographic-parity", [group("a", 56, 70), group("b", 48, 80)])
    assert found.difference == pytest.approx(0.2)
    assert [found.low, found.high] == pytest.approx([0.0524, 0.3339], abs=5e-5)


def test_small_groups_say_nothing() -> None:
    given = answers(n=400).take(np.arange(30))
    found = rates_by_group(given, groups_by(given.header.context, ["race", "sex"]), 1)
    small = [one for one in found if one.rows < FEW]
    assert small
    for one in small:
        assert one.rates["selected"].value is None
        assert one.rates["selected"].why == "fewer than 10 rows"
    nobody = given.take(np.arange(12))
    assert isinstance(metric_named("equal-opportunity", LabelAnswers).compute(nobody), Undefined)
    assert gap("equal-opportunity", []).why == "no two groups have 10 rows that its tpr is of"


def test_without_a_sensitive_column_no_score_is_given() -> None:
    given = answers()
    plain = given.with_header(columns=(), numbers=None, codes=None)
    assert sensitive_names(plain.header.context) == ()
    found = metric_named("demographic-parity", LabelAnswers).compute(plain)
    assert isinstance(found, Undefined)
    assert "sensitive" in found.why


def test_consistency_is_that_of_aif360_but_for_the_row_itself() -> None:
    """AIF360: 1 - mean |y_i - mean of y over the k nearest|; a row is not its own neighbour here."""
    rng = np.random.default_rng(0)
    X, said = rng.uniform(0, 1, (80, 2)), rng.integers(0, 2, 80).astype(np.float64)
    table = Table((Column("x"), Column("z")), X, np.empty((80, 0), np.int32))
    scaled = X / np.ptp(X, axis=0)
    near = NearestNeighbors(n_neighbors=6, metric="manhattan").fit(scaled).kneighbors(scaled)[1][:, 1:]
    expected = 1 - np.abs(said - said[near].mean(axis=1)).mean()
    found = individual_fairness(gower_distances(table), said, said, np.ones(80))
    assert found.consistency == pytest.approx(expected, abs=1e-12)


def test_pairs_are_counted_by_gowers_similarity() -> None:
    table = Table(
        (Column("x"), Column("c", "nominal", ("u", "v"))),
        np.array([[0.0], [1.0], [10.0], [np.nan]]),
        np.array([[0], [0], [1], [1]], np.int32),
    )
    distances = gower_distances(table)
    assert distances[0, 1] == pytest.approx(0.05)
    assert distances[0, 2] == pytest.approx(1.0)
    assert distances[2, 3] == pytest.approx(0.0)
    said, probability = np.array([1.0, 0.0, 1.0, 1.0]), np.array([0.9, 0.3, 0.8, 0.7])
    found = individual_fairness(distances, said, probability, np.ones(4))
    assert (found.pairs, found.decided_differently) == (2, 0.5)
    assert found.probability_difference == pytest.approx(0.35)


def test_weights_of_similar_rows_are_repeats_that_are_not_compared_with_each_other() -> None:
    """Two blocks of six rows that are all equally near: in each the neighbours are all other rows of the block."""
    rng = np.random.default_rng(5)
    block, weights = np.repeat([0, 1], 6), rng.integers(1, 4, 12)
    said, probability = rng.integers(0, 2, 12).astype(np.float64), rng.uniform(size=12)
    distances = np.where(block[:, None] == block, 0.05, 0.9)
    weighted = individual_fairness(distances, said, probability, weights.astype(np.float64))
    copies = np.repeat(np.arange(12), weights)
    apart = np.where(copies[:, None] == copies, np.nan, distances[np.ix_(copies, copies)])
    once = individual_fairness(apart, said[copies], probability[copies], np.ones(len(copies)))
    assert weighted.consistency == pytest.approx(once.consistency, abs=1e-12)
    assert weighted.decided_differently == pytest.approx(once.decided_differently, abs=1e-12)
    assert weighted.probability_difference == pytest.approx(once.probability_difference, abs=1e-12)
    assert (weighted.pairs, weighted.weight) == (30, once.pairs)


def test_numbers_make_groups_by_their_bands() -> None:
    age = Column("age", sensitive=True, bands=(30.0, 50.0))
    table = Table((age,), np.array([[18.0], [30.0], [49.9], [50.0], [np.nan]]), np.empty((5, 0), np.int32))
    groups = groups_by(table, sensitive_names(table))
    assert [groups.labels[code] for code in groups.codes] == [
        *("below 30", "30 to below 50", "30 to below 50", "50 and above", "missing")
    ]


def test_copies_in_groups_say_no_more_than_the_rows_they_are_of() -> None:
    given = answers()
    whole = groups_by(given.header.context, ["sex"])
    once = rates_by_group(given, whole, 1)
    copies = given.take(np.repeat(np.arange(400), 5))
    header = replace(copies.header, rows=np.arange(2000), group=copies.rows.astype(np.int32))
    copied = rates_by_group(replace(copies, header=header), groups_by(header.context, ["sex"]), 1)
    for one, of_copies in zip(once, copied, strict=True):
        ends = (of_copies.calibration.low, of_copies.calibration.high)
        assert ends == pytest.approx((one.calibration.low, one.calibration.high))
        for name in ("selected", "tpr"):
            rate, other = one.rates[name], of_copies.rates[name]
            assert (other.value, other.rows) == (rate.value, 5 * rate.rows)
            assert (other.low, other.high) == pytest.approx((rate.low, rate.high), abs=0.01)
