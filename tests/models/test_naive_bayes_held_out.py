"""Every configuration of naive Bayes answers all splits at once as the plain loop does, or refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mlcli.core.held_out import HeldOut
from mlcli.models.bayes.naive_bayes import NaiveBayes
from mlcli.prepare.impute import Impute
from mlcli.prepare.one_hot import OneHot
from tests.contract.test_shortcuts import assert_equal_or_refused, plain, rounds, rows_of, table_of

CONFIGURATIONS: tuple[dict[str, Any], ...] = (
    {"smoothing": "none"},
    {"smoothing": "epsilon", "epsilon": 1e-3},
    {"smoothing": "m-estimate", "m": 2.0},
    {"smooth_prior": True},
    {"priors": (0.2, 0.3, 0.5)},
    {"zero_variance": "drop"},
    {"ddof": 1},
)
STEPS = ((), (Impute(),), (Impute(levels="own-value", numbers="own-value"),), (Impute(), OneHot(drop="none")))


@pytest.mark.parametrize("steps", STEPS)
@pytest.mark.parametrize("params", CONFIGURATIONS, ids=str)
def test_a_configuration_is_answered_as_by_the_loop(params: dict[str, Any], steps: tuple[Any, ...]) -> None:
    rng = np.random.default_rng(8)
    data = rows_of("classification", table_of(plain(rng), rng, gaps=True, levels=True), rng, weighted=True)
    for part in rounds().values():
        held: HeldOut | None = assert_equal_or_refused(NaiveBayes(**params), steps, data, part)
        assert held is not None
        assert not held.refused.all()
