"""Quantiles and tails written here against scipy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special, stats

from mlcli.metrics.difference import fair_coin_two_sided
from mlcli.metrics.intervals import (
    f_tail,
    incomplete_beta,
    student_t_quantile,
    student_t_tail,
)

FREEDOMS = [1, 1.5, 2, 3, 4, 9, 14.3, 19, 20, 29, 99, 1_000, 12_345.6, 1e5, 1e6]


@pytest.mark.parametrize("df", FREEDOMS)
@pytest.mark.parametrize("p", [1e-9, 0.01, 0.025, 0.5, 0.6, 0.9, 0.975, 0.995, 0.9999])
def test_student_quantiles_are_scipys(p: float, df: float) -> None:
    assert student_t_quantile(p, df) == pytest.approx(stats.t.ppf(p, df), rel=1e-10, abs=1e-10)


@pytest.mark.parametrize("df", FREEDOMS)
def test_student_tails_are_scipys(df: float) -> None:
    for t in (-np.inf, -8.0, -2.0, -0.1, 0.0, 0.01, 0.5, 1.0, 1.96, 5.0, 40.0, np.inf):
        assert student_t_tail(t, df) == pytest.approx(stats.t.sf(t, df), rel=1e-9, abs=1e-10)


def test_the_incomplete_beta_function_is_scipys_over_six_decades() -> None:
    rng = np.random.default_rng(1)
    for _ in range(500):
        a, b = 10 ** rng.uniform(-1, 5, 2)
        x = rng.beta(a, b)
        assert incomplete_beta(a, b, x, 1 - x) == pytest.approx(special.betainc(a, b, x), abs=1e-10)
    assert (incomplete_beta(2, 3, 0, 1), incomplete_beta(2, 3, 1, 0)) == (0, 1)


@pytest.mark.parametrize(("x", "df"), [(0.0, 1), (0.3, 1), (2.0, 2), (7.7, 3), (11.0, 6), (40.0, 9)])
def test_tails_of_f_are_scipys(x: float, df: int) -> None:
    assert f_tail(x, df, 11) == pytest.approx(stats.f.sf(x, df, 11), rel=1e-12)


@pytest.mark.parametrize(
    ("heads", "tails"),
    [(0, 1), (1, 1), (3, 3), (2, 3), (0, 5), (5, 0), (3, 12), (50, 70), (5000, 5300), (0, 3000)],
)
def test_a_fair_coins_two_sided_p_is_the_exact_binomial_one(heads: int, tails: int) -> None:
    assert fair_coin_two_sided(heads, tails) == pytest.approx(
        stats.binomtest(heads, heads + tails).pvalue, abs=1e-10
    )


def test_no_toss_tells_nothing() -> None:
    assert fair_coin_two_sided(0, 0) == 1.0
