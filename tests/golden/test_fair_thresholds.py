"""Thresholds by group: every choice beside all pairs of thresholds, and beside fairlearn's optimiser."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from fairlearn.postprocessing import ThresholdOptimizer
from sklearn.linear_model import LogisticRegression

from mlcli.core.schema import Column
from mlcli.core.tables import Table
from mlcli.engines.ensemble import outputs
from mlcli.metrics.confusion import counts_by_threshold
from mlcli.metrics.fairness import CRITERIA
from mlcli.models.wrappers.fair_thresholds import FairThresholds, GroupThresholds, RateCurve, best_thresholds
from mlcli.tasks.supervised import CLASSIFICATION
from tests.golden.asking import fitted
from tests.support.rows import labelled

GROUP = Column("group", "nominal", ("a", "b"), sensitive=True)


def rows(n: int = 600, seed: int = 2) -> Any:
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 2, n).astype(np.int32)
    X = rng.normal(0, 1, (n, 2)) + group[:, None] * np.array([1.0, -0.2])
    y = (X @ np.array([1.2, 0.6]) + rng.normal(0, 1, n) > 0.6).astype(int)
    table = Table((Column("x"), Column("z"), GROUP), X, group[:, None])
    return labelled(table, ["yes" if one else "no" for one in y])


def selected_by_group(said: Any, data: Any) -> list[float]:
    return [float(said[data.table.codes[:, 0] == g].mean()) for g in (0, 1)]


def test_the_base_does_not_see_the_group() -> None:
    data = rows()
    model: Any = fitted(FairThresholds(), data)
    assert model.labels_ == ("a", "b")
    assert "group" not in [column.name for column in model.model_.final.columns_]
    order = np.argsort(outputs(model.model_, data.table, CLASSIFICATION)[:, 1])
    for g in (0, 1):
        mine = model.predict_proba(data.table)[order, 1][data.table.codes[order, 0] == g]
        assert (np.diff(mine) >= -1e-12).all()


@pytest.mark.parametrize("lots", [False, True])
@pytest.mark.parametrize("criterion", ["demographic-parity", "equal-opportunity", "equalised-odds"])
def test_new_rows_are_answered_as_fairly_and_as_well_as_by_fairlearn(criterion: str, lots: bool) -> None:
    data, new = rows(), rows(4000, seed=9)
    model: Any = fitted(FairThresholds(by=criterion, lots=lots), data)
    said = model.decide(model.predict_proba(new.table))
    names = {"demographic-parity": "demographic_parity", "equal-opportunity": "true_positive_rate_parity"}
    theirs = ThresholdOptimizer(
        estimator=LogisticRegression(),
        constraints=names.get(criterion, "equalized_odds"),
        predict_method="predict_proba",
    )
    theirs.fit(data.table.numbers, data.y, sensitive_features=data.table.codes[:, 0])
    other = theirs.predict(new.table.numbers, sensitive_features=new.table.codes[:, 0], random_state=0)
    assert float((said == new.y).mean()) > float((other == new.y).mean()) - 0.03

    def apart(answers: Any) -> float:
        sides = {"selected": np.ones(len(new), bool), "tpr": new.y == 1, "fpr": new.y == 0}
        found = []
        for rate in CRITERIA[criterion]:
            shares = [answers[sides[rate] & (new.table.codes[:, 0] == g)].mean() for g in (0, 1)]
            found.append(abs(shares[0] - shares[1]))
        return float(max(found))

    assert apart(said) < apart(other) + 0.06


def test_the_best_of_all_pairs_of_thresholds_is_chosen() -> None:
    rng = np.random.default_rng(1)
    p, positive = rng.uniform(0, 1, 40), rng.uniform(0, 1, 40) < 0.5
    halves = [np.arange(40) < 20, np.arange(40) >= 20]
    choices = [
        GroupThresholds.of(counts_by_threshold(p[half], positive[half], np.ones(20)), "demographic-parity")
        for half in halves
    ]
    best = 0.0
    for wanted in np.linspace(0, 1, 101):
        reached = [np.flatnonzero(np.abs(one.rates[0] - wanted) <= 0.05 + 1e-12) for one in choices]
        for first, second in product(*reached):
            best = max(best, choices[0].right[first] + choices[1].right[second])
    indices = best_thresholds(choices, slack=0.1)
    right = [choice.right[index] for choice, index in zip(choices, indices, strict=True)]
    rates = [choice.rates[0, index] for choice, index in zip(choices, indices, strict=True)]
    assert sum(right) == pytest.approx(best)
    assert abs(rates[0] - rates[1]) <= 0.1 + 1e-12


def test_slack_of_one_leaves_each_group_its_best_threshold() -> None:
    data = rows()
    model: Any = fitted(FairThresholds(slack=1.0), data)
    strict: Any = fitted(FairThresholds(slack=0.0), data)
    free, bound = (one.decide(one.predict_proba(data.table)) for one in (model, strict))
    apart = [abs(np.diff(selected_by_group(one, data))[0]) for one in (free, bound)]
    assert apart[1] < 0.05 < apart[0]


def test_a_group_that_was_not_there_is_decided_at_half() -> None:
    data = rows()
    model: Any = fitted(FairThresholds(), data)
    unknown = Table(data.table.columns, data.table.numbers, np.full_like(data.table.codes, -1))
    plain = outputs(model.model_, unknown, CLASSIFICATION)[:, 1]
    assert (model.decide(model.predict_proba(unknown)) == (plain >= 0.5)).all()


def test_lots_reach_every_point_of_the_hull() -> None:
    """ROC of four thresholds; at a false positive rate of 0.3 lots reach 0.7, and a coin brings it to 0.5."""
    thresholds = np.array([np.inf, 0.9, 0.5, 0.0])
    group = RateCurve(thresholds, np.array([0, 0.1, 0.5, 1]), np.array([0, 0.5, 0.9, 1.0]))
    assert group.best_at(np.array([0.3]))[0] == pytest.approx(0.7)
    lots: Any = group.lots_at(0.3, 0.5)
    assert [lots.first, lots.second, lots.share] == pytest.approx([0.9, 0.5, 0.5])
    assert (1 - lots.blind) * 0.7 + lots.blind * 0.3 == pytest.approx(0.5)


@pytest.mark.parametrize("criterion", ["demographic-parity", "equalised-odds"])
def test_with_lots_rates_held_out_are_the_same(criterion: str) -> None:
    data = rows(4000)
    model: Any = fitted(FairThresholds(by=criterion, lots=True), data)
    assert model.rates_[0] == pytest.approx(model.rates_[1])
    said = model.decide(model.predict_proba(data.table))
    again = model.decide(model.predict_proba(data.table.take(np.arange(100))))
    assert (said[:100] == again).all()
    sides = {"selected": np.ones(len(data), bool), "tpr": data.y == 1, "fpr": data.y == 0}
    for rate in CRITERIA[criterion]:
        shares = [said[sides[rate] & (data.table.codes[:, 0] == g)].mean() for g in (0, 1)]
        assert shares[0] == pytest.approx(shares[1], abs=0.05)
