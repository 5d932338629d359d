"""What answers cost: the mean over rows by a matrix, its name, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mlcli.core.errors import UsageError
from mlcli.metrics.confusion import cost_matrix, cost_name, problems_with_costs
from mlcli.metrics.registry import metric_named
from mlcli.metrics.summary import summarise
from mlcli.tasks.supervised import LabelAnswers
from tests.metrics.making import drawn_labels, label_answers

COSTS = {"a": {"b": 5, "a": -1}, "b": {"a": 2}}


def test_the_mean_cost_of_a_row_by_its_weight() -> None:
    answers = label_answers("aabb", "abab", "ab", weight=[1, 2, 3, 4])
    metric = metric_named(cost_name(COSTS), LabelAnswers, ("a", "b"))
    assert metric.name == "cost"
    assert metric.compute(answers) == pytest.approx((1 * -1 + 2 * 5 + 3 * 2 + 4 * 0) / 10)


def test_without_costs_it_is_the_error_rate() -> None:
    answers = drawn_labels(3, weighted=True)
    cost, error = (metric_named(name, LabelAnswers).compute(answers) for name in ("cost", "error-rate"))
    assert cost == pytest.approx(error)


def test_it_has_an_interval() -> None:
    answers = drawn_labels(2)
    costs = {answers.classes[0]: {answers.classes[1]: 10}}
    summary = summarise(metric_named(cost_name(costs), LabelAnswers), [answers], [100])
    assert summary.low is not None
    assert summary.high is not None
    assert summary.low < (summary.mean or 0.0) < summary.high


def test_what_is_not_said_costs_one_where_it_is_wrong() -> None:
    assert cost_matrix({"a": {"b": 5}}, "abc") == pytest.approx(np.array([[0, 5, 1], [1, 0, 1], [1, 1, 0]]))


def test_a_class_that_is_not_there_is_named() -> None:
    with pytest.raises(UsageError, match="no class 'malignent'"):
        metric_named(cost_name({"malignent": {"benign": 5}}), LabelAnswers, ("benign", "malignant"))


@pytest.mark.parametrize("costs", [3, {}, {"a": 5}, {"a": {"b": "much"}}, {"a": {"b": True}}, {"a": {}}])
def test_costs_of_another_form(costs: Any) -> None:
    assert list(problems_with_costs(costs))
