"""Numbers are written with the digits that mean something."""

from __future__ import annotations

import pytest

from mlcli.core.names import counted
from mlcli.report.document import decimals_for, fixed, lined_up, share, short


@pytest.mark.parametrize(
    ("sizes", "decimals"),
    [([], 3), ([0.5], 3), ([5.0], 3), ([52.0], 2), ([5200.0], 0), ([520000.0], 0), ([0.05], 4), ([1e-12], 8)],
)
def test_decimals_follow_the_size(sizes: list[float], decimals: int) -> None:
    assert decimals_for(sizes) == decimals


def test_one_wild_score_does_not_set_the_digits_of_a_column() -> None:
    assert decimals_for([0.5, 0.6, 1e9]) == decimals_for([0.5, 0.6, 0.7])


@pytest.mark.parametrize(
    ("values", "written"),
    [
        ([33.3333, 96.0, 95.3333], ["33.33", "96.00", "95.33"]),
        ([0.4419, 0.1977, 0.3605], ["0.4419", "0.1977", "0.3605"]),
        ([38.79, 190.1, 2008.0, 0.0142], ["38.790", "190.100", "2008.000", "0.014"]),
        ([1, 20, 300], ["1", "20", "300"]),
        ([0.5, None, -2.66e-16], ["0.5000", "", "0.0000"]),
        ([1e9, 0.5], ["1e+09", "0.5"]),
        ([float("nan"), 0.25], ["nan", "0.2500"]),
    ],
)
def test_numbers_of_one_column_line_up(values: list[float | None], written: list[str]) -> None:
    assert lined_up(values) == written


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
