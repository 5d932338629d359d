"""Numbers are written with the digits that mean something."""

from __future__ import annotations

import pytest

from mlcli.report.numbers import counted, decimals_for, fixed, share, short


@pytest.mark.parametrize(
    ("sizes", "decimals"),
    [([], 3), ([0.5], 3), ([5.0], 3), ([52.0], 2), ([5200.0], 0), ([520000.0], 0), ([0.05], 4), ([1e-12], 8)],
)
def test_decimals_follow_the_size(sizes: list[float], decimals: int) -> None:
    assert decimals_for(sizes) == decimals


def test_one_wild_score_does_not_set_the_digits_of_a_column() -> None:
    assert decimals_for([0.5, 0.6, 1e9]) == decimals_for([0.5, 0.6, 0.7])


def test_minus_zero_is_zero() -> None:
    assert fixed(-0.00001, 3) == "0.000"


def test_huge_numbers_take_an_exponent() -> None:
    assert fixed(123456789.0, 3) == "1.23e+08"
    assert fixed(float("inf"), 3) == "inf"


def test_single_numbers_are_short() -> None:
    assert [short(5.0), short(0.333333), short(-2.5), short(1e9)] == ["5", "0.3333", "-2.5", "1e+09"]


def test_shares_and_counts_read_as_words() -> None:
    assert [share(1, 3), share(0, 0)] == ["33 %", "-"]
    assert [counted(1, "row"), counted(2000, "row")] == ["1 row", "2,000 rows"]
