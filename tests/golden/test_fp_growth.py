"""Itemsets and rules: the weather (SOURCES.md, section 1.4), Weka's Apriori, mlxtend, plain counting."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import pytest
from mlxtend.frequent_patterns import association_rules, fpgrowth

from mlcli.core.errors import FitError
from mlcli.core.tables import Array, Flags
from mlcli.models.association.fp_growth import FPGrowth, frequent_itemsets
from mlcli.tasks.association import Rule, Transactions, baskets_of, conviction, items_of
from tests.golden.asking import fitted
from tests.support.baskets import baskets, drawn, shipped


def matrix_of(data: Transactions) -> tuple[Flags, Array, list[str]]:
    items = items_of(data.table.columns)
    return baskets_of(data.table, items), np.full(len(data), 1 / len(data)), [item.name for item in items]


def rules_of(data: Transactions, **params: Any) -> dict[tuple[str, str], Rule]:
    """Every rule by the names of its sides."""
    model = fitted(FPGrowth(most=10**6, **params), data)
    names = model.item_names()
    sides = [
        [" & ".join(names[item] for item in side) for side in (rule.when, rule.then)] for rule in model.rules()
    ]
    return {(when, then): rule for (when, then), rule in zip(sides, model.rules(), strict=True)}


def test_the_weather_has_12_47_39_and_6_sets_of_1_to_4_items_in_at_least_2_rows() -> None:
    matrix, weights, _ = matrix_of(shipped("weather_nominal"))
    sizes = Counter(map(len, frequent_itemsets(matrix, weights, 2 / 14, 9)))
    assert sizes == {1: 12, 2: 47, 3: 39, 4: 6}


def test_the_sets_that_are_shown_are_those_of_mlxtend() -> None:
    data = shipped("weather_nominal")
    model = fitted(FPGrowth(min_support=4 / 14), data)
    matrix, _, names = matrix_of(data)
    theirs = fpgrowth(pd.DataFrame(matrix, columns=names), 4 / 14 - 1e-9, use_colnames=True, max_len=4)
    (table,) = [one for one in model.explain() if one.title.startswith("Frequent sets")]
    assert table.title == f"Frequent sets of items: {len(theirs)}"
    expected = {
        " & ".join(sorted(items)): support
        for items, support in zip(theirs["itemsets"], theirs["support"], strict=True)
    }
    shown = {" & ".join(sorted(words.split(" & "))): support for words, _, support in table.rows}
    assert len(shown) == min(30, len(theirs))
    assert all(expected[words] == pytest.approx(support) for words, support in shown.items())
    assert min(shown.values()) >= sorted(expected.values())[-len(shown)] - 1e-9


@pytest.mark.parametrize(
    ("when", "then", "support", "confidence", "lift"),
    [
        ("outlook=overcast", "play=yes", 4 / 14, 1, 1.555556),
        ("humidity=normal", "play=yes", 6 / 14, 6 / 7, 1.333333),
        ("temperature=cool", "humidity=normal", 4 / 14, 1, 2),
    ],
)
def test_the_rules_of_the_weather(when: str, then: str, support: float, confidence: float, lift: float) -> None:
    rule = rules_of(shipped("weather_nominal"), min_support=2 / 14, min_confidence=0.8)[when, then]
    assert rule.support == pytest.approx(support, abs=1e-12)
    assert rule.confidence == pytest.approx(confidence, abs=1e-12)
    assert rule.lift == pytest.approx(lift, abs=1e-6)


def test_the_first_rule_of_weka_on_the_votes() -> None:
    # datasets/vote.yaml: Apriori of Weka 3.6.14, 219 rows, confidence 1.
    rules = rules_of(shipped("vote"), min_support=0.45, min_confidence=0.9)
    rule = rules["adoption-of-the-budget-resolution=y & physician-fee-freeze=n", "Class=democrat"]
    assert rule.support * 435 == pytest.approx(219)
    assert rule.confidence == pytest.approx(1)


@pytest.mark.parametrize(("name", "least"), [("vote", 0.3), ("supermarket_2000", 0.15)])
def test_itemsets_and_rules_are_those_of_mlxtend(name: str, least: float) -> None:
    data = shipped(name)
    matrix, weights, names = matrix_of(data)
    frame = pd.DataFrame(matrix, columns=range(len(names)))
    theirs = fpgrowth(frame, min_support=least, max_len=3)
    ours = frequent_itemsets(matrix, weights, least, 3)
    assert set(ours) == {tuple(sorted(items)) for items in theirs["itemsets"]}
    for items, support in zip(theirs["itemsets"], theirs["support"], strict=True):
        assert ours[tuple(sorted(items))] == pytest.approx(support, abs=1e-12)
    model = fitted(FPGrowth(most=10**6, min_support=least, min_confidence=0.7, max_items=3), data)
    found = {(rule.when, rule.then): rule for rule in model.rules()}
    peers = association_rules(theirs, metric="confidence", min_threshold=0.7)
    assert len(found) == len(peers) > 0
    for peer in peers.itertuples():
        rule = found[tuple(sorted(peer.antecedents)), tuple(sorted(peer.consequents))]
        said = (rule.support, rule.confidence, rule.lift)
        assert said == pytest.approx((peer.support, peer.confidence, peer.lift), abs=1e-9)
        surprise = conviction(rule.confidence, rule.then_support)
        assert (np.inf if surprise is None else surprise) == pytest.approx(peer.conviction, rel=1e-9)


def test_weighted_itemsets_are_counted_by_hand() -> None:
    data = drawn(rows=60)
    weights = np.random.default_rng(0).random(60)
    matrix, shares = matrix_of(data)[0], weights / weights.sum()
    found = frequent_itemsets(matrix, shares, 0.1, 6)
    for size in range(1, 7):
        for items in combinations(range(6), size):
            support = shares @ matrix[:, items].all(axis=1)
            assert (items in found) == (support >= 0.1)
            assert found.get(items, support) == pytest.approx(support, abs=1e-12)


def test_the_best_rules_are_kept_by_the_order_that_is_asked_for() -> None:
    data = drawn()
    for order in ("lift", "confidence", "support"):
        every = fitted(FPGrowth(most=10**6, order=order), data).rules()
        assert [getattr(rule, order) for rule in every] == sorted((getattr(r, order) for r in every), reverse=True)
        assert fitted(FPGrowth(most=3, order=order), data).rules() == every[:3]


def test_a_rule_that_is_never_wrong_has_no_conviction_and_that_is_said() -> None:
    section = fitted(FPGrowth(), baskets([[1, 1], [0, 1], [0, 0]], ("a", "b"))).explain()[0]
    assert {row[:2]: row[-1] for row in section.rows}["a", "b"] is None
    assert "never wrong" in section.note
    sometimes = fitted(FPGrowth(min_confidence=0.5), baskets([[1, 1], [1, 0], [0, 1]], ("a", "b"))).explain()[0]
    assert sometimes.rows
    assert sometimes.note == ""


def test_without_a_rule_there_is_none() -> None:
    model = fitted(FPGrowth(min_support=1.0), baskets([[1, 1], [0, 1]], ("a", "b")))
    assert model.rules() == ()
    assert model.explain()[0].lines == ("none was found",)


def test_a_support_that_explodes_is_refused_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    # Ten items that are in every row make 2 ** 10 - 1 sets.
    together = baskets(np.ones((3, 10), int), [f"i{item}" for item in range(10)])
    assert len(frequent_itemsets(*matrix_of(together)[:2], 0.5, 10)) == 1023
    monkeypatch.setattr("mlcli.models.association.fp_growth.MOST_SETS", 1000)
    with pytest.raises(FitError, match=r"more than 1,000 sets of items are in 0\.5 of the rows or more"):
        fitted(FPGrowth(min_support=0.5, max_items=10), together)
