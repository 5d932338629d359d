"""Scores of rules by hand on six rows, under weights, and over splits that have found different rules."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mlcli.core.answers import Header
from mlcli.metrics.base import Undefined
from mlcli.metrics.registry import metric_named
from mlcli.metrics.scores.unsupervised import SILENT
from mlcli.tasks.association import RuleAnswers


def said(
    fires: Any, holds: Any, support: Any, when: tuple[str, ...] = ("a", "c"), then: tuple[str, ...] = ("b", "d")
) -> RuleAnswers:
    n = len(fires)
    rules = len(support)
    return RuleAnswers(
        header=Header(rows=np.arange(n)),
        fires=np.array(fires, np.int8).reshape(n, rules),
        holds=np.array(holds, np.int8).reshape(n, rules),
        when=when[:rules],
        then=then[:rules],
        support=tuple(support),
        confidence=(0.5,) * rules,
        lift=(1.0,) * rules,
        found=(1,) * rules,
    )


def score(name: str, answers: RuleAnswers) -> Any:
    return metric_named(name, RuleAnswers).compute(answers)


def by_hand() -> RuleAnswers:
    """Rule 1: a in 4 of 6 rows, b in 3, both in 3. Rule 2: never applies."""
    return said([[1, 0]] * 4 + [[0, 0]] * 2, [[1, 1]] * 3 + [[0, 1]] * 3, (0.25, 0.125))


def test_they_are_those_of_the_judged_rows() -> None:
    assert score("support", by_hand()) == pytest.approx((3 / 6 + 0) / 2)
    assert score("confidence", by_hand()) == pytest.approx(3 / 4)  # the second rule has none
    assert score("lift", by_hand()) == pytest.approx((3 / 6) / (4 / 6 * 3 / 6))
    assert score("support-error", by_hand()) == pytest.approx((abs(0.5 - 0.25) + 0.125) / 2)
    assert score("rules", by_hand()) == 2.0


def test_a_rule_that_never_applies_is_marked() -> None:
    marks = metric_named("lift", RuleAnswers).marks
    assert marks is not None
    assert marks(by_hand()) == (SILENT,)
    assert marks(said([[1]] * 3, [[1], [0], [1]], (0.5,))) == ()


def test_conviction_is_how_much_oftener_chance_would_be_wrong_than_the_rules_are() -> None:
    # Brin, Motwani & Ullman 1997: P(a) P(not b) / P(a and not b). Rule 1: (1 - 1/2) / (1 - 3/4) = 2; rule 2 never
    # applies. Two rules of which one is never wrong: ((1 - 1/2) + (1 - 2/3)) / (0 + (1 - 3/4)).
    assert score("conviction", by_hand()) == pytest.approx(2.0)
    two = said([[1, 1]] * 3 + [[0, 1]] + [[0, 0]] * 2, [[1, 1]] * 3 + [[0, 0], [0, 1], [0, 0]], (0.5, 0.5))
    assert score("conviction", two) == pytest.approx((1 / 2 + 1 / 3) / (1 / 4))
    assert score("conviction", said([[1], [0]], [[1], [0]], (0.5,))) == Undefined("no rule is ever wrong")
    assert score("conviction", said([[0], [0]], [[1], [0]], (0.5,))) == Undefined("no rule applies to a test row")


@pytest.mark.parametrize("name", ["support", "confidence", "conviction", "lift", "support-error", "rules"])
def test_a_whole_weight_counts_as_that_many_rows(name: str) -> None:
    times = np.array([1, 0, 3, 1, 2, 1])
    weighted = by_hand().with_header(weight=times.astype(float))
    assert score(name, weighted) == pytest.approx(score(name, by_hand().take(np.repeat(np.arange(6), times))))


def test_without_rules_only_their_number_is_defined() -> None:
    none = said(np.empty((3, 0)), np.empty((3, 0)), ())
    assert score("rules", none) == 0.0
    for name in ("support", "confidence", "conviction", "lift", "support-error"):
        assert isinstance(score(name, none), Undefined)


def test_splits_that_found_different_rules_are_pooled_rule_by_rule() -> None:
    first = said([[1, 1], [0, 1]], [[1, 0], [1, 1]], (0.2, 0.4), ("a", "c"), ("b", "d"))
    second = said([[1, 0], [1, 1]], [[0, 0], [1, 1]], (0.6, 0.8), ("c", "e"), ("d", "f"))
    both = RuleAnswers.pooled([first, second])
    assert (both.when, both.then, both.found) == (("c", "a", "e"), ("d", "b", "f"), (2, 1, 1))
    assert both.support == pytest.approx((0.5, 0.2, 0.8))
    assert both.fires.tolist() == [[1, 1, -1], [1, 0, -1], [1, -1, 0], [1, -1, 1]]
    # Rule c → d holds in 2 of its 4 rows, a → b in 1 of 2, e → f in 1 of 2.
    assert score("support", both) == pytest.approx((2 / 4 + 1 / 2 + 1 / 2) / 3)
