"""Scores of rankings beside scikit-learn, SciPy and counts by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import kendalltau
from sklearn.metrics import ndcg_score, roc_auc_score

from mlcli.core.errors import UsageError
from mlcli.metrics.base import Undefined
from mlcli.metrics.difference import compare
from mlcli.metrics.registry import metric_named
from mlcli.metrics.summary import summarise
from mlcli.tasks.ranking import RankAnswers, places
from tests.support.rankings import answers, each_group, pairs_of

NAMES = ("pairwise-accuracy", "ndcg", "ndcg@1", "ndcg@3", "kendall-tau")


def number(name: str, said: RankAnswers) -> float:
    found = metric_named(name, RankAnswers).compute(said)
    assert isinstance(found, float), found
    return found


def mixed(seed: int, weighted: bool = False) -> RankAnswers:
    """Groups of 1 to 9 rows that stand in any order; scores and relevance tie often."""
    rng = np.random.default_rng(seed)
    group = np.append([0, 0], rng.integers(0, 6, 30))
    relevance = np.append([0, 1], rng.integers(0, 4, 30))
    score = rng.integers(-3, 4, 32) / 2
    weight = np.append([1, 1], rng.integers(0, 4, 30))
    return answers(score, relevance, group, weight if weighted else None)


def with_order(said: RankAnswers) -> list[Any]:
    """Score and relevance of each group in which relevance differs."""
    both = zip(each_group(said, said.score), each_group(said, said.relevance), strict=True)
    return [(score, relevance) for score, relevance in both if len(set(relevance)) > 1]


def repeated(said: RankAnswers) -> RankAnswers:
    """Each row as often as its weight says."""
    return said.take(np.repeat(np.arange(len(said)), said.weights.astype(int))).with_header(weight=None)


@pytest.mark.parametrize("seed", range(40))
def test_ndcg_is_that_of_scikit_learn(seed: int) -> None:
    said = mixed(seed)
    for name, k in (("ndcg", None), ("ndcg@1", 1), ("ndcg@3", 3)):
        oracle = [ndcg_score([relevance], [score], k=k) for score, relevance in with_order(said)]
        assert number(name, said) == pytest.approx(np.mean(oracle), abs=1e-12)


@pytest.mark.parametrize("seed", range(40))
def test_kendall_tau_is_tau_b_of_scipy(seed: int) -> None:
    said = mixed(seed)
    oracle = [kendalltau(score, relevance).statistic for score, relevance in with_order(said)]
    assert number("kendall-tau", said) == pytest.approx(np.mean(np.nan_to_num(oracle)), abs=1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_of_two_levels_pairwise_accuracy_is_the_auc_of_each_group(seed: int) -> None:
    said = mixed(seed)
    said = replace(said, relevance=(said.relevance > 0).astype(float))
    oracle = [roc_auc_score(relevance, score) for score, relevance in with_order(said)]
    assert number("pairwise-accuracy", said) == pytest.approx(np.mean(oracle), abs=1e-12)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("seed", range(10))
def test_a_whole_weight_counts_as_that_many_rows(name: str, seed: int) -> None:
    said = mixed(seed, weighted=True)
    assert number(name, said) == pytest.approx(number(name, repeated(said)), abs=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_a_perfect_order_is_1_and_rows_may_stand_in_any_order(name: str) -> None:
    said = mixed(3)
    assert number(name, replace(said, score=said.relevance)) == pytest.approx(1.0)
    order = np.random.default_rng(1).permutation(len(said))
    assert number(name, said.take(order)) == pytest.approx(number(name, said), abs=1e-12)


def test_the_order_of_four_is_six_pairs() -> None:
    # SOURCES.md, section 8 (S0 5.5.6): a > b > c > d.
    pairs = pairs_of(np.array([4.0, 3, 2, 1]), np.zeros(4, np.int32), np.ones(4))
    assert set(zip(pairs.higher.tolist(), pairs.lower.tolist(), strict=True)) == {
        (0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)
    }  # fmt: skip
    swapped = answers([4, 3, 1, 2], [4, 3, 2, 1], [0] * 4)
    assert number("pairwise-accuracy", swapped) == pytest.approx(5 / 6)
    assert number("kendall-tau", swapped) == pytest.approx(4 / 6)


def test_pairs_are_those_of_two_loops() -> None:
    said = mixed(5, weighted=True)
    r, g, w = said.relevance, said.group, said.weights
    pairs = pairs_of(r, g, w)
    expected = {(i, j): w[i] * w[j] for i in range(32) for j in range(32) if g[i] == g[j] and r[i] > r[j]}
    found = zip(pairs.higher.tolist(), pairs.lower.tolist(), strict=True)
    weighty = {pair: weight for pair, weight in expected.items() if weight > 0}
    assert dict(zip(found, pairs.weight, strict=True)) == weighty


@pytest.mark.parametrize("name", NAMES)
def test_groups_without_an_order_are_left_out_and_counted(name: str) -> None:
    said = answers([1, 2, 3, 1, 5], [0, 1, 1, 1, 2], [0, 0, 1, 1, 2])
    metric = metric_named(name, RankAnswers)
    assert metric.compute(said) == 1.0
    assert metric.marks is not None
    assert metric.marks(said) == ("2 of 3 groups are equally relevant throughout and left out",)
    assert isinstance(metric.compute(said.take(np.array([2, 3, 4]))), Undefined)


def test_equal_scores_are_half_right_and_agree_with_nothing() -> None:
    said = answers([1, 1, 1], [0, 1, 2], [0, 0, 0])
    assert number("pairwise-accuracy", said) == 0.5
    assert number("kendall-tau", said) == 0.0


def test_what_would_need_a_gain_below_0_is_undefined() -> None:
    said = answers([1, 2], [-1, 1], [0, 0])
    assert metric_named("ndcg", RankAnswers).compute(said) == Undefined("some relevance is below 0")
    assert number("pairwise-accuracy", said) == 1.0


def test_weights_that_make_too_many_places_are_no_ndcg() -> None:
    said = answers([1, 2], [0, 1], [0, 0], [1e12, 1.0])
    assert isinstance(metric_named("ndcg", RankAnswers).compute(said), Undefined)
    assert number("pairwise-accuracy", said) == 1.0


@pytest.mark.parametrize("name", ["ndcg@0", "ndcg@x", "ndcg@", "ndcg@1.5", "kendall-tau@3"])
def test_a_number_of_rows_that_is_none_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="there is no metric"):
        metric_named(name, RankAnswers)


def test_the_interval_of_one_split_is_over_groups() -> None:
    said = mixed(7)
    metric = metric_named("pairwise-accuracy", RankAnswers)
    summary = summarise(metric, [said], [0])
    known = len(with_order(said))
    assert summary.interval == f"t over {known} groups"
    difference = compare(metric, [replace(said, score=said.relevance)], [said], [0], pooled=True)
    assert difference.mean == pytest.approx(1 - summary.mean if summary.mean is not None else None)
    assert difference.distinguishable


def test_a_group_that_two_splits_judge_is_two_groups() -> None:
    said = answers([1, 2], [0, 1], [0, 0])
    both = RankAnswers.pooled([said, replace(said, score=-said.score)])
    assert both.names == ("g0", "g0")
    assert both.group.tolist() == [0, 0, 1, 1]
    assert number("pairwise-accuracy", both) == 0.5


def test_places_count_from_the_highest_score_and_ties_share_the_better_one() -> None:
    found = places(np.array([1.0, 3, 3, 9, 0, 2]), np.array([0, 0, 0, 1, 1, 0], np.int32))
    assert found.tolist() == [4, 1, 1, 1, 2, 3]
