"""Every configuration of naive Bayes answers all splits at once as the plain loop does, or refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mlcli.core.held_out import HeldOut, Round, refusing_not_finite
from mlcli.core.tables import Table
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
    {"zero_variance": "floor"},
    {"ddof": 1},
)
STEPS = ((), (Impute(),), (Impute(levels="own-value", numbers="own-value"),), (Impute(), OneHot(drop="none")))


@pytest.mark.parametrize("steps", STEPS)
@pytest.mark.parametrize("params", CONFIGURATIONS, ids=str)
def test_a_configuration_is_answered_as_by_the_loop(params: dict[str, Any], steps: tuple[Any, ...]) -> None:
    rng = np.random.default_rng(8)
    data = rows_of("classification", table_of(plain(rng), rng, gaps=True, levels=True), rng, weighted=True)
    for part in rounds().values():
        model = NaiveBayes(**{"zero_variance": "add", **params})
        held: HeldOut | None = assert_equal_or_refused(model, steps, data, part)
        assert held is not None
        # Some class has a single cell or level where gaps and weights leave it no more.
        assert not held.refused.all() or model.zero_variance == "floor"


def test_a_floor_does_not_follow_from_sums() -> None:
    rng = np.random.default_rng(2)
    table = table_of(plain(rng), rng, gaps=False, levels=False)
    data = rows_of("classification", table, rng, weighted=False)
    numbers = table.numbers.copy()
    numbers[data.y == 1, 0] = 3.0
    data = data.with_table(Table(table.columns, numbers, table.codes))
    for part in rounds().values():
        round_ = Round(part, int(part.max()) + 1)
        held = NaiveBayes().held_out(data, round_, ())
        assert held is not None
        assert refusing_not_finite(held, round_).refused.all()
        assert assert_equal_or_refused(NaiveBayes(zero_variance="drop"), (), data, part) is not None
