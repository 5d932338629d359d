"""Compiled reading of decimal numbers beside Python's, to the bit."""

from __future__ import annotations

from typing import Any

import numpy as np

from mlcli.kernels.text.decimals import NO_FLOAT, floats, power_of_five

SMALLEST_NORMAL = 2.2250738585072014e-308


def check(digits: Any, exponents: Any) -> None:
    """Each number as Python reads it, or no number where it is infinite or too near to 0."""
    digits, exponents = np.asarray(digits, np.uint64), np.asarray(exponents, np.int64)
    bits = np.empty(len(digits), np.uint64)
    with np.errstate(over="ignore"):
        floats(digits, exponents, bits)
    expected = np.array([float(f"{d}e{e}") for d, e in zip(digits.tolist(), exponents.tolist(), strict=True)])
    read = bits != NO_FLOAT
    assert np.array_equal(bits[read].view(np.float64), expected[read])
    assert all(value == np.inf or value <= SMALLEST_NORMAL for value in expected[~read])


def test_numbers_of_all_sizes_are_the_nearest_floats() -> None:
    rng, rows = np.random.default_rng(0), 10_000
    digits = rng.integers(0, 2**64 - 1, rows, dtype=np.uint64) >> rng.integers(0, 64, rows).astype(np.uint64)
    check(digits[: rows // 2], rng.integers(-345, 312, rows // 2))
    check(digits[rows // 2 :], rng.integers(-25, 25, rows // 2))


def test_halves_between_two_floats_are_rounded_to_the_even_one() -> None:
    odd = 2 * np.random.default_rng(1).integers(2**52, 2**53, 300).astype(np.uint64) + np.uint64(1)
    for shift in (0, 1, 9):
        check(odd << np.uint64(shift), np.zeros(len(odd)))
    # 2^52 + 1/2 and its neighbours, with so many digits after the point
    fives = [(2 * mantissa + 1) * 5 for mantissa in (2**52, 2**52 + 1, 2**53 - 1)]
    check([near for five in fives for near in (five - 1, five, five + 1)], [-1] * 9)


def test_the_known_hard_ones_are_right() -> None:
    hard = [(22250738585072014, -324), (17976931348623157, 292), (9007199254740993, 0), (5, -324), (1, 309)]
    hard += [(7205759403792793, -16), (9214843084008499, -6), (18446744073709551615, 0), (89255, -22)]
    check(*zip(*hard, strict=True))


def test_powers_are_those_of_five() -> None:
    assert power_of_five(0) == 1 << 127
    assert power_of_five(2) == 25 << 123
    assert (power_of_five(-1) - 1) * 5 <= 1 << 130 < power_of_five(-1) * 5
