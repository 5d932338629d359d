"""Random order: uniform scores that belong to rows."""

from __future__ import annotations

import numpy as np
from scipy.stats import kstest

from mlcli.core.schema import Accepts
from mlcli.metrics.registry import metric_named
from mlcli.models.ranking.random_order import RandomOrder
from tests.golden.asking import answered, asked, fitted
from tests.support.rankings import drawn

EVERYTHING = Accepts(nominal=True, missing=True, weights=True)


def test_scores_are_uniform_and_say_nothing() -> None:
    said = answered(RandomOrder(), drawn(EVERYTHING, groups=400))
    assert kstest(said.score, "uniform").pvalue > 0.01
    accuracy = metric_named("pairwise-accuracy", type(said)).compute(said)
    tau = metric_named("kendall-tau", type(said)).compute(said)
    # Standard errors are about 0.016 and 0.03: tau of two rows is +1 or -1.
    assert isinstance(accuracy, float)
    assert isinstance(tau, float)
    assert abs(accuracy - 0.5) < 0.06
    assert abs(tau) < 0.12


def test_another_seed_is_another_order() -> None:
    data = drawn(EVERYTHING)
    first, second = (asked(fitted(RandomOrder(), data, seed), data).score for seed in (1, 2))
    assert not np.array_equal(first, second)
