"""Decision rules beside scikit-learn's thresholds, and the class of the least expected cost."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, make_scorer
from sklearn.model_selection import TunedThresholdClassifierCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mlcli.core.errors import FitError, UsageError
from mlcli.core.params import build
from mlcli.core.schema import Column
from mlcli.core.tables import Table
from mlcli.engines.content_seeds import order_of_content
from mlcli.engines.inner_validation import held_out_outputs, inner_folds
from mlcli.models.discriminants.lda import LinearDiscriminants
from mlcli.models.wrappers.decision_rule import DecisionRule
from tests.golden.asking import asked, fitted
from tests.support.rows import labelled

COSTS = {"1": {"0": 7}, "0": {"1": 2}}


def rows_of(loaded: Any, weighted: bool = False, columns: int = 4) -> Any:
    X, y = loaded.data[:, :columns], loaded.target
    table = Table(tuple(Column(f"x{j}") for j in range(columns)), X, np.empty((len(X), 0), np.int32))
    weight = np.random.default_rng(0).choice([0.5, 1.0, 4.0], len(X)).tolist() if weighted else None
    return labelled(table, [str(one) for one in y], weight=weight)


def rule(**params: Any) -> DecisionRule:
    made: DecisionRule = build(DecisionRule, {"base": "lda", **params})
    return made


def held_out(data: Any, seed: int = 1) -> tuple[Any, Any]:
    """The rows in the order in which the rule sees them, and what folds say of them."""
    data = data.take(order_of_content(data))
    _, inner, dealing = np.random.default_rng(seed).spawn(3)
    return data, held_out_outputs(LinearDiscriminants(), data, inner_folds(data, 5, dealing), inner)[:, 1]


def goal_of(by: str, y: Any, said: Any, weights: Any) -> float:
    from sklearn import metrics

    told = {"y_true": y, "y_pred": said, "sample_weight": weights}
    if by == "cost":
        return -float(np.average(np.where(y > said, 7.0, np.where(y < said, 2.0, 0.0)), weights=weights))
    youden = 2 * metrics.balanced_accuracy_score(**told) - 1
    found = {"f1": metrics.f1_score(**told), "youden": youden, "accuracy": metrics.accuracy_score(**told)}
    return float(found[by])


@pytest.mark.slow
@pytest.mark.parametrize("by", ["f1", "youden", "accuracy", "cost"])
@pytest.mark.parametrize("weighted", [False, True])
def test_no_threshold_is_better_on_rows_that_were_held_out(by: str, weighted: bool) -> None:
    data = rows_of(load_breast_cancer(), weighted).take(np.arange(0, 569, 3))
    ours = fitted(rule(by=by, cost=COSTS if by == "cost" else None), data)
    data, shares = held_out(data)
    candidates = np.unique(np.concatenate([[0.0], shares, [1.1]]))
    best = max(goal_of(by, data.y, (shares >= one).astype(int), data.weights) for one in candidates)
    assert goal_of(by, data.y, (shares >= ours.threshold_).astype(int), data.weights) == pytest.approx(best)


def test_it_scores_as_scikit_learn_does() -> None:
    loaded = load_breast_cancer()
    train, test = np.arange(0, 569, 2), np.arange(1, 569, 2)
    data = rows_of(loaded)
    ours = fitted(rule(by="f1", base="logistic-regression"), data.take(train))
    scorer = make_scorer(f1_score)
    theirs = TunedThresholdClassifierCV(make_pipeline(StandardScaler(), LogisticRegression()), scoring=scorer)
    theirs.fit(loaded.data[train, :4], loaded.target[train])
    found = f1_score(data.y[test], asked(ours, data.take(test)).predicted)
    assert found == pytest.approx(scorer(theirs, loaded.data[test, :4], loaded.target[test]), abs=0.02)


def test_the_least_expected_cost_among_three_classes() -> None:
    data = rows_of(load_wine())
    costs = {"0": {"1": 9, "2": 4}, "2": {"0": 30, "2": -1}}
    ours = fitted(rule(by="expected-cost", cost=costs), data)
    matrix = np.array([[0, 9, 4], [1, 0, 1], [30, 1, -1.0]])
    shares = fitted(LinearDiscriminants(), data).predict_proba(data.table)
    assert asked(ours, data).predicted.tolist() == (shares @ matrix).argmin(axis=1).tolist()
    assert asked(ours, data).probabilities == pytest.approx(shares)
    by_cost = fitted(rule(by="cost", cost=costs), data)
    assert asked(by_cost, data).predicted.tolist() == asked(ours, data).predicted.tolist()


def test_a_given_threshold_and_class() -> None:
    data = rows_of(load_breast_cancer())
    ours = fitted(rule(threshold=0.9, positive="0", by="accuracy"), data)
    shares = fitted(LinearDiscriminants(), data).predict_proba(data.table)
    assert asked(ours, data).predicted.tolist() == np.where(shares[:, 0] >= 0.9, 0, 1).tolist()


def test_one_of_three_classes_has_the_threshold() -> None:
    data = rows_of(load_wine())
    ours = fitted(rule(by="f1", positive="1", threshold=0.2), data)
    shares = fitted(LinearDiscriminants(), data).predict_proba(data.table)
    others = np.where(shares[:, 0] >= shares[:, 2], 0, 2)
    assert asked(ours, data).predicted.tolist() == np.where(shares[:, 1] >= 0.2, 1, others).tolist()


def test_what_does_not_fit_is_said() -> None:
    with pytest.raises(FitError, match="no class 'x'"):
        fitted(rule(positive="x"), rows_of(load_breast_cancer()))
    with pytest.raises(FitError, match="no class '9'"):
        fitted(rule(cost={"9": {"0": 1}}), rows_of(load_breast_cancer()))
    for wrong in ({"cost": {"a": 3}}, {"by": "expected-cost", "threshold": 0.3}, {"by": "f1", "cost": COSTS}):
        with pytest.raises(UsageError):
            rule(**wrong)
